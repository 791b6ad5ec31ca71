"""The best of several by their scores."""

from __future__ import annotations

from pathlib import Path

import pytest

from couler_py.steps import compare, select_best


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_names_are_ranked_by_their_scores() -> None:
    found = compare(["a", "b", "c"], [0.5, 0.9, 0.7])
    assert (found.best, found.score, found.ranking) == ("b", 0.9, ["b", "c", "a"])
    assert found.report.read_text().splitlines()[2:] == ["| 1 | b | 0.9 |", "| 2 | c | 0.7 |", "| 3 | a | 0.5 |"]


def test_the_least_may_be_the_best_and_of_equal_ones_the_first_is() -> None:
    assert compare(["a", "b", "c"], [2.0, 1.0, 1.0], "minimize").ranking == ["b", "c", "a"]


@pytest.mark.parametrize("goal", ["maximize", "minimize"])
def test_what_is_no_number_comes_last(goal: str) -> None:
    assert compare(["a", "b"], [float("nan"), 1.0], goal).best == "b"  # type: ignore[arg-type]


def test_the_file_of_the_best_is_chosen() -> None:
    assert select_best([Path("x"), Path("y")], ["a", "b"], [1.0, 2.0]) == (Path("y"), "b", 2.0)


def test_there_is_no_best_of_nothing() -> None:
    with pytest.raises(ValueError, match="no score is a number: there are none"):
        compare([], [])
    with pytest.raises(ValueError, match="2 names and 1 scores"):
        compare(["a", "b"], [1.0])
    with pytest.raises(ValueError, match="1 models and 2 scores"):
        select_best([Path("x")], ["a", "b"], [1.0, 2.0])
