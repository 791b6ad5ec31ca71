"""What passes make of a workflow gives the same on a real Airflow, the steps as local processes."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

import couler_py as couler
from couler_py.ir.model import Workflow
from couler_py.passes.pipeline import transform
from couler_py.passes.situation import Situation
from tests.airflow import harness

if TYPE_CHECKING:
    from airflow.sdk import DAG


class Both(NamedTuple):
    number: int
    text: str


@couler.step
def both(x: int, by: int) -> Both:
    return Both(x * by, f"{x}")


@couler.step
def joined(numbers: list[int], texts: list[str]) -> str:
    return f"{sum(numbers)} {''.join(texts)}"


@couler.step
def halve(x: int) -> float:
    return x / 2


@couler.step
def square(x: float) -> float:
    return x * x


@couler.workflow
def batches(by: int = 3):
    found = couler.map(lambda x: both(x, by), range(7))
    return joined(found.number, found.text)


@couler.workflow
def chain(x: int = 8):
    return square(halve(x))


@couler.step(retries=couler.retry(2, delay="0.1s", platform_only=True))
def ended_from_outside_once() -> int:
    import os

    if couler.run_info.attempt == 0:
        os._exit(143)
    return couler.run_info.attempt


@couler.step(retries=couler.retry(2, delay="0.1s", platform_only=True))
def wrong() -> int:
    raise ValueError("Evicted")


@couler.workflow
def again():
    return ended_from_outside_once()


@couler.workflow
def not_again():
    return wrong()


CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "batches": (batches, {"batch_fanouts": 3}),
    "chain": (chain, {"merge_chains": "all"}),
    "again": (again, {}),
    "not_again": (not_again, {}),
}


def changed(name: str) -> Workflow:
    """The workflow as its passes leave it."""
    flow, options = CASES[name]
    return transform(couler.build(flow), Situation("airflow", options=options))[0]


@pytest.fixture(scope="module")
def dags(airflow_home: Path) -> Mapping[str, DAG]:
    texts = {
        name: couler.compile(flow, to="airflow", operators="local", **options).text
        for name, (flow, options) in CASES.items()
    }
    return harness.load(texts, airflow_home)


@pytest.fixture(autouse=True)
def no_naps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Airflow's loop for one DAG sleeps a second whenever only states have to be passed on."""
    monkeypatch.setattr(time, "sleep", lambda seconds: None)


@pytest.mark.parametrize(("name", "result"), [("batches", "63 0123456"), ("chain", 16.0), ("again", 1)])
def test_the_result_is_the_same(name: str, result: object, dags: Mapping[str, DAG]) -> None:
    ended = harness.run(dags[name], changed(name), {})
    assert (ended.status, ended.outputs) == ("Succeeded", {"result": result})


def test_an_error_of_one_s_own_is_not_tried_again(dags: Mapping[str, DAG]) -> None:
    ended = harness.run(dags["not_again"], changed("not_again"), {})
    assert (ended.status, ended.attempts) == ("Failed", {"wrong": 1})
