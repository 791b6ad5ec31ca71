"""The timeline of rounds: what is noted, until when, and how ranks with clocks of their own come together."""

from __future__ import annotations

from typing import Any

import msgspec

from couler_py.steps.edit.tracing import COMPUTE, FLIGHT, ROUND, WAIT, Span, Tracer, timeline


class Said(msgspec.Struct):
    channel: str
    how: str
    what: str
    size: int


def test_nothing_is_noted_when_the_rounds_to_note_are_over() -> None:
    seconds = iter(range(100))
    tracer = Tracer(1, clock=lambda: float(next(seconds)))
    with tracer.span(COMPUTE, "forward"), tracer.span(ROUND, "agree: layers.0", norm=2.0):
        pass
    tracer.over()
    with tracer.span(COMPUTE, "forward"):
        pass
    tracer.spoke(Said("between", "all_reduce", "plan", 8), 1.0, 2.0, 3.0)  # type: ignore[arg-type]
    inner, outer = Span(ROUND, "agree: layers.0", 1.0, 2.0, {"norm": 2.0}), Span(COMPUTE, "forward", 0.0, 3.0)
    assert tracer.spans == [inner, outer]


def test_a_collective_is_in_flight_from_its_beginning_and_waited_for_from_when_it_is_needed() -> None:
    tracer = Tracer(1)
    tracer.spoke(Said("within", "all_gather", "norms", 8), 0.0, 0.0, 1.0)  # type: ignore[arg-type]
    tracer.spoke(Said("between", "all_reduce", "", 64), 1.0, 3.0, 3.5)  # type: ignore[arg-type]
    facts = {"bytes": 64, "how": "all_reduce"}
    assert tracer.spans[2:] == [
        Span(FLIGHT, "between: outside of layers", 1.0, 3.5, facts),
        Span(WAIT, "between: outside of layers", 3.0, 3.5, facts),
    ]
    assert tracer.met == 3.5


def rows(events: list[dict[str, Any]]) -> dict[tuple[int, int], str]:
    names = {(event["pid"], event["tid"]): event["args"]["name"] for event in events if event["name"] == "thread_name"}
    processes = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
    return {ids: f"{processes[ids[0]]}: {name}" for ids, name in names.items()}


def test_ranks_meet_at_the_same_time_whatever_their_clocks_say() -> None:
    first = (10.0, [Span(COMPUTE, "forward", 8.0, 9.0), Span(WAIT, "plan", 9.0, 10.0)])
    other = (500.0, [Span(COMPUTE, "forward", 499.0, 499.5), Span(WAIT, "plan", 499.5, 500.0)])
    events = timeline([first, other], shards=1).events()
    spans = [event for event in events if event["ph"] == "X"]
    assert [(each["name"], each["ts"], each["dur"]) for each in spans if each["pid"] == 1] == [
        ("forward", 0.0, 1e6),
        ("plan", 1e6, 1e6),
    ]
    assert [each["ts"] + each["dur"] for each in spans if each["name"] == "plan"] == [2e6, 2e6]


def test_what_is_in_flight_together_has_rows_of_its_own() -> None:
    spans = [Span(FLIGHT, name, start, end) for name, start, end in (("a", 0.0, 2.0), ("b", 1.0, 3.0), ("c", 2.0, 4.0))]
    events = timeline([(0.0, spans)], shards=2).events()
    named = rows(events)
    lanes = {event["name"]: named[event["pid"], event["tid"]] for event in events if event["ph"] == "X"}
    first = "replica 0, shard 0: in flight"
    assert lanes == {"a": first, "b": f"{first} 2", "c": first}
