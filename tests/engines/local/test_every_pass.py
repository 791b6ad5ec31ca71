"""Every pass keeps what a run gives, and changes nothing more when it is run again."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import couler_py as couler
from couler_py.backends.base import backend
from couler_py.backends.local.client import LocalClient
from couler_py.cli.load import load
from couler_py.ir.diagnostics import DiagnosticError
from couler_py.ir.model import Function, Workflow
from couler_py.passes.history import Attempt, History, Observed, work_of
from couler_py.passes.pipeline import transform
from couler_py.passes.situation import Situation

OPTIONS: dict[str, dict[str, Any]] = {
    "drop-order": {"drop_order_edges": True},
    "merge-chains": {"merge_chains": "all"},
    "batch": {"batch_fanouts": 2},
    "cache": {"cache_steps": True},
    "right-size": {"right_size": True},
    "retry": {"retry_platform": 1},
    "split": {"split": "tasks=8,slots=2"},
}
OPTIONS["all of them"] = {name: value for options in OPTIONS.values() for name, value in options.items()}


@couler.step
def start(n: int) -> int:
    return n


@couler.step
def add(a: int, b: int) -> int:
    return a + b


@couler.step
def fails_for_seven(n: int) -> int:
    if n == 7:
        raise ValueError("seven")
    return n


@couler.step(effects=["a log"])
def note(n: int) -> int:
    return n


def made(numbers: list[int]) -> Workflow:
    """Chains, a fan-out, order that no value needs, steps with effects, and one that fails for 7."""

    @couler.workflow
    def mixed():  # type: ignore[no-untyped-def]
        found = [start(n) for n in numbers]
        for before, after in pairwise(found):
            before >> after
        chain = found[0]
        for each in found[1:]:
            chain = add(chain, each)
        items = couler.map(lambda n: add(n, 1), numbers)
        risky = fails_for_seven(chain)
        noted = note(found[0]) >> note(found[-1])
        for _ in range(3):
            risky = add(risky, 1)
        return {"chain": chain, "items": items, "risky": risky, "noted": noted}

    return couler.build(mixed)


def situation(workflow: Workflow, options: dict[str, Any]) -> Situation:
    tries = tuple(Attempt("Succeeded", 0.0, 1.0, memory=2**26, processors=0.5) for _ in range(30))
    seen = [
        Observed(workflow.name, each.name, work_of(each), 30, tries, (1.0,) * 30)
        for each in workflow.templates
        if isinstance(each.body, Function)
    ]
    return Situation(options=options, history=History.of(*seen))


def run(workflow: Workflow, home: Path) -> tuple[str, dict[str, Any]]:
    client = LocalClient(home)
    name = client.submit(backend("local").compile(workflow), runtime="process")
    *_, last = client.watch(name)
    return last.status, dict(last.outputs)


@pytest.mark.parametrize("name", OPTIONS)
@settings(max_examples=2)
@given(numbers=st.lists(st.sampled_from((1, 2, 5)), min_size=1, max_size=5))
def test_a_run_gives_the_same(name: str, numbers: list[int], tmp_path_factory: pytest.TempPathFactory) -> None:
    workflow = made(numbers)
    changed, _ = transform(workflow, situation(workflow, OPTIONS[name]))
    home = tmp_path_factory.mktemp("home")
    assert run(changed, home) == run(workflow, home)


@pytest.mark.parametrize("name", OPTIONS)
def test_each_changes_something_says_what_and_changes_nothing_more(name: str) -> None:
    workflow = made([1, 2, 3, 4, 5])
    asked = situation(workflow, OPTIONS[name])
    once, applied = transform(workflow, asked)
    assert once != workflow
    assert all(each.notes for each in applied if each.state == "changed")
    again, later = transform(once, asked)
    assert again == once
    assert "changed" not in {each.state for each in later}


EXAMPLES = Path(__file__).parents[3] / "examples"
DOCUMENTS = Path(__file__).parents[2] / "golden" / "argo"
ALIKE = ("hello", "diamond", "diamond_explicit", "map_reduce")
"""Those that give the same on each run, and run anywhere."""


@pytest.mark.parametrize("engine", ["argo", "airflow", "local"])
@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_every_example_is_compiled_with_every_pass(example: Path, engine: str) -> None:
    written = load(str(example)).model
    try:
        couler.compile(written, to=engine)
    except DiagnosticError:
        pytest.skip(f"nothing for {engine}")
    # A part has to hold a task with what stands there for all that it reads.
    assert couler.compile(written, to=engine, **OPTIONS["all of them"] | {"split": "tasks=20"}).text


@pytest.mark.parametrize("document", sorted(DOCUMENTS.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_document_of_argos_is_taken_with_every_pass(document: Path) -> None:
    written = load(str(document)).model
    for engine in ("argo", "local"):
        assert couler.compile(written, to=engine, **OPTIONS["all of them"] | {"split": "tasks=12"}).text


@pytest.mark.parametrize("name", ALIKE)
def test_an_example_gives_the_same_with_every_pass(name: str, tmp_path: Path) -> None:
    workflow = load(str(EXAMPLES / f"{name}.py")).model
    assert isinstance(workflow, Workflow)
    changed, _ = transform(workflow, situation(workflow, OPTIONS["all of them"]))
    assert run(changed, tmp_path) == run(workflow, tmp_path)
