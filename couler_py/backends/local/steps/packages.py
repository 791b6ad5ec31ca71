"""The interpreter of a Python step: this one where it has the packages, else one of an environment made for them.

An environment is made once for each set of packages, by uv where it is found, else by pip. While it is made, who
makes it holds its lock alone, and so does the installer, should its engine be killed; while a run uses it, the run
shares the lock, so that `couler gc` leaves it. What an installer that was killed has left is cleared by the next.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import hashlib
import json
import os
import platform
import shutil
import signal
import sys
import sysconfig
from collections.abc import Callable, Mapping
from importlib import metadata
from pathlib import Path

from couler_py.backends.local.context import Context
from couler_py.backends.local.scheduling import waiting
from couler_py.backends.local.scope import TaskFailure
from couler_py.ir.model import Function
from couler_py.ir.storage import SecretRef
from couler_py.store import faults
from couler_py.store.content import remove
from couler_py.store.locks import release, try_lock
from couler_py.store.masking import forms, mask
from couler_py.store.secrets import SecretNotFoundError, read_key

SHORTEST, LONGEST = 0.01, 0.25  # seconds between two looks for whether another process has made it
LINES = 15  # the last lines of the installer that a failed step's message repeats
COMPLETE, FACTS = "complete", "couler.json"

INDEX = {
    "PIP_INDEX_URL": "UV_DEFAULT_INDEX",
    "PIP_EXTRA_INDEX_URL": "UV_INDEX",
    "PIP_FIND_LINKS": "UV_FIND_LINKS",
    "PIP_NO_INDEX": "UV_NO_INDEX",
}
"""Where pip takes packages from, and how uv calls it (docs.astral.sh/uv/reference/environment)."""


async def interpreter(context: Context, body: Function, tell: Callable[[str], None]) -> str:
    """The path of a Python that has the packages. Raises `TaskFailure` where they can't be installed.

    `tell` is given words for what is waited for, where they have to be installed: that may take minutes.
    """
    if not body.packages:
        return sys.executable
    places = _declared_places(context, body)
    wanted = (*body.packages, *(f"{name}={value}" for name, value in places.items()))
    known = context.interpreters.get(wanted)
    if known is not None:
        return known
    lock = context.installing.setdefault(wanted, asyncio.Lock())
    if lock.locked():
        tell(waiting.for_packages(body.packages))
    async with lock:
        known = context.interpreters.get(wanted)
        if known is None:
            if satisfied(body.packages):
                known = sys.executable
            else:
                tell(waiting.for_packages(body.packages))
                known = await _environment(context, body.packages, places)
            context.interpreters[wanted] = known
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


async def _environment(context: Context, requirements: tuple[str, ...], places: Mapping[str, str]) -> str:
    """The interpreter of an environment with just these packages, held until the run has ended."""
    folder = context.home.path / "environments" / environment_key(requirements, places)
    python = folder / "bin" / "python"
    pause = SHORTEST
    while True:
        handle = try_lock(lock_of(folder), shared=True)
        if handle is not None and (folder / COMPLETE).exists():
            os.utime(folder / COMPLETE)  # it was used now
            context.held.append(handle)
            return str(python)
        if handle is not None:
            release([handle])
            handle = try_lock(lock_of(folder))
        if handle is not None:
            try:
                if not (folder / COMPLETE).exists():
                    context.journal.event("note", text=f"installing {', '.join(requirements)}")
                    await _make(context, folder, requirements, places, handle)
            finally:
                release([handle])
            continue  # to share it, like everybody
        await asyncio.sleep(pause)
        pause = min(pause * 2, LONGEST)


def lock_of(folder: Path) -> Path:
    """The lock of an environment, beside its folder."""
    return folder.with_name(f"{folder.name}.lock")


def environment_key(requirements: tuple[str, ...], places: Mapping[str, str]) -> str:
    """The name of the folder of an environment: of the interpreter, the packages, and where they come from."""
    around = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "UV_"))}
    what = {
        "python": [platform.python_implementation(), platform.python_version(), sys.abiflags, sysconfig.get_platform()],
        "prefix": sys.base_prefix,
        "packages": sorted(set(requirements)),
        "places": {**around, **places},
    }
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()[:20]


def _declared_places(context: Context, body: Function) -> dict[str, str]:
    """Where a step says that packages come from: what pip would read of its environment."""
    found = {}
    for variable in body.env:
        if variable.name not in INDEX:
            continue
        if isinstance(variable.value, str):
            found[variable.name] = variable.value
        elif isinstance(variable.value, SecretRef):
            try:
                found[variable.name] = read_key(context.home, variable.value.name, variable.value.key)
            except SecretNotFoundError as error:
                raise TaskFailure(str(error)) from None
    return found


async def _make(
    context: Context, folder: Path, requirements: tuple[str, ...], places: Mapping[str, str], lock: int
) -> None:
    remove(str(folder))
    environ = {**os.environ, **places, **{INDEX[name]: value for name, value in places.items()}}
    uv = shutil.which("uv") or _beside("uv")
    python = str(folder / "bin" / "python")
    if uv is not None:
        commands = [
            [uv, "venv", "--quiet", "--python", sys.executable, str(folder)],
            [uv, "pip", "install", "--quiet", "--python", python, "--", *requirements],
        ]
    else:
        commands = [
            [sys.executable, "-m", "venv", str(folder)],
            [python, "-m", "pip", "install", "--quiet", "--no-input", "--", *requirements],
        ]
    try:
        for command in commands:
            await _command(command, environ, list(places.values()), lock)
        facts = {"packages": requirements, "python": platform.python_version(), "run": context.facts.id}
        (folder / FACTS).write_text(json.dumps(facts), encoding="utf-8")
        faults.reach("environment.built")
        (folder / COMPLETE).touch()
    except BaseException:
        remove(str(folder))
        raise


def _beside(name: str) -> str | None:
    path = Path(sys.executable).parent / name
    return str(path) if path.exists() else None


async def _command(command: list[str], environ: Mapping[str, str], places: list[str], lock: int) -> None:
    """Run an installer to its end; whoever cancels this ends it with all that it started. Raises `TaskFailure`."""
    handle = fcntl.fcntl(lock, fcntl.F_DUPFD_CLOEXEC, 3)
    try:
        os.set_inheritable(handle, True)
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env=dict(environ),
            pass_fds=(handle,),
            start_new_session=True,
        )
    finally:
        os.close(handle)
    try:
        said, _ = await process.communicate()
    except BaseException:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
        raise
    if process.returncode != 0:
        lines = [line for line in said.decode("utf-8", "replace").splitlines() if line.strip()]
        text = mask("\n".join(lines[-LINES:]), [form for place in places for form in forms(place)])
        raise TaskFailure(f"packages can't be installed: {text or f'exit code {process.returncode}'}")
