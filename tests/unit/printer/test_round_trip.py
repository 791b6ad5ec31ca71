"""What is printed builds what it was printed from."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from couler_py.cli.load import load
from couler_py.ir.model import Workflow
from couler_py.printer import print_python
from tests.conformance.case import Case
from tests.conformance.suite import PODLESS, WRITTEN
from tests.strategies import workflows
from tests.unit.printer.rebuilt import printed

CHECKOUT = Path(__file__).parents[3]
EXAMPLES = sorted((CHECKOUT / "examples").glob("*.py"))
AS_DATA = {"boosting", "fine_tuning", "lora", "ray_program", "recommender", "tune", "uneven"}
"""Examples with a template that no verb of one module makes: the trial of a sweep, a step with a watch around its
function; built-in steps, whose own module postpones annotations, beside steps of one that doesn't."""


@pytest.fixture
def in_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(CHECKOUT)


@pytest.mark.usefixtures("in_checkout")
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_printed_by_verbs_alone(example: Path) -> None:
    source = printed(load(str(example.relative_to(CHECKOUT))).workflow)
    if example.stem in AS_DATA:
        return
    assert "ir." not in source
    assert "couler.template" not in source


@pytest.mark.usefixtures("in_checkout")
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_printed_as_ruff_would_format_it(example: Path) -> None:
    source = print_python(load(str(example.relative_to(CHECKOUT))).workflow)
    assert formatted(source) == source


@pytest.mark.parametrize("case", WRITTEN, ids=str)
def test_what_was_written_with_verbs_is_printed_with_verbs(case: Case) -> None:
    source = printed(case.build())
    assert "ir.model" not in source
    assert "couler.template" not in source


@pytest.mark.parametrize("case", PODLESS[::12], ids=str)
def test_what_was_written_as_ir_comes_back(case: Case) -> None:
    printed(case.build())


@given(workflows())
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
def test_any_workflow_comes_back(workflow: Workflow) -> None:
    printed(workflow)


def test_the_same_workflow_is_printed_the_same_whatever_the_hash_seed() -> None:
    program = (
        "from tests.strategies import random_ir\n"
        "from couler_py.printer import print_python\n"
        "print([print_python(random_ir(seed)) for seed in range(4)])"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=CHECKOUT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


def formatted(source: str) -> str:
    """The source after `ruff format`, with this project's width and nothing else of its settings."""
    ruff = Path(sys.executable).with_name("ruff")
    command = [str(ruff), "format", "--isolated", "--line-length", "120", "-"]
    return subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout
