"""How docstrings become pages: examples as code, and the fields of a struct as one list instead of a heading each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import griffe

EXAMPLE = re.compile(r"^>>> .*(?:\n(?:>>> |\.\.\. |\.\.\.$|(?!>>>)\S).*)*", re.MULTILINE)
DIRECTIVE = re.compile(r" *# doctest: \+\w+$", re.MULTILINE)


class Docstrings(griffe.Extension):
    """Called by mkdocstrings for everything that it has read from the sources."""

    def on_instance(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """An example is code in Python's colours; what only doctest reads isn't shown."""
        if obj.docstring is not None:
            obj.docstring.value = EXAMPLE.sub(_fenced, obj.docstring.value)

    def on_class_members(self, *, cls: griffe.Class, **kwargs: Any) -> None:
        """What a struct holds, below what it says of itself."""
        fields = [] if "__init__" in cls.members else list(_fields(cls))
        if fields and cls.docstring is not None:
            cls.docstring.value += "\n\n```python\n" + "\n".join(fields) + "\n```"


def _fenced(found: re.Match[str]) -> str:
    return f"```pycon\n{DIRECTIVE.sub('', found[0])}\n```"


def _fields(cls: griffe.Class) -> Iterator[str]:
    for name, member in cls.members.items():
        if not isinstance(member, griffe.Attribute) or member.annotation is None or name.startswith("_"):
            continue
        if member.docstring is None and "property" not in member.labels:
            yield f"{name}: {member.annotation}" + (f" = {member.value}" if member.value is not None else "")
