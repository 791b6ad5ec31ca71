"""What steps should ask for: percentiles, margins, doubling, rounding, waste."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from couler_py.ir.model import Function, Graph, Piece, Task, Template, Workflow
from couler_py.ir.pod import Resources
from couler_py.passes.history import Attempt, History, Observed, work_of
from couler_py.passes.resources import apply
from couler_py.passes.resources.advice import advise
from couler_py.passes.situation import Situation

MIB = 1024**2


def tried(memory: int, processors: float = 0.5, **more: object) -> Attempt:
    made = Attempt("Succeeded", 0.0, 10.0, memory=memory, processors=processors, busiest=processors * 2)
    return replace(made, **more)  # type: ignore[arg-type]


def out_of_memory(asked: int) -> Attempt:
    return Attempt("Failed", 0.0, 5.0, "OOMKilled (exit code 137)", 137, asked_memory=asked)


def test_a_request_is_the_95th_percentile_and_15_percent_more_a_limit_is_above_the_most() -> None:
    found = advise("train", [tried(100 * MIB)] * 19 + [tried(1000 * MIB)])
    assert (found.used_memory, found.memory, found.memory_limit) == (100 * MIB, 128 * MIB, 1312 * MIB)
    assert (found.used_cpu, found.cpu, found.cpu_limit) == (0.5, 0.58, 1.15)


def test_few_attempts_count_by_the_most_of_them_and_are_not_enough() -> None:
    found = advise("train", [tried(100 * MIB), tried(200 * MIB)])
    assert found.memory == 240 * MIB
    assert not found.enough


def test_running_out_of_memory_doubles_it_and_is_enough() -> None:
    found = advise("train", [out_of_memory(512 * MIB)])
    assert (found.out_of_memory, found.memory, found.memory_limit, found.enough) == (1, 1024 * MIB, 1024 * MIB, True)


def test_a_step_that_is_killed_for_another_reason_is_not_out_of_memory() -> None:
    assert advise("train", [Attempt("Failed", 0.0, 5.0, "exit code 1", 1, asked_memory=MIB)]).out_of_memory == 0


def test_nothing_is_said_of_what_nobody_measured() -> None:
    found = advise("train", [Attempt("Succeeded", 0.0, 5.0)] * 5)
    assert (found.memory, found.cpu, found.wasted_memory, found.wasted_cpu) == (None, None, 0.0, 0.0)


def test_waste_is_what_was_asked_for_and_not_used_over_time() -> None:
    found = advise("train", [tried(100 * MIB, 0.25, asked_memory=300 * MIB, asked_cpu=1.0)] * 2)
    assert (found.wasted_memory, found.wasted_cpu) == (2 * 10.0 * 200 * MIB, 2 * 10.0 * 0.75)


@given(st.lists(st.integers(1, 64 * 1024 * MIB), min_size=1, max_size=60))
def test_a_limit_is_never_below_what_was_seen_and_no_request_above_its_limit(peaks: list[int]) -> None:
    found = advise("train", [tried(peak) for peak in peaks])
    assert found.memory is not None
    assert found.memory_limit is not None
    assert max(peaks) < found.memory_limit
    assert found.memory <= found.memory_limit
    assert sum(peak <= found.memory for peak in peaks) >= 0.95 * len(peaks)


@given(st.lists(st.floats(0.001, 64.0), min_size=1, max_size=60))
def test_a_request_of_processors_is_enough_for_19_of_20(used: list[float]) -> None:
    found = advise("train", [tried(MIB, each) for each in used])
    assert found.cpu is not None
    assert found.cpu_limit is not None
    assert found.cpu <= found.cpu_limit
    assert sum(each <= found.cpu for each in used) >= 0.95 * len(used)


# ---- the pass

STEP = Template("train", Function("train", (Piece("def train(): ..."),), resources=Resources("4", "8Gi", gpu=1)))
FLOW = Workflow("flow", "main", (Template("main", Graph((Task("a", "train"),))), STEP))


def situation(*attempts: Attempt) -> Situation:
    seen = Observed("flow", "train", work_of(STEP), attempts=attempts)
    return Situation(options={"right_size": True}, history=History.of(seen))


def sized(workflow: Workflow, given: Situation) -> Resources:
    body = apply(workflow, given).workflow.templates[1].body
    assert isinstance(body, Function)
    return body.resources


def test_steps_ask_for_what_they_used_and_keep_their_gpus() -> None:
    known = situation(*[tried(300 * MIB)] * 3)
    assert sized(FLOW, known) == Resources("580m", "352Mi", "1150m", "400Mi", gpu=1)
    [note] = apply(FLOW, known).notes
    assert (note.place, note.what) == ("train", "memory 8Gi -> 352Mi, cpu 4 -> 580m")
    assert note.why == "3 attempts used at most 300 MiB and 0.5 processors (19 of 20)"
    assert note.saves == "7.66 GiB and 3.4 processors"


def test_steps_of_which_too_little_is_known_stay_as_they_are() -> None:
    outcome = apply(FLOW, situation(tried(300 * MIB)))
    assert outcome.workflow == FLOW
    assert [note.what for note in outcome.notes] == ["stays as it is: 1 of at least 3 attempts are known"]


def test_without_a_history_nothing_changes() -> None:
    assert apply(FLOW, Situation(options={"right_size": True})).workflow == FLOW


@given(
    st.lists(
        st.builds(tried, st.integers(MIB, 4096 * MIB), st.floats(0.01, 8.0))
        | st.builds(out_of_memory, st.integers(MIB, 4096 * MIB)),
        max_size=8,
    )
)
def test_applying_it_again_changes_nothing(attempts: list[Attempt]) -> None:
    known = situation(*attempts)
    once = apply(FLOW, known).workflow
    assert apply(once, known).workflow == once
