"""How tasks ended."""

from airflow.sdk import get_current_context
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

from couler_py.templates.airflow.values import xcom


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
