"""The samples of a step, as every rank has them, and the micro-batches that they make."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import torch

from couler_py.steps.models.decoder import IGNORED, within_documents

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Batch:
    """Samples in the order of the data, all of shape (samples, length)."""

    tokens: Tensor
    targets: Tensor
    """What comes next at each place; `IGNORED` where that doesn't count."""
    documents: Tensor | None = None
    """Numbers of the texts that are packed into a sample: none looks into another."""

    @classmethod
    def of(cls, rows: Tensor) -> Batch:
        """Rows of one token more than a sample has: each token's target is the next."""
        return cls(rows[:, :-1], rows[:, 1:])

    @cached_property
    def counted(self) -> int:
        """Targets that count, by which the loss is divided."""
        return int((self.targets != IGNORED).sum())

    def rows(self, first: int, end: int) -> Batch:
        """Some of the samples."""
        documents = None if self.documents is None else self.documents[first:end]
        return Batch(self.tokens[first:end], self.targets[first:end], documents)

    def to(self, device: torch.device) -> Batch:
        """It on a device."""
        documents = None if self.documents is None else self.documents.to(device)
        return Batch(self.tokens.to(device), self.targets.to(device), documents)

    @cached_property
    def positions(self) -> Tensor:
        """Places of tokens in their documents, of shape (samples or 1, length)."""
        length = self.tokens.shape[1]
        places = torch.arange(length, device=self.tokens.device)[None]
        if self.documents is None:
            return places
        begins = torch.ones_like(self.documents, dtype=torch.bool)
        begins[:, 1:] = self.documents[:, 1:] != self.documents[:, :-1]
        return places - torch.where(begins, places, 0).cummax(dim=1).values

    def mask(self, first: int, end: int) -> Tensor | None:
        """What tokens from a place to before another may look at, up to there; None where that is all before them.

        Of shape (samples or 1, 1, end - first, end), True at what may be looked at.
        """
        if self._mask is not None:
            return self._mask[:, :, first:end, :end]
        if first == 0:
            return None
        row = torch.ones(end - first, end, dtype=torch.bool, device=self.tokens.device)
        return row.tril(first)[None, None]

    @cached_property
    def _mask(self) -> Tensor | None:
        return None if self.documents is None else within_documents(self.documents)


def bounds(length: int, slices: int) -> list[tuple[int, int]]:
    """Where the slices of a sequence begin and end. Raises `ValueError` for more slices than tokens."""
    if slices > length:
        raise ValueError(f"{slices} slices of {length} tokens")
    return [(at * length // slices, (at + 1) * length // slices) for at in range(slices)]
