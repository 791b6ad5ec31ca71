"""Where a plan puts each tensor of a decoder: which rank holds which part, who sums and updates what. No torch here.

A stage of several ranks splits its layers by columns and rows (Shoeybi et al., "Megatron-LM", arXiv 1909.08053):
heads and feed-forward parts go by their places in the group. Pipelines may have groups of other sizes; a tensor is then
cut into the finest cells of all (SplitAllReduce in HSPMD, OSDI 2026), and each cell is summed by those that hold it.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from couler_py.steps.checkpoint.boxes import Box, cells, edges, whole
from couler_py.steps.hybrid.plan import Plan
from couler_py.steps.models.config import DecoderConfig

EMBEDDING = "embed_tokens.weight"
HEAD = "lm_head.weight"
UNCUT = 1 << 62  # no tensor is so large: it is cut only where parts of ranks begin and end


class Section(msgspec.Struct, frozen=True):
    """Layers that follow each other on one group of ranks: a stage, or one chunk of it."""

    pipeline: int
    number: int
    """Counted along the model: with v chunks a stage, `chunk * stages + stage`."""
    ranks: tuple[int, ...]
    layers: tuple[int, int]
    is_first: bool
    is_last: bool


class Piece(msgspec.Struct, frozen=True, order=True):
    """A part of a tensor."""

    tensor: str
    box: Box


class Bucket(msgspec.Struct, frozen=True):
    """What the same ranks hold of one layer: they sum its gradients together, and share its optimizer state."""

    layer: int
    """-1 for the embedding, the number of layers for what follows the last."""
    owners: tuple[int, ...]
    shares: tuple[tuple[Piece, ...], ...]
    """By owner: rows of each cell, so that every number is in one share."""


class Layout(msgspec.Struct, frozen=True):
    """All of it, the same on every rank."""

    pipelines: tuple[tuple[Section, ...], ...]
    shapes: dict[str, tuple[int, ...]]
    boxes: dict[int, dict[str, Box]]
    """By rank, what it holds of which tensor."""
    copies: dict[int, dict[str, int]]
    """By rank, how many ranks of its stage hold the same: each has the gradient, and gives its part of it."""
    buckets: tuple[Bucket, ...]


def lay_out(plan: Plan, config: DecoderConfig, chunks: int = 1) -> Layout:
    """How a plan lays out a decoder, each stage in so many chunks.

    Raises `ValueError` for another number of layers than the decoder has, a stage with fewer layers than chunks, and a
    group of more ranks than there are heads of keys and values.
    """
    if plan.layers != config.layers:
        raise ValueError(f"a plan of {plan.layers} layers for a decoder of {config.layers}")
    shapes = _shapes(config)
    pipelines = tuple(_sections(plan, number, chunks) for number in range(len(plan.pipelines)))
    boxes: dict[int, dict[str, Box]] = {}
    copies: dict[int, dict[str, int]] = {}
    for section in (each for row in pipelines for each in row):
        size = len(section.ranks)
        if size > config.kv_heads:
            raise ValueError(
                f"a group of {size} ranks ({', '.join(map(str, section.ranks))}) shares {config.kv_heads} heads of "
                "keys and values: it has at most as many ranks"
            )
        for place, rank in enumerate(section.ranks):
            for name in _names(section, config):
                box = _part(name, shapes[name], config, place, size)
                boxes.setdefault(rank, {})[name] = box
                copies.setdefault(rank, {})[name] = size if box == whole(shapes[name]) else 1
    return Layout(pipelines, shapes, boxes, copies, _buckets(shapes, boxes, config))


def _sections(plan: Plan, number: int, chunks: int) -> tuple[Section, ...]:
    stages = plan.pipelines[number].stages
    found: list[Section] = []
    at = 0
    for chunk in range(chunks):
        for place, stage in enumerate(stages):
            count = (chunk + 1) * stage.count // chunks - chunk * stage.count // chunks
            if not count:
                raise ValueError(f"stage {place} of pipeline {number} has {stage.count} layers for {chunks} chunks")
            last = chunk == chunks - 1 and place == len(stages) - 1
            found.append(Section(number, len(found), stage.ranks, (at, at + count), not found, last))
            at += count
    return tuple(found)


def _shapes(config: DecoderConfig) -> dict[str, tuple[int, ...]]:
    wide, narrow, fed = config.hidden, config.kv_heads * config.head, config.feed_forward
    found: dict[str, tuple[int, ...]] = {EMBEDDING: (config.vocabulary, wide)}
    for layer in range(config.layers):
        each = {
            "input_layernorm.weight": (wide,),
            "self_attn.q_proj.weight": (wide, wide),
            "self_attn.k_proj.weight": (narrow, wide),
            "self_attn.v_proj.weight": (narrow, wide),
            "self_attn.o_proj.weight": (wide, wide),
            "post_attention_layernorm.weight": (wide,),
            "mlp.gate_proj.weight": (fed, wide),
            "mlp.up_proj.weight": (fed, wide),
            "mlp.down_proj.weight": (wide, fed),
        }
        found.update({f"layers.{layer}.{name}": shape for name, shape in each.items()})
    found["norm.weight"] = (wide,)
    if not config.tied:
        found[HEAD] = (config.vocabulary, wide)
    return found


def _names(section: Section, config: DecoderConfig) -> list[str]:
    """The tensors of a section: where the head's weights are the embedding's, they are on both ends."""
    low, high = section.layers
    found = [name for name in _shapes(config) if name.startswith("layers.") and low <= _layer(name, config) < high]
    head = EMBEDDING if config.tied else HEAD
    return list(dict.fromkeys([EMBEDDING] * section.is_first + found + ["norm.weight", head] * section.is_last))


def _layer(name: str, config: DecoderConfig) -> int:
    if name.startswith("layers."):
        return int(name.split(".")[1])
    return -1 if name == EMBEDDING else config.layers


def _part(name: str, shape: tuple[int, ...], config: DecoderConfig, place: int, count: int) -> Box:
    """What the rank at a place of a group of so many holds of a tensor."""
    kind = name.split(".")[-2]
    if kind in {"q_proj", "k_proj", "v_proj", "o_proj"}:  # heads of queries go with those of the keys they look at
        unit = config.head if kind in {"k_proj", "v_proj"} else config.hidden // config.kv_heads
        first, end = (unit * (at * config.kv_heads // count) for at in (place, place + 1))
    elif kind in {"gate_proj", "up_proj", "down_proj"}:
        first, end = (at * config.feed_forward // count for at in (place, place + 1))
    else:
        return whole(shape)
    if kind in {"o_proj", "down_proj"}:
        return Box((0, first), (shape[0], end - first))
    return Box((first, 0), (end - first, shape[1]))


def _buckets(
    shapes: Mapping[str, tuple[int, ...]], boxes: Mapping[int, Mapping[str, Box]], config: DecoderConfig
) -> tuple[Bucket, ...]:
    found: dict[tuple[int, tuple[int, ...]], list[Piece]] = {}
    for name, shape in shapes.items():
        held = {rank: each[name] for rank, each in sorted(boxes.items()) if name in each}
        for cell in cells(edges(shape, 1, sorted(set(held.values())), UNCUT)):
            owners = tuple(rank for rank, box in held.items() if box.holds(cell))
            found.setdefault((_layer(name, config), owners), []).append(Piece(name, cell))
    return tuple(
        Bucket(layer, owners, tuple(_share(pieces, place, len(owners)) for place in range(len(owners))))
        for (layer, owners), pieces in sorted(found.items())
    )


def _share(pieces: list[Piece], place: int, count: int) -> tuple[Piece, ...]:
    found = []
    for piece in pieces:
        rows = piece.box.shape[0]
        first, end = place * rows // count, (place + 1) * rows // count
        if end > first:
            box = Box((piece.box.offset[0] + first, *piece.box.offset[1:]), (end - first, *piece.box.shape[1:]))
            found.append(Piece(piece.tensor, box))
    return tuple(found)
