"""Values of a workflow in a manifest: they stand as marks while it is made, and as substitutions when it is done."""

from __future__ import annotations

from typing import Any

from couler_py.ir.expr import Text, TextLike
from couler_py.ir.pod import Substitution, Templated


class Marks:
    """The texts with values in them of one manifest.

    >>> from couler_py.ir.expr import Input
    >>> marks = Marks()
    >>> marks.templated({"name": marks.render(Text((Input("x"),)))}).texts[0].pointer
    '/name'
    """

    def __init__(self) -> None:
        self._texts: dict[str, Text] = {}

    def render(self, text: TextLike) -> str:
        """What stands for a text while the manifest is made: itself, or a mark."""
        if isinstance(text, str):
            return text
        mark = f"\0{len(self._texts)}\0"
        self._texts[mark] = text
        return mark

    def templated(self, value: Any) -> Templated:
        """The finished manifest. A mark may be a part of a longer string."""
        texts: list[Substitution] = []
        return Templated(self._leaf(value, "", texts), tuple(texts))

    def _leaf(self, value: Any, pointer: str, texts: list[Substitution]) -> Any:
        if isinstance(value, dict):
            return {
                key: self._leaf(item, f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}", texts)
                for key, item in value.items()
            }
        if isinstance(value, list):
            return [self._leaf(item, f"{pointer}/{index}", texts) for index, item in enumerate(value)]
        if not isinstance(value, str) or "\0" not in value:
            return value
        parts: list[Any] = []
        for number, part in enumerate(value.split("\0")):
            parts += self._texts[f"\0{part}\0"].parts if number % 2 else [part] if part else []
        texts.append(Substitution(pointer, Text(tuple(parts))))
        return ""
