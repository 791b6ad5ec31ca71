"""Bags of ids: what is looked up for each sample and feature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor


class Bags(NamedTuple):
    """Ids of all features for some samples: a feature's bags one behind the other, feature by feature.

    `lengths` is int64 [features, samples], how many ids are in each bag; `ids` is int64 [sum of the lengths]. It is the
    order of torchrec's KeyedJaggedTensor.
    """

    lengths: Tensor
    ids: Tensor

    @property
    def samples(self) -> int:
        """How many samples."""
        return self.lengths.shape[1]

    def to(self, device: torch.device) -> Bags:
        """The same on another device."""
        return Bags(self.lengths.to(device), self.ids.to(device))


def bags_of(lists: Sequence[Sequence[Sequence[int]]]) -> Bags:
    """Bags from lists: for each feature, for each sample, its ids.

    >>> bags_of([[[3], [1, 2]], [[], [7]]])
    Bags(lengths=tensor([[1, 2],
            [0, 1]]), ids=tensor([3, 1, 2, 7]))
    """
    lengths = torch.tensor([[len(bag) for bag in feature] for feature in lists], dtype=torch.int64)
    ids = torch.tensor([each for feature in lists for bag in feature for each in bag], dtype=torch.int64)
    return Bags(lengths.reshape(len(lists), -1), ids)


def offsets_of(lengths: Tensor) -> Tensor:
    """Where each bag begins."""
    return lengths.cumsum(0) - lengths
