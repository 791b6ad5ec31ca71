"""What has no counterpart here, or not quite: what is reported of it stands in `test_import_reports.py`."""

from __future__ import annotations

from datetime import timedelta

from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.providers.standard.operators.latest_only import LatestOnlyOperator
from airflow.providers.standard.operators.python import PythonOperator
from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.providers.standard.sensors.python import PythonSensor
from airflow.sdk import DAG, Param, Variable, task

HANDLE = open("/dev/null")  # noqa: SIM115 - such files there are


def uses_a_handle():
    return HANDLE.name


def uses_a_variable():
    return Variable.get("name")


def pushes(ti):
    ti.xcom_push(key="half", value=1)


def tell(context):
    print(context)


with DAG("operators", schedule=None):
    first = EmptyOperator(task_id="first")
    trigger = TriggerDagRunOperator(task_id="trigger", trigger_dag_id="other")
    wait = PythonSensor(task_id="wait", python_callable=lambda: True)
    latest = LatestOnlyOperator(task_id="latest")
    last = EmptyOperator(task_id="last")
    first >> trigger >> wait >> latest >> last

with DAG("functions", schedule=None):
    PythonOperator(task_id="handle", python_callable=uses_a_handle)
    PythonOperator(task_id="variable", python_callable=uses_a_variable)
    PythonOperator(task_id="push", python_callable=pushes)
    BashOperator(task_id="loop", bash_command="{% for x in [1, 2] %}echo {{ x }};{% endfor %}")
    BashOperator(task_id="macro", bash_command="echo {{ macros.ds_add(ds, 1) }}")
    BashOperator(task_id="script", bash_command="run.sh")

with DAG(
    "settings",
    schedule=timedelta(hours=7),
    max_active_runs=3,
    on_failure_callback=tell,
    params={"n": Param(3, type="integer", maximum=9)},
):
    BashOperator(task_id="pooled", bash_command="echo pool", pool="db")
    BashOperator(task_id="placed", bash_command="echo placed", queue="large", priority_weight=5)
    BashOperator(task_id="called", bash_command="echo called", on_success_callback=tell)
    BashOperator(task_id="again", bash_command="echo again", retries=1, max_retry_delay=timedelta(hours=1))
    BashOperator(task_id="chained", bash_command="echo chained", depends_on_past=True)

with DAG("rules", schedule=None):
    one, two = EmptyOperator(task_id="one"), EmptyOperator(task_id="two")
    for name in ("one_success", "none_skipped", "all_done_min_one_success", "one_done"):
        [one, two] >> EmptyOperator(task_id=f"by_{name}", trigger_rule=name) >> EmptyOperator(task_id=f"after_{name}")
    [one, two] >> EmptyOperator(task_id="by_all_done", trigger_rule="all_done")

with DAG("unordered", schedule=None):

    @task
    def give():
        return 1

    give()
    BashOperator(task_id="read", bash_command="echo {{ ti.xcom_pull(task_ids='give') }}")

with DAG("pairs", schedule=None):

    @task
    def letters():
        return ["a", "b"]

    @task
    def both(letter, number):
        return f"{letter}{number}"

    both.expand(letter=letters(), number=[1, 2])


class Quiet(BashOperator):
    """Only its arguments are other ones."""

    def __init__(self, **given):
        super().__init__(bash_command="echo quiet", **given)


class Loud(Quiet):
    def execute(self, context):
        self.bash_command = "echo LOUD"
        return super().execute(context)


with DAG("subclasses", schedule=None):
    Quiet(task_id="quiet") >> Loud(task_id="loud")
