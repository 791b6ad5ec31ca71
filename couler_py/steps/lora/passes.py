"""One forward and backward for the rows of several jobs: each gets the gradients that it would get alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import torch

from couler_py.steps.lora.hosting import Part
from couler_py.steps.lora.losses import Share, loss_of
from couler_py.steps.lora.objectives import DPO
from couler_py.steps.models.decoder import IGNORED, next_token_loss, stream

if TYPE_CHECKING:
    from torch import Tensor

    from couler_py.steps.lora.data import Example, Row
    from couler_py.steps.lora.hosting import Host
    from couler_py.steps.lora.objectives import Objective
    from couler_py.steps.lora.weights import Weights

MULTIPLE = 8
"""Rows are padded to the longest one, rounded up to so many tokens: what matrix units like."""


class Piece(NamedTuple):
    """Some examples of one job's step."""

    examples: Sequence[Example]
    objective: Objective
    weights: Weights
    share: Share
    scale: float = 1.0
    """What the loss is multiplied by, for float16."""
    seed: int | None = None
    """Of dropout; None leaves nothing out."""
    reference: Weights | None = None
    """DPO's reference, where it is an adapter."""
    seeds: Sequence[int] | None = None
    """Of dropout for each example by itself, in place of `seed`: whatever piece it is in, the same is left out."""

    @property
    def rows(self) -> list[Row]:
        """All rows: of pairs, the chosen ones first."""
        width = len(self.examples[0].rows)
        return [example.rows[number] for number in range(width) for example in self.examples]

    @property
    def length(self) -> int:
        """Tokens of the longest row, padded."""
        return padded(max(example.length for example in self.examples))

    def parts(self, begin: int) -> list[Part]:
        """Its rows in a batch, where the first one is at `begin`."""
        if self.seeds is None:
            return [Part(begin, begin + len(self.rows), self.weights, self.seed)]
        found = []
        for at in range(len(self.rows)):
            number, example = divmod(at, len(self.examples))
            seed = stream(self.seeds[example], f"row {number}")
            found.append(Part(begin + at, begin + at + 1, self.weights, seed))
        return found


class Learned(NamedTuple):
    """A piece's loss, without its scale, as a number on the device, and the gradient of each trained parameter."""

    loss: Tensor
    gradients: tuple[Tensor, ...]


class Batch(NamedTuple):
    """Rows of several pieces, padded at their right; each piece has the rows from one bound to the next."""

    tokens: Tensor
    targets: Tensor
    valid: Tensor
    bounds: tuple[int, ...]


def padded(length: int) -> int:
    """A length, rounded up."""
    return -(-length // MULTIPLE) * MULTIPLE


def batch_of(pieces: Sequence[Piece], context: int, device: torch.device) -> Batch:
    """The pieces' rows as one batch, no longer than the context."""
    rows = [row for piece in pieces for row in piece.rows]
    bounds = [0]
    for piece in pieces:
        bounds.append(bounds[-1] + len(piece.rows))
    length = min(context, max(piece.length for piece in pieces))
    tokens = torch.zeros(len(rows), length, dtype=torch.long)
    targets = torch.full((len(rows), length), IGNORED)
    valid = torch.zeros(len(rows), length, dtype=torch.bool)
    for number, row in enumerate(rows):
        count = len(row.tokens)
        tokens[number, :count] = torch.tensor(row.tokens)
        targets[number, :count] = torch.tensor(row.targets)
        valid[number, :count] = True
    return Batch(tokens.to(device), targets.to(device), valid.to(device), tuple(bounds))


def losses_of(host: Host, pieces: Sequence[Piece]) -> list[Tensor]:
    """Each piece's loss, without scales. Raises what torch raises where memory ends."""
    batch = batch_of(pieces, host.context, host.device)
    spans = list(zip(pieces, batch.bounds, batch.bounds[1:], strict=False))
    references = _references(host, batch, spans)
    parts = [part for piece, begin, _ in spans for part in piece.parts(begin)]
    told = _per_token(host, batch.tokens, batch.targets, batch.valid, parts)
    return [
        loss_of(piece.objective, told[begin:end], reference, piece.share)
        for (piece, begin, end), reference in zip(spans, references, strict=True)
    ]


def learn(host: Host, pieces: Sequence[Piece]) -> list[Learned]:
    """Losses and gradients of all pieces, from one forward and one backward.

    Nothing is changed before all of it is there, so a pass that ends for want of memory can be made again in parts. A
    loss that is no number makes no other piece's gradients so: rows never meet. Each adapter has one piece.
    """
    losses = losses_of(host, pieces)
    parameters = [parameter for piece in pieces for parameter in piece.weights.parameters]
    scaled = [loss * piece.scale for loss, piece in zip(losses, pieces, strict=True)]
    flat = iter(torch.autograd.grad(scaled, parameters))
    return [
        Learned(loss.detach(), tuple(next(flat) for _ in piece.weights.parameters))
        for loss, piece in zip(losses, pieces, strict=True)
    ]


def _references(host: Host, batch: Batch, spans: Sequence[tuple[Piece, int, int]]) -> list[Tensor | None]:
    """What DPO's references say of its rows: all jobs' in one forward, which keeps nothing for a backward."""
    asked = [(piece, begin, end) for piece, begin, end in spans if isinstance(piece.objective, DPO)]
    if not asked:
        return [None] * len(spans)
    rows = torch.cat([torch.arange(begin, end) for _, begin, end in asked]).to(batch.tokens.device)
    parts, places, at = [], {}, 0
    for piece, begin, end in asked:
        places[begin] = slice(at, at + end - begin)
        if piece.reference is not None:
            parts.append(Part(at, at + end - begin, piece.reference))
        at += end - begin
    with torch.no_grad():
        told = _per_token(host, batch.tokens[rows], batch.targets[rows], batch.valid[rows], parts)
    return [told[places[begin]] if begin in places else None for _, begin, _ in spans]


def _per_token(host: Host, tokens: Tensor, targets: Tensor, valid: Tensor, parts: Sequence[Part]) -> Tensor:
    logits = host.logits(tokens, valid, parts)
    return next_token_loss(logits, targets, reduction="none").view(targets.shape)
