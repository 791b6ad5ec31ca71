"""Texts with their tags filled, as Argo's controller fills them.

Argo fills the JSON form of a whole template. Most of that can't be seen from outside; what can be is followed here: a
value with characters that Go's quoting writes otherwise than JSON is an error, and a list or an object that an
expression gives is written as JSON with `<`, `>` and `&` escaped. (Facts: util/template of Argo Workflows 4.0.7.)
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from time import time_ns
from typing import Any, Literal

from couler_py.argolang.environment import expanded, has
from couler_py.argolang.evaluation import STEPS, evaluate
from couler_py.argolang.functions.catalog import ENVIRONMENT
from couler_py.argolang.functions.goformat import go_quoted, to_json, whole
from couler_py.argolang.nodes import Binary, Identifier, Member, Node, String, walk
from couler_py.argolang.parser import parse
from couler_py.argolang.problems import EvaluationProblem, SyntaxProblem
from couler_py.argolang.tags import OPEN, Tag, scan, written

# an expression that reads one of these before it is there waits, even if it has a value without it
LATE = (
    "item",
    "retries",
    "lastRetry.exitCode",
    "lastRetry.status",
    "lastRetry.duration",
    "lastRetry.message",
    "workflow.status",
    "workflow.failures",
)


def fill(
    text: str,
    lookup: Mapping[str, str | None],
    environment: Mapping[str, Any] | None = None,
    *,
    unresolved: Literal["keep", "error"] = "keep",
    steps: int = STEPS,
    clock: Callable[[], int] = time_ns,
) -> str:
    """A text with its tags filled, once: what values hold isn't filled again.

    `lookup` has the values of names (`inputs.parameters.x`); None says that a value is known to be absent, which is an
    error for a tag. `environment` has the variables of expressions, by default those of `lookup`. A tag that can't be
    filled stays as it is, or is an error where `unresolved` says so; so is an expression that fails or is nil. Braces
    that are never closed stay in any case.

    Raises EvaluationProblem, and SyntaxProblem for what is no expression, both with offsets into the text.

    >>> fill("{{inputs.parameters.n}}: {{=asInt(inputs.parameters.n) + 1}} {{other}}", {"inputs.parameters.n": "1"})
    '1: 2 {{other}}'
    """
    variables = {**(expanded(lookup) if environment is None else environment), **ENVIRONMENT}
    parts = []
    for part in scan(text):
        if not isinstance(part, Tag):
            parts.append(part.text)
        elif part.expression:
            parts.append(_expression(part, variables, unresolved == "error", steps, clock))
        else:
            parts.append(_simple(part, lookup, unresolved == "error"))
    return "".join(parts)


def rendered(value: Any) -> str:
    """The value of an expression as it stands in a filled text: a text as it is, all else as JSON.

    Raises EvaluationProblem for nil, for what JSON can't hold, and for texts that Argo can't fill in.

    >>> rendered("a"), rendered(1.5), rendered(["<"])
    ('a', '1.5', '["\\\\u003c"]')
    """
    text, plain = _text(value)
    return text if plain else _survives(text)


def required(expression: str | Node) -> tuple[str, ...]:
    """The names without which Argo doesn't evaluate an expression in the strict mode.

    Those that a `??` or a `?.` provides for aren't among them; the local variables of `let` are, so that an expression
    with `let` is refused there.

    >>> required("tasks.a?.outputs ?? inputs.parameters.x")
    ('tasks', 'inputs.parameters.x', 'inputs.parameters', 'inputs')
    """
    tree = parse(expression) if isinstance(expression, str) else expression
    guarded = {id(each) for each in _guarded(tree)}
    found: dict[str, None] = {}
    for node in walk(tree):
        if id(node) in guarded:
            continue
        name = node.name if isinstance(node, Identifier) else _member_name(node) if isinstance(node, Member) else None
        if name is not None:
            found.setdefault(name)
    return tuple(found)


# ---- tags


def _simple(tag: Tag, lookup: Mapping[str, str | None], strict: bool) -> str:
    if tag.name in lookup:
        value = lookup[tag.name]
        if value is None:
            raise EvaluationProblem(f"{tag.name} has no value", tag.start)
        return _survives(value, tag.start)
    place = tag.text.rfind(OPEN)
    if place > 0 and (nested := tag.text[place + len(OPEN) :]) in lookup:
        value = lookup[nested]
        if value is None:
            raise EvaluationProblem(f"{nested} has no value", tag.start)
        return OPEN + tag.text[:place] + _survives(value, tag.start)
    if strict:
        raise EvaluationProblem(f"{tag.name} is unknown", tag.start)
    return written(tag)


def _expression(tag: Tag, variables: Mapping[str, Any], strict: bool, steps: int, clock: Callable[[], int]) -> str:
    try:
        tree = parse(tag.text)
        missing = [name for name in required(tree) if not has(variables, name)]
        if missing and (strict or any(name in LATE for name in missing)):
            raise EvaluationProblem(f"{missing[0]} is unknown")
        text, plain = _text(evaluate(tree, variables, steps=steps, clock=clock))
    except SyntaxProblem as problem:
        raise SyntaxProblem(problem.message, tag.inside + problem.offset) from problem
    except EvaluationProblem as problem:
        if not strict and not problem.late:
            return written(tag)
        place = tag.inside + (problem.offset or 0)
        raise EvaluationProblem(problem.message, place, late=problem.late) from problem
    return text if plain else _survives(text, tag.start)


def _text(value: Any) -> tuple[str, bool]:
    """A value as text, and whether it is a text in JSON too, as moments and versions are."""
    if value is None:
        raise EvaluationProblem("the expression has no value")
    if isinstance(value, str):
        return whole(value), True
    text = to_json(value)
    return (json.loads(text), True) if text.startswith('"') else (text, False)


def _survives(text: str, place: int | None = None) -> str:
    """A text that is quoted as Go quotes and then read as JSON."""
    quoted = go_quoted(text)
    if found := re.search(r"(?<!\\)(?:\\\\)*(\\[xUav])", quoted):
        raise EvaluationProblem(f"Argo can't fill in a text with the character {found[1]}", place)
    return text


# ---- what an expression needs


def _guarded(tree: Node) -> Iterator[Node]:
    for node in walk(tree):
        if isinstance(node, Binary) and node.operator == "??":
            yield from (each for each in walk(node.left) if isinstance(each, Member))
        elif isinstance(node, Member) and node.optional and isinstance(node.base, Member):
            yield node.base


def _member_name(node: Member) -> str | None:
    names: list[str] = []
    here: Node = node
    while isinstance(here, Member):
        if here.optional or not isinstance(here.property, String):
            return None
        names.insert(0, here.property.value)
        here = here.base
    return ".".join((here.name, *names)) if isinstance(here, Identifier) else None
