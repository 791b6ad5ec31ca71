"""Names: each once in its list, and none that breaks at run time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from couler_py.argolang import RESERVED
from couler_py.backends.argo.lint.finding import Finding, Path
from couler_py.backends.argo.lint.rules.depends import dependencies
from couler_py.backends.argo.lint.rules.flow import Flow, Template

_VALUE_NAME = re.compile(r"[-a-zA-Z0-9_]+")


def twice(flow: Flow) -> Iterator[Finding]:
    """No two items of a list have the same name."""
    yield from _twice("template", flow.spec.get("templates"), (*flow.path, "templates"), needed=True)
    yield from _arguments(flow.spec.get("arguments", {}), (*flow.path, "arguments"))
    for template in flow.all_templates:
        for side, word in (("inputs", "input"), ("outputs", "output")):
            data = template.data.get(side, {})
            for what in ("parameters", "artifacts"):
                path = (*template.path, side, what)
                yield from _twice(f"{word} {what[:-1]}", data.get(what), path)
        yield from _calls(template)
        for what in ("sidecars", "initContainers"):
            yield from _twice(
                what[:-1], template.data.get(what), (*template.path, what), needed=what == "initContainers"
            )
        containers = template.data.get("containerSet", {}).get("containers")
        yield from _twice("container", containers, (*template.path, "containerSet", "containers"), needed=True)


def _calls(template: Template) -> Iterator[Finding]:
    seen: dict[str, Path] = {}
    word = "step" if template.type == "steps" else "task"
    for call in template.calls:
        path = (*call.path, "name")
        if not call.name:
            yield _missing(word, call.path)
        elif call.name in seen:
            yield _repeated(word, call.name, path, seen[call.name])
        else:
            seen[call.name] = path
        if "arguments" in call.data:
            yield from _arguments(call.data["arguments"], (*call.path, "arguments"))


def _arguments(arguments: dict[str, Any], path: Path) -> Iterator[Finding]:
    for what in ("parameters", "artifacts"):
        if what in arguments:
            yield from _twice(f"argument {what[:-1]}", arguments[what], (*path, what))


def _twice(what: str, items: Iterable[dict[str, Any]] | None, path: Path, *, needed: bool = False) -> Iterator[Finding]:
    seen: dict[str, Path] = {}
    for index, each in enumerate(items or ()):
        name = each.get("name", "")
        at = (*path, index, "name")
        if name in seen and name:
            yield _repeated(what, name, at, seen[name])
        elif name:
            seen[name] = at
        elif needed:
            yield _missing(what, (*path, index))


def _repeated(what: str, name: str, path: Path, first: Path) -> Finding:
    return Finding(
        "CLR443",
        f"a second {what} {name!r}",
        path,
        why="names tell the items of this list apart",
        help="rename one of them",
        related=(("the first one", first),),
    )


def _missing(what: str, path: Path) -> Finding:
    return Finding(
        "CLR443", f"a {what} without a name", path, why="names tell the items of this list apart", help="add `name`"
    )


def artifact_names(flow: Flow) -> Iterator[Finding]:
    """Names of artifacts: the schema lets `{}.` stand, which the server refuses."""
    for template in flow.all_templates:
        for side in ("inputs", "outputs"):
            for index, each in enumerate(template.data.get(side, {}).get("artifacts", ())):
                path = (*template.path, side, "artifacts", index)
                yield from _artifact_name(each, path, filled=side == "outputs")
        for call in template.calls:
            for index, each in enumerate(call.data.get("arguments", {}).get("artifacts", ())):
                yield from _artifact_name(each, (*call.path, "arguments", "artifacts", index), filled=True)
        for what in ("parameters", "artifacts"):
            for index, each in enumerate(template.data.get("outputs", {}).get(what, ())):
                name = each.get("globalName", "")
                if name and "{{" not in name and not _VALUE_NAME.fullmatch(name):
                    yield _characters("the global name", name, (*template.path, "outputs", what, index, "globalName"))
    for index, each in enumerate(flow.spec.get("arguments", {}).get("artifacts", ())):
        yield from _artifact_name(each, (*flow.path, "arguments", "artifacts", index))


def _artifact_name(artifact: dict[str, Any], path: Path, *, filled: bool = False) -> Iterator[Finding]:
    """`filled`: where Argo fills tags in before it looks at the name."""
    name = re.sub(r"\{\{.*?\}\}", "x", artifact.get("name", "")) if filled else artifact.get("name", "")
    if re.fullmatch(r"[-a-zA-Z0-9_{}.]+", name) and not _VALUE_NAME.fullmatch(name):
        yield _characters("the name of an artifact", name, (*path, "name"))


def _characters(what: str, name: str, path: Path) -> Finding:
    return Finding(
        "CLR449", f"{what} can't be {name!r}", path, why="it is made of letters, digits, `-` and `_`", help="rename it"
    )


def task_names(flow: Flow) -> Iterator[Finding]:
    """Names of tasks that others wait for stand in an expression, where some words and digits mean something else."""
    for template in flow.all_templates:
        if template.type != "dag":
            continue
        awaited: dict[str, Path] = {}
        for call in template.calls:
            for name in dependencies(call.data):
                awaited.setdefault(name, call.path)
        uses_depends = any(call.data.get("depends") for call in template.calls)
        for call in template.calls:
            if call.name in RESERVED and call.name in awaited:
                yield Finding(
                    "CLR449",
                    f"a task that others wait for can't be called {call.name!r}",
                    (*call.path, "name"),
                    why="`depends` is an expression in which this word means something else: the waiting task ends in "
                    "Error",
                    help=f"rename it, as to {call.name + '-task'!r}",
                    related=(("it is waited for here", awaited[call.name]),),
                )
            elif (
                call.name[:1].isdigit()
                and uses_depends
                and not (call.data.get("depends") or call.data.get("dependencies"))
            ):
                yield Finding(
                    "CLR449",
                    f"the name of the task {call.name!r} begins with a digit",
                    (*call.path, "name"),
                    why="in a graph with `depends` names stand in an expression, where it is a number",
                    help=f"rename it, as to {'t' + call.name!r}",
                )
