"""The past instants of a DAG's schedule, run by Airflow's own backfill."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

from couler_py.backends.airflow.client.naming import joined
from couler_py.backends.airflow.client.server import Server
from couler_py.backends.airflow.client.status import instant, run_phase
from couler_py.backends.airflow.client.watching import LONGEST, SHORTEST
from couler_py.backends.base import FINISHED, Instant, NotOffered
from couler_py.backends.rest.failures import ConflictError

TIDYING, PAUSE = 90.0, 5.0
"""Seconds in which Airflow's scheduler notes that a backfill has ended (it looks every 30 s), and between our looks."""


def start(
    server: Server,
    dag: str,
    begin: float,
    end: float,
    *,
    parallel: int,
    again: bool,
    sleep: Callable[[float], None] = time.sleep,
) -> bool:
    """Have the instants run that haven't; with `again`, those too whose runs failed. Whether there were any.

    Raises `NotOffered` while another backfill of the DAG goes on: Airflow has one at a time.
    """
    body = {
        "dag_id": dag,
        "from_date": written(begin),
        "to_date": written(end),
        "max_active_runs": parallel,
        "reprocess_behavior": "failed" if again else "none",
    }
    if not server.backfill_instants(body):
        return False
    waited = 0.0
    while True:
        try:
            server.backfill(body)
            return True
        except ConflictError:
            if _is_there(server, dag, begin, end):  # it was sent twice, for its answer got lost
                return True
            if waited >= TIDYING or _goes_on(server, dag):
                raise NotOffered(
                    f"another backfill of {dag} goes on, and Airflow has one at a time: wait for its end, or cancel it "
                    "in Airflow's page"
                ) from None
        sleep(PAUSE)
        waited += PAUSE


def _is_there(server: Server, dag: str, begin: float, end: float) -> bool:
    """Whether a backfill of just this span goes on."""
    return any(
        each.get("completed_at") is None and (instant(each["from_date"]), instant(each["to_date"])) == (begin, end)
        for each in server.backfills(dag)
    )


def _goes_on(server: Server, dag: str) -> bool:
    """Whether a run of a backfill hasn't ended."""
    states = ("running", "queued")
    return any(any(server.runs(dag, ("run_type", "backfill"), ("state", each))) for each in states)


def instants(server: Server, dag: str, begin: float, end: float) -> list[Instant]:
    """All instants of a span that have a run, in their order."""
    query = (
        ("logical_date_gte", written(begin)),
        ("logical_date_lte", written(end)),
        ("order_by", "logical_date"),
    )
    return [
        Instant(at, joined(dag, each["dag_run_id"]), run_phase(each))
        for each in server.runs(dag, *query)
        if (at := instant(each.get("logical_date"))) is not None and each.get("run_type") != "manual"
    ]


def watch(look: Callable[[], list[Instant]], sleep: Callable[[float], None] = time.sleep) -> Iterator[list[Instant]]:
    """The instants each time that something has changed, until all have ended."""
    last: list[Instant] | None = None
    pause = SHORTEST
    while True:
        found = look()
        if found != last:
            last, pause = found, SHORTEST
            yield found
        if all(each.status in FINISHED for each in found):
            return
        sleep(pause)
        pause = min(LONGEST, pause * 1.5)


def written(at: float) -> str:
    """An instant as the API reads it."""
    return datetime.fromtimestamp(at, UTC).isoformat()
