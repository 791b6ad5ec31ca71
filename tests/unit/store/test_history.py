"""What the runs of a home took, as passes read it."""

from __future__ import annotations

from pathlib import Path

import pytest

import couler_py as couler
from couler_py.ir.model import Template
from couler_py.passes.history import Observed
from couler_py.store.history import history


@couler.step
def double(x: int) -> int:
    return 2 * x


@couler.step
def broken(x: int) -> int:
    raise ValueError(f"no {x}")


@couler.workflow
def twice(x: int = 21):
    return double(x)


@couler.workflow
def failing():
    return broken(1)


def seen(workflow: object, name: str) -> Observed:
    built = couler.build(workflow)
    template: Template = next(each for each in built.templates if each.name == name)
    found = history().find(built.name, template)
    assert found is not None
    return found


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COULER_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_without_a_home_there_is_no_history_and_none_is_made(home: Path) -> None:
    assert history().all() == ()
    assert not home.exists()


def test_runs_say_how_long_a_step_took_and_how_much_it_gave() -> None:
    couler.run(twice)
    couler.run(twice, parameters={"x": 500})
    found = seen(twice, "double")
    assert (found.workflow, found.template, found.runs, found.states) == ("twice", "double", 2, {"Succeeded": 2})
    assert sorted(found.outputs["result"]) == [2, 4]
    assert [attempt.state for attempt in found.attempts] == ["Succeeded", "Succeeded"]
    assert len(found.seconds) == 2
    assert all(attempt.seconds > 0 for attempt in found.attempts)
    assert all(attempt.memory is not None and attempt.memory > 1_000_000 for attempt in found.attempts)


def test_a_failed_attempt_says_why() -> None:
    couler.run(failing)
    [attempt] = seen(failing, "broken").attempts
    assert (attempt.state, attempt.exit_code) == ("Failed", 1)
    assert "ValueError: no 1" in attempt.message
