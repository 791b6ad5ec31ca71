"""What helps where Airflow refuses a call."""

from __future__ import annotations

from couler_py.backends.rest.failures import Words

LETS_IN = "COULER_AIRFLOW_TOKEN, --token-file, or COULER_AIRFLOW_USERNAME with COULER_AIRFLOW_PASSWORD say who calls"


def right(message: str) -> str:
    """What to do about a 403."""
    return "; ask whoever runs Airflow for a role that may do this with this DAG (Op, or User for looking alone)"


WORDS = Words(engine="airflow", lets_in=LETS_IN, right=right)
