"""Diagnostics as people and tools read them."""

from __future__ import annotations

import io
import json
from pathlib import Path

from rich.console import Console

from couler_py.cli.console import clean, columns, seconds, size
from couler_py.cli.findings import as_json, rendered, show
from couler_py.ir.diagnostics import Diagnostic, error, warning
from couler_py.ir.model import Source


def plain(finding: Diagnostic) -> str:
    return rendered(finding).plain


def test_a_finding_shows_the_line_and_marks_it(here: Path) -> None:
    (here / "flow.py").write_text("import x\n\n    best = pick(runs)  # the best\n")
    finding = error("CLR201", "no such output", source=Source("flow.py", 3), step="best", why="it has a", help="use a")
    assert plain(finding) == (
        "error[CLR201]: no such output  (in best)\n"
        " --> flow.py:3\n"
        "  |\n"
        "3 |     best = pick(runs)  # the best\n"
        "  |     ^^^^^^^^^^^^^^^^^\n"
        "  = why: it has a\n"
        "  = help: use a"
    )


def test_of_a_long_line_the_piece_around_the_place_is_shown(here: Path) -> None:
    (here / "flow.yaml").write_text(f"{'a ' * 500}HERE{' b' * 500}\n")
    shown, carets = plain(error("CLR201", "long", source=Source("flow.yaml", 1, 1001))).splitlines()[-2:]
    assert shown == f"1 | …{(' ' + 'a ' * 500)[-39:]}HERE{(' b' * 500)[:115]}…"
    assert carets == f"  | {' ' * 40}^^^^"


def test_the_end_of_a_long_line_is_shown_whole(here: Path) -> None:
    (here / "flow.yaml").write_text(f"{'a ' * 500}HERE\n")
    shown, carets = plain(error("CLR201", "long", source=Source("flow.yaml", 1, 1001))).splitlines()[-2:]
    assert (shown, carets) == (f"1 | …{(' ' + 'a ' * 500)[-39:]}HERE", f"  | {' ' * 40}^^^^")


def test_other_places_are_shown_too(here: Path) -> None:
    (here / "flow.py").write_text("a = 1\n" * 12)
    finding = error("CLR201", "two", source=Source("flow.py", 2), related=(("the other", Source("flow.py", 12)),))
    assert plain(finding).splitlines()[-5:] == [
        "   = see: the other",
        "  --> flow.py:12",
        "   |",
        "12 | a = 1",
        "   | ^^^^^",
    ]


def test_a_place_that_isn_t_here_is_only_named(here: Path) -> None:
    finding = error("CLR201", "far", source=Source("<cell 3>", 1))
    assert plain(finding) == "error[CLR201]: far\n --> <cell 3>:1"


def test_text_can_t_steer_the_terminal(here: Path) -> None:
    assert plain(error("CLR201", "a\x1b[2Jb\x07")) == "error[CLR201]: a\\x1b[2Jb\\x07"
    assert clean("tab\tand\nline") == "tab\tand\nline"


def test_findings_end_with_their_number(here: Path) -> None:
    out = io.StringIO()
    show([error("CLR201", "a"), warning("CLR202", "b"), error("CLR203", "c")], Console(file=out, width=200))
    assert out.getvalue().splitlines()[-1] == "2 errors, 1 warning; `couler explain CLR201` says more"


def test_tools_get_json() -> None:
    finding = error("CLR201", "a", source=Source("f.py", 3), related=(("other", Source("g.py", 1)),))
    assert json.loads(as_json([finding])) == {
        "diagnostics": [
            {
                "code": "CLR201",
                "severity": "error",
                "message": "a",
                "file": "f.py",
                "line": 3,
                "step": None,
                "why": None,
                "help": None,
                "related": [{"message": "other", "file": "g.py", "line": 1}],
            }
        ]
    }


def test_columns_are_aligned_by_what_is_seen() -> None:
    lines = [line.plain for line in columns([("中", "x"), ("abc", "y\nz")], header=("A", "B"))]
    assert lines == ["A    B", "中   x", "abc  y …"]


def test_durations_and_sizes_read_easily() -> None:
    assert [seconds(value) for value in (None, 0.042, 12.34, 71.3, 7384)] == ["", "0.04s", "12.3s", "1m11s", "2h03m"]
    assert [size(value) for value in (0, 1023, 98304, 1_572_864)] == ["0 B", "1023 B", "96.0 KiB", "1.5 MiB"]
