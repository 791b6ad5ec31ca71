"""The numbers that a table begins with: the same however it is cut."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor

    from couler_py.steps.dlrm.embeddings.placing import Part, Table

BLOCK = 4096
"""Rows that are drawn together."""


def beginning(table: Table, part: Part, seed: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """A part of a table's first numbers, on the CPU: uniform in ±1/sqrt(rows), as Naumov et al. have it.

    "Deep Learning Recommendation Model for Personalization and Recommendation Systems" (arXiv 1906.00091), in its
    program. Each block of rows is drawn from a seed of its own.
    """
    found = torch.empty(part.rows, part.columns, dtype=dtype)
    bound = table.rows**-0.5
    for block in range(part.row // BLOCK, -(-(part.row + part.rows) // BLOCK)):
        name = f"{seed}/{table.name}/{block}".encode()
        stream = torch.Generator().manual_seed(int.from_bytes(hashlib.blake2b(name, digest_size=7).digest(), "big"))
        first = block * BLOCK
        rows = min(BLOCK, table.rows - first)
        drawn = (torch.rand(rows, table.width, generator=stream, dtype=torch.float64) * 2 - 1) * bound
        low, high = max(first, part.row), min(first + rows, part.row + part.rows)
        taken = drawn[low - first : high - first, part.column : part.column + part.columns]
        found[low - part.row : high - part.row] = taken.to(dtype)
    return found
