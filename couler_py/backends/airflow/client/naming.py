"""The names of runs, `airflow:DAG/RUN`, and of workflows, `airflow:DAG`."""

from __future__ import annotations

import re
import secrets
import time

from couler_py.backends.base import RunNotFoundError

LETTERS = "bcdfghjklmnpqrstvwxz2456789"
"""What ends of names are made of: nothing that reads as a word, no two signs that look alike."""

ALLOWED = re.compile(r"[A-Za-z0-9_.~:+-]+")
"""Ids of runs that Airflow takes (its setting `allowed_run_id_pattern`, as it is by default)."""


def split(run: str) -> tuple[str, str]:
    """The ids of the DAG and of the run. Raises `RunNotFoundError` for another form.

    >>> split("airflow:nightly/couler__2026-01-01T03.00.00Z__x7d2p")
    ('nightly', 'couler__2026-01-01T03.00.00Z__x7d2p')
    """
    engine, _, rest = run.partition(":")
    dag, _, name = rest.partition("/")
    if engine != "airflow" or not dag or not ALLOWED.fullmatch(name):
        raise RunNotFoundError(f"{run!r} is no run on Airflow: those are named airflow:DAG/RUN")
    return dag, name


def joined(dag: str, name: str) -> str:
    """The full name of a run."""
    return f"airflow:{dag}/{name}"


def dag_of(text: str) -> str:
    """The id of the DAG that is typed as `DAG`, `airflow:DAG` or `airflow:DAG/RUN`."""
    return text.removeprefix("airflow:").partition("/")[0]


def generated(now: float | None = None) -> str:
    """An id for a new run: ours, its time, and letters that nobody else has.

    >>> generated(0.0)[:-5]
    'couler__1970-01-01T00.00.00Z__'
    """
    instant = time.strftime("%Y-%m-%dT%H.%M.%SZ", time.gmtime(now))
    return f"couler__{instant}__{''.join(secrets.choice(LETTERS) for _ in range(5))}"
