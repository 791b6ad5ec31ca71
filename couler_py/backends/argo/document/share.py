"""How much of imported documents is carried as it stands instead of being understood."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import UNSET

from couler_py.backends.argo.document.documents import write
from couler_py.ir.model import Document

_NUMBER = re.compile(r"/\d+(?=/|$)")


class Share(msgspec.Struct, frozen=True):
    """Leaves of documents, and those that natives carry, by field: the pointer with `*` for the places in lists."""

    leaves: int
    natives: dict[str, int]

    @property
    def part(self) -> float:
        """The natives' part of all leaves, from 0 to 1."""
        return sum(self.natives.values()) / self.leaves if self.leaves else 0.0

    def report(self) -> str:
        """One line a field, the largest first."""
        lines = [f"{count:6}  {field}" for field, count in self.natives.items()]
        return "\n".join([f"{self.part:.2%} of {self.leaves} leaves", *lines])


def native_share(documents: Iterable[Document]) -> Share:
    """The share of leaves that natives carry: a value that is spelled in another way counts as its leaves.

    A field that is only left out counts as one.
    """
    total = 0
    found: Counter[str] = Counter()
    for document in documents:
        total += _leaves(write(document))
        for native in document.natives:
            found[_NUMBER.sub("/*", native.pointer)] += 1 if native.value is UNSET else _leaves(native.value)
    return Share(total, dict(sorted(found.items(), key=lambda each: (-each[1], each[0]))))


def _leaves(value: Any) -> int:
    if isinstance(value, dict | list) and value:
        return sum(_leaves(each) for each in (value.values() if isinstance(value, dict) else value))
    return 1
