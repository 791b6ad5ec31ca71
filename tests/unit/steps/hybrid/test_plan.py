"""Plans are checked by what didn't make them; every kind of mistake has its words."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest

from couler_py.steps.hybrid.plan import (
    Certificate,
    Hardware,
    MemoryModel,
    Pipeline,
    Plan,
    Stage,
    certify,
    simulated,
    violations,
)

HARDWARE = Hardware((1.0,) * 8, node=4, tensor=2, alpha={2: 1.9})
MEMORY = MemoryModel((100.0, 80.0), 50, 10, 500)


def plan(**changes: Any) -> Plan:
    stages = (Stage((0, 1), (0, 3)), Stage((2, 3), (3, 6)))
    others = (Stage((4, 5), (0, 4)), Stage((6,), (4, 6)))
    return msgspec.structs.replace(Plan(6, 8, (Pipeline(stages, 5), Pipeline(others, 3)), (7,)), **changes)


def first(**changes: Any) -> Plan:
    """The plan with a change to its first stage."""
    whole = plan()
    stage = msgspec.structs.replace(whole.pipelines[0].stages[0], **changes)
    pipeline = msgspec.structs.replace(whole.pipelines[0], stages=(stage, whole.pipelines[0].stages[1]))
    return msgspec.structs.replace(whole, pipelines=(pipeline, whole.pipelines[1]))


def test_a_plan_without_fault() -> None:
    assert violations(plan(), HARDWARE, MEMORY) == []


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (plan(suspended=()), "rank 7 is neither used nor suspended"),
        (plan(suspended=(7, 0)), "rank 0 is used 2 times"),
        (plan(suspended=(7, 9)), "rank 9 is none of the 8"),
        (plan(micros=9), "pipelines do 8 micro-batches, not 9"),
        (plan(layers=7), "pipeline 0: its stages do 6 layers, not 7"),
        (first(layers=(0, 2)), "pipeline 0: stage 1 does layers 3 to 6: layer 2 comes next"),
        (first(layers=(0, 0)), "pipeline 0: stage 0 does layers 0 to 0: layer 0 comes next"),
        (first(ranks=(0, 1, 4)), "pipeline 0: stage 0 has 3 ranks: a group has a power of two, at most 2"),
        (first(ranks=(1, 7)), "pipeline 0: stage 0 has ranks of several machines: 1, 7"),
        (plan(pipelines=()), "there is no pipeline"),
        (
            plan(certificate=Certificate(1.0, 1.0, 1.0)),
            "its certificate says that step is 1: it is 18",
        ),
    ],
    ids=str,
)
def test_what_is_wrong_is_said(wrong: Plan, said: str) -> None:
    assert said in violations(wrong, HARDWARE, MEMORY)


def test_a_dead_rank_may_not_work() -> None:
    dead = msgspec.structs.replace(HARDWARE, rates=(math.inf, *HARDWARE.rates[1:]))
    assert violations(plan(), dead) == ["pipeline 0: rank 0 of stage 0 is dead"]


def test_memory_that_is_short_is_told() -> None:
    small = msgspec.structs.replace(MEMORY, capacity=300)
    assert violations(plan(), HARDWARE, small)[0] == "pipeline 0: stage 0 takes 360 MB of 300"


def test_a_certificate_says_what_holds() -> None:
    found = certify(plan(), HARDWARE)
    assert found.steady == 15.0  # 5 micro-batches of 3 layers; the other does 3 of 4
    assert found.step == 3 + 3 + 4 * 3
    assert found.bound == pytest.approx(6 * 8 / (1 + 1 + 1 + 1 / 1.9))
    assert violations(plan(certificate=found), HARDWARE, MEMORY) == []


def test_the_simulated_step_is_never_longer_than_the_formula() -> None:
    assert simulated(plan(), HARDWARE) <= certify(plan(), HARDWARE).step + 1e-9


def test_a_plan_is_json_and_comes_back() -> None:
    whole = plan(certificate=certify(plan(), HARDWARE))
    assert msgspec.json.decode(msgspec.json.encode(whole), type=Plan) == whole


def test_pipelines_longer_than_the_table_of_memory_go_on_as_it_does() -> None:
    assert [MEMORY.of_layer(stage, 4) for stage in range(4)] == [140.0, 120.0, 100.0, 80.0]
