"""Where a plan puts each tensor of a decoder."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from couler_py.steps.checkpoint.boxes import Box
from couler_py.steps.hybrid.layout import Layout, lay_out
from couler_py.steps.hybrid.plan import Pipeline, Plan, Stage
from couler_py.steps.models.config import DecoderConfig

CONFIG = DecoderConfig(vocabulary=7, layers=4, hidden=16, heads=4, kv_heads=2, feed_forward=10)
Q, NORM = "layers.0.self_attn.q_proj.weight", "layers.0.input_layernorm.weight"


def two_and_one() -> Plan:
    """A pipeline whose only stage is a group of two, and one of two stages."""
    rows = (Stage((0, 1), (0, 4)),), (Stage((2,), (0, 1)), Stage((3,), (1, 4)))
    return Plan(4, 2, tuple(Pipeline(row, 1) for row in rows))


def test_a_group_has_columns_and_rows_of_whole_heads() -> None:
    first, second = (lay_out(two_and_one(), CONFIG).boxes[rank] for rank in (0, 1))
    assert (first[Q], second[Q]) == (Box((0, 0), (8, 16)), Box((8, 0), (8, 16)))
    assert second["layers.0.self_attn.k_proj.weight"] == Box((4, 0), (4, 16))
    assert second["layers.0.self_attn.o_proj.weight"] == Box((0, 8), (16, 8))
    assert second["layers.0.mlp.down_proj.weight"] == Box((0, 5), (16, 5))
    assert first[NORM] == second[NORM] == Box((0,), (16,))


def test_what_a_whole_group_holds_is_given_in_parts() -> None:
    copies = lay_out(two_and_one(), CONFIG).copies
    assert (copies[0][NORM], copies[0][Q], copies[2][NORM]) == (2, 1, 1)


def test_cells_are_summed_by_those_who_hold_them() -> None:
    owners = {(bucket.layer, bucket.owners) for bucket in lay_out(two_and_one(), CONFIG).buckets if bucket.layer < 1}
    assert owners == {(-1, (0, 1, 2)), (0, (0, 1, 2)), (0, (0, 2)), (0, (1, 2))}


def test_a_head_that_is_the_embedding_is_summed_by_both_ends() -> None:
    tied = DecoderConfig(**{**{name: getattr(CONFIG, name) for name in CONFIG.__struct_fields__}, "tied": True})
    layout = lay_out(two_and_one(), tied)
    assert "lm_head.weight" not in layout.shapes
    assert next(each.owners for each in layout.buckets if each.layer == -1) == (0, 1, 2, 3)


def test_chunks_of_a_stage_lie_apart_in_the_model() -> None:
    plan = Plan(4, 1, (Pipeline((Stage((0,), (0, 2)), Stage((1,), (2, 4))), 1),))
    row = lay_out(plan, CONFIG, chunks=2).pipelines[0]
    assert [(each.ranks, each.layers) for each in row] == [
        ((0,), (0, 1)),
        ((1,), (1, 2)),
        ((0,), (2, 3)),
        ((1,), (3, 4)),
    ]


def test_a_plan_that_the_decoder_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="a plan of 3 layers for a decoder of 4"):
        lay_out(Plan(3, 1, (Pipeline((Stage((0,), (0, 3)),), 1),)), CONFIG)
    with pytest.raises(ValueError, match=r"a group of 4 ranks \(0, 1, 2, 3\) shares 2 heads"):
        lay_out(Plan(4, 1, (Pipeline((Stage((0, 1, 2, 3), (0, 4)),), 1),)), CONFIG)
    with pytest.raises(ValueError, match="stage 0 of pipeline 0 has 1 layers for 2 chunks"):
        lay_out(Plan(4, 1, (Pipeline((Stage((0,), (0, 1)), Stage((1,), (1, 4))), 1),)), CONFIG, chunks=2)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    rank, rows = 0, []
    for _ in range(draw(st.integers(1, 3))):
        cuts = sorted({0, 4, *draw(st.lists(st.integers(1, 3), max_size=2))})
        row = []
        for low, high in itertools.pairwise(cuts):
            size = draw(st.sampled_from([1, 2]))
            row.append(Stage(tuple(range(rank, rank + size)), (low, high)))
            rank += size
        rows.append(Pipeline(tuple(row), 1))
    return Plan(4, len(rows), tuple(rows))


def numbers(layout: Layout) -> int:
    return sum(math.prod(shape) for shape in layout.shapes.values())


@given(plans())
def test_every_number_is_updated_by_one_rank_and_summed_by_all_that_hold_it(plan: Plan) -> None:
    layout = lay_out(plan, CONFIG)
    pieces = [piece for bucket in layout.buckets for share in bucket.shares for piece in share]
    assert sum(piece.box.size for piece in pieces) == numbers(layout) == CONFIG.parameters
    assert not any(
        a.box.meet(b.box) for a, b in zip(sorted(pieces), sorted(pieces)[1:], strict=False) if a.tensor == b.tensor
    )
    for bucket in layout.buckets:
        for piece in (each for share in bucket.shares for each in share):
            holders = [rank for rank, boxes in layout.boxes.items() if piece.tensor in boxes]
            assert [rank for rank in sorted(holders) if layout.boxes[rank][piece.tensor].meet(piece.box)] == list(
                bucket.owners
            )
