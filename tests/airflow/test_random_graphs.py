"""Random graphs on a real Airflow: states, outcome and outputs as the meaning says."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

import couler_py as couler
from tests.airflow import harness
from tests.conformance.interpreter import interpret
from tests.conformance.random_graphs import random_workflow

if TYPE_CHECKING:
    from airflow.sdk import DAG

EVERYDAY, ALL = 15, 200
SEEDS = [seed if seed < EVERYDAY else pytest.param(seed, marks=pytest.mark.soak) for seed in range(ALL)]


@pytest.fixture(scope="module")
def dags(
    airflow_home: Path, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Mapping[str, DAG | Exception]:
    """The DAGs of the selected graphs."""
    chosen = [item.callspec.params["seed"] for item in request.session.items if item.path == Path(__file__)]
    store = str(tmp_path_factory.mktemp("store"))
    texts = {}
    for seed in chosen:
        workflow = msgspec.structs.replace(random_workflow(seed, tasks=6), name=f"random-{seed}")
        texts[workflow.name] = couler.compile(workflow, to="airflow", operators="local", artifacts=store).text
    return harness.load(texts, airflow_home)


@pytest.fixture(autouse=True)
def no_naps(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Airflow's loop for one DAG sleeps a second whenever only states have to be passed on."""
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    return


@pytest.mark.parametrize("seed", SEEDS)
def test_random_graph(seed: int, dags: Mapping[str, DAG | Exception]) -> None:
    found = dags[f"random-{seed}"]
    if isinstance(found, Exception):
        raise found
    workflow = random_workflow(seed, tasks=6)
    expected, ended = interpret(workflow), harness.run(found, workflow, {})
    assert {name: ended.tasks.get(name) for name in expected.tasks if not set("/[#") & set(name)} == {
        name: state for name, state in expected.tasks.items() if not set("/[#") & set(name)
    }
    assert ended.status == expected.state
    if expected.state == "Succeeded":
        assert ended.outputs == expected.outputs
