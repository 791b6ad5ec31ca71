"""Diagnostics as a compiler shows them: the place, the line in question, why, and what to do."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from couler_py.cli.console import clean
from couler_py.ir.diagnostics import Diagnostic
from couler_py.ir.model import Source

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

STYLES = {"error": "bold red", "warning": "bold yellow", "note": "bold cyan"}


def show(findings: Sequence[Diagnostic], console: Console) -> None:
    """Print each finding with the line it is about, then how many there were."""
    for finding in findings:
        console.print(rendered(finding))
        console.print()
    if findings:
        console.print(summary(findings))


def rendered(finding: Diagnostic) -> Text:
    """One finding as text in colours."""
    from rich.text import Text

    style = STYLES[finding.severity]
    text = Text()
    text.append(f"{finding.severity}[{finding.code}]", style)
    text.append(f": {clean(finding.message)}", "bold")
    if finding.step:
        text.append(f"  (in {clean(finding.step)})", "dim")
    width = len(str(max([place.line for place in _places(finding)], default=0)))
    if finding.source:
        _place(text, finding.source, width, style)
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
        _place(text, place, width, "bold cyan")
    return text


def _places(finding: Diagnostic) -> list[Source]:
    return [*([finding.source] if finding.source else []), *(place for _, place in finding.related)]


def _place(text: Text, place: Source, width: int, style: str) -> None:
    text.append(f"\n{' ' * width}--> ", "blue")
    text.append(clean(str(place)))
    line = source_line(place)
    if line is None or not line.strip():
        return
    line = clean(line.expandtabs(4))
    start = len(line) - len(line.lstrip())
    text.append(f"\n{' ' * width} |\n", "blue")
    text.append(f"{place.line:>{width}} | ", "blue")
    text.append(line)
    text.append(f"\n{' ' * width} | ", "blue")
    text.append(" " * start + "^" * len(_code(line.strip())), style)


def _code(line: str) -> str:
    # A comment at the end is not what the finding is about; "#" in a string may cut short the carets only.
    return line.split("  #")[0].rstrip() or line


def source_line(place: Source) -> str | None:
    """The line as it stands in the file; None where there is no such file or line (a notebook, another machine)."""
    path = Path(place.file)
    if place.line < 1 or not path.is_file():
        return None
    with path.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            if number == place.line:
                return line.rstrip("\n")
    return None


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


def as_json(findings: Sequence[Diagnostic]) -> str:
    """The findings for tools: an object with the list `diagnostics`."""
    return json.dumps({"diagnostics": [_plain(finding) for finding in findings]}, indent=2, ensure_ascii=False)


def _plain(finding: Diagnostic) -> dict[str, Any]:
    return {
        "code": finding.code,
        "severity": finding.severity,
        "message": finding.message,
        "file": finding.source.file if finding.source else None,
        "line": finding.source.line if finding.source else None,
        "step": finding.step or None,
        "why": finding.why or None,
        "help": finding.help or None,
        "related": [{"message": label, "file": place.file, "line": place.line} for label, place in finding.related],
    }
