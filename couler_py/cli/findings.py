"""Diagnostics as a compiler shows them: the place, the line in question, why, and what to do."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from couler_py.cli.console import clean
from couler_py.ir.diagnostics import Diagnostic
from couler_py.ir.model import Source

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

LONGEST = 160
"""Columns of a line that are shown: of a longer one, a piece around the place."""
STYLES = {"error": "bold red", "warning": "bold yellow", "note": "bold cyan"}


class Lines:
    """The lines that findings are about: of `texts` by file where they are at hand, else of the files.

    `ends` are the columns behind what a place is about, where they are known.
    """

    def __init__(self, texts: Mapping[str, str] | None = None, ends: Mapping[Source, int] | None = None) -> None:
        self._texts = texts or {}
        self.ends = ends or {}
        self._split: dict[str, list[str]] = {}

    def line(self, place: Source) -> str | None:
        """The line as it stands; None where there is no such file or line (a notebook, another machine)."""
        if place.file not in self._split:
            self._split[place.file] = self._read(place.file)
        lines = self._split[place.file]
        return lines[place.line - 1] if 1 <= place.line <= len(lines) else None

    def _read(self, file: str) -> list[str]:
        text = self._texts.get(file)
        if text is None:
            path = Path(file)
            text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
        return text.split("\n")


def show(findings: Sequence[Diagnostic], console: Console, lines: Lines | None = None) -> None:
    """Print each finding with the line it is about, then how many there were."""
    lines = lines or Lines()
    for finding in findings:
        console.print(rendered(finding, lines))
        console.print()
    if findings:
        console.print(summary(findings))


def rendered(finding: Diagnostic, lines: Lines | None = None) -> Text:
    """One finding as text in colours."""
    from rich.text import Text

    lines = lines or Lines()
    style = STYLES[finding.severity]
    text = Text()
    text.append(f"{finding.severity}[{finding.code}]", style)
    text.append(f": {clean(finding.message)}", "bold")
    if finding.step:
        text.append(f"  (in {clean(finding.step)})", "dim")
    width = len(str(max([place.line for place in _places(finding)], default=0)))
    if finding.source:
        _place(text, finding.source, width, style, lines)
    for label, note in (("why", finding.why), ("help", finding.help)):
        if note:
            text.append(f"\n{' ' * width} = ", "blue")
            text.append(f"{label}: ", "bold")
            text.append(clean(note).replace("\n", f"\n{' ' * (width + len(label) + 5)}"))
    for label, place in finding.related:
        if place == finding.source:
            continue
        text.append(f"\n{' ' * width} = ", "blue")
        text.append(f"see: {clean(label)}", "bold")
        _place(text, place, width, "bold cyan", lines)
    return text


def _places(finding: Diagnostic) -> list[Source]:
    return [*([finding.source] if finding.source else []), *(place for _, place in finding.related)]


def _place(text: Text, place: Source, width: int, style: str, lines: Lines) -> None:
    text.append(f"\n{' ' * width}--> ", "blue")
    text.append(clean(str(place)))
    raw = lines.line(place)
    if raw is None or not raw.strip():
        return
    start, marked = _extent(raw, place.column, lines.ends.get(place, 0))
    line, start, marked = _piece(clean(raw.rstrip().expandtabs(4)), start, marked)
    text.append(f"\n{' ' * width} |\n", "blue")
    text.append(f"{place.line:>{width}} | ", "blue")
    text.append(line)
    text.append(f"\n{' ' * width} | ", "blue")
    text.append(" " * start + "^" * marked, style)


def _piece(line: str, start: int, marked: int) -> tuple[str, int, int]:
    """What is shown of a line, and where in that the carets begin, and how many there are."""
    if len(line) <= LONGEST:
        return line, start, marked
    first = max(start - LONGEST // 4, 0)
    piece = line[first : first + LONGEST]
    if first:
        piece = f"…{piece[1:]}"
    if first + LONGEST < len(line):
        piece = f"{piece[:-1]}…"
    return piece, start - first, max(min(marked, len(piece) - (start - first)), 1)


def _extent(raw: str, column: int, end: int) -> tuple[int, int]:
    """Where in a line, as it is shown, the carets begin, and how many there are."""
    line = raw.rstrip().expandtabs(4)
    if not 0 < column <= len(raw.rstrip()):
        start = len(line) - len(line.lstrip())
        return start, len(_code(line.strip()))
    start = len(raw[: column - 1].expandtabs(4))
    if end > column:
        return start, max(len(raw[: end - 1].expandtabs(4)) - start, 1)
    word = re.match(r"\{\{.*?\}\}|[^\s:,]+|.", line[start:])
    return start, len(word[0]) if word else 1


def _code(line: str) -> str:
    # A comment at the end is not what the finding is about; "#" in a string may cut short the carets only.
    return line.split("  #")[0].rstrip() or line


def summary(findings: Sequence[Diagnostic]) -> Text:
    """How many there were of each severity, and where the long form is."""
    from rich.text import Text

    parts = []
    for severity in STYLES:
        count = sum(finding.severity == severity for finding in findings)
        if count:
            parts.append(f"{count} {severity}{'s' if count > 1 else ''}")
    worst = next(severity for severity in STYLES if any(finding.severity == severity for finding in findings))
    first = next(finding.code for finding in findings if finding.severity == worst)
    text = Text(", ".join(parts), STYLES[worst])
    text.append(f"; `couler explain {first}` says more", "dim")
    return text


def as_json(findings: Sequence[Diagnostic], lines: Lines | None = None) -> str:
    """The findings for tools: an object with the list `diagnostics`."""
    ends = lines.ends if lines else {}
    return json.dumps({"diagnostics": [_plain(finding, ends) for finding in findings]}, indent=2, ensure_ascii=False)


def _plain(finding: Diagnostic, ends: Mapping[Source, int]) -> dict[str, Any]:
    columns = {}
    if finding.source and finding.source.column:
        columns["column"] = finding.source.column
        if end := ends.get(finding.source):
            columns["endColumn"] = end
    return {
        "code": finding.code,
        "severity": finding.severity,
        "message": finding.message,
        "file": finding.source.file if finding.source else None,
        "line": finding.source.line if finding.source else None,
        **columns,
        "step": finding.step or None,
        "why": finding.why or None,
        "help": finding.help or None,
        "related": [{"message": label, "file": place.file, "line": place.line} for label, place in finding.related],
    }
