"""The columns of a table in Criteo's format."""

from __future__ import annotations

import msgspec


class Schema(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The columns, in the order of the file: the label, dense features (integers), sparse features (categories).

    Criteo's files have 13 and 26 of them, without a line of names: its Kaggle set (`train.txt`) and its terabyte
    (`day_0` to `day_23`, also as `.gz`). Any value but the label may be missing. Raises `ValueError` for two columns of
    one name, and where there is none of a kind.
    """

    label: str = "label"
    dense: tuple[str, ...] = tuple(f"I{n}" for n in range(1, 14))
    sparse: tuple[str, ...] = tuple(f"C{n}" for n in range(1, 27))

    def __post_init__(self) -> None:
        if not self.dense or not self.sparse:
            raise ValueError("a schema has at least one dense and one sparse column")
        twice = sorted({name for name in self.columns if self.columns.count(name) > 1})
        if twice:
            raise ValueError(f"two columns are called {twice[0]!r}: each has a name of its own")

    @property
    def columns(self) -> tuple[str, ...]:
        """All names, in the order of the file."""
        return (self.label, *self.dense, *self.sparse)


CRITEO = Schema()
