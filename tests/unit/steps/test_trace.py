"""Chrome traces: rows have names, times are microseconds, a file is whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from couler_py.steps.trace import Trace


def test_a_span_has_its_row_its_time_and_its_facts() -> None:
    trace = Trace()
    trace.span("forward", process="rank 1", thread="compute", start=0.5, seconds=0.25, kind="pipeline", micro_batch=3)
    assert trace.events()[-1] == {
        "name": "forward",
        "ph": "X",
        "pid": 1,
        "tid": 1,
        "ts": 500_000.0,
        "dur": 250_000.0,
        "cat": "pipeline",
        "args": {"micro_batch": 3},
    }


def test_processes_and_threads_are_named_and_stand_in_the_order_in_which_they_came() -> None:
    trace = Trace()
    for process, thread in [("rank 0", "compute"), ("rank 1", "compute"), ("rank 0", "copy")]:
        trace.span("x", process=process, thread=thread, start=0, seconds=1)
    named = [(each["name"], each["pid"], each["tid"], each["args"]) for each in trace.events() if each["ph"] == "M"]
    assert named == [
        ("process_name", 1, 0, {"name": "rank 0"}),
        ("process_sort_index", 1, 0, {"sort_index": 1}),
        ("process_name", 2, 0, {"name": "rank 1"}),
        ("process_sort_index", 2, 0, {"sort_index": 2}),
        ("thread_name", 1, 1, {"name": "compute"}),
        ("thread_name", 2, 1, {"name": "compute"}),
        ("thread_name", 1, 2, {"name": "copy"}),
    ]


def test_events_are_in_the_order_of_time() -> None:
    trace = Trace()
    for start in (3, 1, 2):
        trace.span(str(start), process="p", start=start, seconds=1)
    assert [each["name"] for each in trace.events() if each["ph"] == "X"] == ["1", "2", "3"]


def test_a_flow_joins_two_rows() -> None:
    trace = Trace()
    trace.flow("activations", source=("rank 0", "send"), sent=1.0, target=("rank 1", "recv"), arrived=1.5)
    sent, arrived = (each for each in trace.events() if each["ph"] in "sf")
    assert (sent["id"], sent["pid"], sent["ts"]) == (1, 1, 1_000_000.0)
    assert (arrived["id"], arrived["pid"], arrived["ts"], arrived["bp"]) == (1, 2, 1_500_000.0, "e")


def test_a_counter_is_numbers_at_a_time() -> None:
    trace = Trace()
    trace.counter("memory", process="rank 0", at=2.0, values={"live": 10.0})
    event = trace.events()[-1]
    assert (event["ph"], event["ts"], event["args"]) == ("C", 2_000_000.0, {"live": 10.0})


def test_a_span_that_ends_before_it_starts_is_an_error() -> None:
    with pytest.raises(ValueError, match="'x' takes -1 s: a span can't end before it starts"):
        Trace().span("x", process="p", start=0, seconds=-1)


def test_a_file_is_written_whole_and_nothing_else_is_left(tmp_path: Path) -> None:
    trace = Trace()
    trace.instant("killed", process="rank 0", at=1.0, why="signal 9")
    trace.write(tmp_path / "trace.json")
    trace.write(tmp_path / "trace.json")
    assert json.loads((tmp_path / "trace.json").read_text())["traceEvents"] == trace.events()
    assert [path.name for path in tmp_path.iterdir()] == ["trace.json"]


def test_the_same_calls_give_the_same_bytes() -> None:
    def made() -> str:
        trace = Trace()
        trace.span("a", process="p", thread="t", start=0.1, seconds=0.2, n=1)
        trace.counter("c", process="p", at=0.2, values={"b": 1, "a": 2})
        return trace.text()

    assert made() == made()
