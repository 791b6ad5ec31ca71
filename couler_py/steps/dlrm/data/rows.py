"""Rows as they stand in a file, in memory: the same whether they were made, parsed, or read from Parquet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


class Rows(msgspec.Struct, frozen=True):
    """n rows of d dense and s sparse columns, not encoded."""

    label: Array
    """Shape (n,), type uint8: 0 or 1."""
    dense: Array
    """Shape (n, d), type int32; 0 where missing."""
    dense_known: Array
    """Shape (n, d), type bool: whether there is a value."""
    sparse: Array
    """Shape (n, s), type uint32: the category, which files write as 8 hexadecimal digits; 0 where missing."""
    sparse_known: Array
    """Shape (n, s), type bool."""

    def __len__(self) -> int:
        """How many rows."""
        return len(self.label)

    def chosen(self, which: Array) -> Rows:
        """Some of the rows: a mask, numbers, or a slice."""
        return Rows(*(getattr(self, name)[which] for name in self.__struct_fields__))

    @staticmethod
    def joined(parts: Sequence[Rows]) -> Rows:
        """The rows of several, one after the other."""
        return Rows(*(np.concatenate([getattr(each, name) for each in parts]) for name in Rows.__struct_fields__))


class Bad(msgspec.Struct, frozen=True):
    """A row that is none: where it stands, what is wrong, and the row as it was."""

    row: int
    """Its number in the file, from 1."""
    reason: str
    text: bytes
