"""200 generated workflows of every kind as DAG files, read by Airflow: each imports, and comes through serialisation.

What Airflow has no word for is left out (`on_unsupported="warn"`), so that files are made of most of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path

import msgspec

import couler_py as couler
from couler_py.ir import DiagnosticError
from tests.airflow import harness
from tests.strategies import random_ir

FILES = 200
OPERATORS = ("kubernetes", "docker", "local")


def texts() -> Iterator[tuple[str, str]]:
    """Names and texts of files, as many as there are workflows that Airflow can run."""
    for seed in count():
        workflow = msgspec.structs.replace(random_ir(seed), name=f"generated-{seed}")
        operators = OPERATORS[seed % 3]
        place = "/shared" if operators == "docker" else "s3://bucket/runs"
        options = {"operators": operators, "artifacts": place, "on_unsupported": "warn"}
        try:
            yield workflow.name, couler.compile(workflow, to="airflow", **options).text
        except DiagnosticError:
            continue


def test_generated_files_import_and_come_through_serialisation(airflow_home: Path) -> None:
    from airflow.serialization.serialized_objects import DagSerialization

    written = dict(islice(texts(), FILES))
    loaded = harness.load(written, airflow_home)  # with what other tests have left in the folder
    found = {name: loaded[name] for name in written}
    assert {name: str(dag) for name, dag in found.items() if isinstance(dag, Exception)} == {}
    assert len(found) == FILES
    for name, dag in found.items():
        assert not isinstance(dag, Exception)
        told = DagSerialization.to_dict(dag)
        back = DagSerialization.from_dict(json.loads(json.dumps(told)))
        assert sorted(back.task_ids) == sorted(dag.task_ids), name
    for name in found:
        (airflow_home / "dags" / f"{name}.py").unlink()
