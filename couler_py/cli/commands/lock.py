"""`couler lock FILE`: exact versions for `packages=`."""

from __future__ import annotations

from typing import Annotated

import typer

from couler_py.cli.console import console
from couler_py.cli.errors import UsageError
from couler_py.cli.load import load
from couler_py.cli.options import File
from couler_py.dsl.lockfile import ignoring, read_lock
from couler_py.dsl.packages import lock_workflow
from couler_py.ir.model import Function


def command(
    file: File,
    python: Annotated[
        str, typer.Option("--python", help="The version of Python in images that don't name theirs.")
    ] = "3.11",
) -> None:
    """Pin the packages of a workflow's steps, with all that they need."""
    with ignoring("sets", "images"):
        loaded = load(file)
    if loaded.imported or loaded.file is None:
        raise UsageError("`couler lock` takes a Python file; its lock lies beside it")
    bodies = (template.body for template in loaded.workflow.templates)
    if not any(isinstance(body, Function) and body.packages for body in bodies):
        raise UsageError(f"no step of {loaded.workflow.name} has packages=")
    path = lock_workflow(loaded.workflow, str(loaded.file), python=python)
    sets = read_lock(path).sets
    pins = sum(len(each.pins) for each in sets.values())
    console(stderr=True).print(f"wrote {path}: {pins} versions for {len(sets)} sets of packages")
