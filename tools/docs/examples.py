"""A page for each program in examples/: what it says of itself, its picture, its source, and what Argo gets."""

from __future__ import annotations

import ast
import contextlib
import functools
from pathlib import Path
from typing import Any

from couler_py import api
from couler_py.backends.yaml import dump_all
from couler_py.cli.load import load
from couler_py.report import graph

ROOT = Path(__file__).resolve().parents[2]
TITLES = {
    "automl": "Model selection",
    "coin_flip": "Coin flip, with recursion",
    "diamond_explicit": "Diamond in Couler's verbs",
    "gpu": "GPUs and placement",
    "map_reduce": "Map and reduce",
    "nightly": "Every night",
    "producer_consumer": "A file between steps",
    "tune": "A sweep",
}
RUNNER_HEAD = "# The runner of a couler step"
RUNNER = "# the runner: plain Python, the same in every workflow, left out here\n"


def programs() -> list[Path]:
    """The programs, in the order of their names."""
    return sorted((ROOT / "examples").glob("*.py"))


def title(program: Path) -> str:
    """What the page of a program is called."""
    return TITLES.get(program.stem, program.stem.replace("_", " ").capitalize())


def navigation() -> list[Any]:
    """The pages for the navigation: the overview, then each program."""
    return ["examples/index.md", *({title(each): f"examples/{each.stem}.md"} for each in programs())]


@functools.cache
def files() -> dict[str, str]:
    """The pages and pictures by their path below docs/."""
    found = {"examples/index.md": _overview()}
    with contextlib.chdir(ROOT):
        for program in programs():
            found |= _of(program)
    return found


def _overview() -> str:
    lines = [
        "# Examples",
        "",
        "All of them are in the folder `examples/` of the repository, and run on this machine with `couler run`; "
        "what one needs besides, as a GPU, operators of a cluster, or a server, it says.",
        "",
    ]
    for program in programs():
        first = _documentation(program).split("\n\n")[0].replace("\n", " ")
        lines += [f"**[{title(program)}]({program.stem}.md)**", f":   {first}", ""]
    return "\n".join(lines)


def _of(program: Path) -> dict[str, str]:
    name = program.relative_to(ROOT).as_posix()
    workflow = load(name).workflow
    picture = graph.svg(graph.scene(workflow), graphviz=False)
    documents = api.compile(workflow, to="argo").documents
    source = _without_documentation(program)
    page = [
        f"# {title(program)}",
        "",
        _documentation(program),
        "",
        f"![The graph of {workflow.name}]({program.stem}.svg)",
        "",
        "## The program",
        "",
        _fenced(source, f'python title="{name}"'),
        "",
        "## What Argo gets",
        "",
        f"`couler compile {name} --to argo` writes:",
        "",
        _folded(f"{workflow.name}.yaml", _fenced(dump_all(_without_runner(list(documents))), "yaml")),
        "",
    ]
    return {f"examples/{program.stem}.md": "\n".join(page), f"examples/{program.stem}.svg": picture}


def _documentation(program: Path) -> str:
    return ast.get_docstring(ast.parse(program.read_text(encoding="utf-8"))) or ""


def _without_documentation(program: Path) -> str:
    text = program.read_text(encoding="utf-8")
    first = ast.parse(text).body[0]
    assert isinstance(first, ast.Expr), f"{program} has no docstring"
    return "\n".join(text.splitlines()[first.end_lineno :]).strip("\n") + "\n"


def _without_runner(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_runner(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_without_runner(each) for each in value]
    return RUNNER if isinstance(value, str) and RUNNER_HEAD in value else value


def _fenced(text: str, language: str) -> str:
    return f"~~~~~ {language}\n{text.rstrip()}\n~~~~~"


def _folded(label: str, text: str) -> str:
    return f'??? example "{label}"\n\n' + "\n".join(f"    {line}" if line else "" for line in text.splitlines())
