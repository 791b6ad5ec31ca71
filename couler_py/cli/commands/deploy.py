"""`couler deploy FILE --to airflow`: a workflow where its engine keeps it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from couler_py import api
from couler_py.backends.base import NotOffered, parse_target
from couler_py.cli.commands.compile import given
from couler_py.cli.console import console, size
from couler_py.cli.errors import UsageError
from couler_py.cli.findings import show
from couler_py.cli.load import load
from couler_py.cli.options import AsJson, EngineOptions, File, engine_options
from couler_py.cli.passing import Passes, passing
from couler_py.cli.reach import Reach, reaching
from couler_py.cli.running import to_json
from couler_py.ir.model import Workflow
from couler_py.settings import load as load_settings


@reaching
@passing
def command(
    file: File,
    to: Annotated[str | None, typer.Option("--to", metavar="ENGINE", help="The engine: airflow.")] = None,
    folder: Annotated[
        str | None,
        typer.Option("--dags-folder", metavar="DIR", help="Where Airflow reads DAGs (default: the settings')."),
    ] = None,
    wait: Annotated[
        float,
        typer.Option("--wait", metavar="SECONDS", min=0, help="How long Airflow may take to read it; 0: no wait."),
    ] = 330.0,
    on_unsupported: Annotated[
        str | None, typer.Option("--on-unsupported", help="What the engine can't do: error, warn or emulate.")
    ] = None,
    as_json: AsJson = False,
    option: EngineOptions = None,
    *,
    reach: Reach,
    passes: Passes,
) -> None:
    """Put a workflow where an engine keeps them: Airflow's folder of DAGs."""
    settings = load_settings(Path(file).parent if Path(file).is_file() else None)
    target = to or settings.engine or "airflow"
    engine = parse_target(target)[0]
    if engine != "airflow":
        hint = "`couler template apply`, `couler cron apply`" if engine == "argo" else "`couler run` needs none"
        raise NotOffered(f"the engine {engine} has no folder of workflows: {hint}")
    from couler_py.backends.airflow.client import address, write

    place = folder or settings.airflow.dags_folder or address.configured("core", "dags_folder", os.environ)
    if not place:
        raise UsageError('--dags-folder DIR says where, or dags_folder = "…" in [airflow] of couler.toml')
    loaded = load(file)
    options = engine_options(option) | given(on_unsupported=on_unsupported)
    bundle = api.compile(loaded.model, to=target, without=passes.without, **passes.options, **options)
    show(bundle.diagnostics, console(stderr=True))
    pools = _pools(loaded.workflow)
    client = _client(reach) if wait or pools else None
    if client is None:
        done: Any = write(bundle, place)
    else:
        waiting = ", and waiting for Airflow" if wait else ""
        console(stderr=True).print(f"putting {next(iter(bundle.files))} into {place}{waiting}", style="dim")
        done = client.deploy(bundle, place, seconds=wait, pools=pools)
    if as_json:
        shown = {"dag": done.dag, "path": str(done.path), "changed": done.changed, "read": done.outcome == "read"}
        print(to_json(shown | ({"old": str(done.old)} if done.old else {})), end="")
        return
    said = f"wrote {done.path} ({size(done.path.stat().st_size)})" if done.changed else f"{done.path} is as it was"
    out = console(stderr=True)
    out.print(said + (f"; the version before is {done.old}" if done.old else ""))
    if done.pools:
        out.print(f"made the pools {', '.join(done.pools)}")
    if client is None and pools:
        out.print(f"no Airflow is named, so nobody made the pools that it needs: {', '.join(sorted(pools))}")
    if done.outcome == "read":
        out.print(f"Airflow has read it: couler submit {file} --to airflow, or `couler unpause {done.dag}`")


def _pools(workflow: Workflow) -> dict[str, int]:
    from couler_py.backends.airflow.policies import pools_of

    found: dict[str, int] = {}
    for template in workflow.templates:
        found |= pools_of(template)
    return found


def _client(reach: Reach) -> Any:
    """The client, or None where no server is named anywhere: then a file is all that is meant."""
    from couler_py.backends.airflow.client.address import NoServerError

    try:
        return reach.client("airflow")
    except NoServerError:
        return None
