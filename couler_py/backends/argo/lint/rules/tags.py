"""Every tag of a document, where it stands, and whether it can be filled in there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from couler_py.argolang import Tag, tags_in, unclosed
from couler_py.backends.argo.lint.finding import Finding, Path
from couler_py.backends.argo.lint.rules.expressions import in_tag
from couler_py.backends.argo.lint.rules.flow import Flow, Template
from couler_py.backends.argo.lint.rules.references import nearest
from couler_py.backends.argo.lint.rules.use import CHECKED, Place, Unresolved
from couler_py.backends.argo.lint.rules.variables import Names

Found = tuple[Path, str]
_LIKE_OURS = re.compile(r"[A-Za-z][\w-]*(\.[\w-]+)+")
_ROOTS = ("inputs", "outputs", "steps", "tasks", "workflow", "item", "pod", "node", "lastRetry")


class Spot(msgspec.Struct, frozen=True):
    """A string with tags, and how strictly Argo takes it.

    `checked`: the server looks every name up; `loop`: the controller refuses every tag that it can't fill.
    """

    path: Path
    text: str
    place: Place
    checked: bool
    loop: bool = False


def tagged(value: Any, path: Path) -> list[Found]:
    """The strings with opening braces in a value, with their paths."""
    found: list[Found] = []
    _collect(value, path, found)
    return found


def _collect(value: Any, path: Path, found: list[Found]) -> None:
    if isinstance(value, str):
        if "{{" in value:
            found.append((path, value))
    elif isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(inner, str | dict | list):
                _collect(inner, (*path, key), found)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            if isinstance(inner, str | dict | list):
                _collect(inner, (*path, index), found)


def spots(flow: Flow) -> Iterator[Spot]:
    """Every string with tags of the templates."""
    for template in flow.all_templates:
        if template.calls or template.type in ("steps", "dag"):
            yield from _of_graph(template)
        else:
            place = Place(template)
            for path, text in tagged(template.data, template.path):
                yield Spot(path, text, place, checked=True)


def _of_graph(template: Template) -> Iterator[Spot]:
    whole = Place(template)
    for call in template.calls:
        depth = len(call.path)
        plain, in_hook = Place(template, call), Place(template, call, in_hook=True)
        for path, text in tagged(call.data, call.path):
            hooked = path[depth] == "hooks"
            yield Spot(path, text, in_hook if hooked else plain, checked=True, loop=call.loops and not hooked)
    for key, value in template.data.items():
        if key in ("steps", "name"):
            continue
        path = (*template.path, key)
        if key == "dag":
            for at, text in tagged(value.get("target", ""), (*path, "target")):
                yield Spot(at, text, whole, checked=True)
            continue
        for at, text in tagged(value, path):
            yield Spot(at, text, whole, checked=key == "outputs")


def resolved(flow: Flow) -> Iterator[Finding]:
    """Tags and the variables of expressions are there where they are used."""
    names = Names(flow)
    for spot in spots(flow):
        yield from _in_spot(spot, names)
    yield from _of_workflow(flow, names)


def _in_spot(spot: Spot, names: Names) -> Iterator[Finding]:
    for tag in tags_in(spot.text):
        if tag.expression:
            yield from in_tag(tag, spot.path, spot.place, names, strict=_strict(spot))
        elif "{{" in tag.text:
            yield from _nested(tag, spot)
        elif (problem := _problem(tag, spot, names)) is not None:
            yield _finding(problem, spot, tag.start)
    if (at := unclosed(spot.text)) is not None:
        yield from _never_closed(spot, at)


def _strict(spot: Spot) -> bool:
    """Whether what can't be filled in ends the call in Error, since no text may stay there."""
    call = spot.place.call
    return spot.loop or (
        call is not None and spot.path[len(call.path)] in ("when", "withParam", "withSequence", "withItems")
    )


def _problem(tag: Tag, spot: Spot, names: Names) -> Unresolved | None:
    problem = names.problem(tag.name, spot.place)
    if problem is None:
        return _unknown(tag, spot)
    if problem.severity == "error" and not spot.checked:
        return msgspec.structs.replace(
            problem, code="CLR468", severity="warning", why=f"{problem.why}: the text stays as it is written"
        )
    if problem.severity == "warning" and spot.loop and problem.code == "CLR468":
        return msgspec.structs.replace(problem, severity="error", why=_LOOP)
    return problem


_LOOP = "in a loop every tag must be filled in: the call ends in Error when its turn comes"


def _unknown(tag: Tag, spot: Spot) -> Unresolved | None:
    """A tag that is none of Argo's names: plain text, unless it stands in a loop or looks like a misspelt name."""
    name = tag.name
    root = name.split(".", 1)[0]
    if root in _ROOTS or name in ("item", "retries", "status", "duration", "exitCode"):
        return None
    if spot.loop:
        return Unresolved("CLR467", f"nothing fills in {{{{{name}}}}}", why=_LOOP, help=nearest(root, _ROOTS))
    close = nearest(root, _ROOTS)
    if _LIKE_OURS.fullmatch(name) and close.startswith("did"):
        return Unresolved(
            "CLR468",
            f"nothing fills in {{{{{name}}}}}",
            "warning",
            why="Argo leaves tags that it doesn't know as they are written",
            help=close,
        )
    return None


def _nested(tag: Tag, spot: Spot) -> Iterator[Finding]:
    name = tag.name
    if name.startswith(CHECKED) and spot.checked:
        yield _finding(
            Unresolved(
                "CLR467",
                "a tag inside a tag",
                why="Argo looks the outer name up before the inner one is filled in, and refuses it",
                help="write an expression, as {{=inputs.parameters[item]}}",
            ),
            spot,
            tag.start,
        )


def _never_closed(spot: Spot, at: int) -> Iterator[Finding]:
    rest = spot.text[at + 2 :].strip()
    inside_call = spot.place.call is not None
    breaks = inside_call or (rest.startswith(CHECKED) and spot.checked) or rest.startswith("=")
    yield Finding(
        "CLR487",
        "a tag that is never closed",
        spot.path,
        severity="error" if breaks else "warning",
        offset=at,
        why="Argo looks for the closing braces in what follows, whatever field that is",
        help="add `}}`" if breaks else "add `}}`; text that must have such braces travels best as a file or a variable",
    )


def _finding(problem: Unresolved, spot: Spot, offset: int) -> Finding:
    return Finding(
        problem.code,
        problem.message,
        spot.path,
        severity=problem.severity,
        offset=offset,
        why=problem.why,
        help=problem.help,
    )


def _of_workflow(flow: Flow, names: Names) -> Iterator[Finding]:
    """Outside of templates only `workflow.` can be read; what isn't there stays as it is written."""
    place = Place(Template((), {}))
    for key, value in flow.spec.items():
        if key in ("templates", "templateDefaults", "arguments", "metrics"):
            continue
        for path, text in tagged(value, (*flow.path, key)):
            for tag in tags_in(text):
                if tag.expression or not tag.name.startswith("workflow.") or tag.name in ("workflow.failures",):
                    continue
                if (problem := names.problem(tag.name, place)) is not None:
                    yield Finding(
                        "CLR468",
                        problem.message,
                        path,
                        severity="warning",
                        offset=tag.start,
                        why="the text stays as it is written",
                        help=problem.help,
                    )
