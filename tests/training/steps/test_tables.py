"""Tables split, fitted and judged with the real libraries, and what is said of what doesn't fit."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest

import couler_py as couler
from couler_py.steps import evaluate, lightgbm, pytorch, sklearn, train_test_split, xgboost


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def table(here: None) -> Path:
    """150 points on a grid: which side of a line they are on, how far, a word, and a gap."""
    path = Path("points.csv")
    rows = [(a / 14, b / 9) for a in range(15) for b in range(10)]
    lines = [
        f"{a if a else ''},{b},{'north' if b > 0.5 else 'south'},{'over' if b > a else 'under'},{a - b}"
        for a, b in rows
    ]
    path.write_text("\n".join(["a,b,place,side,distance", *lines]))
    return path


FITS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "sklearn": (sklearn.fit, sklearn.evaluate, {}),
    "xgboost": (xgboost.train, xgboost.evaluate, {"rounds": 20, "parameters": {"n_jobs": 1}}),
    "lightgbm": (
        lightgbm.train,
        lightgbm.evaluate,
        {"rounds": 20, "parameters": {"min_child_samples": 5, "n_jobs": 1}},
    ),
    "pytorch": (pytorch.fit, pytorch.evaluate, {"hidden": [16], "epochs": 30, "learning_rate": 0.01, "batch": 16}),
}


@pytest.mark.parametrize("name", FITS)
def test_classes_are_learned_from_numbers_and_words(name: str, table: Path) -> None:
    fit, judge, settings = FITS[name]
    found = fit(table, "side", features=["a", "b", "place"], **settings)
    judged = judge(found.model, table)
    assert found.features == ["a", "b", "place"]
    assert judged.rows == 150
    assert set(judged.scores) == {"accuracy", "balanced_accuracy", "f1"}
    assert judged.scores["accuracy"] > 0.9
    assert json.loads(judged.report.read_text())["classes"] == ["over", "under"]


@pytest.mark.parametrize("name", FITS)
def test_numbers_are_learned(name: str, table: Path) -> None:
    fit, judge, settings = FITS[name]
    kind = {"estimator": "sklearn.linear_model.Ridge"} if name == "sklearn" else {"task": "regression"}
    found = fit(table, "distance", features=["a", "b"], **settings, **kind)
    scores = judge(found.model, table).scores
    assert set(scores) == {"r2", "rmse", "mae"}
    assert scores["r2"] > 0.8


def test_the_same_seed_gives_the_same_model(table: Path) -> None:
    scores, path = [], table.resolve()
    for folder in ("one", "two"):
        Path(folder).mkdir()
        with contextlib.chdir(folder):
            scores.append(pytorch.fit(path, "side", epochs=3, seed=5).score)
    assert scores[0] == scores[1]


def test_a_split_keeps_each_row_once_and_shares_of_a_column(table: Path) -> None:
    found = train_test_split(table, 0.4, seed=1, stratify="place")
    train, test = (path.read_text().splitlines()[1:] for path in (found.train, found.test))
    assert (found.train_rows, found.test_rows, len(train), len(test)) == (90, 60, 90, 60)
    assert sum("north" in row for row in test) == 30


def test_json_lines_are_tables_too() -> None:
    Path("t").write_text("".join(json.dumps({"a": n, "y": n % 2}) + "\n" for n in range(20)))
    assert train_test_split(Path("t"), 0.25).test_rows == 5


def test_what_doesnt_fit_is_named(table: Path) -> None:
    with pytest.raises(ValueError, match=r"points\.csv has no column 'colour'; its columns are a, b, place"):
        sklearn.fit(table, "colour")
    with pytest.raises(ValueError, match=r"column 'a' of points\.csv has no value in row 1"):
        sklearn.fit(table, "a")
    with pytest.raises(ValueError, match=r"column 'side' of points\.csv holds no numbers"):
        xgboost.train(table, "side", task="regression")
    with pytest.raises(ValueError, match=r"'os\.system' is none of scikit-learn's"):
        sklearn.fit(table, "side", "os.system")
    with pytest.raises(ValueError, match=r"no estimator 'sklearn\.svm\.SVX'"):
        sklearn.fit(table, "side", "sklearn.svm.SVX")
    Path("empty").write_text("")
    with pytest.raises(ValueError, match="empty is no table"):
        train_test_split(Path("empty"))


def test_a_model_is_judged_on_its_own_columns_and_classes(table: Path) -> None:
    found = sklearn.fit(table, "side", features=["a", "b"])
    Path("other.csv").write_text("a,side\n1,over\n")
    with pytest.raises(ValueError, match=r"other\.csv has no column 'b'"):
        evaluate(found.model, Path("other.csv"))
    Path("other.csv").write_text("a,b,side\n1,0,beside\n")
    with pytest.raises(ValueError, match=r"column 'side' of other\.csv has the class 'beside', which is new"):
        evaluate(found.model, Path("other.csv"))
    Path("none").mkdir()
    with pytest.raises(ValueError, match="none is no model of these steps"):
        evaluate(Path("none"), table)


def test_a_workflow_of_them_runs(table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COULER_HOME", str(tmp_path / "home"))

    @couler.step
    def points(text: str) -> Path:
        path = Path("points.csv")
        path.write_text(text)
        return path

    @couler.workflow
    def flow(text: str):
        parts = train_test_split(points(text), stratify="side")
        model = sklearn.fit(parts.train, "side", parameters={"n_estimators": 10})
        return sklearn.evaluate(model.model, parts.test).scores["accuracy"]

    assert couler.run(flow, parameters={"text": table.read_text()}).outputs["result"] > 0.8
