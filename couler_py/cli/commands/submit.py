"""`couler submit FILE --to ENGINE`: start a workflow on an engine."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from couler_py import api
from couler_py.backends.base import Bundle, Client, Scheduling, parse_target
from couler_py.cli import documents, linting, planned, running
from couler_py.cli.commands.compile import given
from couler_py.cli.console import console
from couler_py.cli.errors import UsageError
from couler_py.cli.findings import show
from couler_py.cli.load import load
from couler_py.cli.options import AsJson, EngineOptions, Parameters, engine_options
from couler_py.cli.parameters import read, texts
from couler_py.cli.passing import Passes, passing
from couler_py.cli.reach import DryRun, Namespace, Reach, reaching
from couler_py.ir.diagnostics import DiagnosticError
from couler_py.settings import load as load_settings

File = Annotated[
    str, typer.Argument(metavar="FILE[:NAME]", help="A Python file, a module, an IR file, or Argo's YAML as it is.")
]

SHOWN = {
    "CronWorkflow": "couler cron list",
    "WorkflowTemplate": "couler template list",
    "ClusterWorkflowTemplate": "couler template list --cluster",
}
"""What a cluster keeps instead of running it, and the command that shows it."""


@reaching
@passing
def command(
    file: File,
    to: Annotated[
        str | None, typer.Option("--to", metavar="ENGINE[@VERSION]", help="The engine (default: that of the settings).")
    ] = None,
    parameter: Parameters = None,
    namespace: Namespace = None,
    watch: Annotated[bool, typer.Option("--watch", "--wait", help="Watch the run until it ends.")] = False,
    log: Annotated[bool, typer.Option("--log", help="Print what its steps write until it ends.")] = False,
    as_json: AsJson = False,
    dry_run: DryRun = False,
    crds: Annotated[str | None, typer.Option("--crds", help="Argo: full or minimal, as is installed.")] = None,
    on_unsupported: Annotated[
        str | None, typer.Option("--on-unsupported", help="What the engine can't do: error, warn or emulate.")
    ] = None,
    option: EngineOptions = None,
    *,
    reach: Reach,
    passes: Passes,
) -> None:
    """Compile a workflow and start it on an engine."""
    options = engine_options(option) | given(crds=crds, on_unsupported=on_unsupported)
    settings = load_settings(Path(file).parent if Path(file).is_file() else None)
    to = to or settings.engine
    if not to:
        raise UsageError('--to says where: `--to argo`, or engine = "argo" in couler.toml')
    where = str(namespace or options.get("namespace") or settings.namespace)
    engine = parse_target(to)[0]

    def client() -> Client:
        return reach.client(engine, namespace=where, dry_run=dry_run)

    if documents.is_yaml(file):
        if engine != "argo":
            raise UsageError(f"{file} is YAML, which is submitted to argo as it is, and to no other engine", "CLR702")
        sent = documents.read(file)
        _send(client(), sent, texts(parameter or ()), where, watch, log, as_json, dry_run)
        return
    loaded = load(file)
    values = read(loaded.workflow, parameter or (), loaded.parameters)
    if where:
        options["namespace"] = where
    bundle = api.compile(loaded.model, to=to, without=passes.without, **passes.options, **options)
    if any(finding.severity == "error" for finding in bundle.diagnostics):
        raise DiagnosticError(bundle.diagnostics)
    show(bundle.diagnostics, console(stderr=True))
    if engine == "argo" and loaded.written is not None and (found := linting.refused(loaded)[0]):
        raise DiagnosticError(tuple(found))
    made = client()
    about_another_version(made, bundle, file)
    api.hand_over_secrets(loaded.workflow, made, where)
    _follow(made, bundle, values, watch, log, as_json, dry_run)


def about_another_version(client: Client, bundle: Bundle, file: str) -> None:
    """Warn where an engine that keeps workflows has another one of that name than a file's."""
    if isinstance(client, Scheduling) and client.differs(bundle):
        said = (
            f"{client.engine} has another version of it than {file}, and starts that: `couler deploy` brings this one"
        )
        console(stderr=True).print(f"warning: {said}", style="yellow")


def _follow(
    client: Client, bundle: Bundle, values: dict[str, Any], watch: bool, log: bool, as_json: bool, dry_run: bool
) -> None:
    def start() -> str:
        return client.submit(bundle, parameters=values)

    last = bundle.documents[-1] if bundle.documents else None
    kind = str(last.get("kind")) if isinstance(last, dict) else ""
    kept = kind in SHOWN
    if dry_run:
        start()
        planned.show(client, as_json=as_json)
    elif log and not kept:
        running.print_logs(client, start, as_json=as_json)
    elif watch and not kept:
        running.watch(client, start, as_json=as_json)
    else:
        name = start()
        print(running.to_json({"run": name}) if as_json else name, end="" if as_json else "\n")
        if kept:
            _say_kept(kind)


def _say_kept(kind: str) -> None:
    console(stderr=True).print(f"kept as a {kind}; no run was started: `{SHOWN.get(kind, 'kubectl get')}` shows it")


def _send(
    client: Any,
    given: Sequence[dict[str, Any]],
    values: dict[str, str],
    namespace: str,
    watch: bool,
    log: bool,
    as_json: bool,
    dry_run: bool,
) -> None:
    """Send a file's documents; all runs in it are started, and watched one after the other.

    Where it has none, there is nothing to watch: what was kept is named, and said.
    """
    from couler_py.backends.argo.client.parameters import as_values

    main = next((each for each in given if each["kind"] == "Workflow"), given[-1])
    try:
        names = client.send(given, parameters=as_values(main, values), namespace=namespace)
    except ValueError as error:
        raise UsageError(str(error), "CLR705") from None
    if dry_run:
        planned.show(client, as_json=as_json)
        return
    runs = [name for name, document in zip(names, given, strict=True) if document["kind"] == "Workflow"]
    if not runs or not (watch or log):
        print(running.to_json({"names": names}) if as_json else "\n".join(names), end="" if as_json else "\n")
        if not runs:
            _say_kept(given[-1]["kind"])
        return
    following = running.print_logs if log else running.watch
    for run in runs:
        following(client, functools.partial(str, run), as_json=as_json)
