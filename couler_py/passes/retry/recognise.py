"""Whose fault a failure is: the platform's, or the step's own; and what to do about it.

What a person's own code raises must never be taken for a fault of the platform, whatever words are in it. So the last
line of a Python traceback decides: an error of a type that only code raises is the step's own. Without a traceback it
is what the engine said first, and the last lines of what the step wrote.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

import msgspec

from couler_py.passes.retry.pattern import WAITS, Pattern
from couler_py.passes.retry.table import TABLE

LAST = 4
"""So many of the last lines decide where there is no traceback."""

_TRACEBACK = "Traceback (most recent call last)"
_EXIT = re.compile(r"exit code (-?\d+)")
_RAISED = re.compile(r"(?:\[rank\d+\]: ?)?(?P<type>[A-Za-z_][\w.]*)(?::|$)")

OWN_TYPES = frozenset(
    [
        "ArithmeticError",
        "AssertionError",
        "AttributeError",
        "BufferError",
        "EOFError",
        "FileExistsError",
        "FileNotFoundError",
        "FloatingPointError",
        "ImportError",
        "IndentationError",
        "IndexError",
        "IsADirectoryError",
        "KeyError",
        "LookupError",
        "NameError",
        "NotADirectoryError",
        "NotImplementedError",
        "OverflowError",
        "PermissionError",
        "RecursionError",
        "StopIteration",
        "SyntaxError",
        "TabError",
        "TypeError",
        "UnboundLocalError",
        "UnicodeDecodeError",
        "UnicodeEncodeError",
        "UnicodeError",
        "ValueError",
        "ZeroDivisionError",
        "JSONDecodeError",
        "ParserError",
        "ValidationError",
        "AirflowFailException",
        "AirflowSkipException",
        "ProgrammingError",
        "IntegrityError",
        "DataError",
        "LinAlgError",
        "KeyboardInterrupt",
        "StepError",
    ]
)
"""Errors that code raises about its own work."""

_AROUND = frozenset(
    {"ChildFailedError", "CalledProcessError", "SystemExit", "ProcessRaisedException", "BrokenProcessPool"}
)
"""Errors that only say that something inside failed: what was written before says what."""


class Fault(msgspec.Struct, frozen=True):
    """A failure that was recognised: by which row, and the line that said so."""

    pattern: Pattern
    line: str = ""

    @property
    def platform(self) -> bool:
        """Whether it is the platform's, and not the step's own."""
        return not self.pattern.own

    @property
    def again(self) -> bool:
        """Whether another attempt is worth it without a change."""
        return self.platform and self.pattern.verdict != "no"

    def pause(self, number: int) -> float:
        """Seconds to wait before another attempt, after so many that failed (from 0)."""
        backoff = WAITS[self.pattern.verdict]
        return 0.0 if backoff is None else backoff.duration * backoff.factor**number


def recognise(message: str, exit_code: int | None = None) -> Fault | None:
    """What kind of failure a message and an exit code tell of; None for what isn't known, which is the step's own.

    `message` is what an engine says of an attempt, with the last lines that its program wrote.

    >>> recognise("The node was low on resource: memory.").pattern.name
    'k8s-pressure'
    >>> recognise("exit code 1\\nTraceback (most recent call last):\\nValueError: Connection reset by peer") is None
    True
    """
    said = _decisive(message)
    found = _first(said.lines, own=said.own)
    if found is not None or said.raised:
        return found
    if exit_code is None and said.lines and (told := _EXIT.search(said.lines[0])) is not None:
        exit_code = int(told[1])
    code = None if exit_code is None else exit_code if exit_code >= 0 else 128 - exit_code
    return next((Fault(row) for row in TABLE if code in row.exit_codes), None)


def explained(message: str) -> str:
    """What kind of failure a message tells of, whose it is, and what to do, in one line; "" where that isn't known.

    >>> explained("Step exceeded its deadline").split("; ")[0]
    "a fault of the platform (Argo): it ran into its own or the workflow's time limit"
    """
    found = recognise(message)
    if found is None:
        return ""
    whose = "a fault of the platform" if found.platform else "the step's own"
    return f"{whose} ({found.pattern.system}): {found.pattern.title}; {found.pattern.advice}"


class _Said(msgspec.Struct, frozen=True):
    """The lines that decide; whether an error was raised in Python, and one that is the step's own."""

    lines: tuple[str, ...]
    raised: bool = False
    own: bool = False


def _decisive(message: str) -> _Said:
    lines = [line.rstrip() for line in message.splitlines() if line.strip()]
    traces = [number for number, line in enumerate(lines) if _TRACEBACK in line]
    if not traces:
        # A long log may begin before its traceback does: its last line still names the error.
        raised = _type(lines[-1]) if len(lines) > 1 else ""
        if raised in OWN_TYPES:
            return _Said((lines[-1],), True, True)
        return _Said(tuple(dict.fromkeys([*lines[:1], *lines[-LAST:]])))
    after = lines[traces[-1] + 1 :]
    start = next(
        (number for number, line in enumerate(after) if not line.startswith((" ", "\t")) and _type(line)), None
    )
    if start is None:
        return _Said(tuple(lines))
    raised = _type(after[start])
    if raised in _AROUND:
        return _Said(tuple(lines[: traces[-1]] + after[start:]))
    return _Said(tuple(after[start : start + LAST]), True, raised in OWN_TYPES)


def _type(line: str) -> str:
    """The name of the error that a line tells of, without its module; "" where it tells of none."""
    found = _RAISED.match(line)
    return found["type"].rpartition(".")[2] if found is not None else ""


def _first(lines: Iterable[str], *, own: bool) -> Fault | None:
    for row, pattern in _compiled():
        if own and not row.own:
            continue
        for line in lines:
            if pattern.search(line):
                return Fault(row, line.strip())
    return None


@functools.cache
def _compiled() -> tuple[tuple[Pattern, re.Pattern[str]], ...]:
    return tuple((row, re.compile(row.message)) for row in TABLE if row.message)
