"""`couler lock FILE`: exact versions for `packages=`."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from couler_py.cli.console import console
from couler_py.cli.errors import UsageError
from couler_py.cli.load import load
from couler_py.cli.options import File
from couler_py.ir.model import Function, Workflow


def command(
    file: File,
    python: Annotated[
        str | None, typer.Option("--python", help="A version of Python (default: that of a step's image, else 3.11).")
    ] = None,
) -> None:
    """Pin the packages of a workflow's steps, with all that they need."""
    from couler_py.dsl.packages import LOCK_FILE, lock, unlocked, write_lock
    from couler_py.dsl.project import project_of

    with unlocked():
        loaded = load(file)
    if loaded.file is None or loaded.imported:
        raise UsageError("`couler lock` takes a Python file; its lock lies beside it")
    root, project = project_of(str(loaded.file))
    wanted = sets_of(loaded.workflow)
    sets = {
        " ".join(packages): lock(packages, python=python or version, project=project, root=root)
        for packages, version in wanted.items()
    }
    path = loaded.file.parent / LOCK_FILE
    write_lock(path, sets)
    pins = sum(len(each.pins) for each in sets.values())
    console(stderr=True).print(f"wrote {path}: {pins} versions for {len(sets)} sets of packages")


def sets_of(workflow: Workflow) -> dict[tuple[str, ...], str]:
    """The different `packages=` of a workflow's steps, each with the version of Python of its first image."""
    found: dict[tuple[str, ...], str] = {}
    for template in workflow.templates:
        body = template.body
        if isinstance(body, Function) and body.packages:
            found.setdefault(body.packages, _version(body.image if isinstance(body.image, str) else ""))
    return found


def _version(image: str) -> str:
    tagged = re.search(r"python:(3\.\d+)", image)
    return tagged.group(1) if tagged else "3.11"
