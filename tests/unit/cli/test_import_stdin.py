"""`couler import -` reads stdin; a folder is none of its files."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Couler

FLOW = """\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: hello}
spec:
  entrypoint: hello
  templates:
  - {name: hello, container: {image: alpine:3.20, command: [echo, hi]}}
"""


@pytest.mark.parametrize("words", [(), ("--portable",)], ids=["in Argo's words", "portable"])
def test_stdin_is_imported_as_a_file_is(
    couler: Couler, here: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    (here / "flow.yaml").write_text(FLOW)
    monkeypatch.setattr("sys.stdin", io.StringIO(FLOW))
    shown = couler("import", "-", *words)
    assert (shown.code, shown.out) == (0, couler("import", "flow.yaml", *words).out)
    assert "hello" in shown.out


def test_what_stdin_holds_is_said_by_its_name(couler: Couler, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("a: ["))
    shown = couler("import", "-")
    assert shown.code == 2
    assert "<stdin>" in shown.err


def test_a_folder_is_no_file(couler: Couler, here: Path) -> None:
    (here / "flows").mkdir()
    shown = couler("import", "flows")
    assert shown.code == 2
    assert "flows is a folder: one file at a time is written as a program" in shown.err
