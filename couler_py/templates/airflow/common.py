"""What the DAG files that couler-py writes are made of, whatever their operators.

Nobody imports this. Each file gets the definitions that it uses, as they stand here,
with the imports that these need. So this is formatted for Airflow's users (88 columns),
uses nothing of ours, and says what a reader of a DAG wants to know. What stands in
functions without a name is read in the workers, everything else when the file is.
"""

import json
import math
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, NamedTuple

from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.providers.standard.operators.hitl import HITLEntryOperator
from airflow.providers.standard.operators.python import PythonOperator
from airflow.providers.standard.sensors.python import PythonSensor
from airflow.sdk import Param, TaskGroup, TriggerRule, get_current_context, task_group
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

from couler_py.templates.airflow.steps import read_file, write_file

XCOM_LIMIT = 48 * 1024


# ---- building the graph


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
            return dict(super().execute_complete(context, event)["params_input"])

    return Approval(
        task_id=task_id,
        subject=subject,
        params={name: Param(**schema) for name, schema in asked.items()},
        **options,
    )


# ---- conditions, inputs and outputs


class Absent(LookupError):
    """A value that is not there: the task that makes it did not succeed."""


def proceed(when):
    """Skip the task unless its condition holds."""
    if when is not None and not evaluated(when):
        raise AirflowSkipException("its condition is false")


def evaluated(read, *given):
    """What an expression gives. One without a value fails the task for good."""
    try:
        return read(*given) if callable(read) else read
    except AirflowSkipException:
        raise
    except Exception as error:
        message = f"an input or a condition has no value: {error!r}"
        raise AirflowFailException(message) from error


def given_back(outputs):
    """The outputs of a graph; in a fan-out, an item without one counts as skipped."""
    try:
        return outputs()
    except Absent:
        raise AirflowSkipException("the graph has no result") from None
    except Exception as error:
        raise AirflowFailException(f"an output has no value: {error!r}") from error


def param(name):
    """A parameter of the run."""
    return get_current_context()["params"][name]


def xcom(task):
    """All that a task gave, for the same item; None if it did not succeed."""
    ti = get_current_context()["ti"]
    mapped = task.get_closest_mapped_task_group() is not None
    index = ti.map_index if mapped else -1
    return loaded(ti.xcom_pull(task_ids=task.task_id, map_indexes=index))


def out(task, name):
    """One output of a task. Raises `Absent` where the task did not succeed."""
    found = xcom(task)
    if found is None or name not in found:
        raise Absent(f"{task.task_id} gave no {name}")
    return found[name]


def results_of(fan):
    """What the items of a fan-out gave, in order; None for those without success."""
    if isinstance(fan.each, list):
        return [xcom(each) for each in fan.each]
    given = xcom(fan.start)
    ti = get_current_context()["ti"]
    indexes = list(range(len(given)))
    pulled = ti.xcom_pull(task_ids=fan.each.task_id, map_indexes=indexes)
    found = [loaded(each) for each in pulled] if given else []
    if fan.batch is None:
        return found
    # A batch that failed as a whole is none of its items: it is counted by its task.
    return [each for batch in found if batch for each in batch["@items"]]


def check_succeeded(fan):
    """Raise `Absent` unless a fan-out succeeded."""
    if xcom(fan.end) is None:
        raise Absent(f"{fan.end.task_id} did not succeed")


def gather(fan, name):
    """An output of a fan-out: the list over the items that succeeded."""
    check_succeeded(fan)
    return [found[name] for found in results_of(fan) if found is not None]


def items_of(fan):
    """The items of a fan-out that succeeded, in order."""
    check_succeeded(fan)
    given = [each["item"] for each in xcom(fan.start)]
    if fan.batch is not None:
        given = [item for batch in given for item in batch]
    pairs = zip(given, results_of(fan), strict=True)
    return [item for item, found in pairs if found is not None]


def files_of(fan, name):
    """The files of a fan-out by the number of their item: they become one folder."""
    check_succeeded(fan)
    found = enumerate(results_of(fan))
    return {f"{index:06}": each[name] for index, each in found if each and each[name]}


def published_as(name, places):
    """A value that a task published. Raises `Absent` where none did."""
    ti = get_current_context()["ti"]
    for task_id, output in places:
        found = loaded(ti.xcom_pull(task_ids=task_id, map_indexes=-1))
        if found is not None and output in found:
            return found[output]
    raise Absent(f"nobody published {name}")


