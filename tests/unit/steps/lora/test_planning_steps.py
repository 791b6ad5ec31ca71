"""`lora.deploy_plan` and `lora.dispatch`: files of JSON in, files of JSON out, and the same plans as the functions."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import couler_py as couler
from couler_py.ir.model import Graph
from couler_py.steps import lora
from couler_py.steps.lora.planning.asking import Deployed, Deploying, Dispatched, deployed, dispatched
from couler_py.steps.lora.planning.costs import Tau
from couler_py.steps.lora.planning.step import on_lengths
from couler_py.steps.models.config import PRESETS

KINDS = (lora.Replica(1, 1, 1024), lora.Replica(4, 1, 4096))
TAUS = {1: Tau((0, 0, 1 / 512, 0, 0, 1)), 4: Tau((0, 0, 1 / 1024, 0, 0, 1))}
"""Four ranks together are only twice as fast as one."""
SAMPLES = tuple(
    lora.Sample(tensor, rows, length, tau.time(rows, length))
    for tensor, tau in TAUS.items()
    for rows in (1, 2, 4)
    for length in (128, 512, 1024)
)
LENGTHS = {"chat": [500] * 24 + [1000] * 8, "books": [512] * 6 + [4000] * 2}


@couler.step
def measure() -> Path:
    return Path("lengths.json")


def test_settings_travel_as_one_text() -> None:
    @couler.workflow
    def planned() -> object:
        made = measure()
        plan = lora.deploy_plan(made, ranks=8, replicas=KINDS, costs=lora.Measured(1, SAMPLES), name="deploy")
        return lora.dispatch(plan.plan, made).seconds

    graphs = [each.body for each in couler.build(planned).templates if isinstance(each.body, Graph)]
    [task] = [task for graph in graphs for task in graph.tasks if task.name == "deploy"]
    [text] = [each.value for each in task.arguments if each.name == "asked"]
    asked = Deploying(8, KINDS, lora.Measured(1, SAMPLES))
    assert msgspec.json.decode(text.value, type=Deploying) == asked  # type: ignore[union-attr, arg-type]


def test_a_plan_is_found_and_then_a_step_dealt_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lengths.json").write_text(json.dumps(LENGTHS))
    asked = Deploying(8, KINDS, lora.Measured(1, SAMPLES), batch={"chat": 32, "books": 8}, buckets=4)
    found = on_lengths(Path("lengths.json"), msgspec.json.encode(asked).decode())
    assert found.replicas == {"<4,1>:4096": 1, "<1,1>:1024": 4}
    plan = msgspec.json.decode(found.plan.read_bytes(), type=Deployed)
    assert plan.homogeneous == (KINDS[1],) * 2
    assert found.saved == pytest.approx(1 - plan.gpu_seconds / plan.homogeneous_gpu_seconds)
    assert found.saved > 0
    told = lora.dispatch(found.plan, Path("lengths.json"))
    made = msgspec.json.decode(told.micro_batches.read_bytes(), type=Dispatched)
    assert told.seconds <= plan.seconds + 1e-9  # it is the step that was planned for, and rows may be packed besides
    assert sorted(row for own in made.replicas for work in own for row in work.rows) == sorted(
        (task, number) for task, own in LENGTHS.items() for number in range(len(own))
    )


def test_a_gpu_that_nobody_measured_is_bounded_by_its_data_sheet() -> None:
    bounds = lora.Bounds(PRESETS["llama-7b"], lora.A100_40GB)
    kinds = (lora.Replica(1, 1, 2048), lora.Replica(8, 1, 16384))
    found = deployed(Deploying(16, kinds, bounds, batch=64), {"short": [200] * 99 + [9000]})
    assert Counter(map(str, found.replicas)) == {"<8,1>:16384": 1, "<1,1>:2048": 8}


@settings(max_examples=25, deadline=None)
@given(
    lengths=st.dictionaries(
        st.sampled_from("abc"), st.lists(st.integers(1, 4096), min_size=1, max_size=12), min_size=1
    ),
    buckets=st.integers(1, 6),
)
def test_every_row_is_in_one_micro_batch_that_holds_it(lengths: dict[str, list[int]], buckets: int) -> None:
    plan = deployed(Deploying(6, KINDS, lora.Measured(1, SAMPLES), buckets=buckets), {"a": [900], "b": [4096]})
    made = dispatched(plan, lengths)
    seen: list[tuple[str, int]] = []
    for config, own in zip(plan.replicas, made.replicas, strict=True):
        for work in own:
            assert len(work.rows) * work.length <= config.tokens
            assert all(lengths[task][number] <= work.length for task, number in work.rows)
            seen += work.rows
    assert sorted(seen) == sorted((task, number) for task, own in lengths.items() for number in range(len(own)))
    assert made.least <= made.seconds + 1e-6


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"ranks": 0}, "deployment: ranks is 0: it is at least 1"),
        ({"batch": {"a": 0}}, "deployment: batch is 0: it is at least 1"),
        ({"replicas": ()}, "there are no kinds of replicas"),
        ({"replicas": (lora.Replica(1, 1, 0),)}, "replica: tokens is 0: it is at least 1"),
    ],
)
def test_what_makes_no_sense_is_said_where_it_is_written(changed: dict[str, object], message: str) -> None:
    shared: dict[str, object] = {"ranks": 4, "replicas": KINDS, "costs": lora.Measured(1, SAMPLES)}
    with pytest.raises(ValueError, match=message):
        lora.deploy_plan("lengths.json", **(shared | changed))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("lengths", "message"),
    [
        ({}, "there are no tasks, so there is nothing to plan for"),
        ({"a": []}, "task 'a' has no rows"),
        ({"b": [9]}, "task 'b' has lengths and no batch"),
        ({"a": [5000]}, "no replica of at most 4 ranks holds a row of 5000 tokens"),
    ],
)
def test_lengths_that_cannot_be_planned_for_are_named(lengths: dict[str, list[int]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        deployed(Deploying(4, KINDS, lora.Measured(1, SAMPLES), batch={"a": 4}), lengths)


def test_a_kind_without_measures_is_named() -> None:
    asked = Deploying(4, (lora.Replica(2, 1, 4096),), lora.Measured(1, SAMPLES))
    with pytest.raises(ValueError, match="nothing was measured at tensor parallelism 2"):
        deployed(asked, {"a": [5]})
