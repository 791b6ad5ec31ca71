"""`couler lock FILE`: exact versions for `packages=`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from couler_py.cli.console import console
from couler_py.cli.errors import UsageError
from couler_py.cli.load import load
from couler_py.cli.options import File
from couler_py.dsl.lockfile import LOCK_FILE, Lock, PinnedSet, ignoring, read_lock, write_lock
from couler_py.dsl.packages import lock
from couler_py.dsl.project import project_of
from couler_py.ir.model import Function, Template, Workflow


def command(
    file: File,
    python: Annotated[
        str | None, typer.Option("--python", help="A version of Python (default: that of a step's image, else 3.11).")
    ] = None,
) -> None:
    """Pin the packages of a workflow's steps, with all that they need."""
    with ignoring("sets", "images"):
        loaded = load(file)
    if loaded.imported:
        raise UsageError("`couler lock` takes a Python file; its lock lies beside it")
    out = console(stderr=True)
    for folder, wanted in sets_of(loaded.workflow).items():
        root, project = project_of(str(folder / "any.py"))
        sets: dict[str, PinnedSet] = {}
        for packages, version in wanted.items():
            sets[" ".join(packages)] = lock(packages, python=python or version, project=project, root=root)
        path = folder / LOCK_FILE
        known = read_lock(path) if path.exists() else Lock()
        write_lock(path, msgspec.structs.replace(known, sets=sets))
        pins = sum(len(each.pins) for each in sets.values())
        out.print(f"wrote {path}: {pins} versions for {len(sets)} sets of packages")


def sets_of(workflow: Workflow) -> dict[Path, dict[tuple[str, ...], str]]:
    """By folder of the steps' files, their different `packages=`, each with the Python of its first image.

    Raises `UsageError` where no step has packages.
    """
    found: dict[Path, dict[tuple[str, ...], str]] = {}
    for template in workflow.templates:
        body = template.body
        if isinstance(body, Function) and body.packages:
            of_folder = found.setdefault(folder_of_template(template), {})
            of_folder.setdefault(body.packages, _version(body.image if isinstance(body.image, str) else ""))
    if not found:
        raise UsageError(f"no step of {workflow.name} has packages=")
    return found


def folder_of_template(template: Template) -> Path:
    """The folder that a step's lock lies in: that of the file it was written in."""
    return Path(template.source.file).resolve().parent if template.source else Path.cwd()


def _version(image: str) -> str:
    tagged = re.search(r"python:(3\.\d+)", image)
    return tagged.group(1) if tagged else "3.11"
