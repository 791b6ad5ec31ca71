"""The engine's door: options in, a DAG file out."""

from __future__ import annotations

from typing import Any

from couler_py.backends.airflow.dag import dag_id
from couler_py.backends.airflow.document import dag_file
from couler_py.backends.airflow.emission import Emission
from couler_py.backends.airflow.options import VERSIONS, Options, chosen, parse
from couler_py.backends.airflow.refusals import check_ids, check_support
from couler_py.backends.airflow.support import TABLE
from couler_py.backends.airflow.writer import written
from couler_py.backends.base import Bundle, Client, NotOffered, OptionError, Support
from couler_py.ir.diagnostics import DiagnosticError
from couler_py.ir.model import Workflow
from couler_py.settings.model import Settings


def compile_workflow(workflow: Workflow, options: Options = Options()) -> Bundle:
    """Emit a checked workflow as a DAG file.

    Raises `DiagnosticError` with everything that Airflow can't do, each with its place and the way out.
    """
    emission = Emission(workflow, options)
    check_support(emission)
    _stop_at_errors(emission)
    check_ids(emission)
    file = dag_file(emission)
    _stop_at_errors(emission)
    return Bundle("airflow", {f"{dag_id(emission)}.py": written(file)}, diagnostics=tuple(emission.diagnostics))


def _stop_at_errors(emission: Emission) -> None:
    if any(each.severity == "error" for each in emission.diagnostics):
        raise DiagnosticError(emission.diagnostics)


class Airflow:
    """The engine `airflow`."""

    name = "airflow"
    versions: tuple[str, ...] = VERSIONS
    suffix = ".py"

    def support(self) -> tuple[Support, ...]:
        return TABLE

    def chosen(self, settings: Settings) -> dict[str, Any]:
        """What settings say about options that a caller leaves open."""
        return chosen(settings)

    def compile(self, workflow: Workflow, *, version: str | None = None, **options: Any) -> Bundle:
        """Emit a checked workflow. Options: see `couler_py.backends.airflow.options.Options`."""
        return compile_workflow(workflow, parse(version, options))

    def client(self, **options: Any) -> Client:
        """A connection to Airflow's api-server. Options: see `couler_py.backends.airflow.client.AirflowClient`."""
        from couler_py.backends.airflow.client import AirflowClient

        if options.pop("dry_run", False):
            raise NotOffered("the engine airflow has no dry run: `couler compile FILE --to airflow` shows the file")
        for name in ("context", "kubeconfig"):
            if name in options:
                raise OptionError(f"airflow: --{name} chooses a cluster; Airflow is reached by --server URL")
        return AirflowClient(**options)


BACKEND = Airflow()
