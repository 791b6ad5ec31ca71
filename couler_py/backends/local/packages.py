"""The interpreter of a Python step: this one where it has the packages, else one of an environment made for them."""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

from couler_py.backends.local.context import Context
from couler_py.backends.local.scope import TaskFailure
from couler_py.ir.model import Function


async def interpreter(context: Context, body: Function) -> str:
    """The path of a Python that has the packages. Raises `TaskFailure` where they can't be installed."""
    if not body.packages:
        return sys.executable
    known = context.interpreters.get(body.packages)
    if known is None:
        if satisfied(body.packages):
            known = sys.executable
        else:
            context.journal.event("note", text=f"installing {', '.join(body.packages)}")
            known = await asyncio.to_thread(environment, context.home.path / "environments", body.packages)
        context.interpreters[body.packages] = known
    return known


def satisfied(requirements: tuple[str, ...]) -> bool:
    """Whether this interpreter has all of some packages (PEP 508), in versions that fit."""
    from packaging.requirements import Requirement

    for text in requirements:
        requirement = Requirement(text)
        if requirement.marker is not None and not requirement.marker.evaluate():
            continue
        if requirement.url is not None or requirement.extras:
            return False
        try:
            version = metadata.version(requirement.name)
        except metadata.PackageNotFoundError:
            return False
        if not requirement.specifier.contains(version, prereleases=True):
            return False
    return True


def environment(root: Path, requirements: tuple[str, ...]) -> str:
    """The interpreter of an environment with just these packages, made once for each set of them.

    uv installs them where it is found, else pip; both as they are configured. Raises `TaskFailure`.
    """
    text = "\0".join([sys.version, *sorted(requirements)])
    folder = root / hashlib.sha256(text.encode()).hexdigest()[:20]
    python = folder / "bin" / "python"
    handle = os.open(root / f"{folder.name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        if (folder / "complete").exists():
            return str(python)
        shutil.rmtree(folder, ignore_errors=True)
        uv = shutil.which("uv") or _beside("uv")
        if uv is not None:
            _command([uv, "venv", "--quiet", "--python", sys.executable, str(folder)])
            _command([uv, "pip", "install", "--quiet", "--python", str(python), "--", *requirements])
        else:
            _command([sys.executable, "-m", "venv", str(folder)])
            _command([str(python), "-m", "pip", "install", "--quiet", "--no-input", "--", *requirements])
        (folder / "complete").touch()
    finally:
        os.close(handle)
    return str(python)


def _beside(name: str) -> str | None:
    path = Path(sys.executable).parent / name
    return str(path) if path.exists() else None


def _command(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise TaskFailure(f"packages can't be installed: {(done.stderr or done.stdout).strip()[-2000:]}")
