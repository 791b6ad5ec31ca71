"""Containers that nobody conducts any more: found by the file in their attempt's folder, and taken away."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from couler_py.backends.local.containers import group, words
from couler_py.backends.local.containers.runtimes import CLIENTS
from couler_py.ir.diagnostics import CoulerError


class OrphanError(CoulerError):
    """Containers that can't be taken away; the message says which, and how to do it by hand."""


def remove(folder: Path) -> None:
    """Take the containers of an attempt away, where its conductor was killed before it could. Raises `OrphanError`.

    Nothing may start any of them meanwhile: the attempt is over.
    """
    file = folder / group.FILE
    try:
        found = group.from_json(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return
    except ValueError:  # whoever wrote it was killed meanwhile, so nothing was made
        file.unlink(missing_ok=True)
        return
    if found.runtime in CLIENTS:
        for member in reversed(found.members):
            _remove(found.runtime, member.name)
    file.unlink(missing_ok=True)


def _remove(runtime: str, name: str) -> None:
    command = words.remove(runtime, shutil.which(runtime) or runtime, [name])
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    except OSError as failure:
        raise OrphanError(f"the container {name} may still run, and {runtime} can't be started: {failure}") from None
    if done.returncode != 0 and "no such container" not in done.stderr.lower():
        raise OrphanError(f"the container {name} can't be taken away: {done.stderr.strip()}")
