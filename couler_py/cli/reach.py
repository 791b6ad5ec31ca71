"""Which cluster a command means: the options for it, shared by all commands that reach one."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import msgspec
import typer

from couler_py.backends.base import Client, Detailed, RunNotFoundError, backend
from couler_py.cli.errors import UsageError
from couler_py.settings import load
from couler_py.store.exports import ARCHIVES, RECORD

Server = Annotated[
    str | None,
    typer.Option("--server", metavar="URL", help="The Argo server (no kubeconfig is needed then), or Airflow's."),
]
TokenFile = Annotated[
    str | None,
    typer.Option(
        "--token-file", metavar="FILE", help="What lets us in there (default: ARGO_TOKEN, COULER_AIRFLOW_TOKEN)."
    ),
]
Context = Annotated[
    str | None, typer.Option("--context", metavar="NAME", help="A cluster of the kubeconfig, by its Kubernetes API.")
]
Kubeconfig = Annotated[
    str | None, typer.Option("--kubeconfig", metavar="FILE", help="The kubeconfig (default: as kubectl).")
]
Authority = Annotated[
    str | None, typer.Option("--certificate-authority", metavar="FILE", help="Certificates of whom to trust.")
]
Insecure = Annotated[
    bool, typer.Option("--insecure-skip-tls-verify", help="Trust every server, also one that listens in between.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Only say what would be sent; let the cluster try it if it can.")
]
Namespace = Annotated[
    str | None,
    typer.Option(
        "-n", "--namespace", metavar="NAME", help="The namespace (default: the settings', else the context's)."
    ),
]

TYPED = {
    "server": ("--server", Server),
    "token_file": ("--token-file", TokenFile),
    "context": ("--context", Context),
    "kubeconfig": ("--kubeconfig", Kubeconfig),
    "authority": ("--certificate-authority", Authority),
    "insecure": ("--insecure-skip-tls-verify", Insecure),
}
"""By the name that the engine's client has for it: how it is typed, and its type."""


class Reach(msgspec.Struct, frozen=True):
    """What was typed of it, by the client's names."""

    typed: dict[str, Any]

    def client(self, engine: str, **more: Any) -> Client:
        """The client of an engine. Raises `UsageError` for options of clusters where the engine is this machine."""
        options = self.typed | {name: value for name, value in more.items() if value}
        if engine != "local" and not getattr(backend(engine), "namespaced", False):
            options.pop("namespace", None)  # of the pods that it starts, where it starts some
        elif engine != "local" and "namespace" not in options and (namespace := load().namespace):
            options["namespace"] = namespace
        if engine == "local" and options:
            name = next(iter(options))
            shown = TYPED[name][0] if name in TYPED else f"--{name.replace('_', '-')}"
            raise UsageError(f"{shown} is for runs on a cluster, and this is about runs on this machine")
        return backend(engine).client(**options)

    def client_of(self, run: str, **more: Any) -> Client:
        """The client of the engine that a run's name says: `ID` is local, `ENGINE:NAMESPACE/NAME` another."""
        name, colon, _ = run.partition(":")
        return self.client(name if colon else "local", **more)

    def run_of(self, run: str, **more: Any) -> tuple[Any, str]:
        """The client of the engine that has a run, and the run's full name.

        A run of this machine may be typed as the beginning of its id, or as `@last`; a run that was exported as the
        path of its folder or archive. Raises `RunNotFoundError`.
        """
        if is_exported(run):
            return self._exported(run)
        client = self.client_of(run, **more)
        if not isinstance(client, Detailed):
            return client, run
        try:
            return client, client.find(run)
        except RunNotFoundError:
            if Path(run, RECORD).is_file():
                return self._exported(run)
            raise

    def _exported(self, run: str) -> tuple[Any, str]:
        from couler_py.backends.local.runs.exported import ExportedClient

        if self.typed:
            raise UsageError(f"{TYPED[next(iter(self.typed))][0]} is for runs on a cluster, and {run} is a folder here")
        client = ExportedClient(run)
        return client, client.find(run)


def is_exported(run: str) -> bool:
    """Whether what is typed for a run is the path of an exported one."""
    return run.endswith(ARCHIVES) or (os.sep in run and ":" not in run)


def reaching(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options above; what was typed comes as its argument `reach`."""
    hints = get_type_hints(command, include_extras=True)
    own = [each for name, each in inspect.signature(command).parameters.items() if name != "reach"]
    added = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=False if name == "insecure" else None,
            annotation=kind,
        )
        for name, (_, kind) in TYPED.items()
    ]

    @functools.wraps(command)
    def with_options(**given: Any) -> None:
        typed = {name: value for name in TYPED if (value := given.pop(name))}
        command(**given, reach=Reach(typed))

    whole = inspect.Signature([each.replace(annotation=hints[each.name]) for each in own] + added)
    with_options.__signature__ = whole  # type: ignore[attr-defined]
    with_options.__annotations__ = {each.name: each.annotation for each in whole.parameters.values()}
    del with_options.__wrapped__
    return with_options
