"""No rank waits for ever: what ranks send, receive and sum under any valid plan, played as messages and meetings."""

from __future__ import annotations

import itertools
from collections import defaultdict, deque
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from couler_py.steps.hybrid.layout import Layout, lay_out
from couler_py.steps.hybrid.plan import Hardware, Pipeline, Plan, Stage, violations
from couler_py.steps.hybrid.sending import links, orders, receivers, sender
from couler_py.steps.hybrid.slices import Shape
from couler_py.steps.models.config import DecoderConfig

LAYERS = 6
CONFIG = DecoderConfig(vocabulary=7, layers=LAYERS, hidden=16, heads=4, kv_heads=4, feed_forward=10)

Event = tuple[str, Any, Any]
"""("send" or "receive", channel, message), or ("meet", ranks, about what)."""


def events(layout: Layout, plan: Plan, slices: int, chunks: int, spare: int | None) -> dict[int, list[Event]]:
    """What each rank does in a step, as `runtime/course.py` and `runtime/state.py` do it."""
    found: dict[int, list[Event]] = defaultdict(list)
    for pipeline, row in zip(plan.pipelines, layout.pipelines, strict=True):
        workers = len(row) // chunks
        shape = Shape(workers, slices, chunks, pipeline.micros)
        live = None if spare is None else min(shape.least_live + spare, shape.most_live)
        known = set(links(row))
        for worker, order in enumerate(orders(shape, live)):
            ranks = row[worker].ranks
            for place, rank in enumerate(ranks):
                found[rank] = []
                for op in order:
                    source = sender(row, op, place)
                    if source is not None and source != rank:
                        assert (op.kind, source, rank) in known
                        found[rank].append(("receive", (op.kind, source, rank), op))
                    if len(ranks) > 1:
                        found[rank].append(("meet", ranks, op))
                    after = op._replace(stage=op.stage + (1 if op.kind == "F" else -1))
                    for to in receivers(row, op, rank):
                        if to != rank:
                            found[rank].append(("send", (op.kind, rank, to), after))
    for rank in found:
        sums = [each.owners for each in layout.buckets if rank in each.owners and len(each.owners) > 1]
        found[rank] += [("meet", owners, f"sum {number}") for number, owners in _numbered(layout, sums)]
    return found


def _numbered(layout: Layout, sums: list[tuple[int, ...]]) -> list[tuple[int, tuple[int, ...]]]:
    """Sums with their number among those of the same ranks."""
    count: dict[tuple[int, ...], int] = defaultdict(int)
    made = []
    for owners in sums:
        made.append((count[owners], owners))
        count[owners] += 1
    return made


def stuck(todo: dict[int, list[Event]]) -> dict[int, Event]:
    """What ranks wait for when nobody can go on; nothing where all come to the end and all messages were taken.

    A sender doesn't wait, as a thread of the receiver takes messages. Who meets waits for all others to be there.
    """
    at = dict.fromkeys(todo, 0)
    channels: dict[Any, deque[Any]] = defaultdict(deque)
    moved = True
    while moved:
        moved = False
        for rank, row in todo.items():
            while at[rank] < len(row):
                kind, where, what = row[at[rank]]
                if kind == "send":
                    channels[where].append(what)
                elif kind == "receive":
                    if not channels[where]:
                        break
                    assert channels[where].popleft() == what, "a message was taken for another"
                else:
                    here = [each for each in where if todo[each][at[each] : at[each] + 1] == [row[at[rank]]]]
                    if len(here) < len(where):
                        break
                    for each in here:
                        at[each] += each != rank
                at[rank] += 1
                moved = True
    assert not any(channels.values()) or any(at[rank] < len(row) for rank, row in todo.items())
    return {rank: row[at[rank]] for rank, row in todo.items() if at[rank] < len(row)}


@st.composite
def plans(draw: st.DrawFn) -> tuple[Plan, int, int, int | None]:
    """A valid plan, slices, chunks, and how many more live slices than the fewest a worker may hold (None: any)."""
    chunks, slices = draw(st.integers(1, 2)), draw(st.integers(1, 3))
    node, rows = 0, []
    for _ in range(draw(st.integers(1, 3))):
        depth = draw(st.integers(1, LAYERS // chunks if chunks > 1 else 4))
        cuts = draw(st.permutations(range(1, LAYERS // chunks)))[: depth - 1]
        marks = [0, *(chunks * each for each in sorted(cuts)), LAYERS]
        stages = []
        for low, high in itertools.pairwise(marks):
            size = draw(st.sampled_from([1, 1, 2, 4]))
            stages.append(Stage(tuple(range(node, node + size)), (low, high)))
            node += 4
        group = -(-len(stages) // slices)
        rows.append(Pipeline(tuple(stages), draw(st.integers(1, 3)) * (group if chunks > 1 else 1)))
    used = {rank for each in rows for stage in each.stages for rank in stage.ranks}
    idle = tuple(rank for rank in range(node) if rank not in used)
    plan = Plan(LAYERS, sum(each.micros for each in rows), tuple(rows), idle)
    assert violations(plan, Hardware((1.0,) * node, 4, 4)) == []
    return plan, slices, chunks, draw(st.none() | st.integers(0, 3))


@settings(max_examples=150)
@given(plans())
def test_under_any_valid_plan_every_rank_comes_to_the_end(given: tuple[Plan, int, int, int | None]) -> None:
    plan, slices, chunks, spare = given
    assert stuck(events(lay_out(plan, CONFIG, chunks), plan, slices, chunks, spare)) == {}


TWO = Plan(LAYERS, 4, tuple(Pipeline((Stage((at,), (0, 3)), Stage((at + 1,), (3, 6))), 2) for at in (0, 2)))


def test_sums_in_two_orders_would_never_end() -> None:
    """Were the second pipeline to sum its last layers first, both would wait."""
    layout = lay_out(TWO, CONFIG)
    todo = events(layout, TWO, 1, 1, None)
    sums = [at for at, event in enumerate(todo[2]) if event[0] == "meet"]
    assert len(sums) > 1
    todo[2][sums[0]], todo[2][sums[-1]] = todo[2][sums[-1]], todo[2][sums[0]]
    assert {0, 2} <= stuck(todo).keys()


def test_backwards_in_another_order_than_the_next_stage_sends_them_are_taken_for_another() -> None:
    todo = events(lay_out(TWO, CONFIG), TWO, 1, 1, None)
    received = [at for at, event in enumerate(todo[0]) if event[0] == "receive"]
    todo[0][received[0]], todo[0][received[1]] = todo[0][received[1]], todo[0][received[0]]
    with pytest.raises(AssertionError, match="taken for another"):
        stuck(todo)
