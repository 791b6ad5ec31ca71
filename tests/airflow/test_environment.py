"""The Airflow that the other tests stand on: it loads a DAG file and runs it, beside our package."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from airflow.sdk import DAG

DIAMOND = """
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.providers.standard.operators.python import PythonOperator
from airflow.sdk import DAG, TriggerRule

def fail():
    raise ValueError("as told")

with DAG("diamond", schedule=None):
    a, d = EmptyOperator(task_id="a"), EmptyOperator(task_id="d")
    b = PythonOperator(task_id="b", python_callable=fail)
    c = EmptyOperator(task_id="c", trigger_rule=TriggerRule.ONE_FAILED)
    a >> [b, d]
    b >> [c, d]
"""


def test_runs_a_dag_and_tells_the_state_of_each_task(load_dags: Callable[[str], dict[str, DAG]]) -> None:
    run = load_dags(DIAMOND)["diamond"].test()
    states = {each.task_id: str(each.state) for each in run.get_task_instances()}
    assert states == {"a": "success", "b": "failed", "c": "success", "d": "upstream_failed"}


def test_a_file_that_does_not_import_is_reported(load_dags: Callable[[str], dict[str, DAG]]) -> None:
    with pytest.raises(pytest.fail.Exception, match="no_such_module"):
        load_dags("import no_such_module  # airflow dag\n")


def test_our_package_is_installed_beside_it() -> None:
    import airflow

    import couler_py

    assert airflow.__version__.startswith("3.")
    assert couler_py.__version__
