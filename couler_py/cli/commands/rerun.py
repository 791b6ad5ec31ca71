"""`couler rerun RUN`: a new run of the same workflow."""

from __future__ import annotations

from couler_py.backends.base import ClusterClient, NotOffered, Scheduling
from couler_py.backends.local.client import LocalClient
from couler_py.cli import running
from couler_py.cli.errors import UsageError
from couler_py.cli.options import AsJson, Parameters, RunName
from couler_py.cli.parameters import read, texts
from couler_py.cli.reach import Reach, reaching


@reaching
def command(run: RunName, parameter: Parameters = None, as_json: AsJson = False, *, reach: Reach) -> None:
    """Start a new run of the workflow of an old one, with its parameters or others."""
    client, run = reach.run_of(run)
    if isinstance(client, LocalClient):
        # Checked by their types, over those that the run had.
        values = read(client.workflow(run), parameter or (), client.record(run).parameters)

        def start() -> str:
            try:
                return client.rerun(run, parameters=values)
            except ValueError as error:
                raise UsageError(str(error)) from error

        running.watch(client, start, as_json=as_json)
    elif isinstance(client, ClusterClient | Scheduling):
        given = texts(parameter or ())
        begin = client.rerun if isinstance(client, Scheduling) else client.resubmit

        def resubmit() -> str:
            try:
                return begin(run, parameters=given)
            except ValueError as error:
                raise UsageError(str(error), "CLR705") from None

        running.watch(client, resubmit, as_json=as_json)
    else:
        raise NotOffered("an exported run can be looked at, and no more: nothing in it is executed")
