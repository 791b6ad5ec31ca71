"""Every kind of failure that is recognised. The first row that fits decides: those without a way out come first."""

from __future__ import annotations

from couler_py.passes.retry.pattern import Pattern
from couler_py.passes.retry.table import airflow, argo, gpus, kubernetes, machine, own, stores

TABLE: tuple[Pattern, ...] = tuple(
    sorted(
        (*own.ROWS, *kubernetes.ROWS, *argo.ROWS, *airflow.ROWS, *gpus.ROWS, *stores.ROWS, *machine.ROWS),
        key=lambda row: row.verdict != "no",
    )
)
