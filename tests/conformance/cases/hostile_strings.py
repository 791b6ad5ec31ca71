"""Strings that break programs which paste text into text, through every channel that a value can take."""

from __future__ import annotations

from typing import Any, NamedTuple

import couler_py as couler
from couler_py.ir.meaning import State
from couler_py.ir.wire import travels_raw
from tests.conformance.case import Case, Never

STRINGS = [
    "it's \"quoted\" 'twice' \"\"\" '''",
    "several\nlines\n\nof text",
    "\r\nwindows\r\n\ttabs\t.",
    "ends with a newline\n",
    "\n",
    "",
    " ",
    "  blanks around  ",
    "{{x}}",
    "{{workflow.name}}",
    "{{=1+1}}",
    "{{tasks.a.outputs.parameters.x}} {{ inputs.parameters.y }} {{item}}",
    "{{",
    "{{{ }}}",
    "{% raw %} {# jinja #}",
    "${x} $HOME ${HOME:-y}",
    "$(x) $$(x) $$ $(COULER_EMPTY)",
    "`id` $((1+1)) ; echo x && echo y | cat > z",
    "%s %d %% %(x)s {0} {x}",
    "\\ \\n \\u0041 \\\\",
    "žluťoučký kůň 漢字 عربي",
    "🎉 👩‍👩‍👧 \U0001d11e",
    "\x01\x02\x1b[31m\x7f",
    "nul \x00 inside",
    "\ufeffmark \u200b \u2028 \u2029",
    "\U000e0001 unprintable beyond \uffff",
    '{"a": [1, "two", null]}',
    '["list", "of", "json"]',
    '"a string in JSON"',
    "null",
    "1",
    "007",
    "1e3",
    "true",
    "NaN",
    "-Infinity",
    "couler:json:",
    'couler:json:"x"',
    "couler:base64:eA==",
    "yes: no # - | > & * ! %",
    "<script>alert('x')</script> &amp;",
    "--flag=value",
    "/etc/passwd ../../x",
    "2026-01-01T00:00:00Z",
    "x" * 3000,
    "= + - @ formula",
    "'; DROP TABLE runs; --",
    "a,b;c\td",
]
assert len(STRINGS) == 48


# What can be an argument of a program, and what a file keeps: not NUL, and engines cut a final newline.
ARGUMENTS = [text for text in STRINGS if "\0" not in text and not text.endswith("\n")]
# What a step or a task can give a container, which reads it as it is.
PLAIN = [text for text in ARGUMENTS if travels_raw(text)]


def parts(texts: list[str]) -> list[list[str]]:
    """The texts in groups of eight, the last filled up with empty ones."""
    filled = [*texts, *[""] * (-len(texts) % 8)]
    return [filled[start : start + 8] for start in range(0, len(filled), 8)]


class Eight(NamedTuple):
    a: str
    b: str
    c: str
    d: str
    e: str
    f: str
    g: str
    h: str


@couler.step
def keep(a: str, b: str, c: str, d: str, e: str, f: str, g: str, h: str) -> Eight:
    return Eight(a, b, c, d, e, f, g, h)


@couler.step
def listed(a: str, b: str, c: str, d: str, e: str, f: str, g: str, h: str) -> list[str]:
    return [a, b, c, d, e, f, g, h]


@couler.workflow
def from_literal_to_function_to_function():
    kept = [keep(*part) for part in parts(STRINGS)]
    return {f"part{i}": listed(*each) for i, each in enumerate(kept)}


@couler.workflow
def as_outputs_of_the_run():
    return {f"part{i}": keep(*part) for i, part in enumerate(parts(STRINGS)[2:4])}


@couler.workflow
def from_parameter_to_function(
    a: str = STRINGS[0],
    b: str = STRINGS[3],
    c: str = STRINGS[9],
    d: str = STRINGS[10],
    e: str = STRINGS[15],
    f: str = STRINGS[21],
    g: str = STRINGS[23],
    h: str = STRINGS[36],
):
    return listed(a, b, c, d, e, f, g, h)


@couler.step
def give(i: int) -> str:
    return ['it\'s "quoted"', "{{workflow.name}} {{=1+1}}", "line\n", "$(x) $$ `id`", "NaN", "\x01 \U000e0001"][i]


@couler.step
def joined(texts: list[str]) -> str:
    return "|".join(texts)


@couler.step
def keep_one(text: str) -> str:
    return text


@couler.workflow
def from_item_to_function():
    return joined(
        couler.map(keep_one, ['it\'s "quoted"', "{{workflow.name}} {{=1+1}}", "line\n", "$(x) $$", "NaN", ""])
    )


@couler.workflow
def from_items_of_a_step_to_function():
    return joined(couler.map(keep_one, many()))


@couler.step
def many() -> list[str]:
    return ['it\'s "quoted"', "{{item}} {{=1+1}}", "line\n", "null", '{"a": 1}', "\x01 🎉"]


ECHO = "import sys, json; print(json.dumps(sys.argv[1:]))"
echo = couler.container(
    "python:3.11",
    ["python", "-c", ECHO, *[couler.argument(name) for name in "abcdefgh"]],
    inputs=dict.fromkeys("abcdefgh", str),
    outputs={"out": couler.stdout(list[str])},
)


@couler.workflow
def from_text_of_a_container_to_the_program():
    return couler.container(
        "python:3.11", ["python", "-c", ECHO, *ARGUMENTS], outputs={"out": couler.stdout(list[str])}
    ).named("said")()


