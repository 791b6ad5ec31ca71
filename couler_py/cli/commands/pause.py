"""`couler pause DAG`: start nothing of a workflow for now."""

from __future__ import annotations

from typing import Annotated

import typer

from couler_py.backends.base import NotOffered, Scheduling
from couler_py.cli.console import console
from couler_py.cli.options import AsJson
from couler_py.cli.reach import Reach, reaching
from couler_py.cli.running import to_json

Name = Annotated[str, typer.Argument(metavar="DAG", help="The DAG: its id, airflow:DAG, or a run of it.")]


@reaching
def command(name: Name, as_json: AsJson = False, *, reach: Reach) -> None:
    """Let Airflow start nothing of a workflow, until `couler unpause`."""
    client(name, reach).pause(name)
    if as_json:
        print(to_json({"name": name, "paused": True}), end="")
        return
    console(stderr=True).print(f"paused {name}; what runs now ends")


def client(name: str, reach: Reach) -> Scheduling:
    """The client of the engine that keeps the workflow. Raises `NotOffered` where it keeps none."""
    engine, colon, _ = name.partition(":")
    found = reach.client(engine if colon else "airflow")
    if not isinstance(found, Scheduling):
        raise NotOffered(
            f"the engine {engine} keeps no workflows to pause: `couler cron suspend`, `couler suspend RUN`"
        )
    return found
