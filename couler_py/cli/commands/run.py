"""`couler run FILE`: run a workflow on this machine and watch it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import typer

from couler_py import api
from couler_py.backends.local.client import LocalClient
from couler_py.cli import linting, running
from couler_py.cli.console import clean, console
from couler_py.cli.errors import UsageError
from couler_py.cli.findings import show
from couler_py.cli.lacking import for_here
from couler_py.cli.load import Loaded, load
from couler_py.cli.options import AsJson, EngineOptions, File, Parameters, engine_options
from couler_py.cli.parameters import read
from couler_py.cli.passing import Passes, passing
from couler_py.dsl.building import written_here
from couler_py.ir.model import Workflow


@passing
def command(
    file: File,
    parameter: Parameters = None,
    as_json: AsJson = False,
    at: Annotated[
        str | None, typer.Option("--at", metavar="TIME", help="The scheduled instant, as 2026-05-01T03:00:00Z.")
    ] = None,
    runtime: Annotated[
        str | None,
        typer.Option(
            "--runtime",
            metavar="process|podman|docker|container",
            help="What steps run in: processes, with all that you may do, or their images. Without it those of a "
            "Python file are processes, and those of any other file run in their images.",
        ),
    ] = None,
    network: Annotated[
        str | None, typer.Option("--network", metavar="NAME", help="The network of containers; none cuts them off.")
    ] = None,
    allow_host: Annotated[
        bool, typer.Option("--allow-host", help="Let containers have what they ask for of this machine.")
    ] = False,
    artifacts: Annotated[
        str | None,
        typer.Option(
            "--artifacts",
            metavar="URL",
            help="The store that what tasks make goes to, as s3://bucket/prefix or a folder; '' for none.",
        ),
    ] = None,
    option: EngineOptions = None,
    *,
    passes: Passes,
) -> None:
    """Run a workflow on this machine and watch it."""
    loaded = load(file)
    values = read(loaded.workflow, parameter or (), loaded.parameters)
    bundle = api.compile(loaded.model, to="local", without=passes.without, **passes.options)
    client = LocalClient()
    options = _options(loaded, at, option)
    kind = options["runtime"] = runtime_of(client, loaded, runtime or options.get("runtime"))
    found = for_here(bundle.diagnostics, loaded.workflow) if kind == "process" else bundle.diagnostics
    show(found, console(stderr=True))
    linting.refuse(loaded)
    if kind == "process" and not as_json:
        _say_unused_images(loaded.workflow)
    api.hand_over_secrets(loaded.workflow, client)
    if network is not None:
        options["network"] = network
    if allow_host:
        options["allow_host"] = True
    if artifacts is not None:
        options["artifacts"] = artifacts
    elif chosen := api.settings_of(loaded.workflow).artifacts:
        options.setdefault("artifacts", chosen)

    def start() -> str:
        try:
            return client.submit(bundle, parameters=values, **options)
        except ValueError as error:
            raise UsageError(str(error)) from error

    running.watch(client, start, as_json=as_json)


def runtime_of(client: LocalClient, loaded: Loaded, asked: str | None) -> str:
    """What the steps run in: what was asked for, else what the settings say or the origin of the workflow."""
    setting = api.settings_of(loaded.workflow).runtime
    try:
        return client.choose_runtime(asked, setting, trusted=written_here(loaded.workflow))
    except ValueError as error:
        raise UsageError(str(error)) from None


def _options(loaded: Loaded, at: str | None, option: list[str] | None) -> dict[str, Any]:
    # What the file's own `run` was given holds where it was meant for this machine.
    found = dict(loaded.options) if loaded.submitter in (None, "local") else {}
    found |= engine_options(option)
    if at is not None:
        found["scheduled_time"] = instant(at)
    return found


def instant(text: str) -> datetime:
    """A time as RFC 3339 or ISO 8601; without an offset it is local time. Raises `UsageError`."""
    try:
        return datetime.fromisoformat(text).astimezone()
    except ValueError as error:
        raise UsageError(f"--at {text!r} is no time; write it as 2026-05-01T03:00:00Z") from error


def _say_unused_images(workflow: Workflow) -> None:
    images = [getattr(template.body, "image", "") for template in workflow.templates]
    named = dict.fromkeys(image for image in images if isinstance(image, str) and image)
    if named:
        shown = ", ".join(list(named)[:6]) + (", …" if len(named) > 6 else "")
        console(stderr=True).print(f"steps run as processes of this machine; not used: {clean(shown)}", style="dim")
