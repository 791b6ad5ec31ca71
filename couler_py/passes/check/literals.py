"""Values known when the workflow is built: that they can travel at all, and on every engine alike."""

from __future__ import annotations

from typing import Any

from couler_py.ir import wire
from couler_py.ir.evaluate import LEAST, MOST
from couler_py.passes.check.findings import Findings, Place

DEPTH = 100
"""How deep values and expressions may be nested: readers in Python, Go and YAML recurse, and give up somewhere."""


def check_literal(value: Any, what: str, findings: Findings, place: Place) -> bool:
    """Report what keeps a value from travelling; whether it can."""
    kind = type(value)
    if kind is bool or value is None or (kind is int and LEAST <= value <= MOST):
        return True
    if kind is str and len(value) <= wire.VALUE_LIMIT // 6 and value.isascii():
        return True
    problem = _problem(value, 0)
    if problem is not None:
        findings.error("CLR228", f"{what} can't travel: {problem}", place)
        return False
    size = len(value.encode()) if kind is str and wire.travels_raw(value) else len(wire.to_json(value).encode())
    if size > wire.VALUE_LIMIT:
        findings.error(
            "CLR227",
            f"{what} takes {size:,} bytes, and a value may take {wire.VALUE_LIMIT:,}",
            place,
            help="write it to a file and pass the path: an artifact has no such limit",
        )
        return False
    return True


def _problem(value: Any, depth: int) -> str | None:
    if depth > DEPTH:
        return f"it is nested more than {DEPTH} levels deep"
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, str):
        return _text_problem(value)
    if isinstance(value, int):
        return None if LEAST <= value <= MOST else f"{value} doesn't fit in 64 bits"
    if isinstance(value, float):
        written = wire.finite(value)
        return None if written == value else f'the float {value} must be written as the string "{written}"'
    if isinstance(value, list):
        return next((found for item in value if (found := _problem(item, depth + 1)) is not None), None)
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                return f"the key {key!r} of an object is not a string"
            found = _text_problem(key) or _problem(item, depth + 1)
            if found is not None:
                return found
        return None
    return f"a {type(value).__name__} is not a JSON value"


def _text_problem(text: str) -> str | None:
    if text.isascii():
        return None
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"the string {text[:40]!r} holds half of a surrogate pair at {error.start}, which is not Unicode"
    return None
