"""Conditions, inputs and outputs, as the workers read them."""

import json
from datetime import UTC, datetime

from airflow.sdk import get_current_context
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

from couler_py.templates.airflow.steps import read_file, write_file

XCOM_LIMIT = 48 * 1024


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
