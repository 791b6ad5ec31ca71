"""From an exception to what a person reads and an exit code: theirs without our traceback, ours with."""

from __future__ import annotations

import errno
import os
import sys
import sysconfig
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import typer

from couler_py.cli import exits
from couler_py.cli.console import clean, console
from couler_py.ir.diagnostics import CoulerError, Diagnostic, DiagnosticError
from couler_py.ir.model import Source
from couler_py.passes.situation import PassOptionError

PACKAGE = str(Path(__file__).resolve().parent.parent) + os.sep

EXTRAS = {
    "airflow_client": "airflow",
    "argo_workflows": "argo",
    "jsonschema_rs": "argo",
    "kubernetes": "argo",
    "urllib3": "argo",
    "s3fs": "s3",
    "gcsfs": "gcs",
    "ossfs": "oss",
    "adlfs": "az",
    "keyring": "keyring",
    "scipy": "train",
}
"""Modules that only an extra of the distribution brings, and its name."""


class UsageError(CoulerError):
    """What was typed can't be done; the message says what can. `code` has a long form in `couler explain`."""

    def __init__(self, message: str, code: str = ""):
        super().__init__(message)
        self.code = code


class UserCodeError(UsageError):
    """The user's own file raised while it was loaded. The cause is what it raised."""

    def __init__(self, message: str):
        super().__init__(message, "CLR701")


@contextmanager
def exit_on_error() -> Iterator[None]:
    """End the command with an exit code where something is raised, having said what."""
    try:
        yield
        sys.stdout.flush()
    except KeyboardInterrupt:
        raise typer.Exit(exits.INTERRUPTED) from None
    except BrokenPipeError:
        # What is still buffered has nowhere to go; the interpreter would complain at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(exits.BROKEN_PIPE) from None
    except (CoulerError, OSError, ImportError) as error:
        if not _said(error):
            raise_as_bug(error)
        raise typer.Exit(exit_code(error)) from None
    except Exception as error:
        if _is_of_typer(error):
            raise
        raise_as_bug(error)


def _is_of_typer(error: Exception) -> bool:
    # Exit and Abort are RuntimeErrors; wrong usage is an exception with an exit code of its own.
    return isinstance(error, typer.Exit | typer.Abort) or hasattr(error, "format_message")


def exit_code(error: BaseException) -> int:
    """The exit code for an error that isn't a bug."""
    from couler_py.backends.base import EngineUnreachableError, RunNotFoundError

    if isinstance(error, RunNotFoundError):
        return exits.NOT_FOUND
    if isinstance(error, EngineUnreachableError | ConnectionError):
        return exits.UNREACHABLE
    return exits.USAGE


def _said(error: Exception) -> bool:
    # Whether it is the user's to mend; then it has been shown.
    if isinstance(error, DiagnosticError):
        from couler_py.cli import findings

        findings.show(error.diagnostics, console(stderr=True))
    elif isinstance(error, UsageError):
        say_error(str(error), error.code)
        if isinstance(error, UserCodeError) and error.__cause__ is not None:
            sys.stderr.write(clean(user_traceback(error.__cause__)))
    elif isinstance(error, CoulerError) or (isinstance(error, OSError) and _names_a_place(error)):
        say_error(_told(error), getattr(error, "code", ""))
    elif isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] in EXTRAS:
        name = (error.name or "").partition(".")[0]
        say_error(f"this needs {name}, which is not installed: pip install 'couler-py[{EXTRAS[name]}]'")
    else:
        return False
    return True


def _told(error: CoulerError | OSError) -> str:
    # An option of a pass as it is typed here, an error of the system's by its place and its words.
    if isinstance(error, PassOptionError):
        return error.typed
    if not isinstance(error, OSError) or not error.strerror:
        return str(error)
    return error.strerror if error.filename is None else f"{os.fsdecode(error.filename)}: {error.strerror}"


def _names_a_place(error: OSError) -> bool:
    # A disk that is full or broken (what is written may be stdout) is as little a bug as a missing file.
    disk = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO)
    return error.filename is not None or disk or isinstance(error, ConnectionError)


def say_error(message: str, code: str = "") -> None:
    """Print an error that isn't about a line of a workflow."""
    from rich.text import Text

    text = Text(f"error[{code}]" if code else "error", "bold red")
    text.append(f": {clean(message)}", "bold")
    console(stderr=True).print(text)


def raise_as_bug(error: Exception) -> NoReturn:
    """Show our own traceback, and ask for a report."""
    traceback.print_exception(error)
    say_error("this is a bug in couler, not in your workflow; please report it with the lines above")
    raise typer.Exit(exits.BUG) from None


def as_finding(error: UsageError) -> Diagnostic:
    """An error as a finding, for tools; of a file that raised, at the line where it did."""
    source = None
    if isinstance(error.__cause__, SyntaxError) and error.__cause__.filename and error.__cause__.lineno:
        source = Source(error.__cause__.filename, error.__cause__.lineno)
    elif error.__cause__ is not None:
        libraries = tuple(sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib"))
        frames = [
            frame
            for frame in traceback.extract_tb(error.__cause__.__traceback__)
            if _theirs(frame.filename) and not frame.filename.startswith(libraries)
        ]
        source = Source(frames[-1].filename, frames[-1].lineno or 1) if frames else None
    why = f"{type(error.__cause__).__name__}: {error.__cause__}" if isinstance(error, UserCodeError) else ""
    return Diagnostic(error.code, "error", str(error), source=source, why=why)


def _theirs(filename: str) -> bool:
    return not filename.startswith((PACKAGE, "<frozen "))


def user_traceback(error: BaseException) -> str:
    """The traceback of an error in a user's file, without the frames of this package and of importing."""
    shown = traceback.TracebackException.from_exception(error)
    _trim(shown)
    return "".join(shown.format())


def _trim(shown: traceback.TracebackException) -> None:
    for each in (shown, *_linked(shown)):
        each.stack = traceback.StackSummary.from_list([frame for frame in each.stack if _theirs(frame.filename)])


def _linked(shown: traceback.TracebackException) -> Iterator[traceback.TracebackException]:
    for other in (shown.__cause__, shown.__context__):
        if other is not None:
            yield other
            yield from _linked(other)