def fact(name):
    """A fact about the run."""
    context = get_current_context()
    run, ti = context["dag_run"], context["ti"]
    facts = {
        "id": run.run_id,
        "name": ti.dag_id,
        "namespace": "",
        "scheduled_time": (run.logical_date or run.run_after).isoformat(),
        "start": run.start_date.isoformat(),
        "attempt": ti.try_number - 1,
        "duration": (datetime.now(UTC) - run.start_date).total_seconds(),
    }
    return facts[name]


def kept(value):
    """A value for XCom: a large one, or one that Airflow would change, as a file."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    reserved = ('"__classname__"', '"__type"', '"__var"', '"__id__"')
    plain = text.encode("utf-8", "replace").decode() == text
    if (
        plain
        and len(text.encode()) <= XCOM_LIMIT
        and not any(map(text.count, reserved))
    ):
        return value
    return {"@file": write_file("xcom.json", json.dumps(value).encode())}


def loaded(found):
    """What `kept` kept."""
    if isinstance(found, dict) and "@file" in found:
        return json.loads(read_file(found["@file"]))
    return found


# ---- states


def end_of(node):
    """The task that ends a task, graph or fan-out."""
    return getattr(node, "end", node)


def states_of(task_ids, map_index=None):
    """Airflow's states of tasks of this run."""
    ti = get_current_context()["ti"]
    found = ti.get_task_states(
        dag_id=ti.dag_id,
        run_ids=[ti.run_id],
        task_ids=task_ids,
        map_index=map_index,
    )
    return {task: str(state) for task, state in found.get(ti.run_id, {}).items()}


def state_of(node):
    """How a task, graph or fan-out ended: Succeeded, Failed, Skipped or Blocked."""
    end, start = end_of(node), getattr(node, "start", None)
    inside = end.get_closest_mapped_task_group() is not None
    index = get_current_context()["ti"].map_index if inside else -1
    suffix = f"_{index}" if inside else ""
    task_ids = [end.task_id] + ([] if start is None else [start.task_id])
    found = states_of(task_ids, index)
    names = {
        "success": "Succeeded",
        "skipped": "Skipped",
        "upstream_failed": "Blocked",
    }
    ended = names.get(found.get(end.task_id + suffix), "Failed")
    if start is None or ended in ("Succeeded", "Skipped"):
        return ended
    began = names.get(found.get(start.task_id + suffix))
    return "Blocked" if began == "Blocked" else "Failed"


def check_started(start):
    """Skip or fail the end of a group that did not start."""
    if xcom(start) is None:
        if state_of(start) == "Skipped":
            raise AirflowSkipException("it had nothing to do")
        raise AirflowFailException("it did not start")


def check_tolerated(failed, tolerate):
    """Fail if more items failed than are tolerated."""
    if failed > tolerate:
        raise AirflowFailException(f"{failed} items failed, and {tolerate} may")


def failed_items(task):
    """How many items of a fan-out failed."""
    found = states_of([task.task_id]).values()
    return sum(each in ("failed", "upstream_failed") for each in found)


def failures_of(graph):
    """The tasks whose failure counts for a graph: see `judge`."""
    waits = {end_of(node).task_id: (node, before) for node, before in graph}
    inner = {end_of(each).task_id for _, before in graph for each in before}
    waiting = [task_id for task_id in waits if task_id not in inner]
    failed, seen = [], set()
    while waiting:
        task_id = waiting.pop()
        if task_id in seen:
            continue
        seen.add(task_id)
        node, before = waits[task_id]
        ended = state_of(node)
        if ended == "Failed" or (ended == "Blocked" and not before):
            failed.append(task_id)
        elif ended != "Succeeded":
            waiting += [end_of(each).task_id for each in before]
    return sorted(failed)


def run_status(task):
    """How the run ended, before its handlers."""
    return "Succeeded" if state_of(task) == "Succeeded" else "Failed"


def run_failures():
    """The tasks of this run that failed, for handlers."""
    failed = [task for task, found in states_of([]).items() if found == "failed"]
    return [{"name": task, "message": "", "exit_code": None} for task in failed]


# ---- expressions


def or_else(read, default):
    """The value, or the default where it is absent."""
    try:
        return read()
    except Absent:
        return default() if callable(default) else default


def first_of(*options):
    """The first value that is there."""
    for read in options:
        try:
            return read()
        except Absent:
            continue
    raise Absent("none of the values is there")


