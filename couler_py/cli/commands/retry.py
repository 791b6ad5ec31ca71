"""`couler retry RUN`: run what failed again."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from couler_py import api
from couler_py.backends.base import ClusterClient, NotOffered
from couler_py.backends.local.client import LocalClient
from couler_py.cli import linting, planned, running
from couler_py.cli.console import console
from couler_py.cli.errors import UsageError
from couler_py.cli.findings import show
from couler_py.cli.load import load
from couler_py.cli.options import AsJson, Parameters, RunName
from couler_py.cli.parameters import texts
from couler_py.cli.reach import DryRun, Reach, reaching
from couler_py.ir.codec import from_json
from couler_py.ir.model import Document, Workflow


@reaching
def command(
    run: RunName,
    start: Annotated[
        list[str] | None,
        typer.Option("--from", metavar="TASK", help="From this task on everything again, besides what failed."),
    ] = None,
    task: Annotated[
        list[str] | None, typer.Option("--task", metavar="TASK", help="Only this task and all that follows it.")
    ] = None,
    file: Annotated[
        str | None,
        typer.Option(
            "--with", metavar="FILE[:NAME]", help="With the code of this file as it is now: changed steps again."
        ),
    ] = None,
    parameter: Parameters = None,
    as_json: AsJson = False,
    dry_run: DryRun = False,
    *,
    reach: Reach,
) -> None:
    """Run the failed tasks of a run again and keep what succeeded."""
    if start and task:
        raise UsageError("--from runs what failed again, too, and --task nothing else: say one of them")
    client, run = reach.run_of(run, dry_run=dry_run)
    values = texts(parameter or ())
    choice = {"--from": start, "--task": task, "--with": file}
    typed = next((option for option, value in choice.items() if value), None)
    if typed is not None and not isinstance(client, LocalClient):
        raise NotOffered(f"{typed} is for runs on this machine")

    def again() -> str:
        if isinstance(client, LocalClient):
            return _here(client, run, start or (), task or (), file, values)
        return _there(client, run, values)

    if isinstance(client, LocalClient) and typed is None and not values and client.status(run).status == "Succeeded":
        _nothing_failed(client, run, as_json=as_json)
        return
    if dry_run:
        again()
        planned.show(client, as_json=as_json)
        return
    if not as_json and file is None:
        said = "steps run as they were when the run began; --with FILE takes their code as it is now"
        console(stderr=True).print(said, style="dim")
    running.watch(client, again, as_json=as_json)


def _nothing_failed(client: LocalClient, run: str, *, as_json: bool) -> None:
    if as_json:
        print(running.to_json(client.status(run).as_json()), end="")
    console(stderr=True).print(
        f"nothing failed in {run}. `couler retry {run} --task TASK` runs a task again with all that follows it, "
        f"`--with FILE` what has changed; `couler rerun {run}` starts it anew"
    )


def _here(client: LocalClient, run: str, start: Any, only: Any, file: str | None, values: dict[str, str]) -> str:
    if values:
        raise NotOffered(f"a run here is retried with the parameters that it has: couler rerun {run} -p NAME=VALUE")
    workflow = None if file is None else _as_it_is_now(client, run, file)
    try:
        client.retry(run, start=start, only=only, workflow=workflow)
    except ValueError as error:
        raise UsageError(str(error)) from error
    show(client.findings(run), console(stderr=True))
    return run


def _as_it_is_now(client: LocalClient, run: str, file: str) -> Workflow | Document:
    """The workflow of a file, compiled as `couler run` does."""
    loaded = load(file)
    if loaded.imported and client.record(run).options.get("runtime", "process") == "process":
        raise UsageError(
            f"{file} wasn't written in Python here, and the steps of {run} run as processes that may do all that you "
            f"may: start it anew with couler run {file}",
            "CLR708",
        )
    bundle = api.compile(loaded.model, to="local")
    linting.refuse(loaded)
    api.hand_over_secrets(loaded.workflow, client)
    return from_json(bundle.text)


def _there(client: Any, run: str, values: dict[str, str]) -> str:
    if values and not isinstance(client, ClusterClient):
        raise NotOffered(f"the engine {client.engine} retries a run with the parameters that it has")
    try:
        return str(client.retry(run, parameters=values) if values else client.retry(run))
    except ValueError as error:
        raise UsageError(str(error), "CLR705") from None
