"""`hybrid.train` as a step: what makes no sense is said where it is written, and its page shows who computed when."""

from __future__ import annotations

from typing import Any

import pytest

from couler_py.steps import hybrid
from couler_py.steps.hybrid.plan import Pipeline, Plan, Stage
from couler_py.steps.hybrid.reporting import report, trace
from couler_py.steps.hybrid.task import Task
from couler_py.steps.hybrid.telling import Changed, Picture, Stepped, Told
from couler_py.steps.models.config import DecoderConfig


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"model": "huge"}, "no model is called 'huge'"),
        ({"processes": 1}, "1 processes for 2 pipelines of groups of 1: too few"),
        ({"micros": 1}, "1 micro-batches for 2 pipelines"),
        ({"tensor": 3, "processes": 6}, "tensor is 3: groups have a power of two ranks"),
        ({"emulated": hybrid.Emulated(lost=((0, 3, 6),))}, "rank 0 is to be lost after step 3: say elastic=True"),
        (
            {"emulated": hybrid.Emulated(lost=((0, 6, 6),)), "elastic": True},
            "rank 0 is lost after step 6: it can't be back after step 6",
        ),
        (
            {"emulated": hybrid.Emulated(lost=((4, 3, 6),)), "elastic": True},
            "rank 4 is to be lost: there are 4 processes",
        ),
    ],
)
def test_what_makes_no_sense_is_said_where_it_is_written(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        hybrid.train("corpus", **wrong)


def plan(*ranks: int) -> Plan:
    return Plan(2, len(ranks), tuple(Pipeline((Stage((rank,), (0, 2)),), 1) for rank in ranks))


TOLD = Told(
    (Stepped(1, 5.5, 1.5), Stepped(2, 5.4, 2.0)),
    (Changed(0, plan(0, 1), "the first plan", None), Changed(1, plan(0), "rank 1 is lost", 2.0, 64, 0.1, 32)),
    ((1, "rank 1 is lost"),),
    (
        Picture(1, {0: (("F", 0.0, 0.5), ("B", 0.5, 1.5)), 1: (("F", 0.0, 0.4),)}),
        Picture(2, {0: (("F", 0.0, 1.0),)}),
    ),
    3.5,
    2,
    4,
)


def test_the_page_names_who_is_lost_and_says_that_computing_is_emulated() -> None:
    task = Task(DecoderConfig(vocabulary=9, layers=2), pipelines=2, emulated=hybrid.Emulated())
    shown = report(task, TOLD)
    assert "rank 1 is lost" in shown
    assert "Computation is emulated" in shown
    assert shown.count("data:image/svg+xml") == 4
    assert "Computation is emulated" not in report(Task(DecoderConfig(vocabulary=9, layers=2), pipelines=2), TOLD)


def test_steps_follow_each_other_in_the_trace() -> None:
    spans = [event for event in trace(TOLD).events() if event["ph"] == "X"]
    assert [(each["name"], each["args"]["step"]) for each in spans] == [
        ("forward", 1),
        ("forward", 1),
        ("backward", 1),
        ("forward", 2),
    ]
    assert spans[-1]["ts"] >= 1.5e6
