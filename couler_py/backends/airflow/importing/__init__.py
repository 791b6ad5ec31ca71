"""DAGs of Airflow as workflows: `couler import dag.py --from airflow`.

`inspecting.py` runs in an environment with Airflow and says what a DAG holds; everything else makes IR of that.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from couler_py.backends.airflow.importing import facts
from couler_py.backends.airflow.importing.building import Building, Known
from couler_py.backends.airflow.importing.reading import read
from couler_py.ir.diagnostics import Diagnostic, DiagnosticError, error
from couler_py.ir.model import Source, Workflow
from couler_py.passes.check import check

__all__ = ["Imported", "imported", "workflow_of"]


class Imported(msgspec.Struct, frozen=True):
    """The workflow of a DAG, and what there is to say of it: what had no word, and what the checker refuses."""

    workflow: Workflow
    diagnostics: tuple[Diagnostic, ...]


def imported(
    file: str, *, python: str = "", dag_id: str = "", partial: bool = False, pools: Mapping[str, int] | None = None
) -> Imported:
    """Read a DAG of a file, which runs the file in the environment of `python` (by default this one).

    `dag_id` chooses among several, `partial` leaves out tasks that have no counterpart (else a step that fails stands
    for each), `pools` are the sizes of pools. Raises `DiagnosticError` where Airflow can't be used or can't read it.
    """
    found = read(file, python)
    return workflow_of(found, _chosen(found, dag_id, file), partial=partial, pools=pools or {})


def workflow_of(
    found: facts.Facts, dag: facts.Dag, *, partial: bool = False, pools: Mapping[str, int] | None = None
) -> Imported:
    """The workflow of a DAG of which the facts are known."""
    known = Known()
    for _ in range(2):  # who reads a task's result is known when all tasks have been read
        building = Building(dag, found.values, pools or {}, known, partial=partial)
        building.workflow()
        known = building.found_out
    building = Building(dag, found.values, pools or {}, known, partial=partial)
    workflow = building.workflow()
    return Imported(workflow, (*building.diagnostics, *check(workflow)))


def _chosen(found: facts.Facts, dag_id: str, file: str) -> facts.Dag:
    ids = [dag.id for dag in found.dags]
    if dag_id in ids:
        return found.dags[ids.index(dag_id)]
    if not dag_id and len(ids) == 1:
        return found.dags[0]
    message = f"the file has no DAG {dag_id!r}" if dag_id else f"the file has {len(ids)} DAGs"
    place = Source(file, 1)
    raise DiagnosticError([error("CLR531", message, source=place, help=f"choose one: --dag {' or --dag '.join(ids)}")])
