"""What Argo's texts refer to, changed wherever it stands: in tags, in expressions, and in JSON that holds them.

A change is a function from the path of a reference, as `("tasks", "a", "outputs", "result")`, to the path that stands
there instead, or None.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec

from couler_py.argolang.chains import replaced
from couler_py.argolang.problems import SyntaxProblem
from couler_py.argolang.tags import OPEN, Tag, scan
from couler_py.argolang.tags import written as written_part

Path: TypeAlias = tuple[str, ...]
Change: TypeAlias = Callable[[Path], Path | None]


def in_expression(text: str, change: Change) -> str:
    """An expression with other references. One that can't be parsed stays: it refers to nothing."""
    try:
        return replaced(text, lambda reference: change(reference.path))
    except SyntaxProblem:
        return text


def in_tag(text: str, change: Change) -> str:
    """The inside of a tag that is a name; spaces around it stay."""
    name = text.strip()
    path = change(tuple(name.split(".")))
    return text if path is None else text.replace(name, ".".join(path))


def in_text(text: str, change: Change) -> str:
    """A string with tags."""
    if OPEN not in text:
        return text
    return "".join(written_part(_tag(part, change) if isinstance(part, Tag) else part) for part in scan(text))


def _tag(part: Tag, change: Change) -> Tag:
    inside = in_expression if part.expression else in_tag
    return msgspec.structs.replace(part, text=inside(part.text, change))


def in_json(value: Any, change: Change) -> Any:
    """A JSON value in Argo's words: all its strings, and the expressions that stand without a tag."""
    if isinstance(value, str):
        return in_text(value, change)
    if isinstance(value, dict):
        return {
            key: in_expression(item, change)
            if key in _EXPRESSIONS and isinstance(item, str) and OPEN not in item
            else in_json(item, change)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [in_json(item, change) for item in value]
    return value


_EXPRESSIONS = ("expression", "fromExpression")
