"""`couler get RUN`: the object of a run as its cluster has it."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from couler_py.backends import yaml
from couler_py.backends.base import ClusterClient, NotOffered
from couler_py.cli.errors import UsageError
from couler_py.cli.options import RunName
from couler_py.cli.reach import Reach, reaching
from couler_py.cli.running import to_json

Output = Annotated[str, typer.Option("-o", "--output", metavar="yaml|json", help="The form.")]


@reaching
def command(run: RunName, output: Output = "yaml", *, reach: Reach) -> None:
    """Print the object of a run as its cluster has it."""
    client, run = reach.run_of(run)
    if not isinstance(client, ClusterClient):
        raise NotOffered(f"runs of the engine {client.engine} are no objects: `couler status {run} --json` says all")
    show(client.document(run), output)


def show(document: dict[str, Any], output: str) -> None:
    """Print a document, as kubectl does without the record of who set which field."""
    if output not in ("yaml", "json"):
        raise UsageError(f"-o {output!r}: yaml or json")
    metadata = {key: value for key, value in document["metadata"].items() if key != "managedFields"}
    document = document | {"metadata": metadata}
    print(yaml.dump(document) if output == "yaml" else to_json(document), end="")
