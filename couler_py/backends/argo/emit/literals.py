"""Text of Argo's expression language (expr-lang 1.17, as Argo 4 has it) from plain data."""

from __future__ import annotations

import re
from typing import Any

_ESCAPED = re.compile(r"[\\'\"{}\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
RESERVED = frozenset(
    "else in if and or not let nil true false matches contains startsWith endsWith".split()  # noqa: SIM905
)


def string(text: str) -> str:
    """A string literal. Braces are escaped, so that a tag around it can't end early nor another begin.

    >>> print(string("it's {{x}}"))
    'it\\u0027s \\u007b\\u007bx\\u007d\\u007d'
    """
    return "'" + _ESCAPED.sub(_escape, text) + "'"


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    return "\\\\" if char == "\\" else f"\\u{ord(char):04x}"


def member(base: str, name: str, *, optional: bool = False) -> str:
    """Access to a member by name: with a dot where the name is a word of the language, else in brackets."""
    if _WORD.fullmatch(name) and name not in RESERVED:
        return f"{base}?.{name}" if optional else f"{base}.{name}"
    return f"{base}?.[{string(name)}]" if optional else f"{base}[{string(name)}]"


def scalar(value: Any) -> str:
    """A literal for a JSON scalar. Raises `TypeError` for lists and objects."""
    if value is None:
        return "nil"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if value >= 0 else f"({value})"
    if isinstance(value, float):
        text = repr(value)
        return text if value >= 0 else f"({text})"
    if isinstance(value, str):
        return string(value)
    raise TypeError(f"{type(value).__name__} has no literal")


def failing(message: str) -> str:
    """An expression that always fails, with the message in what Argo shows of it."""
    return f"fromJSON({string(message)})"


def tag(expression: str) -> str:
    """A string that Argo replaces by the value of the expression."""
    # A brace before the end would close the tag early or be read as part of it.
    return "{{=" + expression + (" }}" if expression.endswith("}") else "}}")
