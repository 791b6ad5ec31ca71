"""From an exception to what a person reads and an exit code: theirs without our traceback, ours with."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import typer

from couler_py.cli import exits
from couler_py.cli.console import clean, console
from couler_py.ir.diagnostics import CoulerError, DiagnosticError

PACKAGE = str(Path(__file__).resolve().parent.parent) + os.sep


class UsageError(CoulerError):
    """What was typed can't be done; the message says what can."""


class UserCodeError(CoulerError):
    """The user's own file raised while it was loaded. The cause is what it raised."""


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
    elif isinstance(error, UserCodeError):
        say_error(str(error))
        if error.__cause__ is not None:
            sys.stderr.write(clean(user_traceback(error.__cause__)))
    elif isinstance(error, CoulerError) or (isinstance(error, OSError) and _names_a_place(error)):
        say_error(str(error))
    else:
        return False
    return True


def _names_a_place(error: OSError) -> bool:
    return error.filename is not None or isinstance(error, ConnectionError)


def say_error(message: str) -> None:
    """Print an error that has no code."""
    from rich.text import Text

    text = Text("error", "bold red")
    text.append(f": {clean(message)}", "bold")
    console(stderr=True).print(text)


def say_warning(message: str) -> None:
    """Print a warning that has no code."""
    from rich.text import Text

    text = Text("warning", "bold yellow")
    text.append(f": {clean(message)}")
    console(stderr=True).print(text)


def raise_as_bug(error: Exception) -> NoReturn:
    """Show our own traceback, and ask for a report."""
    traceback.print_exception(error)
    say_error("this is a bug in couler, not in your workflow; please report it with the lines above")
    raise typer.Exit(exits.BUG) from None


def user_traceback(error: BaseException) -> str:
    """The traceback of an error in a user's file, without the frames of this package and of importing."""
    shown = traceback.TracebackException.from_exception(error)
    _trim(shown)
    return "".join(shown.format())


def _trim(shown: traceback.TracebackException) -> None:
    for each in (shown, *_linked(shown)):
        each.stack = traceback.StackSummary.from_list(
            [
                frame
                for frame in each.stack
                if not frame.filename.startswith(PACKAGE) and not frame.filename.startswith("<frozen ")
            ]
        )


def _linked(shown: traceback.TracebackException) -> Iterator[traceback.TracebackException]:
    for other in (shown.__cause__, shown.__context__):
        if other is not None:
            yield other
            yield from _linked(other)
