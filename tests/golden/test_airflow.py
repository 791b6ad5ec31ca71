"""Every example compiles to the DAG file that is written down here, and reads as `ruff format` would have it.

`make golden` writes them anew. The text of the runner, which is the same in all of them and has tests of its own, is
left out.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import couler_py as couler
from couler_py.cli.load import load
from couler_py.ir import DiagnosticError

CHECKOUT = Path(__file__).parents[2]
EXAMPLES = sorted((CHECKOUT / "examples").glob("*.py"))
EXPECTED = Path(__file__).parent / "airflow"
REFUSED = {"coin_flip": "CLR501"}
"""Examples that Airflow can't do: a template that calls itself."""


def compiled(example: Path) -> str:
    workflow = load(str(example.relative_to(CHECKOUT))).workflow
    text = couler.compile(workflow, to="airflow", claim="files", artifacts="/files").text
    text = re.sub(r'^RUNNER = r""".*?"""$', 'RUNNER = "the runner"', text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"couler-py \d+\.\d+\.\d+\S*:", "couler-py:", text)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_compiles_to_the_file_written_down(example: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(CHECKOUT)
    if example.stem in REFUSED:
        with pytest.raises(DiagnosticError) as refused:
            compiled(example)
        assert {found.code for found in refused.value.diagnostics} == {REFUSED[example.stem]}
        return
    text = compiled(example)
    expected = EXPECTED / f"{example.stem}.py"
    if os.environ.get("COULER_GOLDEN") == "write":
        expected.parent.mkdir(exist_ok=True)
        expected.write_text(text, encoding="utf-8")
    assert text == expected.read_text(encoding="utf-8")


def test_ruff_changes_nothing() -> None:
    ruff = Path(sys.executable).with_name("ruff")
    done = subprocess.run([ruff, "format", "--isolated", "--check", EXPECTED], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_nothing_is_expected_of_examples_that_are_gone() -> None:
    assert {path.stem for path in EXPECTED.glob("*.py")} == {path.stem for path in EXAMPLES} - set(REFUSED)


def test_a_diamond_of_containers_has_at_most_forty_lines() -> None:
    text = (EXPECTED / "diamond_explicit.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 40
