"""The names of runs."""

from __future__ import annotations

import pytest

from couler_py.backends.airflow.client.naming import ALLOWED, dag_of, generated, joined, split
from couler_py.backends.base import RunNotFoundError


@pytest.mark.parametrize("run", ["couler__2026-01-01T03.00.00Z__x7d2p", "scheduled__2026-01-01T02:00:00+00:00", "r1"])
def test_a_name_is_taken_apart_and_put_together(run: str) -> None:
    assert split(joined("nightly", run)) == ("nightly", run)


@pytest.mark.parametrize(
    "text",
    ["", "nightly", "airflow:nightly", "airflow:/r1", "airflow:nightly/", "argo:a/b", "airflow:a/b/c", "airflow:a/b c"],
)
def test_another_form_is_no_run(text: str) -> None:
    with pytest.raises(RunNotFoundError, match="those are named airflow:DAG/RUN"):
        split(text)


def test_new_names_are_taken_by_airflow_and_differ() -> None:
    made = {generated(0.0) for _ in range(100)}
    assert len(made) == 100
    assert all(ALLOWED.fullmatch(name) for name in made)


@pytest.mark.parametrize("text", ["nightly", "airflow:nightly", "airflow:nightly/r1"])
def test_a_workflow_is_named_by_its_dag_or_a_run_of_it(text: str) -> None:
    assert dag_of(text) == "nightly"
