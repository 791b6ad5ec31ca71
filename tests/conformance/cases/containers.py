"""Containers and scripts beside Python steps: values and files in and out, and how they end."""

from __future__ import annotations

from pathlib import Path

import couler_py as couler
from tests.conformance.cases.naming import done, written

IMAGE = "python:3.11"
UPPER = "import sys; open('/tmp/upper', 'w').write(open(sys.argv[1]).read().upper())"
upper = couler.container(
    IMAGE,
    ["python", "-c", UPPER, couler.argument("text")],
    inputs={"text": Path},
    outputs={"loud": couler.file_at("/tmp/upper")},
    name="upper",
)
louder = couler.container(
    IMAGE,
    ["sh", "-c", 'printf %s! "$(cat "$1")" > /tmp/louder', "sh", couler.argument("text")],
    inputs={"text": Path},
    outputs={"text": couler.file_at("/tmp/louder")},
    name="louder",
)
count = couler.script(IMAGE, 'printf %s "$word" | wc -c', inputs={"word": str}, outputs={"n": couler.stdout(int)})
report = couler.container(
    IMAGE,
    ["sh", "-c", 'echo "$1" > /tmp/out; echo "$2" > /tmp/json; echo noise', "sh"],
    [couler.argument("name"), couler.argument("rows")],
    inputs={"name": str, "rows": list[int]},
    outputs={"name": couler.value_at("/tmp/out"), "rows": couler.value_at("/tmp/json", list[int])},
    name="report",
)
seven = couler.container(IMAGE, ["sh", "-c", "exit 7"], name="seven")
literal = couler.container(
    IMAGE,
    ["sh", "-c", 'printf %s "$VALUE-$(echo run)"'],
    env={"VALUE": "$(HOME) {{x}}"},
    outputs={"out": couler.stdout()},
    name="literal",
)


@couler.step
def file(text: str) -> Path:
    Path("text").write_text(text)
    return Path("text")


@couler.step
def read(path: Path) -> str:
    return path.read_text()


@couler.step
def add(a: int, b: int) -> int:
    return a + b


@couler.step
def word() -> str:
    return "it's žluť"


@couler.workflow
def file_through_a_container():
    return read(upper(text=file("some text")))


@couler.workflow
def file_in_and_out_by_one_name():
    return read(louder(text=louder(text=file("some text"))))


@couler.workflow
def number_printed_by_a_script():
    return add(count(word=word()), 1)


@couler.workflow
def values_in_files():
    made = report(name="it's", rows=[1, 2])
    return {"name": made.name, "rows": made.rows, "sum": add(made.rows[0], made.rows[1])}


@couler.workflow
def exit_code_that_is_not_zero():
    failed = seven()
    return couler.on_failure(failed, lambda: word()).or_else("")


@couler.workflow
def dollars_and_braces_reach_the_shell():
    return literal()


@couler.workflow
def condition_over_what_a_container_printed():
    n = count(word="four")
    return couler.when(n == 4, lambda: word(), otherwise=lambda: word())


@couler.workflow
def fan_out_of_containers():
    return couler.map(lambda text: count(word=text), ["a", "bb", ""])


CASES = [
    written("container", file_through_a_container, done("file", "upper", "read"), {"result": "SOME TEXT"}),
    written(
        "container",
        file_in_and_out_by_one_name,
        done("file", "louder", "louder-2", "read"),
        {"result": "some text!!"},
    ),
    written("container", number_printed_by_a_script, done("word", "script", "add"), {"result": 12}),
    written("container", values_in_files, done("report", "add"), {"name": "it's", "rows": [1, 2], "sum": 3}),
    written("container", exit_code_that_is_not_zero, {"seven": "Failed", "word": "Succeeded"}, {"result": "it's žluť"}),
    written("container", dollars_and_braces_reach_the_shell, done("literal"), {"result": "$(HOME) {{x}}-run"}),
    written(
        "container",
        condition_over_what_a_container_printed,
        {"script": "Succeeded", "word": "Succeeded", "word-2": "Skipped"},
        {"result": "it's žluť"},
    ),
    written("container", fan_out_of_containers, done("script"), {"result": [1, 2, 0]}),
]
