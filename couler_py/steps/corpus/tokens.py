"""All tokens of a corpus in one file, read where they lie, and the rows to train on that are cut from it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from couler_py.steps.corpus.tokenizers import END, Tokenizer

if TYPE_CHECKING:
    from numpy import ndarray

TOKENS, INDEX = "tokens.bin", "tokens.json"
WIDTHS = (2, 4)


class Index(msgspec.Struct, frozen=True):
    """What is in a file of tokens."""

    tokens: int
    documents: int
    vocabulary: int
    width: int
    """Bytes of a token, the low one first."""


def write(documents: Iterable[str], tokenizer: Tokenizer, folder: str | Path) -> Index:
    """Write the tokens of documents, each followed by `<end>`, to a folder; one document is in memory at a time.

    The index comes last: a folder without one is not whole.
    """
    import numpy

    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    (target / INDEX).unlink(missing_ok=True)
    width = WIDTHS[0] if tokenizer.vocabulary <= 1 << 16 else WIDTHS[1]
    tokens = count = 0
    with open(target / TOKENS, "wb") as file:
        for text in documents:
            row = [*tokenizer.encode(text), END]
            file.write(numpy.asarray(row, dtype=f"<u{width}").tobytes())
            tokens += len(row)
            count += 1
        file.flush()
        os.fsync(file.fileno())
    index = Index(tokens, count, tokenizer.vocabulary, width)
    (target / INDEX).write_bytes(msgspec.json.encode(index))
    return index


class Rows:
    """A folder of tokens as rows of one length, each one token longer for the targets; the rest at the end is left out.

    Raises `FileNotFoundError` where there is none, `ValueError` for a file that is not as long as its index says, or
    too short for one row.
    """

    def __init__(self, folder: str | Path, length: int):
        import numpy

        source = Path(folder)
        self.index = msgspec.json.decode((source / INDEX).read_bytes(), type=Index)
        size = (source / TOKENS).stat().st_size
        if size != self.index.tokens * self.index.width:
            raise ValueError(
                f"{source / TOKENS} has {size} bytes, not {self.index.tokens * self.index.width}: cut off?"
            )
        self.length = length
        self.count = (self.index.tokens - 1) // length
        if self.count < 1:
            raise ValueError(f"{self.index.tokens} tokens in {source}: a row takes {length + 1}")
        self._tokens = numpy.memmap(source / TOKENS, dtype=f"<u{self.index.width}", mode="r")

    def __len__(self) -> int:
        """How many rows there are."""
        return self.count

    def take(self, numbers: Sequence[int]) -> ndarray:
        """Rows by number, of shape (rows, length + 1) and type int64: inputs are `[:, :-1]`, targets `[:, 1:]`."""
        import numpy

        starts = numpy.asarray(numbers, dtype=numpy.int64)
        if starts.size and not 0 <= int(starts.min()) <= int(starts.max()) < self.count:
            raise IndexError(f"rows {starts.min()} to {starts.max()}: there are {self.count}")
        places = starts[:, None] * self.length + numpy.arange(self.length + 1)
        return self._tokens[places].astype(numpy.int64)

    def documents(self, rows: ndarray) -> ndarray:
        """Which document of its row each token is of, for `documents=`: an `<end>` is the last of its own."""
        import numpy

        ended = (rows == END).cumsum(axis=1)
        return numpy.concatenate([numpy.zeros_like(ended[:, :1]), ended[:, :-1]], axis=1)
