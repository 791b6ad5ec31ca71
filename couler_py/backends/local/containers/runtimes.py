"""Which runtime steps run in: processes of this machine, or the containers of podman or docker."""

from __future__ import annotations

import shutil
import subprocess
from typing import Literal, TypeAlias, get_args

import msgspec

from couler_py.ir.diagnostics import Diagnostic, DiagnosticError, error

Asked: TypeAlias = Literal["process", "podman", "docker", "container"]
"""What people say: "container" is the first of podman and docker that is installed."""
Kind: TypeAlias = Literal["process", "podman", "docker"]
CLIENTS: tuple[Literal["podman", "docker"], ...] = ("podman", "docker")
LONGEST = 60  # seconds that a runtime may take to say its version: a virtual machine may have to wake up first
WAY_OUT = "install podman or docker; or read it first (couler print shows it as Python), then say --runtime process"


class Runtime(msgspec.Struct, frozen=True):
    """A runtime for containers: its kind, and the path of its client."""

    kind: Literal["podman", "docker"]
    program: str


def choose(asked: str | None, setting: str | None, *, trusted: bool) -> Kind:
    """The runtime of a run.

    What was `asked` for holds, else the `setting`. Without either, a program of this process is `trusted` with
    processes; anything else runs in containers, or not at all. A setting alone lets nothing run as a process that isn't
    trusted: the file that holds it may have come with the workflow.

    Raises `ValueError` for an unknown runtime, and `DiagnosticError` where there is none.

    >>> choose("process", None, trusted=False), choose(None, None, trusted=True)
    ('process', 'process')
    """
    if asked is not None and asked not in get_args(Asked):
        raise ValueError(f"runtime is one of {', '.join(get_args(Asked))}, not {asked!r}")
    wanted = asked or (setting if trusted or setting != "process" else None) or ("process" if trusted else "container")
    if wanted == "process":
        return "process"
    found = installed(wanted)
    if found is not None:
        return found.kind
    if asked is None and not trusted:
        raise DiagnosticError([_refused()])
    raise DiagnosticError([_missing(wanted)])


def installed(wanted: str) -> Runtime | None:
    """The client of a runtime, or for "container" of the first that there is; None without one."""
    for kind in CLIENTS:
        program = shutil.which(kind) if wanted in (kind, "container") else None
        if program is not None:
            return Runtime(kind, program)
    return None


def working(kind: str) -> Runtime:
    """A runtime that answers. Raises `DiagnosticError` where it isn't installed or doesn't work, in its own words."""
    found = installed(kind)
    if found is None:
        raise DiagnosticError([_missing(kind)])
    command = [found.program, "version", "--format", "{{.Server.Version}}"]
    try:
        asked = subprocess.run(
            command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=LONGEST
        )
    except subprocess.TimeoutExpired:
        raise DiagnosticError([_down(kind, f"it didn't answer within {LONGEST} seconds")]) from None
    except OSError as failure:
        raise DiagnosticError([_down(kind, str(failure))]) from None
    if asked.returncode != 0:
        said = [line.strip() for line in asked.stderr.splitlines() if line.strip()]
        raise DiagnosticError([_down(kind, said[-1] if said else f"exit code {asked.returncode}")])
    return found


def _refused() -> Diagnostic:
    return error(
        "CLR708",
        "this workflow wasn't written in Python here, and neither podman nor docker is there to run its steps",
        why="without containers its steps would be processes that may do all that you may",
        help=WAY_OUT,
    )


def _missing(kind: str) -> Diagnostic:
    what = "neither podman nor docker is" if kind == "container" else f"{kind} isn't"
    return error("CLR621", f"{what} installed here", help="install it, or say --runtime process")


def _down(kind: str, why: str) -> Diagnostic:
    return error("CLR621", f"{kind} is installed and doesn't work", why=why, help=f"start it, and try `{kind} version`")
