"""The planners as steps: what goes in and out is JSON, a plan of one is what the next takes, errors name the place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

import couler_py as couler
from couler_py.steps import hybrid
from couler_py.steps.hybrid.plan import Hardware, Plan, violations

RATES: list[float | None] = [2.57, *[1.0] * 7]
MEMORY = {"layer": [4, 3, 2], "embedding": 1, "extra": 2, "capacity": 80, "gap": 4}


def as_json(value: Any) -> Any:
    """What it is after travelling to another step."""
    told = json.loads(json.dumps(value, allow_nan=False))
    assert told == (value if not isinstance(value, tuple) else list(value))
    return told


def planned(rates: list[float | None] = RATES, **more: Any) -> hybrid.planners.Planned:
    return hybrid.plan_straggler(rates, 32, 64, [2], tensor=1, **more)


def test_what_ranks_computed_becomes_rates() -> None:
    step = {
        "0": {"seconds": 2.57, "layers": 10, "micros": 10},
        "1": {"seconds": 1.1, "layers": 10, "micros": 10},
    }
    found = hybrid.profile_devices([step, step], [0.01, 0.01, 0.01], lost=[2])
    assert as_json(found.rates) == [pytest.approx(2.57), 1.0, None]
    assert (found.changed, found.slow) == (True, [2, 0])


def test_rates_become_a_plan_with_its_certificate_and_its_memory() -> None:
    found = planned(memory=MEMORY)
    plan = msgspec.convert(as_json(found.plan), Plan)
    assert violations(plan, Hardware((2.57, *[1.0] * 7), tensor=1)) == []
    assert found.bound <= found.step
    assert found.simulated <= found.step * (1 + 1e-9)
    last = [stages[-1] for stages in found.memory]
    assert last == [each.stages[-1].count * 2 + 3 for each in plan.pipelines]
    assert max(max(row) for row in found.memory) <= 76


def test_of_several_numbers_of_pipelines_the_best_is_taken() -> None:
    found = hybrid.plan_straggler([1.0] * 4, 4, 4, [1, 2, 4, 8], tensor=1)
    alone = [hybrid.plan_straggler([1.0] * 4, 4, 4, [count], tensor=1).step for count in (1, 2, 4)]
    assert found.step == min(alone) == 4.0
    assert len(found.plan["pipelines"]) == 4


def test_a_plan_stays_where_nobody_is_slow() -> None:
    slow = planned().plan
    assert planned([1.0] * 8, current=as_json(slow)).plan["pipelines"] == as_json(slow)["pipelines"]


def test_a_plan_of_ranks_that_are_gone_never_stays() -> None:
    before = hybrid.plan_straggler([1.0, 1.0], 2, 2, [2], tensor=1).plan
    with pytest.raises(ValueError, match="no plan of 2 pipelines holds 2 layers on 1 live ranks"):
        hybrid.plan_straggler([1.0, None], 2, 2, [2], tensor=1, current=before)


def test_a_lost_rank_leads_to_another_plan_and_who_sends_what() -> None:
    before = hybrid.plan_straggler([1.0] * 4, 4, 4, [2], tensor=1).plan
    found = hybrid.plan_elastic(as_json(before), [3], [100] * 4, [1.0] * 4, tensor=1)
    used = {rank for each in found.plan["pipelines"] for stage in each["stages"] for rank in stage["ranks"]}
    assert used == {0, 1, 2}
    assert found.needs_checkpoint == {}
    assert found.slower > 1.0
    moved = hybrid.plan_migration(before, as_json(found.plan), [100] * 4, lost=[3])
    assert as_json(moved.messages) == found.messages
    assert moved.kept + moved.moved == 800  # both pipelines have all layers
    assert {part["tensor"] for row in found.messages for part in row["parts"]} <= {f"layer {n}" for n in range(4)}


def test_what_nobody_has_any_more_must_be_read() -> None:
    plan = hybrid.plan_straggler([1.0] * 2, 4, 4, [1], tensor=1).plan
    found = hybrid.plan_elastic(plan, [1], [100] * 4, [1.0] * 2, tensor=1)
    assert found.needs_checkpoint == {"layer 2": [[0, 100]], "layer 3": [[0, 100]]}
    assert [(row["rank"], row["size"]) for row in found.local] == [(0, 200)]
    assert found.messages == []


def test_a_rank_that_comes_back_gets_as_many_pipelines_as_are_asked_for() -> None:
    alone = hybrid.plan_straggler([1.0, None, None, None], 4, 4, [1], tensor=1).plan
    found = hybrid.plan_elastic(alone, [], [1] * 4, [1.0] * 4, tensor=1, pipelines=2)
    assert len(found.plan["pipelines"]) == 2
    assert found.plan["suspended"] == []


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"rates": []}, r"rates: there are none"),
        ({"rates": [1.0, 0.0]}, r"rates\[1\]: 0, and it is a number above 0"),
        ({"rates": [1.0, "fast"]}, r"rates\[1\]: Expected `float`, got `str`"),
        ({"tensor": 3}, "tensor: 3, and groups have a power of two ranks"),
        ({"node": 0}, "node: 0, and it is a whole number of at least 1"),
        ({"layers": 0}, "layers: 0"),
        ({"pipelines": []}, "pipelines: there are none to try"),
        ({"pipelines": [1, 0]}, r"pipelines\[1\]: 0"),
        ({"alpha": {"two": 2.0}}, "alpha: Expected `int`, got `str`"),
        ({"memory": {**MEMORY, "capacity": -1}}, r"memory.capacity: -1"),
        ({"memory": {"layer": [1]}}, "memory: Object missing required field `embedding`"),
        (
            {"current": {"layers": 4, "micros": 2, "pipelines": [{"stages": [], "micros": "two"}]}},
            r"current.pipelines\[0\].micros: Expected `int`, got `str`",
        ),
        (
            {"current": {"layers": 4, "micros": 2, "pipelines": [{"stages": [], "micros": 2}], "suspended": [0, 1]}},
            "current: pipeline 0: its stages do 0 layers, not 4",
        ),
    ],
)
def test_what_makes_no_sense_is_named(wrong: dict[str, Any], said: str) -> None:
    given: dict[str, Any] = {"rates": [1.0, 1.0], "layers": 4, "micros": 2, "pipelines": [1], "tensor": 1}
    with pytest.raises(ValueError, match=said):
        hybrid.plan_straggler(**{**given, **wrong})


def test_what_is_wrong_with_timings_and_migrations_is_named_too() -> None:
    with pytest.raises(ValueError, match=r"window\[0\]\[1\].layers: 0"):
        hybrid.profile_devices([{"1": {"seconds": 1.0, "layers": 0, "micros": 1}}], [1.0, 1.0])
    with pytest.raises(ValueError, match=r"lost\[0\]: there is no rank 2 among 2"):
        hybrid.profile_devices([], [1.0, 1.0], lost=[2])
    plan = hybrid.plan_straggler([1.0] * 2, 4, 4, [1], tensor=1).plan
    with pytest.raises(ValueError, match="sizes: there are 3, and the plan has 4 layers"):
        hybrid.plan_migration(plan, plan, [1, 1, 1])
    with pytest.raises(ValueError, match="new: there is no pipeline"):
        hybrid.plan_migration(plan, {"layers": 4, "micros": 4, "pipelines": [], "suspended": [0, 1]}, [1] * 4)


def test_they_are_steps_whose_values_travel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan made in one step is played in another, and its trace is a file."""
    monkeypatch.setenv("COULER_HOME", str(tmp_path / "home"))

    @couler.workflow
    def plan_and_play() -> Any:
        timings = {str(rank): {"seconds": rate, "layers": 1, "micros": 1} for rank, rate in enumerate((2.5, 1, 1, 1))}
        found = hybrid.profile_devices([timings], [1.0] * 4)
        plan = hybrid.plan_straggler(found.rates, 8, 8, [2], tensor=1)
        played = hybrid.simulate_schedule(plan.plan, found.rates, tensor=1)
        return played.makespan, played.trace

    run = couler.run(plan_and_play)
    makespan, trace = run.outputs["result-1"], run.outputs["result-2"]
    assert makespan == pytest.approx(hybrid.plan_straggler([2.5, 1, 1, 1], 8, 8, [2], tensor=1).simulated)
    events = json.loads(Path(trace).read_text())["traceEvents"]
    assert {event["cat"] for event in events if event["ph"] == "X"} == {"forward", "backward"}