@couler.workflow
def from_task_to_container():
    return {f"part{i}": echo(*part) for i, part in enumerate(parts(PLAIN))}


@couler.workflow
def tag_from_task_to_container():
    return echo("a", "{{=1+1}}", "c", "d", "e", "f", "g", "h")


@couler.workflow
def from_function_to_container():
    kept = [keep(*part) for part in parts(PLAIN)]
    return {f"part{i}": echo(*each) for i, each in enumerate(kept)}


@couler.workflow
def tag_from_function_to_container():
    return echo("a", give(1), "c", "d", "e", "f", "g", "h")


@couler.workflow
def given(i: int = 0) -> str:
    return give(i)


@couler.workflow
def tag_through_a_graph_to_container():
    return echo("a", given(1), "c", "d", "e", "f", "g", "h")


WRITE = """
import sys
for i, text in enumerate(sys.argv[1:]):
    with open(f"/tmp/{i}", "w", encoding="utf-8", newline="") as file:
        file.write(text)
"""


@couler.workflow
def from_container_to_function():
    found = {}
    for i, part in enumerate(parts(ARGUMENTS)):
        outputs = {name: couler.value_at(f"/tmp/{n}") for n, name in enumerate("abcdefgh")}
        write = couler.container("python:3.11", ["python", "-c", WRITE, *part], outputs=outputs)
        written = write.named(f"write-{i}")()
        found[f"part{i}"] = listed(*(getattr(written, name) for name in "abcdefgh"))
    return found


ENVIRONMENT = {f"TEXT_{i}": text for i, text in enumerate(ARGUMENTS)}


@couler.step(env=ENVIRONMENT)
def environment() -> dict[str, str]:
    import os

    return {name: value for name, value in os.environ.items() if name.startswith("TEXT_")}


@couler.workflow
def from_literal_to_environment():
    return environment()


@couler.workflow
def in_text_of_a_workflow():
    return keep_one(couler.format("<{}> {{{{x}}}} ${{y}} {}", give(0), give(1)))


def succeeded(*names: str) -> dict[str, State]:
    return dict.fromkeys(names, "Succeeded")


def numbered(name: str, count: int) -> list[str]:
    return [name, *(f"{name}-{i}" for i in range(2, count + 1))]


def by_part(texts: list[str]) -> dict[str, list[str]]:
    return {f"part{i}": part for i, part in enumerate(parts(texts))}


def case(written: Any, tasks: dict[str, State], outputs: dict[str, Any], name: str = "", **more: Any) -> Case:
    """A case named after its workflow."""
    return Case(name or f"text-{written.name.replace('_', '-')}", written.build, tasks, outputs=outputs, **more)


ALL, SOME, SAFE = len(parts(STRINGS)), len(parts(ARGUMENTS)), len(parts(PLAIN))
EIGHT = [STRINGS[i] for i in (0, 3, 9, 10, 15, 21, 23, 36)]
CASES = [
    case(
        from_literal_to_function_to_function,
        succeeded(*numbered("keep", ALL), *numbered("listed", ALL)),
        by_part(STRINGS),
    ),
    case(
        as_outputs_of_the_run,
        succeeded("keep", "keep-2"),
        {f"part{i}-{key}": text for i in (0, 1) for key, text in zip("abcdefgh", parts(STRINGS)[i + 2], strict=True)},
    ),
    case(from_parameter_to_function, succeeded("listed"), {"result": EIGHT}),
    case(
        from_parameter_to_function,
        succeeded("listed"),
        {"result": EIGHT[::-1]},
        "text-from-given-parameter-to-function",
        parameters=dict(zip("abcdefgh", EIGHT[::-1], strict=True)),
    ),
    case(
        from_item_to_function,
        succeeded("keep_one", "joined"),
        {"result": 'it\'s "quoted"|{{workflow.name}} {{=1+1}}|line\n|$(x) $$|NaN|'},
    ),
    case(
        from_items_of_a_step_to_function,
        succeeded("many", "keep_one", "joined"),
        {"result": 'it\'s "quoted"|{{item}} {{=1+1}}|line\n|null|{"a": 1}|\x01 🎉'},
    ),
    case(from_text_of_a_container_to_the_program, succeeded("said"), {"result": ARGUMENTS}),
    case(from_task_to_container, succeeded(*numbered("python", SAFE)), by_part(PLAIN)),
    case(
        tag_from_task_to_container,
        succeeded("python"),
        {"result": ["a", "{{=1+1}}", "c", "d", "e", "f", "g", "h"]},
        refused={"argo": Never("CLR402", "Argo evaluates an argument again before the container sees it")},
    ),
    case(
        from_function_to_container,
        succeeded(*numbered("keep", SAFE), *numbered("python", SAFE)),
        by_part(PLAIN),
    ),
    # Argo evaluates what steps give once more before a container sees it, so the step that gives it fails everywhere.
    case(tag_from_function_to_container, {"give": "Failed", "python": "Blocked"}, {}, status="Failed"),
    case(tag_through_a_graph_to_container, {"given": "Failed", "python": "Blocked"}, {}, status="Failed"),
    case(
        from_container_to_function,
        succeeded(*(f"write-{i}" for i in range(SOME)), *numbered("listed", SOME)),
        by_part(ARGUMENTS),
    ),
    case(from_literal_to_environment, succeeded("environment"), {"result": ENVIRONMENT}),
    case(
        in_text_of_a_workflow,
        succeeded("give", "give-2", "keep_one"),
        {"result": '<it\'s "quoted"> {{x}} ${y} {{workflow.name}} {{=1+1}}'},
    ),
]
