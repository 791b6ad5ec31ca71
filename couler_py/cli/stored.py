"""The commands over what a cluster keeps: the same for templates and for schedules."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from couler_py import api
from couler_py.cli import documents, planned
from couler_py.cli.app import COMMANDS
from couler_py.cli.commands import get as showing
from couler_py.cli.console import columns, console
from couler_py.cli.errors import UsageError
from couler_py.cli.load import load
from couler_py.cli.options import AsJson
from couler_py.cli.reach import DryRun, Namespace, Reach, reaching
from couler_py.cli.running import to_json

File = Annotated[str, typer.Argument(metavar="FILE[:NAME]", help="Argo's YAML as it is, or a workflow of Python.")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="Its name on the cluster.")]
Called = Annotated[str | None, typer.Option("--name", metavar="NAME", help="The name, of a workflow of Python.")]
Cluster = Annotated[bool, typer.Option("--cluster", help="Of all namespaces: ClusterWorkflowTemplate.")]
Labels = Annotated[str | None, typer.Option("-l", "--label", metavar="SELECTOR", help="Only those with these labels.")]


def app(kind: str, word: str) -> typer.Typer:
    """The commands for a kind; `word` is how it is called, and the command's name in `couler --help`."""
    summary = COMMANDS[word][1]
    made = typer.Typer(help=summary, add_completion=False, rich_markup_mode=None, no_args_is_help=True)

    def stored(reach: Reach, namespace: str | None, cluster: bool, dry_run: bool = False) -> tuple[Any, Any]:
        client: Any = reach.client("argo", namespace=namespace, dry_run=dry_run)
        return client, client.stored("ClusterWorkflowTemplate" if cluster else kind)

    def send(
        verb: str, file: str, name: str | None, reach: Reach, namespace: str | None, cluster: bool, dry_run: bool
    ) -> None:
        client, there = stored(reach, namespace, cluster, dry_run)
        for document in of_file(file, there.kind, name):
            done = getattr(there, verb)(document)
            if not dry_run:
                console(stderr=True).print(f"{'applied' if verb == 'apply' else 'created'} {word} {done}")
        if dry_run:
            planned.show(client)

    @made.command("apply")
    @reaching
    def apply(
        file: File,
        name: Called = None,
        namespace: Namespace = None,
        cluster: Cluster = False,
        dry_run: DryRun = False,
        *,
        reach: Reach,
    ) -> None:
        """Make it, or replace the one of that name whole."""
        send("apply", file, name, reach, namespace, cluster, dry_run)

    @made.command("create")
    @reaching
    def create(
        file: File,
        name: Called = None,
        namespace: Namespace = None,
        cluster: Cluster = False,
        dry_run: DryRun = False,
        *,
        reach: Reach,
    ) -> None:
        """Make it; one of that name is an error."""
        send("create", file, name, reach, namespace, cluster, dry_run)

    @made.command("list")
    @reaching
    def list_all(
        label: Labels = None,
        namespace: Namespace = None,
        cluster: Cluster = False,
        as_json: AsJson = False,
        *,
        reach: Reach,
    ) -> None:
        """List those there are."""
        found = stored(reach, namespace, cluster)[1].all(label or "")
        if as_json:
            print(to_json(found), end="")
            return
        if not found:
            console(stderr=True).print(f"no {word}s yet")
            return
        header = ("NAME", "CREATED", "SCHEDULE", "")
        shown = len(header) if kind == "CronWorkflow" else 2
        for line in columns([row(each)[:shown] for each in found], header=header[:shown]):
            console().print(line)

    @made.command("get")
    @reaching
    def get(
        name: Name,
        output: showing.Output = "yaml",
        namespace: Namespace = None,
        cluster: Cluster = False,
        *,
        reach: Reach,
    ) -> None:
        """Print one as the cluster has it."""
        showing.show(stored(reach, namespace, cluster)[1].get(name), output)

    @made.command("delete")
    @reaching
    def delete(
        name: Name, namespace: Namespace = None, cluster: Cluster = False, dry_run: DryRun = False, *, reach: Reach
    ) -> None:
        """Take one away."""
        client, there = stored(reach, namespace, cluster, dry_run)
        there.delete(name)
        if dry_run:
            planned.show(client)
        else:
            console(stderr=True).print(f"deleted {word} {name}")

    return made


def of_file(file: str, kind: str, name: str | None) -> list[dict[str, Any]]:
    """The documents of that kind in a file; a workflow of Python is compiled to one.

    Raises `UsageError` where there is none.
    """
    if documents.is_yaml(file):
        found = [each for each in documents.read(file) if each["kind"] == kind]
        if not found:
            raise UsageError(f"{file} has no {kind}", "CLR703")
        return found
    options = {"kind": kind} | ({"name": name} if name else {})
    bundle = api.compile(load(file).workflow, to="argo", **options)
    return [each for each in bundle.documents if each["kind"] == kind]


def row(document: dict[str, Any]) -> list[str]:
    """What a list shows of one."""
    spec, metadata = document["spec"], document["metadata"]
    schedules = ", ".join(spec.get("schedules") or filter(None, [spec.get("schedule")]))
    return [
        metadata["name"],
        metadata.get("creationTimestamp") or "",
        schedules,
        "suspended" if spec.get("suspend") else "",
    ]
