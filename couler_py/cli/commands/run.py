"""`couler run FILE`: run a workflow on this machine and watch it."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

import typer

from couler_py import api
from couler_py.backends.base import backend
from couler_py.cli import linting, running
from couler_py.cli.console import clean, console
from couler_py.cli.errors import UsageError
from couler_py.cli.findings import show
from couler_py.cli.load import Loaded, load
from couler_py.cli.options import AsJson, EngineOptions, File, Parameters, engine_options
from couler_py.cli.parameters import read
from couler_py.ir.diagnostics import Diagnostic
from couler_py.ir.model import Function, Workflow
from couler_py.passes.check.packages import unprovided


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
            "--runtime", metavar="process", help="Run the steps of an IR file as processes, with all that you may do."
        ),
    ] = None,
    option: EngineOptions = None,
) -> None:
    """Run a workflow on this machine and watch it."""
    loaded = load(file)
    _check_runtime(loaded, runtime)
    values = read(loaded.workflow, parameter or (), loaded.parameters)
    bundle = api.compile(loaded.model, to="local")
    show(_for_here(bundle.diagnostics, loaded.workflow), console(stderr=True))
    linting.refuse(loaded)
    if not as_json:
        _say_unused_images(loaded.workflow)
    client = backend("local").client()
    api.hand_over_secrets(loaded.workflow, client)
    options = _options(loaded, at, option)

    def start() -> str:
        try:
            return client.submit(bundle, parameters=values, **options)
        except ValueError as error:
            raise UsageError(str(error)) from error

    running.watch(client, start, as_json=as_json)


def _check_runtime(loaded: Loaded, runtime: str | None) -> None:
    if runtime not in (None, "process"):
        raise UsageError(f"--runtime {runtime!r}: steps run as processes here, --runtime process")
    if loaded.imported and runtime is None:
        raise UsageError(
            f"{loaded.file} wasn't written in Python here: its steps would run as processes that may do all that you "
            "may. Read it first (couler print shows it as Python), then say --runtime process",
            "CLR708",
        )


def _for_here(findings: Sequence[Diagnostic], workflow: Workflow) -> list[Diagnostic]:
    """The findings without those of modules that images don't have, where this machine has them."""
    bodies = {template.name: template.body for template in workflow.templates}
    return [finding for finding in findings if finding.code != "CLR290" or _lacks(bodies[finding.step], workflow)]


def _lacks(body: object, workflow: Workflow) -> bool:
    missing = unprovided(body, workflow.includes) if isinstance(body, Function) else {}
    return any(module not in sys.modules and importlib.util.find_spec(module) is None for module in missing)


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