def kind_of(value):
    """The kind of a value: a boolean is not a number."""
    if value is None or isinstance(value, bool):
        return type(value)
    if isinstance(value, int | float):
        return float
    return type(value)


def checked(value):
    """The value; an integer that engines would compare differently is an error."""
    if isinstance(value, int) and abs(value) > 2**53:
        raise ValueError(f"{value} is beyond plus or minus 2^53")
    return value


def equal(left, right):
    """Whether two values are the same: by kind first, then by content."""
    if kind_of(left) is not kind_of(right):
        return False
    if isinstance(left, list):
        return len(left) == len(right) and all(map(equal, left, right))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(
            equal(left[key], right[key]) for key in left
        )
    return checked(left) == checked(right)


def less(left, right):
    """Whether a number or text comes before another."""
    ordered(left, right)
    return left < right


def at_most(left, right):
    """Whether a number or text comes before another, or is the same."""
    ordered(left, right)
    return left <= right


def ordered(left, right):
    """Raise an error unless both are numbers, or both texts."""
    if kind_of(left) is not kind_of(right) or kind_of(left) not in (float, str):
        raise TypeError(f"{left!r} can't be ordered with {right!r}")
    checked(left), checked(right)


def is_true(value):
    """The value, which must be true or false."""
    if not isinstance(value, bool):
        raise TypeError(f"{value!r} is neither true nor false")
    return value


def is_false(value):
    """The opposite of a value that must be true or false."""
    return not is_true(value)


def as_number(value):
    """A number; JSON has no word for some."""
    if value in ("NaN", "Infinity", "-Infinity"):
        return float(value)
    if kind_of(value) is not float:
        raise TypeError(f"{value!r} is not a number")
    return value


def as_float(value):
    """A value; a number that JSON has no word for is read as such."""
    return float(value) if value in ("NaN", "Infinity", "-Infinity") else value


def every(*conditions):
    """Whether all conditions hold, read in order."""
    return all(is_true(read()) for read in conditions)


def some(*conditions):
    """Whether one of the conditions holds, read in order."""
    return any(is_true(read()) for read in conditions)


def as_fraction(value):
    """A number with a decimal point, as its type says."""
    return None if value is None else float(value)


def compute(sign, left, right):
    """Arithmetic on numbers of 64 bits; `+` also joins texts and lists."""
    if sign == "+" and kind_of(left) is kind_of(right) and kind_of(left) in (str, list):
        return left + right
    left, right = as_number(left), as_number(right)
    if sign == "+":
        made = left + right
    elif sign == "-":
        made = left - right
    elif sign == "*":
        made = left * right
    elif sign == "/":
        made = left / right
    elif sign == "//":
        infinite = right and isinstance(left, float) and math.isinf(left)
        made = math.nan if infinite else left // right
    else:
        made = left % right
    if isinstance(made, int) and not -(2**63) <= made < 2**63:
        raise OverflowError(f"{left!r} {sign} {right!r} doesn't fit in 64 bits")
    return made


def as_json(value):
    """A computed value as JSON has it: NaN and infinities are words there."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def member_of(value, key):
    """A member of an object, or an element of a list."""
    if isinstance(value, dict) and isinstance(key, str):
        return value[key]
    if isinstance(value, list) and isinstance(key, int) and not isinstance(key, bool):
        return value[key]
    raise TypeError(f"{value!r} has no member {key!r}")


def contains(container, value):
    """Whether a list holds a value, an object a key, or a text a part."""
    if isinstance(container, list):
        return any(equal(value, each) for each in container)
    if isinstance(container, dict | str) and isinstance(value, str):
        return value in container
    raise TypeError(f"{container!r} can't hold {value!r}")


def joined(*parts):
    """A text made of parts: texts as they are, everything else as JSON."""
    return "".join(
        each
        if isinstance(each, str)
        else json.dumps(as_json(each), ensure_ascii=False, separators=(",", ":"))
        for each in parts
    )


def zipped(*lists):
    """Several lists of equal length as one list of lists."""
    return [list(each) for each in zip(*lists, strict=True)]


def numbers_from(start=0, *, count=None, end=None, form=None):
    """A list of numbers: so many from the first, or up to the last, also downwards."""
    if form is not None:
        return [form % each for each in numbers_from(start, count=count, end=end)]
    if count is not None:
        return list(range(start, start + count))
    return (
        list(range(start, end + 1)) if start <= end else list(range(start, end - 1, -1))
    )
