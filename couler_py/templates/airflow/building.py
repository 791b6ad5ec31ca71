"""Groups, fan-outs and loops: what makes the tasks of a graph when the file is read."""

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, NamedTuple

from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.providers.standard.operators.hitl import HITLEntryOperator
from airflow.providers.standard.operators.python import PythonOperator
from airflow.providers.standard.sensors.python import PythonSensor
from airflow.sdk import Param, TaskGroup, TriggerRule, get_current_context, task_group
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

from couler_py.templates.airflow.states import (
    check_started,
    check_tolerated,
    end_of,
    failed_items,
    failures_of,
    state_of,
)
from couler_py.templates.airflow.values import (
    evaluated,
    given_back,
    kept,
    proceed,
    results_of,
    xcom,
)


class Group(NamedTuple):
    """A graph in the DAG: who waits for it waits for `end`, which has its outputs."""

    start: Any
    end: Any


class FanOut(NamedTuple):
    """Tasks for the items of a list; `each` has their results."""

    start: Any
    each: Any
    end: Any
    batch: int | None = None


def gate(task_id, rule, *before):
    """Lets the tasks behind it start by a rule of its own."""
    made = EmptyOperator(task_id=task_id, trigger_rule=rule)
    list(before) >> made
    return made


def begin(inputs=dict, when=None, item=None):
    """The first task of a graph: it reads the condition and the graph's inputs."""

    def read(*items):
        proceed(when)
        return kept(evaluated(inputs, *items))

    items = [] if item is None else [item]
    return PythonOperator(task_id="start", python_callable=read, op_args=items)


def finish(start, before, outputs=dict):
    """The last task of a graph that forgives no failure: it gives the outputs."""

    def give():
        if xcom(start) is None:
            raise AirflowSkipException("the graph did not start")
        return kept(given_back(outputs))

    end = PythonOperator(
        task_id="end", python_callable=give, trigger_rule=TriggerRule.NONE_FAILED
    )
    [start, *before] >> end
    return Group(start, end)


def judge(start, graph, outputs=dict, **options):
    """The last task of a graph: it fails by the states of all, and gives the outputs.

    A task that nobody waits for counts with its own state; one that did not run with
    the worst among those that it waited for. `graph` lists (task, what it waits for).
    """

    def give():
        if start is not None and state_of(start) != "Succeeded":
            if state_of(start) == "Skipped":
                raise AirflowSkipException("the graph did not start")
            raise AirflowFailException("the graph did not start")
        if failed := failures_of(graph):
            raise AirflowFailException(f"failed: {', '.join(failed)}")
        return kept(given_back(outputs))

    task_id = "result" if start is None else "end"
    end = PythonOperator(
        task_id=task_id,
        python_callable=give,
        trigger_rule=TriggerRule.ALL_DONE,
        **options,
    )
    [end_of(node) for node, _ in graph] >> end
    if start is None:
        return end
    start >> end
    return Group(start, end)


def result_of_run(before, outputs=dict, **options):
    """The last task of the DAG: its XCom are the outputs of the run."""
    made = PythonOperator(
        task_id="result",
        python_callable=lambda: kept(evaluated(outputs)),
        trigger_rule=TriggerRule.NONE_FAILED,
        **options,
    )
    before >> made
    return made


def fan_out(items, each, *, when=None, most=1000, tolerate=0, batch=None):
    """A task or group for each item. Fails if more items fail than are tolerated.

    With `batch`, each task works on so many items.
    """

    def read():
        proceed(when)
        found = evaluated(items)
        if len(found) > most:
            raise AirflowFailException(f"{len(found)} items, and there may be {most}")
        if batch:
            starts = range(0, len(found), batch)
            return [{"item": found[begin : begin + batch]} for begin in starts]
        return [{"item": item} for item in found]

    def close():
        if xcom(start) is None:
            raise AirflowSkipException("it had nothing to do")
        return {}

    def count():
        check_started(start)
        failed = failed_items(each_end) * (batch or 1)
        if batch:
            failed += sum(found is None for found in results_of(fan))
        check_tolerated(failed, tolerate)
        return {}

    counts = tolerate or batch
    start = PythonOperator(task_id="start", python_callable=read)
    each_end = each(start.output)
    end = PythonOperator(
        task_id="end",
        python_callable=count if counts else close,
        trigger_rule=TriggerRule.ALL_DONE if counts else TriggerRule.NONE_FAILED,
    )
    [start, each_end] >> end
    fan = FanOut(start, each_end, end, batch)
    return fan


