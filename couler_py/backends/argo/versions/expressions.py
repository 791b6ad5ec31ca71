"""Finding one's way in expressions without parsing them."""

from __future__ import annotations

import re

TAG = re.compile(r"\{\{=(.*?)\}\}", re.DOTALL)
"""A tag with an expression, which is group 1."""
LITERAL = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`")
"""A literal string."""


def without_texts(expression: str) -> str:
    """The expression with every literal string in it empty."""
    return LITERAL.sub("''", expression)
