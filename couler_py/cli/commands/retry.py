"""`couler retry RUN`: run what failed again."""

from __future__ import annotations

from couler_py.backends.base import ClusterClient, NotOffered
from couler_py.cli import planned, running
from couler_py.cli.console import console
from couler_py.cli.errors import UsageError
from couler_py.cli.options import AsJson, Parameters, RunName
from couler_py.cli.parameters import texts
from couler_py.cli.reach import DryRun, Reach, reaching


@reaching
def command(
    run: RunName, parameter: Parameters = None, as_json: AsJson = False, dry_run: DryRun = False, *, reach: Reach
) -> None:
    """Run the failed tasks of a run again and keep what succeeded."""
    client = reach.client_of(run, dry_run=dry_run)
    values = texts(parameter or ())

    def start() -> str:
        if not values:
            return client.retry(run)
        if not isinstance(client, ClusterClient):
            raise NotOffered(f"the engine {client.engine} retries a run with the parameters that it has")
        try:
            return client.retry(run, parameters=values)
        except ValueError as error:
            raise UsageError(str(error), "CLR705") from None

    if dry_run:
        start()
        planned.show(client, as_json=as_json)
        return
    if not as_json:
        said = "steps run as they were when the run began; a changed file needs a new run"
        console(stderr=True).print(said, style="dim")
    running.watch(client, start, as_json=as_json)
