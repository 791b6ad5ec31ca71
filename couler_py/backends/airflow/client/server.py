"""The calls of Airflow's REST API (`/api/v2`, Airflow 3.1 or later) that we make, a method each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from couler_py.backends.rest.failures import MissingError, NotUnderstoodError
from couler_py.backends.rest.http import Http
from couler_py.backends.rest.request import JSON, Request, segment

PAGE = 100
"""Most entries of one answer (Airflow's setting `maximum_page_limit`, as it is by default)."""


class Server:
    """One Airflow. Every method raises an `ApiError` that names the call."""

    def __init__(self, http: Http):
        self.http = http

    # ---- DAGs

    def dag(self, dag: str) -> JSON:
        """A DAG with its parameters."""
        return self._get(f"/dags/{segment(dag)}/details", f"read the DAG {dag}")

    def source(self, dag: str) -> str | None:
        """The text of the file that Airflow has read a DAG from; None where it knows none."""
        try:
            found = self._get(f"/dagSources/{segment(dag)}", f"read the source of {dag}")
        except MissingError:
            return None
        return str(found.get("content", ""))

    def tasks(self, dag: str) -> list[JSON]:
        """The tasks of a DAG as they are now."""
        return self._list(f"/dags/{segment(dag)}/tasks", f"list the tasks of {dag}", "tasks")

    def pause(self, dag: str, *, paused: bool) -> None:
        """Let the scheduler start nothing of a DAG, or again."""
        what = f"{'pause' if paused else 'unpause'} the DAG {dag}"
        self._change("PATCH", f"/dags/{segment(dag)}", what, {"is_paused": paused}, again=True)

    def parse(self, dag: JSON) -> None:
        """Ask for the file of a DAG to be read soon."""
        path = f"/parseDagFile/{segment(dag['file_token'])}"
        self._change("PUT", path, f"have the file of {dag['dag_id']} read", None, again=True)

    def import_errors(self) -> list[JSON]:
        """What Airflow couldn't import, newest first."""
        query = (("order_by", "-timestamp"), ("limit", str(PAGE)))
        return self._list("/importErrors", "list import errors", "import_errors", query)

    def pool(self, name: str) -> JSON:
        """A pool."""
        return self._get(f"/pools/{segment(name)}", f"read the pool {name}")

    def make_pool(self, name: str, slots: int) -> None:
        """Make a pool of so many slots."""
        self._change("POST", "/pools", f"make the pool {name}", {"name": name, "slots": slots})

    # ---- runs

    def run(self, dag: str, run: str) -> JSON:
        """A run."""
        return self._get(_run(dag, run), f"read the run {run} of {dag}")

    def runs(self, dag: str = "~", *query: tuple[str, str]) -> Iterator[JSON]:
        """The runs of a DAG, or of all, newest first unless the query says otherwise."""
        ordered = query if any(name == "order_by" for name, _ in query) else (("order_by", "-id"), *query)
        yield from self._pages(f"/dags/{segment(dag)}/dagRuns", "list runs", "dag_runs", ordered)

    def trigger(self, dag: str, run: str, conf: Mapping[str, Any], note: str) -> JSON:
        """Start a run of this id. The id is new, so that the call may be sent twice."""
        body = {"dag_run_id": run, "conf": dict(conf), "logical_date": None, "note": note}
        what = f"start a run of {dag}"
        found = self._change("POST", f"/dags/{segment(dag)}/dagRuns", what, body, again=True)
        self._member(found, "dag_run_id", what)
        return found

    def patch_run(self, dag: str, run: str, **fields: str) -> None:
        """Change a run: its `state`, its `note`."""
        self._change("PATCH", _run(dag, run), f"change the run {run} of {dag}", dict(fields), again=True)

    def delete_run(self, dag: str, run: str) -> None:
        """Forget a run."""
        self._change("DELETE", _run(dag, run), f"delete the run {run} of {dag}", None, again=True)

    # ---- task instances

    def instances(self, dag: str, run: str) -> list[JSON]:
        """All task instances of a run."""
        path = f"{_run(dag, run)}/taskInstances"
        return list(self._pages(path, f"list the tasks of {run}", "task_instances", (("order_by", "id"),)))

    def tries(self, instance: JSON) -> list[JSON]:
        """All attempts of a task instance."""
        path = f"{_instance(instance)}{_index(instance)}/tries"
        return self._list(path, f"list the attempts of {instance['task_id']}", "task_instances")

    def set_states(self, dag: str, run: str, entities: Sequence[JSON]) -> JSON:
        """Give task instances (`task_id`, `map_index`, `new_state`) other states, in no order."""
        action = {"action": "update", "action_on_non_existence": "skip", "entities": list(entities)}
        body = {"actions": [action]}
        return self._change("PATCH", f"{_run(dag, run)}/taskInstances", f"change tasks of {run}", body, again=True)

    def clear(self, dag: str, run: str, tasks: Sequence[Any], note: str) -> list[JSON]:
        """Have tasks (`[id, map index]`, or an id) and all that follows them run again; gives those that will."""
        body = {
            "dry_run": False,
            "only_failed": False,
            "reset_dag_runs": True,
            "dag_run_id": run,
            "task_ids": list(tasks),
            "include_downstream": True,
            "note": note,
        }
        what = f"run failed tasks of {run} again"
        found = self._change("POST", f"/dags/{segment(dag)}/clearTaskInstances", what, body)
        return list(self._member(found, "task_instances", what))

    def log(self, instance: JSON, attempt: int) -> list[Any]:
        """What one attempt wrote: objects with `event`, or lines."""
        query = (("map_index", str(instance["map_index"])), ("full_content", "true"))
        path = f"{_instance(instance)}/logs/{attempt}"
        return list(self._get(path, f"read the log of {instance['task_id']}", query).get("content") or [])

    def xcom(self, instance: JSON, key: str = "return_value") -> Any:
        """What a task instance gave; None where it gave nothing."""
        query = (("map_index", str(instance["map_index"])), ("deserialize", "false"))
        path = f"{_instance(instance)}/xcomEntries/{segment(key)}"
        try:
            return self._get(path, f"read what {instance['task_id']} gave", query).get("value")
        except MissingError:
            return None

    # ---- required actions

    def questions(self, dag: str, run: str) -> list[JSON]:
        """What a run waits for people with, and nobody has answered."""
        query = (("response_received", "false"),)
        return list(self._pages(f"{_run(dag, run)}/hitlDetails", f"list what {run} asks", "hitl_details", query))

    def answer(self, instance: JSON, options: Sequence[str], values: Mapping[str, Any]) -> None:
        """Answer a question, with values for what it asks."""
        body = {"chosen_options": list(options), "params_input": dict(values)}
        # The index is a part of the path, -1 where the task isn't mapped.
        path = f"{_instance(instance)}/{instance['map_index']}/hitlDetails"
        self._change("PATCH", path, f"answer {instance['task_id']}", body)

    # ---- backfills

    def backfill(self, body: JSON) -> JSON:
        """Have the instants of a span run. Sent twice, the second is a conflict with the first."""
        return self._change("POST", "/backfills", f"backfill {body['dag_id']}", body, again=True)

    def backfills(self, dag: str) -> Iterator[JSON]:
        """The backfills of a DAG."""
        return self._pages("/backfills", f"list the backfills of {dag}", "backfills", (("dag_id", dag),))

    def backfill_instants(self, body: JSON) -> list[JSON]:
        """The instants that a backfill would run."""
        what = f"try a backfill of {body['dag_id']}"
        found = self._change("POST", "/backfills/dry_run", what, body, again=True)
        return list(self._member(found, "backfills", what))

    # ---- sending

    def _get(self, path: str, what: str, query: tuple[tuple[str, str], ...] = ()) -> JSON:
        return self.http.call(Request("GET", f"/api/v2{path}", what, query))

    def _member(self, answer: JSON, key: str, what: str) -> Any:
        """What an answer says. Raises `NotUnderstoodError` where it isn't that of an Airflow."""
        try:
            return answer[key]
        except KeyError:
            raise NotUnderstoodError(
                f"{what} ({self.http.name}): the answer has no {key}; is this the URL of an Airflow 3?"
            ) from None

    def _list(self, path: str, what: str, key: str, query: tuple[tuple[str, str], ...] = ()) -> list[JSON]:
        return list(self._member(self._get(path, what, query), key, what))

    def _pages(self, path: str, what: str, key: str, query: tuple[tuple[str, str], ...]) -> Iterator[JSON]:
        begin = 0
        while True:
            found = self._get(path, what, (*query, ("limit", str(PAGE)), ("offset", str(begin))))
            page = self._member(found, key, what)
            yield from page
            begin += len(page)
            if not page or begin >= (found.get("total_entries") or 0):
                return

    def _change(self, method: Any, path: str, what: str, body: JSON | None, *, again: bool = False) -> JSON:
        return self.http.call(Request(method, f"/api/v2{path}", what, (), body, again=again))


def _run(dag: str, run: str) -> str:
    return f"/dags/{segment(dag)}/dagRuns/{segment(run)}"


def _instance(instance: JSON) -> str:
    return f"{_run(instance['dag_id'], instance['dag_run_id'])}/taskInstances/{segment(instance['task_id'])}"


def _index(instance: JSON) -> str:
    return "" if instance["map_index"] < 0 else f"/{instance['map_index']}"
