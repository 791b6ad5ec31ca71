"""Some ranks are gone: what is in memory is not read, and as little as can be is moved."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from couler_py.steps.checkpoint.boxes import Box
from couler_py.steps.checkpoint.manifest import CheckpointError
from couler_py.steps.checkpoint.planning import Held
from couler_py.steps.checkpoint.surviving import rescue

ROWS = 24


def rows(start: int, end: int) -> dict[str, Held]:
    return {"w": Held("F32", (ROWS, 1), (Box((start, 0), (end - start, 1)),))}


def test_a_rank_keeps_what_it_has() -> None:
    plan = rescue({0: rows(0, 12), 1: rows(12, 24)}, {0: rows(0, 12), 1: rows(12, 24)})
    assert (plan.kept, plan.moved, plan.read) == (ROWS * 4, 0, 0)


def test_four_become_three_and_only_what_was_lost_is_read() -> None:
    held = {rank: rows(6 * rank, 6 * rank + 6) for rank in (0, 1, 3)}
    needed = {0: rows(0, 8), 1: rows(8, 16), 3: rows(16, 24)}
    plan = rescue(held, needed)
    assert (plan.kept, plan.moved, plan.read) == ((6 + 4 + 6) * 4, 2 * 4, 6 * 4)
    assert plan.lost() == {"w": [Box((12, 0), (4, 1)), Box((16, 0), (2, 1))]}
    assert list(plan.messages()) == [(1, 0)]


def test_another_replica_gives_what_was_lost() -> None:
    held = {0: rows(0, 12), 2: rows(0, 12), 3: rows(12, 24)}
    plan = rescue(held, {0: rows(0, 24), 2: rows(0, 24), 3: rows(0, 24)})
    assert plan.read == 0
    assert {move.source for move in plan.moves if move.target == 0 and move.box.offset[0] >= 12} == {3}


def test_who_is_on_the_same_node_gives_before_others() -> None:
    held = {0: rows(0, 24), 1: rows(0, 24)}
    plan = rescue(held, {2: rows(0, 24), 3: rows(0, 24)}, {0: "a", 1: "b", 2: "b", 3: "a"})
    assert sorted(plan.messages()) == [(0, 3), (1, 2)]


def test_senders_share_the_work() -> None:
    held = {rank: rows(0, 24) for rank in range(3)}
    needed = {3 + rank: rows(8 * rank, 8 * rank + 8) for rank in range(3)}
    sent = Counter(dict.fromkeys(range(3), 0))
    for (source, _), moves in rescue(held, needed).messages().items():
        sent[source] += sum(move.size for move in moves)
    assert max(sent.values()) <= 2 * sum(sent.values()) / 3


spans = st.tuples(st.integers(0, ROWS), st.integers(0, ROWS)).map(sorted)


@given(st.dictionaries(st.integers(0, 5), spans, min_size=1), st.dictionaries(st.integers(0, 7), spans, min_size=1))
def test_everybody_gets_exactly_what_is_needed_and_nothing_is_read_that_somebody_has(
    held: dict[int, list[int]], needed: dict[int, list[int]]
) -> None:
    plan = rescue(
        {rank: rows(*span) for rank, span in held.items()}, {rank: rows(*span) for rank, span in needed.items()}
    )
    for rank, (start, end) in needed.items():
        got = [row for move in plan.moves if move.target == rank for row in covered(move.box)]
        assert sorted(got) == list(range(start, end))
    alive = {row for start, end in held.values() for row in range(start, end)}
    assert {row for move in plan.moves if move.source is None for row in covered(move.box)} & alive == set()
    for move in plan.moves:
        if move.source is not None:
            start, end = held[move.source]
            assert set(covered(move.box)) <= set(range(start, end))


def covered(box: Box) -> range:
    return range(box.offset[0], box.offset[0] + box.shape[0])


def test_shapes_must_agree() -> None:
    other = {"w": Held("F32", (5, 1), (Box((0, 0), (5, 1)),))}
    with pytest.raises(CheckpointError, match="ranks differ about the shape or type of 'w'"):
        rescue({0: rows(0, 5)}, {1: other})
