"""DAGs of the sort that people have: shapes, branches, trigger rules. Each runs on Airflow and, imported, here."""

from __future__ import annotations

from datetime import timedelta

from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.providers.standard.operators.python import BranchPythonOperator, PythonOperator, ShortCircuitOperator
from airflow.sdk import DAG, TaskGroup, TriggerRule, chain, cross_downstream, task

CITIES = ["paris", "rome"]


def fail():
    raise ValueError("as told")


def nothing():
    print("done")


def choose_weekday():
    return "weekday"


def choose_two():
    return ["left", "middle"]


with DAG("diamond", schedule=None):
    a, b, c, d = (EmptyOperator(task_id=name) for name in "abcd")
    a >> [b, c] >> d

with DAG("line_of_bash", schedule=None):
    chain(*(BashOperator(task_id=f"step_{number}", bash_command=f"echo {number}") for number in range(4)))

with DAG("crossed", schedule=None):
    cross_downstream(
        [EmptyOperator(task_id="one"), EmptyOperator(task_id="two")],
        [EmptyOperator(task_id="three"), EmptyOperator(task_id="four")],
    )

with DAG("made_in_a_loop", schedule=None):
    end = EmptyOperator(task_id="end")
    for city in CITIES:
        fetch = PythonOperator(task_id=f"fetch_{city}", python_callable=lambda name: print(name), op_args=[city])
        store = BashOperator(task_id=f"store_{city}", bash_command="echo $CITY", env={"CITY": city}, append_env=True)
        fetch >> store >> end

with DAG("branch_and_join", schedule=None):
    choose = BranchPythonOperator(task_id="choose", python_callable=choose_weekday)
    weekday, weekend = EmptyOperator(task_id="weekday"), EmptyOperator(task_id="weekend")
    join = EmptyOperator(task_id="join", trigger_rule="none_failed_min_one_success")
    after = EmptyOperator(task_id="after")
    choose >> [weekday, weekend] >> join >> after

with DAG("branch_without_join", schedule=None):
    choose = BranchPythonOperator(task_id="choose", python_callable=choose_weekday)
    weekday, weekend = EmptyOperator(task_id="weekday"), EmptyOperator(task_id="weekend")
    last = EmptyOperator(task_id="last")
    choose >> [weekday, weekend]
    weekend >> last

with DAG("branch_past_a_task", schedule=None):
    choose = BranchPythonOperator(task_id="choose", python_callable=choose_weekday)
    weekday, weekend = EmptyOperator(task_id="weekday"), EmptyOperator(task_id="weekend")
    join = EmptyOperator(task_id="join", trigger_rule=TriggerRule.NONE_FAILED)
    choose >> [weekday, weekend, join]
    weekday >> join

with DAG("branch_of_several", schedule=None):
    choose = BranchPythonOperator(task_id="choose", python_callable=choose_two)
    ways = [EmptyOperator(task_id=name) for name in ("left", "middle", "right")]
    join = EmptyOperator(task_id="join", trigger_rule="none_failed_min_one_success")
    choose >> ways >> join

with DAG("branch_to_nothing", schedule=None):

    @task.branch
    def choose():
        return None

    ways = [EmptyOperator(task_id=name) for name in ("left", "right")]
    join = EmptyOperator(task_id="join", trigger_rule="none_failed_min_one_success")
    choose() >> ways >> join

with DAG("short_circuit_open", schedule=None):
    check = ShortCircuitOperator(task_id="check", python_callable=lambda: [1])
    check >> EmptyOperator(task_id="next") >> EmptyOperator(task_id="last")

with DAG("short_circuit_closed", schedule=None):
    check = ShortCircuitOperator(task_id="check", python_callable=lambda: False)
    last = EmptyOperator(task_id="last", trigger_rule="none_failed")
    check >> EmptyOperator(task_id="next") >> last

with DAG("short_circuit_next_only", schedule=None):
    check = ShortCircuitOperator(task_id="check", python_callable=lambda: False, ignore_downstream_trigger_rules=False)
    last = EmptyOperator(task_id="last", trigger_rule="none_failed")
    check >> EmptyOperator(task_id="next") >> last

with DAG("a_failure_blocks", schedule=None):
    bad = PythonOperator(task_id="bad", python_callable=fail)
    bad >> EmptyOperator(task_id="next") >> EmptyOperator(task_id="last")

with DAG("one_failed_of_one", schedule=None):
    bad = PythonOperator(task_id="bad", python_callable=fail)
    bad >> BashOperator(task_id="notify", bash_command="echo failed", trigger_rule="one_failed")

with DAG("one_failed_of_several", schedule=None):
    bad, good = PythonOperator(task_id="bad", python_callable=fail), EmptyOperator(task_id="good")
    [bad, good] >> BashOperator(task_id="notify", bash_command="echo failed", trigger_rule="one_failed")

with DAG("one_failed_of_none", schedule=None):
    good, fine = EmptyOperator(task_id="good"), EmptyOperator(task_id="fine")
    [fine, good] >> BashOperator(task_id="notify", bash_command="echo failed", trigger_rule="one_failed")

with DAG("all_failed", schedule=None):
    bad, worse = (PythonOperator(task_id=name, python_callable=fail) for name in ("bad", "worse"))
    good = EmptyOperator(task_id="good")
    [bad, worse] >> EmptyOperator(task_id="rescue", trigger_rule="all_failed")
    [bad, good] >> EmptyOperator(task_id="not_needed", trigger_rule="all_failed")

with DAG("all_done_in_the_middle", schedule=None):
    bad = PythonOperator(task_id="bad", python_callable=fail)
    clean = EmptyOperator(task_id="clean", trigger_rule="all_done")
    judge = EmptyOperator(task_id="judge")
    bad >> [clean, judge]
    clean >> judge

with DAG("none_failed_after_a_skip", schedule=None):
    check = ShortCircuitOperator(task_id="check", python_callable=lambda: False, ignore_downstream_trigger_rules=False)
    skipped, good = EmptyOperator(task_id="skipped"), EmptyOperator(task_id="good")
    check >> skipped
    [skipped, good] >> EmptyOperator(task_id="goes_on", trigger_rule="none_failed")
    [skipped, good] >> EmptyOperator(task_id="does_not")

with DAG("groups", schedule=None):
    start = EmptyOperator(task_id="start")
    with TaskGroup("load") as load:
        with TaskGroup("inner"):
            one = EmptyOperator(task_id="one")
        two = EmptyOperator(task_id="two")
        one >> two
    with TaskGroup("check", prefix_group_id=False) as check:
        three = PythonOperator(task_id="three", python_callable=nothing)
    start >> load >> check

with DAG("retried", schedule=None, default_args={"retries": 2, "retry_delay": timedelta(seconds=0)}):
    good = PythonOperator(task_id="good", python_callable=nothing)
    good >> PythonOperator(
        task_id="bounded", python_callable=nothing, execution_timeout=timedelta(minutes=1), retries=0
    )

with DAG("setup_and_teardown", schedule=None):
    create = EmptyOperator(task_id="create").as_setup()
    work = EmptyOperator(task_id="work")
    delete = EmptyOperator(task_id="delete").as_teardown(setups=create)
    create >> work >> delete
