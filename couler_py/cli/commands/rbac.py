"""`couler rbac argo FILE`: the least rights on a cluster."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from couler_py import api
from couler_py.backends import yaml
from couler_py.cli import documents
from couler_py.cli.console import console
from couler_py.cli.errors import UsageError
from couler_py.cli.findings import show
from couler_py.cli.load import load
from couler_py.cli.reach import Namespace

Engine = Annotated[str, typer.Argument(metavar="argo", help="The engine.")]
Files = Annotated[
    list[str],
    typer.Argument(metavar="FILE[:NAME]...", help="The workflow, and files with the templates that it refers to."),
]


def command(
    engine: Engine,
    files: Files,
    namespace: Namespace = None,
    submitter: Annotated[
        bool, typer.Option("--submitter", help="For whoever submits it and steers its runs, not for its pods.")
    ] = False,
    account: Annotated[
        str, typer.Option("--account", metavar="NAME", help="With --submitter: this ServiceAccount.")
    ] = "couler",
    user: Annotated[str | None, typer.Option("--user", metavar="NAME", help="With --submitter: this user.")] = None,
) -> None:
    """Print the least rights that a workflow, and whoever submits it, needs there."""
    from couler_py.backends.argo.rbac import Account, of_pods, of_submitter
    from couler_py.backends.argo.vocabulary import KINDS

    if engine != "argo":
        raise UsageError(f"rights are a matter of clusters: `couler rbac argo FILE`, not {engine!r}")
    read = [_documents(file, namespace or "") for file in files]
    workflows = [each for each in read[0][0] if each["kind"] in KINDS]
    if not workflows:
        raise UsageError(f"{files[0]} has no workflow", "CLR703")
    others = [each for found, _ in read[1:] for each in found if each["kind"] in KINDS]
    try:
        if submitter:
            secrets = [name for _, names in read for name in names]
            who = Account(user, "User") if user else Account(account)
            made = of_submitter([*read[0][0], *others], who, secrets, namespace or "")
        else:
            made, findings = of_pods(workflows, others, namespace or "")
            show(findings, console(stderr=True))
    except ValueError as error:
        raise UsageError(str(error)) from None
    print(yaml.dump_all(made), end="")


def _documents(file: str, namespace: str) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """The documents of a file, and the secrets that its program hands over."""
    if documents.is_yaml(file):
        return documents.read(file), ()
    from couler_py.dsl import secrets

    loaded = load(file)
    options = {"namespace": namespace} if namespace else {}
    bundle = api.compile(loaded.model, to="argo", **options)
    return list(bundle.documents), tuple(secrets.named_in(loaded.workflow))
