"""Every diagnostic code is explained, and every explanation belongs to a code that is used."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from couler_py.ir.codes import AREAS, explanations
from couler_py.ir.diagnostics import Code, Diagnostic, DiagnosticError
from couler_py.ir.model import Source

CODE = re.compile(r"\bCLR\d{3}\b")


def codes_in(folder: Path) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for path in sorted(folder.rglob("*.py")):
        if path.parent.name != "codes":
            found |= dict.fromkeys(CODE.findall(path.read_text()), path)
    return found


def test_every_code_in_the_source_is_explained(checkout: Path) -> None:
    used = codes_in(checkout / "couler_py")
    assert {code: str(path) for code, path in used.items() if code not in explanations()} == {}


def test_every_explained_code_is_used(checkout: Path) -> None:
    used = codes_in(checkout / "couler_py")
    assert [code for code in explanations() if code not in used] == []


@pytest.mark.parametrize("code", explanations().values(), ids=lambda code: code.code)
def test_an_explanation_says_something(code: Code) -> None:
    assert CODE.fullmatch(code.code)
    assert code.title
    assert not code.title.endswith(".")
    assert code.text.endswith((".", "`", "?"))
    if code.example:
        assert code.instead not in ("", code.example)


def test_codes_stand_in_the_area_of_their_number() -> None:
    assert set(AREAS) >= {"dsl", "check", "argo", "local", "airflow", "cli"}


def test_a_finding_reads_like_a_compilers() -> None:
    finding = Diagnostic(
        "CLR213",
        "error",
        "the argument x of train takes int: str is not int",
        Source("flow.py", 12),
        "train",
        why="values aren't converted",
        help="return an int",
        related=(("the step load", Source("flow.py", 9)),),
    )
    assert finding.render() == (
        "flow.py:12: error[CLR213] [train]: the argument x of train takes int: str is not int\n"
        "  why: values aren't converted\n"
        "  help: return an int\n"
        "  see: the step load: flow.py:9"
    )
    assert str(DiagnosticError([finding, finding])) == f"{finding.render()}\n{finding.render()}"