def group_of_each(make, inputs, parallel=None):
    """For `fan_out`: a group of tasks for each item, at most so many in each task."""

    def expand(items):
        made = []

        @task_group(group_id="each")
        def each(item):
            made.append(make(inputs, item=item).end)

        group = each.expand_kwargs(items)
        for task in group.iter_tasks() if parallel else ():
            task.max_active_tis_per_dagrun = parallel
        return made[0]

    return expand


def groups_of_items(items, make, inputs, *, when=None, tolerate=0):
    """A group for each item of a known list: such groups can hold fan-outs."""

    def read():
        proceed(when)
        return [{"item": item} for item in items]

    def count():
        check_started(start)
        failed = [each for each in groups if state_of(each) in ("Failed", "Blocked")]
        check_tolerated(len(failed), tolerate)
        return {}

    start = PythonOperator(task_id="start", python_callable=read)
    groups = []
    for index, item in enumerate(items):
        with TaskGroup(f"each_{index}"):
            groups.append(make(partial(inputs, item)))
        start >> groups[-1].start
    end = PythonOperator(
        task_id="end", python_callable=count, trigger_rule=TriggerRule.ALL_DONE
    )
    [start, *[each.end for each in groups]] >> end
    return FanOut(start, [each.end for each in groups], end)


def repeat_group(make, inputs, until, carry, most, outputs, *, when=None, item=None):
    """A graph that runs again and again, until a condition over its outputs holds."""
    start = begin(inputs, when, item)
    turns = []

    def turn_inputs(before):
        given = dict(xcom(start))
        if before is not None:
            last = xcom(before)
            given |= {name: last[output] for name, output in carry.items()}
        return given

    def goes_on(before):
        return not until(xcom(before))

    def give():
        check_started(start)
        if any(state_of(each) in ("Failed", "Blocked") for each in turns):
            raise AirflowFailException("a turn failed")
        last = [found for each in turns if (found := xcom(each.end)) is not None][-1]
        if not evaluated(until, last):
            raise AirflowFailException(f"the condition did not hold after {most} turns")
        return kept(evaluated(outputs, last))

    for number in range(1, most + 1):
        before = turns[-1].end if turns else None
        condition = None if before is None else partial(goes_on, before)
        with TaskGroup(f"turn_{number}"):
            turns.append(make(partial(turn_inputs, before), condition))
        # Behind all turns before, so that all that are left are skipped at once.
        [start, *[each.end for each in turns[:-1]]] >> turns[-1].start
    end = PythonOperator(
        task_id="end", python_callable=give, trigger_rule=TriggerRule.ALL_DONE
    )
    [start, *[each.end for each in turns]] >> end
    return Group(start, end)


def pause(task_id, time, when=None, **options):
    """Waits for a span of time, without a worker if it is long."""

    def over():
        proceed(when)
        context = get_current_context()
        ti = context["ti"]
        began = ti.get_first_reschedule_date(context) or ti.start_date
        return datetime.now(UTC) >= began + time

    return PythonSensor(
        task_id=task_id,
        python_callable=over,
        poke_interval=max(0.1, min(60, time.total_seconds() / 4)),
        mode="reschedule" if time > timedelta(minutes=1) else "poke",
        **options,
    )


def approval(task_id, subject, asked, when=None, **options):
    """Waits for a person, who may be asked for values (Airflow: required actions)."""

    class Approval(HITLEntryOperator):
        template_fields = ()

        def execute(self, context):
            proceed(when)
            return super().execute(context)

        def execute_complete(self, context, event):
            answer = super().execute_complete(context, event)["params_input"]
            given = {name: schema.get("default") for name, schema in asked.items()}
            given |= answer
            for name, schema in asked.items():
                if given[name] is None and "default" not in schema:
                    raise AirflowFailException(f"nobody gave a value for {name}")
            return given

    params = {name: Param(**{"default": None, **each}) for name, each in asked.items()}
    return Approval(
        task_id=task_id,
        subject=subject,
        params=params,
        **options,
    )
