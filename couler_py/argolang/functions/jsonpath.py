"""Argo's `jsonpath`: what github.com/evilmonkeyinc/jsonpath 0.8.1 finds, but for filters and scripts."""

from __future__ import annotations

import re
from typing import Any

from couler_py.argolang.problems import EvaluationProblem
from couler_py.argolang.values import Int64, in_bytes

_STEP = re.compile(r"(?P<recursive>\.\.)|\.?(?P<bracket>\[)|\.(?P<name>[^.\[]+)|(?P<bare>[^.\[]+)")
_ITEM = re.compile(r"\s*(?:'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"|(-?\d+))\s*(?:,|$)")
_DEPTH = 200

Step = tuple[str, Any]


def query(data: Any, path: str) -> Any:
    """What a path finds: one value, or a list where the path has a wildcard, a range or a `..`.

    Raises EvaluationProblem for a path that finds nothing or can't be read.

    >>> query({"a": [{"b": 1.0}, {"b": 2.0}]}, "$.a[*].b")
    [1.0, 2.0]
    """
    return _applied(data, _steps(path), 0)


def _steps(path: str) -> list[Step]:
    if path[:1] not in ("$", "@") or path[1:2] not in ("", ".", "["):
        raise EvaluationProblem(f"{path!r} is no path: it must begin with '$'")
    steps: list[Step] = []
    position = 1
    while position < len(path):
        found = _STEP.match(path, position)
        if found is None:
            raise EvaluationProblem(f"{path!r} can't be read from {path[position:]!r} on")
        if found["recursive"]:
            steps.append(("recursive", None))
            position = found.end()
        elif found["bracket"]:
            step, position = _bracketed(path, found.end())
            steps.append(step)
        else:
            name = (found["name"] or found["bare"]).strip()
            steps.append({"*": ("wildcard", None), "length": ("length", None)}.get(name, ("key", name)))
            position = found.end()
    if len(steps) > _DEPTH:
        raise EvaluationProblem(f"a path of more than {_DEPTH} steps")
    return steps


def _bracketed(path: str, start: int) -> tuple[Step, int]:
    end = _closing(path, start)
    inside = path[start:end].strip()
    if inside.startswith(("?", "(")):
        raise EvaluationProblem(f"filters such as {inside!r} aren't evaluated here", late=True)
    if inside == "*":
        return ("wildcard", None), end + 1
    if re.fullmatch(r"-?\d*\s*:\s*-?\d*\s*(:\s*-?\d*)?", inside):
        bounds = [int(each) if each.strip() else None for each in inside.split(":")]
        return ("range", (*bounds, None, None)[:3]), end + 1
    items: list[str | int] = []
    position = 0
    while position < len(inside):
        found = _ITEM.match(inside, position)
        if found is None or found.end() == position:
            raise EvaluationProblem(f"{inside!r} can't be read in a path")
        name = found[1] if found[1] is not None else found[2]
        items.append(int(found[3]) if found[3] is not None else re.sub(r"\\(['\"])", r"\1", name))
        position = found.end()
    if not items or inside.endswith(","):
        raise EvaluationProblem(f"{path!r} has empty brackets")
    if len(items) > 1:
        return ("union", items), end + 1
    return (("index" if isinstance(items[0], int) else "key"), items[0]), end + 1


def _closing(path: str, start: int) -> int:
    quote = ""
    depth = 0
    for place in range(start, len(path)):
        character = path[place]
        if quote:
            quote = "" if character == quote and path[place - 1] != "\\" else quote
        elif character in "'\"":
            quote = character
        elif character in "[(":
            depth += 1
        elif character in "])" and depth:
            depth -= 1
        elif character == "]":
            return place
    raise EvaluationProblem(f"a bracket isn't closed in {path!r}")


def _applied(here: Any, steps: list[Step], depth: int) -> Any:
    if depth > _DEPTH:
        raise EvaluationProblem(f"a value nested deeper than {_DEPTH} levels")
    if not steps:
        return here
    (kind, what), rest = steps[0], steps[1:]
    if kind == "key":
        if not isinstance(here, dict) or what not in here:
            raise EvaluationProblem(f"there is no {what!r}")
        return _applied(here[what], rest, depth)
    if kind == "index":
        return _applied(_indexed(here, what), rest, depth)
    if kind == "length":
        return _applied(_length(here), rest, depth)
    if kind == "recursive":
        return _recursive(here, rest, depth)
    if kind == "wildcard":
        return _each(_elements(here), rest, depth)
    chosen = _ranged(here, what) if kind == "range" else _union(here, what)
    if rest and rest[0][0] == "index":
        return _applied(chosen, rest, depth)
    return _each(chosen, rest, depth)


def _indexed(here: Any, place: int) -> Any:
    if not isinstance(here, list) or not -len(here) <= place < len(here):
        raise EvaluationProblem(f"there is no element {place}")
    return here[place]


def _length(here: Any) -> Any:
    if isinstance(here, dict):
        return here.get("length", Int64(len(here)))
    if isinstance(here, list | str):
        return Int64(len(in_bytes(here) if isinstance(here, str) else here))
    raise EvaluationProblem("only texts, lists and objects have a length")


def _elements(here: Any) -> list[Any]:
    if isinstance(here, dict):
        return [here[key] for key in sorted(here)]
    if isinstance(here, list):
        return here
    raise EvaluationProblem("only lists and objects have elements")


def _each(values: list[Any], rest: list[Step], depth: int) -> list[Any]:
    if not rest:
        return list(values)
    found = []
    for value in values:
        try:
            result = _applied(value, rest, depth + 1)
        except EvaluationProblem as problem:
            if problem.late:
                raise
            continue
        if result is not None:
            found.append(result)
    return found


def _ranged(here: Any, bounds: tuple[int | None, int | None, int | None]) -> list[Any]:
    if not isinstance(here, list):
        raise EvaluationProblem("only lists have ranges")
    first, last, step = bounds
    if step == 0:
        raise EvaluationProblem("a range with the step 0")
    chosen = here[slice(first, last)]
    return chosen[:: step or 1]


def _union(here: Any, items: list[str | int]) -> list[Any]:
    if len({type(each) for each in items}) > 1:
        raise EvaluationProblem("a union of names and numbers")
    if isinstance(items[0], str):
        if not isinstance(here, dict):
            raise EvaluationProblem("only objects have names")
        return [here[name] for name in items if name in here]
    if not isinstance(here, list):
        raise EvaluationProblem("only lists have numbers")
    return [here[place] for place in items if isinstance(place, int) and -len(here) <= place < len(here)]


def _recursive(here: Any, rest: list[Step], depth: int) -> list[Any]:
    if here is None:
        return []
    if depth > _DEPTH:
        raise EvaluationProblem(f"a value nested deeper than {_DEPTH} levels")
    found: list[Any] = []
    if rest:
        try:
            result = _applied(here, rest, depth + 1)
        except EvaluationProblem as problem:
            if problem.late:
                raise
            result = None
        if isinstance(result, list):
            found += result
        elif result is not None:
            found.append(result)
    else:
        found.append(here)
    if isinstance(here, dict | list):
        for each in _elements(here):
            found += _recursive(each, rest, depth + 1)
    return found
