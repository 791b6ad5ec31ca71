"""What a call is repeated for: one source of items, and items that are there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from couler_py.backends.argo.lint.context import JSON
from couler_py.backends.argo.lint.finding import Finding, Path
from couler_py.backends.argo.lint.rules.flow import Call, Flow
from couler_py.backends.argo.lint.rules.values import as_text
from couler_py.backends.argo.vocabulary import LOOPS

_WHOLE = re.compile(r"[-+]?\d+")
MOST = 100_000
"""A fan-out of more items than this outgrows the status of any workflow."""


def loops(flow: Flow) -> Iterator[Finding]:
    """Items come from one place, and can be counted where they are written."""
    for template in flow.all_templates:
        for call in template.calls:
            given = [each for each in LOOPS if call.data.get(each) not in (None, [], "")]
            if len(given) > 1:
                yield Finding(
                    "CLR465",
                    f"{call.where} has both `{given[0]}` and `{given[1]}`",
                    (*call.path, given[1]),
                    on="key",
                    why="items come from one place",
                    help="keep one of them",
                )
            elif given == ["withParam"]:
                yield from _param(call, call.data["withParam"])
            elif given == ["withSequence"]:
                yield from _sequence(call, call.data["withSequence"], (*call.path, "withSequence"))
            elif given == ["withItems"]:
                yield from _keys(call, call.data["withItems"], "withItems")


def _param(call: Call, text: str) -> Iterator[Finding]:
    if "{{" in text:
        return
    try:
        items = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        yield _no_list(call, f"isn't JSON: {error}")
        return
    if not isinstance(items, list):
        yield _no_list(call, "is JSON, but not a list")
        return
    yield from _keys(call, items, "withParam")


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _no_list(call: Call, problem: str) -> Finding:
    return Finding(
        "CLR465",
        f"the `withParam` of {call.where} {problem}",
        (*call.path, "withParam"),
        why="Argo reads it as a JSON list when the turn of the call comes, and ends it in Error; nested `steps` then "
        "stay Running for ever",
        help="write a JSON list, or a tag whose value is one; a written list fits `withItems`",
    )


def _sequence(call: Call, sequence: JSON, path: Path) -> Iterator[Finding]:
    yield from _format(call, sequence.get("format", ""), (*path, "format"))
    count, end = sequence.get("count"), sequence.get("end")
    if count is None and end is None:
        yield Finding(
            "CLR465",
            f"the `withSequence` of {call.where} has no end",
            path,
            why="the call ends in Error when its turn comes",
            help="add `count` or `end`",
        )
        return
    numbers: dict[str, int] = {}
    for key in ("start", "count", "end"):
        if key not in sequence or sequence[key] is None:
            continue
        text = as_text(sequence[key])
        if "{{" in text:
            return
        if not _WHOLE.fullmatch(text):
            yield Finding(
                "CLR465",
                f"`{key}` of the `withSequence` of {call.where} is {text!r}",
                (*path, key),
                why="it is a whole number; the call ends in Error when its turn comes",
                help="write a whole number, or a tag whose value is one",
            )
            return
        numbers[key] = int(text)
    if len(numbers) == 3:
        return
    total = numbers["count"] if "count" in numbers else abs(numbers["end"] - numbers.get("start", 0)) + 1
    if total > MOST:
        yield Finding(
            "CLR489",
            f"the `withSequence` of {call.where} makes {total} nodes",
            path,
            severity="warning",
            why="each takes about 1 KB of the status of the run, which is refused above 1 MiB",
            help="let one step work through a range of them",
        )


def _format(call: Call, text: str, path: Path) -> Iterator[Finding]:
    """The items of a sequence are what Go's `Sprintf` makes of a number, and then stand in JSON."""
    if not text or "{{" in text:
        return
    verbs = [each[-1] for each in re.findall(r"%[-+# 0]*(?:[1-9]\d*)?(?:\.\d*)?[^\d.]", text) if not each.endswith("%")]
    breaks = re.search(r'["\\\x00-\x1f]', text) is not None or "q" in verbs
    if breaks or verbs not in ([], ["d"], ["x"], ["X"], ["o"], ["O"], ["b"], ["c"], ["U"], ["v"]):
        yield Finding(
            "CLR465",
            f"the `format` of the `withSequence` of {call.where} is {text!r}",
            path,
            severity="error" if breaks else "warning",
            why="the items stand in JSON, which quotes and backslashes break: the call ends in Error"
            if breaks
            else "a format has one place for one whole number, as %d, %03d or %x",
            help="write it with one %d",
        )


_READ = re.compile(r"\{\{\s*item\.([^{}\s]+)\s*\}\}")


def _keys(call: Call, items: list[object], field: str) -> Iterator[Finding]:
    """What the call reads of its items, each of them has; that none of those of `withItems` has it, the server says."""
    text = json.dumps({key: value for key, value in call.data.items() if key not in (field, "inline")})
    for key in dict.fromkeys(_READ.findall(text)):
        without = [index for index, each in enumerate(items) if not _has(each, key)]
        if without and (field == "withParam" or len(without) < len(items)):
            yield Finding(
                "CLR465",
                f"item {without[0]} of {call.where} has no {key!r}, which the call reads",
                (*call.path, field, without[0]) if field == "withItems" else (*call.path, field),
                why="what an item doesn't have can't be filled in, and the call ends in Error when its turn comes",
                help=f"give every item {key!r}",
            )


def _has(item: object, key: str) -> bool:
    if isinstance(item, list):
        return re.fullmatch(r"\[\d+\]", key) is not None and int(key[1:-1]) < len(item)
    return isinstance(item, dict) and key in item
