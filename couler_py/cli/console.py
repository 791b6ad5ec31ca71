"""Terminals: colours only where they are wanted, and no text of others that could steer one."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TextIO, cast

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

PHASE_STYLE: dict[str, str] = {
    "Pending": "dim",
    "Running": "cyan",
    "Suspended": "yellow",
    "Stopped": "yellow",
    "Succeeded": "green",
    "Failed": "bold red",
    "Skipped": "dim",
    "Blocked": "magenta",
}
PHASE_SIGN: dict[str, str] = {
    "Pending": "·",
    "Running": "▶",
    "Suspended": "‖",
    "Stopped": "■",
    "Succeeded": "✓",
    "Failed": "✗",
    "Skipped": "○",
    "Blocked": "⊘",
}


FORCED = ("FORCE_COLOR", "TTY_COMPATIBLE")
"""Variables that ask for colours where there is no terminal."""

CONTROLS = dict.fromkeys((7, 8, 11, 12, 13))
"""Characters that are left out, as rich does."""


def console(*, stderr: bool = False) -> Console:
    """A console on stdout or stderr. `NO_COLOR`, `FORCE_COLOR` and `TERM=dumb` are heeded; lines are never cut."""
    stream = sys.stderr if stderr else sys.stdout
    if stream.isatty() or any(os.environ.get(name) for name in FORCED):
        return _coloured(stderr)
    return cast("Console", Plain(stderr))


def _coloured(stderr: bool) -> Console:
    from rich.console import Console

    class Ours(Console):
        def on_broken_pipe(self) -> None:
            """Leave it to whoever ends the command; rich would end the process with 1, as if a run had failed."""
            raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))

    return Ours(stderr=stderr, highlight=False, soft_wrap=True, markup=False, emoji=False)


class Styled:
    """Pieces of text with their styles, as one text."""

    def __init__(self, pieces: Iterable[tuple[str, str]]):
        self._pieces = list(pieces)

    @property
    def plain(self) -> str:
        """The text without its styles."""
        return "".join(text for text, _ in self._pieces)

    def __rich__(self) -> Text:
        from rich.text import Text

        return Text.assemble(*self._pieces)


class Plain:
    """A console where there is no terminal: text is written as it is, and rich, which takes long to load, only loaded
    for what else there is to print.
    """

    def __init__(self, stderr: bool):
        self._stderr = stderr

    @property
    def file(self) -> TextIO:
        """Where it writes to."""
        return sys.stderr if self._stderr else sys.stdout

    def print(self, *things: Any, **how: Any) -> None:
        """Write some things on a line."""
        if how.keys() <= {"style"} and all(isinstance(thing, str | Styled) for thing in things):
            text = " ".join(thing if isinstance(thing, str) else thing.plain for thing in things)
            self.file.write(text.translate(CONTROLS).expandtabs() + "\n")
            self.file.flush()
        else:
            _coloured(self._stderr).print(*things, **how)

    def __getattr__(self, name: str) -> Any:
        return getattr(_coloured(self._stderr), name)


def clean(text: str) -> str:
    """A text with control characters spelled out, so that it can't move the cursor or set a title."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in "\n\t" else char.encode("unicode_escape").decode() for char in text
    )


def one_line(text: str) -> str:
    """A text on one line: what follows a line break is left out and marked."""
    first, *rest = text.strip("\n").rstrip().split("\n")
    return clean(first.rstrip().replace("\t", " ")) + (" …" if rest else "")


def encodable(text: str) -> str:
    """A text with what the terminal's encoding lacks replaced (an ASCII locale has no tick)."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return text.encode(encoding, "replace").decode(encoding)


def phase_text(phase: str) -> Text:
    """A state in its colour."""
    from rich.text import Text

    return Text(phase, PHASE_STYLE.get(phase, ""))


def columns(rows: Iterable[Sequence[Any]], *, header: Sequence[str] = ()) -> Iterable[Text]:
    """Rows as lines with aligned columns; the last column is never padded."""
    from rich.text import Text

    table = [[cell if isinstance(cell, Text) else Text(one_line(cell)) for cell in row] for row in rows]
    if header:
        table.insert(0, [Text(name, "bold") for name in header])
    widths = [max(cell.cell_len for cell in column) for column in zip(*table, strict=True)]
    for row in table:
        line = Text()
        for cell, width in zip(row[:-1], widths, strict=False):
            line.append_text(cell)
            line.append(" " * (width - cell.cell_len + 2))
        line.append_text(row[-1])
        line.rstrip()
        yield line


def seconds(value: float | None) -> str:
    """A duration in seconds as a person reads it.

    >>> seconds(0.042), seconds(71.3), seconds(7384)
    ('0.04s', '1m11s', '2h03m')
    """
    if value is None:
        return ""
    if value < 10:
        return f"{value:.2f}s"
    if value < 60:
        return f"{value:.1f}s"
    whole = int(value)
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02}s"
    return f"{whole // 3600}h{whole % 3600 // 60:02}m"


def size(count: int) -> str:
    """A number of bytes as a person reads it.

    >>> size(900), size(98304)
    ('900 B', '96.0 KiB')
    """
    if count < 1024:
        return f"{count} B"
    power = min((count.bit_length() - 1) // 10, 3)
    return f"{count / 1024**power:.1f} {('B', 'KiB', 'MiB', 'GiB')[power]}"
