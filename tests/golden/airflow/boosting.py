"""The workflow boosting: flowers → train_test_split → sklearn-fit, xgboost-train,
lightgbm-train → judge-forest, judge-xgboost, judge-lightgbm → compare.

Written by couler-py: change the program that it was made from, not this file.
"""

from datetime import UTC, datetime

from airflow import __version__ as airflow_version
from airflow.sdk import Param, dag

if tuple(map(int, airflow_version.split(".")[:2])) < (3, 1):
    raise RuntimeError(f"this DAG needs Airflow 3.1 or later, not {airflow_version}")


@dag(
    "boosting",
    schedule=None,
    start_date=datetime(2024, 1, 1, tzinfo=UTC),
    catchup=False,
    params={"seed": Param(0, type="integer")},
    doc_md=__doc__,
)
def boosting():
    flowers = step("flowers", FLOWERS)
    train_test_split = step(
        "train_test_split",
        TRAIN_TEST_SPLIT,
        lambda: {
            "test_size": 0.3,
            "seed": param("seed"),
            "stratify": "species",
            "data": out(flowers, "result"),
        },
    )
    sklearn_fit = step(
        "sklearn-fit",
        SKLEARN_FIT,
        lambda: {
            "target": "species",
            "parameters": {"n_estimators": 50},
            "seed": param("seed"),
            "data": out(train_test_split, "train"),
        },
    )
    xgboost_train = step(
        "xgboost-train",
        XGBOOST_TRAIN,
        lambda: {
            "target": "species",
            "rounds": 30,
            "parameters": {"max_depth": 3},
            "seed": param("seed"),
            "data": out(train_test_split, "train"),
        },
    )
    lightgbm_train = step(
        "lightgbm-train",
        LIGHTGBM_TRAIN,
        lambda: {
            "target": "species",
            "rounds": 30,
            "parameters": {"min_child_samples": 5},
            "seed": param("seed"),
            "data": out(train_test_split, "train"),
        },
    )
    judge_forest = step(
        "judge-forest",
        EVALUATE,
        lambda: {
            "model": out(sklearn_fit, "model"),
            "data": out(train_test_split, "test"),
        },
    )
    judge_xgboost = step(
        "judge-xgboost",
        EVALUATE_2,
        lambda: {
            "model": out(xgboost_train, "model"),
            "data": out(train_test_split, "test"),
        },
    )
    judge_lightgbm = step(
        "judge-lightgbm",
        EVALUATE_3,
        lambda: {
            "model": out(lightgbm_train, "model"),
            "data": out(train_test_split, "test"),
        },
    )
    compare = step(
        "compare",
        COMPARE,
        lambda: {
            "names": ["forest", "xgboost", "lightgbm"],
            "scores": [
                out(judge_forest, "scores")["accuracy"],
                out(judge_xgboost, "scores")["accuracy"],
                out(judge_lightgbm, "scores")["accuracy"],
            ],
        },
    )
    flowers >> train_test_split
    train_test_split >> [sklearn_fit, xgboost_train, lightgbm_train]
    [sklearn_fit, train_test_split] >> judge_forest
    [xgboost_train, train_test_split] >> judge_xgboost
    [lightgbm_train, train_test_split] >> judge_lightgbm
    [judge_forest, judge_xgboost, judge_lightgbm] >> compare
    result_of_run(
        [compare],
        lambda: {
            "best": out(compare, "best"),
            "score": out(compare, "score"),
            "ranking": out(compare, "ranking"),
            "report": out(compare, "report"),
        },
    )


FLOWERS = {
    "image": "python:3.11",
    "name": "flowers",
    "source": '''
# examples/boosting.py, line 7
from pathlib import Path

# examples/boosting.py, line 14
def flowers() -> Path:
    """Measures of 150 irises, as CSV."""
    from sklearn.datasets import load_iris

    data = load_iris(as_frame=True)
    table = data.frame.assign(species=[data.target_names[each] for each in data.target]).drop(columns="target")
    table.to_csv("flowers.csv", index=False)
    return Path("flowers.csv")
''',
    "gives": {"result": False},
    "env": {"COULER_INSTALL": "1"},
}
TRAIN_TEST_SPLIT = {
    "image": "python:3.11",
    "name": "train_test_split",
    "source": '''
# couler_py/steps/tabular/tables.py, line 5
from pathlib import Path

# couler_py/steps/tabular/tables.py, line 6
from typing import Any

# couler_py/steps/tabular/splitting.py, line 6
from typing import NamedTuple

# couler_py/steps/tabular/tables.py, line 13
def read_table(path: Path) -> Any:
    """A table as a data frame. Raises `ValueError`, naming the file, for what is no table."""
    import pandas

    with path.open("rb") as file:
        start = file.read(4)
    try:
        if start == b"PAR1":
            table = pandas.read_parquet(path)
        elif start.startswith(b"{"):
            table = pandas.read_json(path, lines=True)
        else:
            table = pandas.read_csv(path)
    except ValueError as problem:  # what pandas raises for files that it can't read is one
        raise ValueError(f"{path.name} is no table of CSV, JSON lines or Parquet: {problem}") from problem
    if table.empty:
        raise ValueError(f"{path.name} has no rows")
    return table

# couler_py/steps/tabular/tables.py, line 33
def demand(table: Any, names: list[str], path: Path) -> None:
    """Raises `ValueError`, naming file and column, where a table lacks one."""
    for name in names:
        if name not in table.columns:
            known = ", ".join(map(str, table.columns))
            raise ValueError(f"{path.name} has no column {name!r}; its columns are {known}")

# couler_py/steps/tabular/splitting.py, line 12
class Split(NamedTuple):
    """Two tables of the same columns, as CSV, and how many rows each has."""

    train: Path
    test: Path
    train_rows: int
    test_rows: int

# couler_py/steps/tabular/splitting.py, line 22
def train_test_split(data: Path, test_size: float = 0.25, seed: int = 0, stratify: str = "") -> Split:
    """Split the rows of a table in two, the same way each time; with `stratify`, each value of that column alike.

    Raises `ValueError` for what is no table, a column that isn't there, and shares that leave a part empty.

    >>> parts = train_test_split(data, test_size=0.2, stratify="species")  # doctest: +SKIP
    """
    from sklearn.model_selection import train_test_split as split

    table = read_table(data)
    if stratify:
        demand(table, [stratify], data)
    by = table[stratify] if stratify else None
    train, test = split(table, test_size=test_size, random_state=seed, stratify=by)
    found = Split(Path("train.csv"), Path("test.csv"), len(train), len(test))
    train.to_csv(found.train, index=False)
    test.to_csv(found.test, index=False)
    return found
''',
    "outputs": {"train_rows": int, "test_rows": int},
    "gives": {"train": False, "test": False},
    "files": ["data"],
    "defaults": {"test_size": 0.25, "seed": 0, "stratify": ""},
    "env": {"COULER_INSTALL": "1"},
}
SKLEARN_FIT = {
    "image": "python:3.11",
    "name": "sklearn-fit",
    "source": '''
# couler_py/steps/tabular/tables.py, line 5
from pathlib import Path

# couler_py/steps/tabular/tables.py, line 6
from typing import Any

# couler_py/steps/tabular/pipelines.py, line 10
from typing import Literal

# couler_py/steps/tabular/pipelines.py, line 12
from couler_py import log_metric

# couler_py/steps/tabular/pipelines.py, line 10
from typing import NamedTuple

# couler_py/steps/tabular/tables.py, line 13
def read_table(path: Path) -> Any:
    """A table as a data frame. Raises `ValueError`, naming the file, for what is no table."""
    import pandas

    with path.open("rb") as file:
        start = file.read(4)
    try:
        if start == b"PAR1":
            table = pandas.read_parquet(path)
        elif start.startswith(b"{"):
            table = pandas.read_json(path, lines=True)
        else:
            table = pandas.read_csv(path)
    except ValueError as problem:  # what pandas raises for files that it can't read is one
        raise ValueError(f"{path.name} is no table of CSV, JSON lines or Parquet: {problem}") from problem
    if table.empty:
        raise ValueError(f"{path.name} has no rows")
    return table

# couler_py/steps/tabular/tables.py, line 33
def demand(table: Any, names: list[str], path: Path) -> None:
    """Raises `ValueError`, naming file and column, where a table lacks one."""
    for name in names:
        if name not in table.columns:
            known = ", ".join(map(str, table.columns))
            raise ValueError(f"{path.name} has no column {name!r}; its columns are {known}")

# couler_py/steps/tabular/tables.py, line 41
def answers(table: Any, target: str, path: Path) -> Any:
    """The column that is to be learned. Raises `ValueError`, naming a row, where a value is missing."""
    demand(table, [target], path)
    missing = table[target].isna().to_numpy().nonzero()[0]
    if len(missing):
        raise ValueError(f"column {target!r} of {path.name} has no value in row {int(missing[0]) + 1}")
    return table[target]

# couler_py/steps/tabular/pipelines.py, line 17
Task = Literal["classification", "regression"]

# couler_py/steps/tabular/pipelines.py, line 44
def samples(
    data: Path, target: str, task: Task, features: list[str] | None
) -> tuple[Any, Any, list[str], list[str] | None]:
    """The columns to learn from, what is to be learned (classes as numbers), names of the columns and of classes."""
    from sklearn.preprocessing import LabelEncoder

    table = read_table(data)
    y = answers(table, target, data)
    names = features or [name for name in table.columns if name != target]
    demand(table, names, data)
    if task == "classification":
        encoder = LabelEncoder()
        y = encoder.fit_transform(y)
        return table[names], y, names, [str(each) for each in encoder.classes_]
    if y.dtype.kind not in "biuf":
        raise ValueError(f"column {target!r} of {data.name} holds no numbers, which a regression needs")
    return table[names], y.to_numpy(), names, None

# couler_py/steps/tabular/pipelines.py, line 28
def prepared(table: Any, model: Any) -> Any:
    """A pipeline that makes numbers of the table's columns for a model: words one column each, gaps filled."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    numbers = list(table.select_dtypes(["number", "bool"]).columns)
    words = [name for name in table.columns if name not in numbers]
    encoded = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore"))
    columns = ColumnTransformer(
        [("numbers", SimpleImputer(), numbers), ("words", encoded, words)], sparse_threshold=0.0
    )
    return make_pipeline(columns, model)

# couler_py/steps/tabular/pipelines.py, line 63
def kept(pipeline: Any, library: str, score: float, **about: Any) -> Path:
    """A pipeline as the folder of a model."""
    import json
    from importlib import metadata

    import joblib

    log_metric("score", score)
    folder = Path("model")
    folder.mkdir()
    joblib.dump(pipeline, folder / "model.joblib")
    versions = {name: metadata.version(name) for name in ("scikit-learn", "pandas", library)}
    about = {"library": library, "versions": versions, **about, "score": score}
    (folder / "about.json").write_text(json.dumps(about, indent=2), encoding="utf-8")
    return folder

# couler_py/steps/tabular/pipelines.py, line 20
class Fitted(NamedTuple):
    """A model's folder, its score on rows that were held out (accuracy or R²), and the columns that it reads."""

    model: Path
    score: float
    features: list[str]

# couler_py/steps/tabular/pipelines.py, line 80
def fitted(
    model: Any, library: str, data: Path, target: str, task: Task, features: list[str] | None, holdout: float, seed: int
) -> Fitted:
    """Fit on all but a part of the rows for the score, then on all for the model."""
    from sklearn.base import clone
    from sklearn.model_selection import train_test_split

    x, y, names, classes = samples(data, target, task, features)
    settings = model.get_params()
    if "random_state" in settings and settings["random_state"] is None:
        model.set_params(random_state=seed)
    pipeline = prepared(x, model)
    parts = train_test_split(x, y, test_size=holdout, random_state=seed)
    score = float(clone(pipeline).fit(parts[0], parts[2]).score(parts[1], parts[3]))
    folder = kept(pipeline.fit(x, y), library, score, task=task, target=target, features=names, classes=classes)
    return Fitted(folder, score, names)

# couler_py/steps/tabular/fitting.py, line 14
def sklearn_fit(
    data: Path,
    target: str,
    estimator: str = "sklearn.ensemble.RandomForestClassifier",
    parameters: dict[str, Any] | None = None,
    features: list[str] | None = None,
    holdout: float = 0.2,
    seed: int = 0,
) -> Fitted:
    """Fit any classifier or regressor of scikit-learn, by its full name, to the column `target` of a table.

    Raises `ValueError` for an estimator or a column that there isn't, and `TypeError` for a parameter that the
    estimator doesn't have.

    >>> model = sklearn.fit(data, "species", parameters={"n_estimators": 50})  # doctest: +SKIP
    """
    import importlib

    from sklearn.base import is_classifier, is_regressor

    module, _, name = estimator.rpartition(".")
    if module.partition(".")[0] != "sklearn":
        raise ValueError(f"the estimator {estimator!r} is none of scikit-learn's, as sklearn.svm.SVC")
    try:
        make = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as problem:
        raise ValueError(f"scikit-learn has no estimator {estimator!r}") from problem
    model = make(**(parameters or {}))
    if not (is_classifier(model) or is_regressor(model)):
        raise ValueError(f"{estimator} neither classifies nor regresses")
    task: Task = "classification" if is_classifier(model) else "regression"
    return fitted(model, "scikit-learn", data, target, task, features, holdout, seed)
''',
    "outputs": {"score": float, "features": list},
    "gives": {"model": False},
    "files": ["data"],
    "defaults": {
        "estimator": "sklearn.ensemble.RandomForestClassifier",
        "parameters": None,
        "features": None,
        "holdout": 0.2,
        "seed": 0,
    },
    "env": {"COULER_INSTALL": "1"},
}
XGBOOST_TRAIN = {
    "image": "python:3.11",
    "name": "xgboost-train",
    "source": '''
# couler_py/steps/tabular/tables.py, line 5
from pathlib import Path

# couler_py/steps/tabular/tables.py, line 6
from typing import Any

# couler_py/steps/tabular/pipelines.py, line 10
from typing import Literal

# couler_py/steps/tabular/pipelines.py, line 12
from couler_py import log_metric

# couler_py/steps/tabular/pipelines.py, line 10
from typing import NamedTuple

# couler_py/steps/tabular/tables.py, line 13
def read_table(path: Path) -> Any:
    """A table as a data frame. Raises `ValueError`, naming the file, for what is no table."""
    import pandas

    with path.open("rb") as file:
        start = file.read(4)
    try:
        if start == b"PAR1":
            table = pandas.read_parquet(path)
        elif start.startswith(b"{"):
            table = pandas.read_json(path, lines=True)
        else:
            table = pandas.read_csv(path)
    except ValueError as problem:  # what pandas raises for files that it can't read is one
        raise ValueError(f"{path.name} is no table of CSV, JSON lines or Parquet: {problem}") from problem
    if table.empty:
        raise ValueError(f"{path.name} has no rows")
    return table

# couler_py/steps/tabular/tables.py, line 33
def demand(table: Any, names: list[str], path: Path) -> None:
    """Raises `ValueError`, naming file and column, where a table lacks one."""
    for name in names:
        if name not in table.columns:
            known = ", ".join(map(str, table.columns))
            raise ValueError(f"{path.name} has no column {name!r}; its columns are {known}")

# couler_py/steps/tabular/tables.py, line 41
def answers(table: Any, target: str, path: Path) -> Any:
    """The column that is to be learned. Raises `ValueError`, naming a row, where a value is missing."""
    demand(table, [target], path)
    missing = table[target].isna().to_numpy().nonzero()[0]
    if len(missing):
        raise ValueError(f"column {target!r} of {path.name} has no value in row {int(missing[0]) + 1}")
    return table[target]

# couler_py/steps/tabular/pipelines.py, line 17
Task = Literal["classification", "regression"]

# couler_py/steps/tabular/pipelines.py, line 44
def samples(
    data: Path, target: str, task: Task, features: list[str] | None
) -> tuple[Any, Any, list[str], list[str] | None]:
    """The columns to learn from, what is to be learned (classes as numbers), names of the columns and of classes."""
    from sklearn.preprocessing import LabelEncoder

    table = read_table(data)
    y = answers(table, target, data)
    names = features or [name for name in table.columns if name != target]
    demand(table, names, data)
    if task == "classification":
        encoder = LabelEncoder()
        y = encoder.fit_transform(y)
        return table[names], y, names, [str(each) for each in encoder.classes_]
    if y.dtype.kind not in "biuf":
        raise ValueError(f"column {target!r} of {data.name} holds no numbers, which a regression needs")
    return table[names], y.to_numpy(), names, None

# couler_py/steps/tabular/pipelines.py, line 28
def prepared(table: Any, model: Any) -> Any:
    """A pipeline that makes numbers of the table's columns for a model: words one column each, gaps filled."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    numbers = list(table.select_dtypes(["number", "bool"]).columns)
    words = [name for name in table.columns if name not in numbers]
    encoded = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore"))
    columns = ColumnTransformer(
        [("numbers", SimpleImputer(), numbers), ("words", encoded, words)], sparse_threshold=0.0
    )
    return make_pipeline(columns, model)

# couler_py/steps/tabular/pipelines.py, line 63
def kept(pipeline: Any, library: str, score: float, **about: Any) -> Path:
    """A pipeline as the folder of a model."""
    import json
    from importlib import metadata

    import joblib

    log_metric("score", score)
    folder = Path("model")
    folder.mkdir()
    joblib.dump(pipeline, folder / "model.joblib")
    versions = {name: metadata.version(name) for name in ("scikit-learn", "pandas", library)}
    about = {"library": library, "versions": versions, **about, "score": score}
    (folder / "about.json").write_text(json.dumps(about, indent=2), encoding="utf-8")
    return folder

# couler_py/steps/tabular/pipelines.py, line 20
class Fitted(NamedTuple):
    """A model's folder, its score on rows that were held out (accuracy or R²), and the columns that it reads."""

    model: Path
    score: float
    features: list[str]

# couler_py/steps/tabular/pipelines.py, line 80
def fitted(
    model: Any, library: str, data: Path, target: str, task: Task, features: list[str] | None, holdout: float, seed: int
) -> Fitted:
    """Fit on all but a part of the rows for the score, then on all for the model."""
    from sklearn.base import clone
    from sklearn.model_selection import train_test_split

    x, y, names, classes = samples(data, target, task, features)
    settings = model.get_params()
    if "random_state" in settings and settings["random_state"] is None:
        model.set_params(random_state=seed)
    pipeline = prepared(x, model)
    parts = train_test_split(x, y, test_size=holdout, random_state=seed)
    score = float(clone(pipeline).fit(parts[0], parts[2]).score(parts[1], parts[3]))
    folder = kept(pipeline.fit(x, y), library, score, task=task, target=target, features=names, classes=classes)
    return Fitted(folder, score, names)

# couler_py/steps/tabular/fitting.py, line 49
def xgboost_train(
    data: Path,
    target: str,
    task: Task = "classification",
    rounds: int = 100,
    parameters: dict[str, Any] | None = None,
    features: list[str] | None = None,
    holdout: float = 0.2,
    seed: int = 0,
) -> Fitted:
    """Boost trees with XGBoost; `parameters` are those of its `XGBClassifier` or `XGBRegressor`.

    Raises `ValueError` for a column that isn't there, and what XGBoost raises for its parameters.

    >>> model = xgboost.train(data, "price", task="regression", parameters={"max_depth": 4})  # doctest: +SKIP
    """
    import xgboost

    make = xgboost.XGBClassifier if task == "classification" else xgboost.XGBRegressor
    model = make(n_estimators=rounds, **(parameters or {}))
    return fitted(model, "xgboost", data, target, task, features, holdout, seed)
''',
    "outputs": {"score": float, "features": list},
    "gives": {"model": False},
    "files": ["data"],
    "defaults": {
        "task": "classification",
        "rounds": 100,
        "parameters": None,
        "features": None,
        "holdout": 0.2,
        "seed": 0,
    },
    "env": {"COULER_INSTALL": "1"},
}
LIGHTGBM_TRAIN = {
    "image": "python:3.11",
    "name": "lightgbm-train",
    "source": '''
# couler_py/steps/tabular/tables.py, line 5
from pathlib import Path

# couler_py/steps/tabular/tables.py, line 6
from typing import Any

# couler_py/steps/tabular/pipelines.py, line 10
from typing import Literal

# couler_py/steps/tabular/pipelines.py, line 12
from couler_py import log_metric

# couler_py/steps/tabular/pipelines.py, line 10
from typing import NamedTuple

# couler_py/steps/tabular/tables.py, line 13
def read_table(path: Path) -> Any:
    """A table as a data frame. Raises `ValueError`, naming the file, for what is no table."""
    import pandas

    with path.open("rb") as file:
        start = file.read(4)
    try:
        if start == b"PAR1":
            table = pandas.read_parquet(path)
        elif start.startswith(b"{"):
            table = pandas.read_json(path, lines=True)
        else:
            table = pandas.read_csv(path)
    except ValueError as problem:  # what pandas raises for files that it can't read is one
        raise ValueError(f"{path.name} is no table of CSV, JSON lines or Parquet: {problem}") from problem
    if table.empty:
        raise ValueError(f"{path.name} has no rows")
    return table

# couler_py/steps/tabular/tables.py, line 33
def demand(table: Any, names: list[str], path: Path) -> None:
    """Raises `ValueError`, naming file and column, where a table lacks one."""
    for name in names:
        if name not in table.columns:
            known = ", ".join(map(str, table.columns))
            raise ValueError(f"{path.name} has no column {name!r}; its columns are {known}")

# couler_py/steps/tabular/tables.py, line 41
def answers(table: Any, target: str, path: Path) -> Any:
    """The column that is to be learned. Raises `ValueError`, naming a row, where a value is missing."""
    demand(table, [target], path)
    missing = table[target].isna().to_numpy().nonzero()[0]
    if len(missing):
        raise ValueError(f"column {target!r} of {path.name} has no value in row {int(missing[0]) + 1}")
    return table[target]

# couler_py/steps/tabular/pipelines.py, line 17
Task = Literal["classification", "regression"]

# couler_py/steps/tabular/pipelines.py, line 44
def samples(
    data: Path, target: str, task: Task, features: list[str] | None
) -> tuple[Any, Any, list[str], list[str] | None]:
    """The columns to learn from, what is to be learned (classes as numbers), names of the columns and of classes."""
    from sklearn.preprocessing import LabelEncoder

    table = read_table(data)
    y = answers(table, target, data)
    names = features or [name for name in table.columns if name != target]
    demand(table, names, data)
    if task == "classification":
        encoder = LabelEncoder()
        y = encoder.fit_transform(y)
        return table[names], y, names, [str(each) for each in encoder.classes_]
    if y.dtype.kind not in "biuf":
        raise ValueError(f"column {target!r} of {data.name} holds no numbers, which a regression needs")
    return table[names], y.to_numpy(), names, None

# couler_py/steps/tabular/pipelines.py, line 28
def prepared(table: Any, model: Any) -> Any:
    """A pipeline that makes numbers of the table's columns for a model: words one column each, gaps filled."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    numbers = list(table.select_dtypes(["number", "bool"]).columns)
    words = [name for name in table.columns if name not in numbers]
    encoded = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore"))
    columns = ColumnTransformer(
        [("numbers", SimpleImputer(), numbers), ("words", encoded, words)], sparse_threshold=0.0
    )
    return make_pipeline(columns, model)

# couler_py/steps/tabular/pipelines.py, line 63
def kept(pipeline: Any, library: str, score: float, **about: Any) -> Path:
    """A pipeline as the folder of a model."""
    import json
    from importlib import metadata

    import joblib

    log_metric("score", score)
    folder = Path("model")
    folder.mkdir()
    joblib.dump(pipeline, folder / "model.joblib")
    versions = {name: metadata.version(name) for name in ("scikit-learn", "pandas", library)}
    about = {"library": library, "versions": versions, **about, "score": score}
    (folder / "about.json").write_text(json.dumps(about, indent=2), encoding="utf-8")
    return folder

# couler_py/steps/tabular/pipelines.py, line 20
class Fitted(NamedTuple):
    """A model's folder, its score on rows that were held out (accuracy or R²), and the columns that it reads."""

    model: Path
    score: float
    features: list[str]

# couler_py/steps/tabular/pipelines.py, line 80
def fitted(
    model: Any, library: str, data: Path, target: str, task: Task, features: list[str] | None, holdout: float, seed: int
) -> Fitted:
    """Fit on all but a part of the rows for the score, then on all for the model."""
    from sklearn.base import clone
    from sklearn.model_selection import train_test_split

    x, y, names, classes = samples(data, target, task, features)
    settings = model.get_params()
    if "random_state" in settings and settings["random_state"] is None:
        model.set_params(random_state=seed)
    pipeline = prepared(x, model)
    parts = train_test_split(x, y, test_size=holdout, random_state=seed)
    score = float(clone(pipeline).fit(parts[0], parts[2]).score(parts[1], parts[3]))
    folder = kept(pipeline.fit(x, y), library, score, task=task, target=target, features=names, classes=classes)
    return Fitted(folder, score, names)

# couler_py/steps/tabular/fitting.py, line 73
def lightgbm_train(
    data: Path,
    target: str,
    task: Task = "classification",
    rounds: int = 100,
    parameters: dict[str, Any] | None = None,
    features: list[str] | None = None,
    holdout: float = 0.2,
    seed: int = 0,
) -> Fitted:
    """Boost trees with LightGBM; `parameters` are those of its `LGBMClassifier` or `LGBMRegressor`.

    Raises `ValueError` for a column that isn't there, and what LightGBM raises for its parameters.

    >>> model = lightgbm.train(data, "price", task="regression", parameters={"num_leaves": 15})  # doctest: +SKIP
    """
    import lightgbm

    make = lightgbm.LGBMClassifier if task == "classification" else lightgbm.LGBMRegressor
    model = make(n_estimators=rounds, **{"verbose": -1, **(parameters or {})})
    return fitted(model, "lightgbm", data, target, task, features, holdout, seed)
''',
    "outputs": {"score": float, "features": list},
    "gives": {"model": False},
    "files": ["data"],
    "defaults": {
        "task": "classification",
        "rounds": 100,
        "parameters": None,
        "features": None,
        "holdout": 0.2,
        "seed": 0,
    },
    "env": {"COULER_INSTALL": "1"},
}
EVALUATE = {
    "image": "python:3.11",
    "name": "evaluate",
    "source": '''
# couler_py/steps/tabular/tables.py, line 5
from pathlib import Path

# couler_py/steps/tabular/tables.py, line 6
from typing import Any

# couler_py/steps/tabular/judging.py, line 8
from couler_py import log_metric

# couler_py/steps/tabular/judging.py, line 6
from typing import NamedTuple

# couler_py/steps/tabular/tables.py, line 13
def read_table(path: Path) -> Any:
    """A table as a data frame. Raises `ValueError`, naming the file, for what is no table."""
    import pandas

    with path.open("rb") as file:
        start = file.read(4)
    try:
        if start == b"PAR1":
            table = pandas.read_parquet(path)
        elif start.startswith(b"{"):
            table = pandas.read_json(path, lines=True)
        else:
            table = pandas.read_csv(path)
    except ValueError as problem:  # what pandas raises for files that it can't read is one
        raise ValueError(f"{path.name} is no table of CSV, JSON lines or Parquet: {problem}") from problem
    if table.empty:
        raise ValueError(f"{path.name} has no rows")
    return table

# couler_py/steps/tabular/tables.py, line 33
def demand(table: Any, names: list[str], path: Path) -> None:
    """Raises `ValueError`, naming file and column, where a table lacks one."""
    for name in names:
        if name not in table.columns:
            known = ", ".join(map(str, table.columns))
            raise ValueError(f"{path.name} has no column {name!r}; its columns are {known}")

# couler_py/steps/tabular/tables.py, line 41
def answers(table: Any, target: str, path: Path) -> Any:
    """The column that is to be learned. Raises `ValueError`, naming a row, where a value is missing."""
    demand(table, [target], path)
    missing = table[target].isna().to_numpy().nonzero()[0]
    if len(missing):
        raise ValueError(f"column {target!r} of {path.name} has no value in row {int(missing[0]) + 1}")
    return table[target]

# couler_py/steps/tabular/networks.py, line 15
def network(torch: Any, sizes: list[int]) -> Any:
    """Linear layers of these sizes, with ReLU between them."""
    from itertools import pairwise

    layers = [part for pair in pairwise(sizes) for part in (torch.nn.Linear(*pair), torch.nn.ReLU())]
    return torch.nn.Sequential(*layers[:-1])

# couler_py/steps/tabular/judging.py, line 21
def predicted(folder: Path, about: dict[str, Any], rows: Any) -> Any:
    """What a model says of rows: numbers of classes, or numbers. Raises `ValueError` where its library isn't there."""
    import importlib

    import joblib

    try:
        pipeline = joblib.load(folder / "model.joblib")
        if about["library"] != "torch":
            return pipeline.predict(rows)
        torch = importlib.import_module("torch")  # only where the model is PyTorch's
    except ModuleNotFoundError as problem:
        raise ValueError(
            f"the model needs {problem.name}, which isn't there: use the `evaluate` beside the step that fitted it, "
            f'or evaluate.with_options(packages=["scikit-learn", "pandas", "{about["library"]}"])'
        ) from problem
    model = network(torch, about["layers"])
    model.load_state_dict(torch.load(folder / "weights.pt", weights_only=True))
    with torch.no_grad():
        given = model(torch.tensor(pipeline.transform(rows), dtype=torch.float32))
    return given.argmax(dim=1).numpy() if about["classes"] else given[:, 0].numpy() * about["spread"] + about["middle"]

# couler_py/steps/tabular/judging.py, line 13
class Judged(NamedTuple):
    """The scores of a model by name, of how many rows, and all of it as a file of JSON."""

    scores: dict[str, float]
    rows: int
    report: Path

# couler_py/steps/tabular/judging.py, line 45
def evaluate(model: Path, data: Path) -> Judged:
    """Judge a model that a step of this family has fitted, on a table that has its columns and its target.

    Scores are accuracy, balanced accuracy and macro F1 of classes, or R², root mean squared and mean absolute error of
    numbers. The model is unpickled: take models of your own workflows only.

    Raises `ValueError` for a folder that is no such model, and a column or class that the table or model lacks.

    >>> judged = sklearn.evaluate(fitted.model, parts.test)  # doctest: +SKIP
    """
    import json

    import numpy
    from sklearn import metrics

    if not (model / "about.json").is_file():
        raise ValueError(f"{model.name} is no model of these steps: it has no about.json")
    about = json.loads((model / "about.json").read_text(encoding="utf-8"))
    table = read_table(data)
    demand(table, about["features"], data)
    truth = answers(table, about["target"], data)
    found = predicted(model, about, table[about["features"]])
    if about["task"] == "classification":
        found = numpy.array(about["classes"])[found]
        truth = truth.astype(str)
        unknown = sorted(set(truth) - set(about["classes"]))
        if unknown:
            raise ValueError(f"column {about['target']!r} of {data.name} has the class {unknown[0]!r}, which is new")
        scores = {
            "accuracy": metrics.accuracy_score(truth, found),
            "balanced_accuracy": metrics.balanced_accuracy_score(truth, found),
            "f1": metrics.f1_score(truth, found, average="macro"),
        }
    else:
        scores = {
            "r2": metrics.r2_score(truth, found),
            "rmse": float(numpy.sqrt(metrics.mean_squared_error(truth, found))),
            "mae": metrics.mean_absolute_error(truth, found),
        }
    scores = {name: float(score) for name, score in scores.items()}
    for name, score in scores.items():
        log_metric(name, score)
    report = Path("evaluation.json")
    report.write_text(json.dumps({**about, "rows": len(table), "scores": scores}, indent=2), encoding="utf-8")
    return Judged(scores, len(table), report)
''',
    "outputs": {"scores": dict, "rows": int},
    "gives": {"report": False},
    "files": ["model", "data"],
    "env": {"COULER_INSTALL": "1"},
}
EVALUATE_2 = {
    "image": "python:3.11",
    "name": "evaluate-2",
    "source": '''
# couler_py/steps/tabular/tables.py, line 5
from pathlib import Path

# couler_py/steps/tabular/tables.py, line 6
from typing import Any

# couler_py/steps/tabular/judging.py, line 8
from couler_py import log_metric

# couler_py/steps/tabular/judging.py, line 6
from typing import NamedTuple

# couler_py/steps/tabular/tables.py, line 13
def read_table(path: Path) -> Any:
    """A table as a data frame. Raises `ValueError`, naming the file, for what is no table."""
    import pandas

    with path.open("rb") as file:
        start = file.read(4)
    try:
        if start == b"PAR1":
            table = pandas.read_parquet(path)
        elif start.startswith(b"{"):
            table = pandas.read_json(path, lines=True)
        else:
            table = pandas.read_csv(path)
    except ValueError as problem:  # what pandas raises for files that it can't read is one
        raise ValueError(f"{path.name} is no table of CSV, JSON lines or Parquet: {problem}") from problem
    if table.empty:
        raise ValueError(f"{path.name} has no rows")
    return table

# couler_py/steps/tabular/tables.py, line 33
def demand(table: Any, names: list[str], path: Path) -> None:
    """Raises `ValueError`, naming file and column, where a table lacks one."""
    for name in names:
        if name not in table.columns:
            known = ", ".join(map(str, table.columns))
            raise ValueError(f"{path.name} has no column {name!r}; its columns are {known}")

# couler_py/steps/tabular/tables.py, line 41
def answers(table: Any, target: str, path: Path) -> Any:
    """The column that is to be learned. Raises `ValueError`, naming a row, where a value is missing."""
    demand(table, [target], path)
    missing = table[target].isna().to_numpy().nonzero()[0]
    if len(missing):
        raise ValueError(f"column {target!r} of {path.name} has no value in row {int(missing[0]) + 1}")
    return table[target]

# couler_py/steps/tabular/networks.py, line 15
def network(torch: Any, sizes: list[int]) -> Any:
    """Linear layers of these sizes, with ReLU between them."""
    from itertools import pairwise

    layers = [part for pair in pairwise(sizes) for part in (torch.nn.Linear(*pair), torch.nn.ReLU())]
    return torch.nn.Sequential(*layers[:-1])

# couler_py/steps/tabular/judging.py, line 21
def predicted(folder: Path, about: dict[str, Any], rows: Any) -> Any:
    """What a model says of rows: numbers of classes, or numbers. Raises `ValueError` where its library isn't there."""
    import importlib

    import joblib

    try:
        pipeline = joblib.load(folder / "model.joblib")
        if about["library"] != "torch":
            return pipeline.predict(rows)
        torch = importlib.import_module("torch")  # only where the model is PyTorch's
    except ModuleNotFoundError as problem:
        raise ValueError(
            f"the model needs {problem.name}, which isn't there: use the `evaluate` beside the step that fitted it, "
            f'or evaluate.with_options(packages=["scikit-learn", "pandas", "{about["library"]}"])'
        ) from problem
    model = network(torch, about["layers"])
    model.load_state_dict(torch.load(folder / "weights.pt", weights_only=True))
    with torch.no_grad():
        given = model(torch.tensor(pipeline.transform(rows), dtype=torch.float32))
    return given.argmax(dim=1).numpy() if about["classes"] else given[:, 0].numpy() * about["spread"] + about["middle"]

# couler_py/steps/tabular/judging.py, line 13
class Judged(NamedTuple):
    """The scores of a model by name, of how many rows, and all of it as a file of JSON."""

    scores: dict[str, float]
    rows: int
    report: Path

# couler_py/steps/tabular/judging.py, line 45
def evaluate(model: Path, data: Path) -> Judged:
    """Judge a model that a step of this family has fitted, on a table that has its columns and its target.

    Scores are accuracy, balanced accuracy and macro F1 of classes, or R², root mean squared and mean absolute error of
    numbers. The model is unpickled: take models of your own workflows only.

    Raises `ValueError` for a folder that is no such model, and a column or class that the table or model lacks.

    >>> judged = sklearn.evaluate(fitted.model, parts.test)  # doctest: +SKIP
    """
    import json

    import numpy
    from sklearn import metrics

    if not (model / "about.json").is_file():
        raise ValueError(f"{model.name} is no model of these steps: it has no about.json")
    about = json.loads((model / "about.json").read_text(encoding="utf-8"))
    table = read_table(data)
    demand(table, about["features"], data)
    truth = answers(table, about["target"], data)
    found = predicted(model, about, table[about["features"]])
    if about["task"] == "classification":
        found = numpy.array(about["classes"])[found]
        truth = truth.astype(str)
        unknown = sorted(set(truth) - set(about["classes"]))
        if unknown:
            raise ValueError(f"column {about['target']!r} of {data.name} has the class {unknown[0]!r}, which is new")
        scores = {
            "accuracy": metrics.accuracy_score(truth, found),
            "balanced_accuracy": metrics.balanced_accuracy_score(truth, found),
            "f1": metrics.f1_score(truth, found, average="macro"),
        }
    else:
        scores = {
            "r2": metrics.r2_score(truth, found),
            "rmse": float(numpy.sqrt(metrics.mean_squared_error(truth, found))),
            "mae": metrics.mean_absolute_error(truth, found),
        }
    scores = {name: float(score) for name, score in scores.items()}
    for name, score in scores.items():
        log_metric(name, score)
    report = Path("evaluation.json")
    report.write_text(json.dumps({**about, "rows": len(table), "scores": scores}, indent=2), encoding="utf-8")
    return Judged(scores, len(table), report)
''',
    "outputs": {"scores": dict, "rows": int},
    "gives": {"report": False},
    "files": ["model", "data"],
    "env": {"COULER_INSTALL": "1"},
}
EVALUATE_3 = {
    "image": "python:3.11",
    "name": "evaluate-3",
    "source": '''
# couler_py/steps/tabular/tables.py, line 5
from pathlib import Path

# couler_py/steps/tabular/tables.py, line 6
from typing import Any

# couler_py/steps/tabular/judging.py, line 8
from couler_py import log_metric

# couler_py/steps/tabular/judging.py, line 6
from typing import NamedTuple

# couler_py/steps/tabular/tables.py, line 13
def read_table(path: Path) -> Any:
    """A table as a data frame. Raises `ValueError`, naming the file, for what is no table."""
    import pandas

    with path.open("rb") as file:
        start = file.read(4)
    try:
        if start == b"PAR1":
            table = pandas.read_parquet(path)
        elif start.startswith(b"{"):
            table = pandas.read_json(path, lines=True)
        else:
            table = pandas.read_csv(path)
    except ValueError as problem:  # what pandas raises for files that it can't read is one
        raise ValueError(f"{path.name} is no table of CSV, JSON lines or Parquet: {problem}") from problem
    if table.empty:
        raise ValueError(f"{path.name} has no rows")
    return table

# couler_py/steps/tabular/tables.py, line 33
def demand(table: Any, names: list[str], path: Path) -> None:
    """Raises `ValueError`, naming file and column, where a table lacks one."""
    for name in names:
        if name not in table.columns:
            known = ", ".join(map(str, table.columns))
            raise ValueError(f"{path.name} has no column {name!r}; its columns are {known}")

# couler_py/steps/tabular/tables.py, line 41
def answers(table: Any, target: str, path: Path) -> Any:
    """The column that is to be learned. Raises `ValueError`, naming a row, where a value is missing."""
    demand(table, [target], path)
    missing = table[target].isna().to_numpy().nonzero()[0]
    if len(missing):
        raise ValueError(f"column {target!r} of {path.name} has no value in row {int(missing[0]) + 1}")
    return table[target]

# couler_py/steps/tabular/networks.py, line 15
def network(torch: Any, sizes: list[int]) -> Any:
    """Linear layers of these sizes, with ReLU between them."""
    from itertools import pairwise

    layers = [part for pair in pairwise(sizes) for part in (torch.nn.Linear(*pair), torch.nn.ReLU())]
    return torch.nn.Sequential(*layers[:-1])

# couler_py/steps/tabular/judging.py, line 21
def predicted(folder: Path, about: dict[str, Any], rows: Any) -> Any:
    """What a model says of rows: numbers of classes, or numbers. Raises `ValueError` where its library isn't there."""
    import importlib

    import joblib

    try:
        pipeline = joblib.load(folder / "model.joblib")
        if about["library"] != "torch":
            return pipeline.predict(rows)
        torch = importlib.import_module("torch")  # only where the model is PyTorch's
    except ModuleNotFoundError as problem:
        raise ValueError(
            f"the model needs {problem.name}, which isn't there: use the `evaluate` beside the step that fitted it, "
            f'or evaluate.with_options(packages=["scikit-learn", "pandas", "{about["library"]}"])'
        ) from problem
    model = network(torch, about["layers"])
    model.load_state_dict(torch.load(folder / "weights.pt", weights_only=True))
    with torch.no_grad():
        given = model(torch.tensor(pipeline.transform(rows), dtype=torch.float32))
    return given.argmax(dim=1).numpy() if about["classes"] else given[:, 0].numpy() * about["spread"] + about["middle"]

# couler_py/steps/tabular/judging.py, line 13
class Judged(NamedTuple):
    """The scores of a model by name, of how many rows, and all of it as a file of JSON."""

    scores: dict[str, float]
    rows: int
    report: Path

# couler_py/steps/tabular/judging.py, line 45
def evaluate(model: Path, data: Path) -> Judged:
    """Judge a model that a step of this family has fitted, on a table that has its columns and its target.

    Scores are accuracy, balanced accuracy and macro F1 of classes, or R², root mean squared and mean absolute error of
    numbers. The model is unpickled: take models of your own workflows only.

    Raises `ValueError` for a folder that is no such model, and a column or class that the table or model lacks.

    >>> judged = sklearn.evaluate(fitted.model, parts.test)  # doctest: +SKIP
    """
    import json

    import numpy
    from sklearn import metrics

    if not (model / "about.json").is_file():
        raise ValueError(f"{model.name} is no model of these steps: it has no about.json")
    about = json.loads((model / "about.json").read_text(encoding="utf-8"))
    table = read_table(data)
    demand(table, about["features"], data)
    truth = answers(table, about["target"], data)
    found = predicted(model, about, table[about["features"]])
    if about["task"] == "classification":
        found = numpy.array(about["classes"])[found]
        truth = truth.astype(str)
        unknown = sorted(set(truth) - set(about["classes"]))
        if unknown:
            raise ValueError(f"column {about['target']!r} of {data.name} has the class {unknown[0]!r}, which is new")
        scores = {
            "accuracy": metrics.accuracy_score(truth, found),
            "balanced_accuracy": metrics.balanced_accuracy_score(truth, found),
            "f1": metrics.f1_score(truth, found, average="macro"),
        }
    else:
        scores = {
            "r2": metrics.r2_score(truth, found),
            "rmse": float(numpy.sqrt(metrics.mean_squared_error(truth, found))),
            "mae": metrics.mean_absolute_error(truth, found),
        }
    scores = {name: float(score) for name, score in scores.items()}
    for name, score in scores.items():
        log_metric(name, score)
    report = Path("evaluation.json")
    report.write_text(json.dumps({**about, "rows": len(table), "scores": scores}, indent=2), encoding="utf-8")
    return Judged(scores, len(table), report)
''',
    "outputs": {"scores": dict, "rows": int},
    "gives": {"report": False},
    "files": ["model", "data"],
    "env": {"COULER_INSTALL": "1"},
}
COMPARE = {
    "image": "python:3.11",
    "name": "compare",
    "source": r'''
# couler_py/steps/choosing.py, line 6
from typing import Literal

# couler_py/steps/choosing.py, line 5
from pathlib import Path

# couler_py/steps/choosing.py, line 8
from couler_py import log_metric

# couler_py/steps/choosing.py, line 6
from typing import NamedTuple

# couler_py/steps/choosing.py, line 10
Goal = Literal["maximize", "minimize"]

# couler_py/steps/choosing.py, line 30
def places(names: list[str], scores: list[float], goal: Goal) -> list[int]:
    """The places of the scores, best first; of equal ones, the first given. Scores that are no numbers come last."""
    import math

    if len(names) != len(scores):
        raise ValueError(f"there are {len(names)} names and {len(scores)} scores")
    if not any(math.isfinite(score) for score in scores):
        raise ValueError(f"no score is a number: {', '.join(names) or 'there are none'}")
    sign = -1 if goal == "maximize" else 1
    return sorted(range(len(scores)), key=lambda i: sign * scores[i] if math.isfinite(scores[i]) else math.inf)

# couler_py/steps/choosing.py, line 13
class Ranking(NamedTuple):
    """The best name and its score, all names from best to worst, and a table of them in Markdown."""

    best: str
    score: float
    ranking: list[str]
    report: Path

# couler_py/steps/choosing.py, line 43
def compare(names: list[str], scores: list[float], goal: Goal = "maximize") -> Ranking:
    """Rank names by their scores.

    Raises `ValueError` where there are more of one than of the other, or no score is a number.

    >>> compare(["a", "b"], [0.7, 0.9]).ranking  # doctest: +SKIP
    ['b', 'a']
    """
    order = places(names, scores, goal)
    rows = [f"| {rank} | {names[i].replace('|', chr(92) + '|')} | {scores[i]:g} |" for rank, i in enumerate(order, 1)]
    report = Path("comparison.md")
    report.write_text("\n".join(["| rank | name | score |", "|---|---|---|", *rows, ""]), encoding="utf-8")
    log_metric("score", scores[order[0]])
    return Ranking(names[order[0]], scores[order[0]], [names[i] for i in order], report)
''',
    "outputs": {"best": str, "score": float, "ranking": list},
    "gives": {"report": False},
    "defaults": {"goal": "maximize"},
}

# ruff: noqa: E402
# What follows is couler-py's, and in every file the same: how steps get their inputs and
# leave their outputs. The last line makes the DAG.

import base64
import json
import shlex
from functools import partial
from hashlib import sha256
from time import time
from typing import Any, NamedTuple
from urllib.parse import quote
from uuid import uuid4

from airflow.providers.cncf.kubernetes.operators.pod import KubernetesPodOperator
from airflow.providers.standard.operators.python import PythonOperator
from airflow.sdk import TriggerRule, get_current_context
from airflow.sdk.exceptions import (
    AirflowException,
    AirflowFailException,
    AirflowSkipException,
)
from fsspec.core import url_to_fs


def result_of_run(before, outputs=dict, **options):
    """The last task of the DAG: its XCom are the outputs of the run."""
    made = PythonOperator(
        task_id="result",
        python_callable=lambda: kept(evaluated(outputs)),
        trigger_rule=TriggerRule.NONE_FAILED,
        **options,
    )
    before >> made
    return made


XCOM_LIMIT = 48 * 1024


class Absent(LookupError):
    """A value that is not there: the task that makes it did not succeed."""


def proceed(when):
    """Skip the task unless its condition holds."""
    if when is not None and not evaluated(when):
        raise AirflowSkipException("its condition is false")


def evaluated(read, *given):
    """What an expression gives. One without a value fails the task for good."""
    try:
        return read(*given) if callable(read) else read
    except AirflowSkipException:
        raise
    except Exception as error:
        message = f"an input or a condition has no value: {error!r}"
        raise AirflowFailException(message) from error


def param(name):
    """A parameter of the run."""
    return get_current_context()["params"][name]


def xcom(task):
    """All that a task gave, for the same item; None if it did not succeed."""
    ti = get_current_context()["ti"]
    mapped = task.get_closest_mapped_task_group() is not None
    index = ti.map_index if mapped else -1
    return loaded(ti.xcom_pull(task_ids=task.task_id, map_indexes=index))


def out(task, name):
    """One output of a task. Raises `Absent` where the task did not succeed."""
    found = xcom(task)
    if found is None or name not in found:
        raise Absent(f"{task.task_id} gave no {name}")
    return found[name]


def fact(name):
    """A fact about the run."""
    context = get_current_context()
    run, ti = context["dag_run"], context["ti"]
    facts = {
        "id": run.run_id,
        "name": ti.dag_id,
        "namespace": "",
        "scheduled_time": (run.logical_date or run.run_after).isoformat(),
        "start": run.start_date.isoformat(),
        "attempt": ti.try_number - 1,
        "duration": (datetime.now(UTC) - run.start_date).total_seconds(),
    }
    return facts[name]


def kept(value):
    """A value for XCom: a large one, or one that Airflow would change, as a file."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    reserved = ('"__classname__"', '"__type"', '"__var"', '"__id__"')
    plain = text.encode("utf-8", "replace").decode() == text
    if (
        plain
        and len(text.encode()) <= XCOM_LIMIT
        and not any(map(text.count, reserved))
    ):
        return value
    return {"@file": write_file("xcom.json", json.dumps(value).encode())}


def loaded(found):
    """What `kept` kept."""
    if isinstance(found, dict) and "@file" in found:
        return json.loads(read_file(found["@file"]))
    return found


STORE = "/files"


class StepFailed(AirflowException):
    """A step that ended with an exit code other than 0."""

    def __init__(self, message, exit_code=None, seconds=0.0):
        super().__init__(message)
        self.exit_code, self.seconds = exit_code, seconds


class Work(NamedTuple):
    """What an operator does: the step, how its inputs are read, when it goes on."""

    template: dict
    inputs: Any = dict
    when: Any = None
    again: Any = None
    turns: Any = None
    batch: bool = False


def run_attempt(run, given, again, turns):
    """One attempt; `again` says of a failure whether another one is worth it."""
    try:
        return run(given) if turns is None else turns(run, given)
    except StepFailed as error:
        if again is not None and not evaluated(again, error):
            raise AirflowFailException(str(error)) from error
        raise


def run_batch(run, items, attempts):
    """Several items in one task, each with its own attempts; None for failed ones."""
    found = []
    for item in items:
        made = None
        for number in range(attempts):
            try:
                made = run(item)
                break
            except AirflowException as error:
                print(f"item {len(found)}, attempt {number}: {error}")
        found.append(made)
    return kept({"@items": found})


def value_of(name, form, written, marked):
    """An output as it was written: text as it is, everything else as JSON.

    Python steps mark texts that could be taken for something else.
    """
    if marked and written.startswith("couler:json:"):
        return json.loads(written.removeprefix("couler:json:"))
    if not marked:
        written = written.removesuffix("\n")
    if form is str:
        return written
    try:
        value = json.loads(written)
    except ValueError as error:
        if form is object:
            return written
        raise StepFailed(f"the output {name} is not JSON: {error}") from error
    fitting = (int, float) if form is float else (form,)
    if not marked and form is not object and type(value) not in fitting:
        raise StepFailed(f"the output {name} is not {form.__name__}: {written[:60]}")
    return value


def program_of(template):
    """The program of a Python step: a line that calls the runner, and the function."""
    spec = json.dumps(SPECS[template["name"]])
    start = "exec(__import__('os').environ.pop('COULER_RUNNER'))"
    return f"SPEC = __import__('json').loads({spec!r}); {start}\n{template['source']}"


def encoded(value):
    """An input as the runner reads it."""
    try:
        data = json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        data = json.dumps(value).encode()
    return base64.b64encode(b"couler:json:" + data).decode()


def variable_of(name):
    """The environment variable with an input of a Python function."""
    return "COULER_INPUT_" + (name if name.isascii() else "0" + name.encode().hex())


def address_of(name):
    """Where a file of this task is kept."""
    ti = get_current_context()["ti"]
    attempt = f"{ti.map_index}-{ti.try_number}"
    parts = (ti.dag_id, ti.run_id, ti.task_id, attempt, name)
    return "/".join((STORE, *(quote(each, safe="") for each in parts)))


def place_of(template, name, given):
    """Where an output file goes: its place in a named store, else one of its own."""
    named = evaluated(template.get("to", {}), given)
    return named[name] if name in named else address_of(name)


def store_of(place):
    """The store that a place is in, and its path there."""
    if isinstance(place, dict):
        return url_to_fs(place["@uri"], **place.get("@options", {}))
    return url_to_fs(place)


def is_folder(place):
    """Whether a place is several: the files of a fan-out by the number of their item."""
    return isinstance(place, dict) and "@uri" not in place


def all_inputs(template, given):
    """The inputs of a step with what it says itself: defaults, and files in named stores."""
    found = template.get("defaults", {}) | given
    return evaluated(template.get("from", {}), found) | found


def write_file(name, data):
    """Keep some bytes; gives where."""
    place = address_of(name)
    store, path = url_to_fs(place)
    store.makedirs(store._parent(path), exist_ok=True)
    store.pipe_file(path, data)
    return place


def read_file(place):
    """Bytes that were kept."""
    store, path = url_to_fs(place)
    return store.cat_file(path)


def run_cached(template, given, run):
    """The outputs of an earlier success with the same program and inputs, or new.

    A key of the step's own stands for its inputs; what it reads of the run counts too.
    """
    cache = template["cache"]
    read = {name: param(name) for name in cache.get("parameters", ())}
    if "key" in cache:
        contents = evaluated(cache["key"], given)
    else:
        contents = {
            name: digest_of(value) if name in template.get("files", ()) else value
            for name, value in given.items()
        }
    identity = [cache["program"], cache["version"], read, contents]
    key = sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()
    record = f"{STORE}/cache/{key}.json"
    found = read_record(template, record)
    if found is None:
        found = run(given)
        write_record(record, found)
    return found


def read_record(template, place):
    """The outputs in a record; None without one that is whole, young, and has its files."""
    try:
        record = json.loads(read_file(place))
    except (FileNotFoundError, ValueError):
        return None
    found, most = record["outputs"], template["cache"]["seconds"]
    if most is not None and time() - record["time"] >= most:
        return None
    files = [found[name] for name in template.get("gives", ())]
    return found if all(is_kept(each) for each in files if each is not None) else None


def write_record(place, outputs):
    """Keep outputs as a record, which gets its name when it is whole."""
    store, path = url_to_fs(place)
    store.makedirs(store._parent(path), exist_ok=True)
    part = f"{path}.{uuid4().hex}.part"
    store.pipe_file(part, json.dumps({"time": time(), "outputs": outputs}).encode())
    store.mv(part, path)


def is_kept(place):
    """Whether a file or folder is still where it was kept."""
    store, path = store_of(place)
    return store.exists(path)


def digest_of(place):
    """A digest of what is in a kept file or folder."""
    if place is None:
        return None
    if is_folder(place):
        return {name: digest_of(each) for name, each in place.items()}
    store, path = store_of(place)
    return {
        each[len(path) :]: sha256(store.cat_file(each)).hexdigest()
        for each in sorted(store.find(path))
    }


class Files(NamedTuple):
    """Where a container finds its files and leaves its own, and a mark that all are there.

    `result` is where it writes its outputs.
    """

    brought: dict
    left: dict
    ready: str = ""
    result: str = ""


def run_facts():
    """What every step is told of its run."""
    facts = ("id", "name", "namespace", "scheduled_time", "start", "attempt")
    return {f"COULER_RUN_{name.upper()}": str(fact(name)) for name in facts}


def program_in_container(template, given, files):
    """The words, and the environment, with which a container is started."""
    env = run_facts() | evaluated(template.get("env", {}), given)
    if "source" in template:
        env |= python_environment(template, given, files)
        return [*template.get("python", ["python"]), "-c", PYTHON_STEP], env
    if "script" in template:
        env["COULER_SCRIPT"] = evaluated(template["script"], given)
    return command_of(template, given, files), env


def python_environment(template, given, files):
    """What the runner of a Python function finds in its environment."""
    keep = {
        "values": list(template.get("outputs", ())),
        "brought": files.brought,
        "files": files.left,
        "include": [INCLUDES[each] for each in template.get("include", ())],
        "ready": files.ready,
        "result": files.result,
    }
    values = {
        variable_of(name): encoded(value)
        for name, value in given.items()
        if name not in template.get("files", ())
    }
    return values | {
        "COULER_RUNNER": RUNNER,
        "COULER_STEP": program_of(template),
        "COULER_KEEP": json.dumps(keep),
        "PYTHONUNBUFFERED": "1",
    }


def command_of(template, given, files):
    """The words of a container's command, in a shell that keeps its outputs."""
    words = [*evaluated(template["command"], given)]
    paths = template.get("paths", {})
    before, after = [], []
    if "script" in template:
        words.append("/tmp/couler-script")
        before.append('printf %s "$COULER_SCRIPT" > /tmp/couler-script')
        before.append("chmod 700 /tmp/couler-script; unset COULER_SCRIPT")
    for name in files.brought:
        before += copied(files.brought[name], template["files"][name])
    for name in template.get("outputs", {}):
        path = shlex.quote(paths.get(name, "/tmp/.couler-stdout"))
        read = f"base64 < {path} | tr -d '\\n'"
        after.append(
            f'[ ! -e {path} ] || add {shlex.quote(json.dumps(name))} "$({read})"'
        )
    for name in template.get("gives", ()):
        path, place = shlex.quote(paths[name]), shlex.quote(files.left[name])
        folder = shlex.quote(files.left[name].rpartition("/")[0])
        after.append(
            f"[ ! -e {path} ] || {{ mkdir -p {folder} && cp -r {path} {place} && "
            f"add {shlex.quote(json.dumps(name))} ''; }}"
        )
    if not before and not after:
        return words
    printed = "/tmp/.couler-stdout"
    run = (
        f'"$@" > {printed}; code=$?; cat {printed}'
        if "stdout" in template
        else '"$@"; code=$?'
    )
    if files.ready:
        after.append(f": > {shlex.quote(files.ready)}")
    if files.result:
        after.append(f"printf '%s}}' \"$found\" > {files.result}")
    lines = [
        "found='{'; comma=''",
        """add() { found="$found$comma$1:\\"$2\\""; comma=,; }""",
        f"echo '{{}}' > {files.result}" if files.result else ":",
        *before,
        run,
        "[ $code = 0 ] || exit $code",
        *after,
    ]
    return ["sh", "-c", "\n".join(lines), "sh", *words]


def copied(place, path):
    """The lines of a shell that bring a kept file or folder to a path."""
    if place is None:
        return []
    if isinstance(place, dict):
        made = [f"mkdir -p {shlex.quote(path)}"]
        for name, each in place.items():
            made += copied(each, f"{path}/{name}")
        return made
    folder = shlex.quote(path.rpartition("/")[0] or "/")
    return [f"mkdir -p {folder} && cp -r {shlex.quote(place)} {shlex.quote(path)}"]


def read_outputs(template, given, written):
    """The outputs of a pod, as its program wrote them."""
    found = {}
    for name, form in template.get("outputs", {}).items():
        if name in written:
            text = base64.b64decode(written[name]).decode()
            found[name] = value_of(name, form, text, "source" in template)
        elif name in template.get("otherwise", {}):
            found[name] = template["otherwise"][name]
        else:
            raise StepFailed(f"the step left no output {name}")
    for name, optional in template.get("gives", {}).items():
        if name not in written and not optional:
            raise StepFailed(f"the step left no file {name}")
        found[name] = place_of(template, name, given) if name in written else None
    return found


PYTHON_STEP = """\
import base64, json, os, subprocess, sys
folder, found = "/tmp/couler/outputs", {}
keep = json.loads(os.environ.pop("COULER_KEEP"))


def bring(place, path):
    if isinstance(place, dict):
        os.makedirs(path, exist_ok=True)
        for name, each in place.items():
            bring(each, f"{path}/{name}")
    elif place is not None:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        subprocess.check_call(["cp", "-r", place, path])


code, archives = 1, []
try:
    for data in keep["include"]:
        archives.append(f"/tmp/include-{len(archives)}.tar.gz")
        with open(archives[-1], "wb") as file:
            file.write(base64.b85decode(data))
    os.environ["COULER_INCLUDE"] = os.pathsep.join(archives)
    for name, place in keep["brought"].items():
        bring(place, f"/tmp/couler/inputs/{name}")
    with open("/tmp/step.py", "w", encoding="utf-8") as file:
        file.write(os.environ.pop("COULER_STEP"))
    code = subprocess.call([sys.executable, "/tmp/step.py"])
    for name in keep["values"]:
        if code == 0:
            with open(f"{folder}/{name}", "rb") as file:
                found[name] = base64.b64encode(file.read()).decode()
    for name, place in keep["files"].items():
        if code == 0 and os.path.exists(f"{folder}/{name}"):
            os.makedirs(os.path.dirname(place), exist_ok=True)
            subprocess.check_call(["cp", "-r", f"{folder}/{name}", place])
            found[name] = ""
    if code == 0 and keep["ready"]:
        open(keep["ready"], "w").close()
finally:
    if keep["result"]:
        with open(keep["result"], "w") as file:
            json.dump(found, file)
sys.exit(code)
"""

CLAIM = "files"

STORE_SECRET = ""

RUNNER_IMAGE = "couler-runner:0.1.0"

FILES = "/couler"

BRINGING = 3600  # seconds: a pod has not started before its files are there

PLAIN_POD = {"spec": {"containers": [{"name": "base"}]}}


def step(task_id, template, inputs=dict, when=None, again=None, turns=None, **options):
    """A step as a pod of its own. `inputs` are values, or how they are read."""
    pod = Pod(task_id=task_id, **pod_options(template), **options)
    pod.work = Work(template, inputs, when, again, turns)
    return pod


def pod_options(template):
    """What the operator of a step is given."""
    return {
        "image": "" if callable(template["image"]) else template["image"],
        "do_xcom_push": bool(template.get("outputs") or template.get("gives")),
        **template.get("options", {}),
    }


class Pod(KubernetesPodOperator):
    """The operator of a step: it reads the inputs when it starts, and Jinja nothing."""

    template_fields = ()
    work = None

    def __init__(self, *, item=None, **options):
        super().__init__(**options)
        self.item = item

    def execute(self, context):
        proceed(self.work.when)
        if self.work.batch:
            one = partial(self.run_once, context)
            found = run_batch(one, self.item, 1 + self.retries)
        else:
            given = () if self.item is None else (self.item,)
            found = kept(self.run_once(context, *given))
        if not self.do_xcom_push:
            context["ti"].xcom_push(key="return_value", value=found)
        return found

    def run_once(self, context, *item):
        template = self.work.template
        given = all_inputs(template, evaluated(self.work.inputs, *item))
        run = partial(self.run_pod, context)
        if "cache" in template:
            run = partial(run_cached, template, run=run)
        return run_attempt(run, given, self.work.again, self.work.turns)

    def run_pod(self, context, given):
        describe(self, self.work.template, given)
        self.pod = self.pod_request_obj = self.remote_pod = None
        try:
            written = super().execute(context)
        except AirflowException as error:
            code = exit_codes_of(self.remote_pod).get("base")
            raise StepFailed(str(error), code) from error
        return read_outputs(self.work.template, given, written or {})

    def extract_xcom(self, pod, **options):
        found = super().extract_xcom(pod, **options)
        check_kept(self, pod)
        return found


def describe(operator, template, given):
    """Give the operator the command, the environment and the files of its pod."""
    files = pod_files(template, given)
    words, env = program_in_container(template, given, files)
    operator.image = evaluated(template["image"], given)
    pod = evaluated(template.get("pod", PLAIN_POD), given)
    operator.pod_template_dict = pod = with_files(template, pod, given, files)
    first = [each["name"] for each in pod["spec"].get("initContainers", ())]
    if "couler-bring" in first:
        operator.init_container_logs = ["couler-bring"]
        operator.startup_timeout_seconds = BRINGING
    operator.cmds, operator.arguments = escaped(words[:1]), escaped(words[1:])
    operator.env_vars = {name: escaped(value) for name, value in env.items()}


def escaped(text):
    """A text, or a list of them, in which Kubernetes expands nothing."""
    if isinstance(text, list):
        return [escaped(each) for each in text]
    return text.replace("$", "$$")


def pod_files(template, given):
    """Where a pod finds its files and leaves its own.

    What is on the volume of the claim is used there. The rest is in a folder of the pod,
    which the runner fills and empties.
    """
    names, gives = template.get("files", ()), template.get("gives", ())
    brought = {name: in_pod(given.get(name), f"{FILES}/in/{name}") for name in names}
    places = {name: place_of(template, name, given) for name in gives}
    left = {name: in_pod(places[name], f"{FILES}/out/{name}") for name in gives}
    ready = (
        f"{FILES}/ready" if any(left[name] != places[name] for name in gives) else ""
    )
    result = "/airflow/xcom/return.json" if gives or template.get("outputs") else ""
    return Files(brought, left, ready, result)


def in_pod(place, path):
    """Where a pod has what is kept at a place, in the same form."""
    if is_folder(place):
        return {name: in_pod(each, f"{path}/{name}") for name, each in place.items()}
    return place if place is None or (CLAIM and isinstance(place, str)) else path


def transfers(place, path):
    """What the runner brings or keeps: pairs of a place and a path."""
    if is_folder(place):
        pairs = [transfers(place[name], path[name]) for name in place]
        return [pair for each in pairs for pair in each]
    return [] if place == path else [{"place": place, "path": path}]


def with_files(template, pod, given, files):
    """The pod, with the volumes in which its files are, where it reads or leaves any."""
    if not files.brought and not files.left:
        return pod
    places = {name: place_of(template, name, given) for name in files.left}
    bring = transfers({name: given.get(name) for name in files.brought}, files.brought)
    keep = transfers(places, files.left)
    folder = {"name": "couler-pod", "mountPath": FILES}
    spec = dict(pod["spec"])
    base, *others = spec["containers"]
    mounts, volumes = [], []
    if CLAIM:
        mounts.append({"name": "couler-files", "mountPath": STORE})
        claim = {"persistentVolumeClaim": {"claimName": CLAIM}}
        volumes.append({"name": "couler-files", **claim})
    if bring or keep:
        mounts.append(folder)
        volumes.append({"name": "couler-pod", "emptyDir": {}})
    mounted = base | {"volumeMounts": [*base.get("volumeMounts", []), *mounts]}
    spec["containers"] = [mounted, *others]
    spec["volumes"] = [*spec.get("volumes", []), *volumes]
    if bring:
        before = runner_container("couler-bring", ["bring"], bring, folder)
        spec["initContainers"] = [before, *spec.get("initContainers", [])]
    if keep:
        beside = runner_container("couler-keep", ["keep", files.ready], keep, folder)
        spec["containers"].append(beside)
    return {**pod, "spec": spec}


def runner_container(name, words, moved, mount):
    """A container of the runner image, which moves files between a pod and a store."""
    env = []
    for each in moved:
        secrets = (
            each["place"].get("@secrets", {}) if isinstance(each["place"], dict) else {}
        )
        for option, source in secrets.items():
            each["env"] = each.get("env", {}) | {option: f"COULER_STORE_{len(env)}"}
            secret = {"valueFrom": {"secretKeyRef": source}}
            env.append({"name": f"COULER_STORE_{len(env)}", **secret})
    found = {
        "name": name,
        "image": RUNNER_IMAGE,
        "args": escaped([*words, json.dumps(moved)]),
        "volumeMounts": [mount],
    }
    if env:
        found["env"] = env
    if STORE_SECRET:
        found["envFrom"] = [{"secretRef": {"name": STORE_SECRET}}]
    return found


def check_kept(operator, pod):
    """Wait until the runner has kept the files of a pod whose step succeeded."""
    if all(each.name != "couler-keep" for each in pod.spec.containers):
        return
    manager = operator.pod_manager
    manager.await_container_completion(pod=pod, container_name="base")
    if exit_codes_of(manager.read_pod(pod)).get("base") != 0:
        return
    manager.await_container_completion(pod=pod, container_name="couler-keep")
    if exit_codes_of(manager.read_pod(pod)).get("couler-keep") != 0:
        where = pod.metadata
        said = operator.client.read_namespaced_pod_log(
            where.name, where.namespace, container="couler-keep", tail_lines=10
        )
        raise StepFailed(f"its files could not be kept: {said}")


def exit_codes_of(pod):
    """The exit codes of the containers of a pod that have ended."""
    statuses = (pod.status.container_statuses or []) if pod else []
    ended = [each for each in statuses if each.state.terminated]
    return {each.name: each.state.terminated.exit_code for each in ended}


SPECS = {
    "flowers": {
        "function": "flowers",
        "returns": "one",
        "future": [],
        "packages": ["pandas>=2.1", "scikit-learn>=1.4"],
        "inputs": [],
        "outputs": [{"name": "result", "artifact": True}],
        "decisions": [],
        "pieces": [
            {"file": "examples/boosting.py", "line": 7, "start": 3, "count": 1},
            {"file": "examples/boosting.py", "line": 14, "start": 6, "count": 8},
        ],
    },
    "train_test_split": {
        "function": "train_test_split",
        "returns": "fields",
        "future": ["annotations"],
        "packages": ["pandas>=2.1", "scikit-learn>=1.4"],
        "inputs": [
            {"name": "test_size", "type": {"type": "scalar", "name": "float"}},
            {"name": "seed", "type": {"type": "scalar", "name": "int"}},
            {"name": "stratify", "type": {"type": "scalar", "name": "str"}},
            {"name": "data", "artifact": True},
        ],
        "outputs": [
            {"name": "train_rows", "type": {"type": "scalar", "name": "int"}},
            {"name": "test_rows", "type": {"type": "scalar", "name": "int"}},
            {"name": "train", "artifact": True},
            {"name": "test", "artifact": True},
        ],
        "decisions": [],
        "pieces": [
            {
                "file": "couler_py/steps/tabular/tables.py",
                "line": 5,
                "start": 3,
                "count": 1,
            },
            {
                "file": "couler_py/steps/tabular/tables.py",
                "line": 6,
                "start": 6,
                "count": 1,
            },
            {
                "file": "couler_py/steps/tabular/splitting.py",
                "line": 6,
                "start": 9,
                "count": 1,
            },
            {
                "file": "couler_py/steps/tabular/tables.py",
                "line": 13,
                "start": 12,
                "count": 18,
            },
            {
                "file": "couler_py/steps/tabular/tables.py",
                "line": 33,
                "start": 32,
                "count": 6,
            },
            {
                "file": "couler_py/steps/tabular/splitting.py",
                "line": 12,
                "start": 40,
                "count": 7,
            },
            {
                "file": "couler_py/steps/tabular/splitting.py",
                "line": 22,
                "start": 49,
                "count": 18,
            },
        ],
    },
    "sklearn-fit": {
        "function": "sklearn_fit",
        "returns": "fields",
        "future": ["annotations"],
        "packages": ["pandas>=2.1", "scikit-learn>=1.4"],
        "inputs": [
            {"name": "target", "type": {"type": "scalar", "name": "str"}},
            {"name": "estimator", "type": {"type": "scalar", "name": "str"}},
            {
                "name": "parameters",
                "type": {
                    "type": "union",
                    "options": (
                        {"type": "dict", "value": {"type": "scalar", "name": "any"}},
                        {"type": "scalar", "name": "none"},
                    ),
                },
            },
            {
                "name": "features",
                "type": {
                    "type": "union",
                    "options": (
                        {"type": "list", "item": {"type": "scalar", "name": "str"}},
                        {"type": "scalar", "name": "none"},
                    ),
                },
            },
            {"name": "holdout", "type": {"type": "scalar", "name": "float"}},
            {"name": "seed", "type": {"type": "scalar", "name": "int"}},
            {"name": "data", "artifact": True},
        ],
        "outputs": [
            {"name": "score", "type": {"type": "scalar", "name": "float"}},
            {
                "name": "features",
                "type": {"type": "list", "item": {"type": "scalar", "name": "str"}},
            },
            {"name": "model", "artifact": True},
        ],
        "decisions": [],
        "pieces": [
            {
                "file": "couler_py/steps/tabular/tables.py",
                "line": 5,
                "start": 3,
                "count": 1,
            },
            {
                "file": "couler_py/steps/tabular/tables.py",
                "line": 6,
                "start": 6,
                "count": 1,
            },
            {
                "file": "couler_py/steps/tabular/pipelines.py",
                "line": 10,
                "start": 9,
                "count": 1,
            },
            {
                "file": "couler_py/steps/tabular/pipelines.py",
                "line": 12,
                "start": 12,
                "count": 1,
            },
            {
                "file": "couler_py/steps/tabular/pipelines.py",
                "line": 10,
                "start": 15,
                "count": 1,
            },
            {
                "file": "couler_py/steps/tabular/tables.py",
                "line": 13,
                "start": 18,
                "count": 18,
            },
            {
                "file": "couler_py/steps/tabular/tables.py",
                "line": 33,
                "start": 38,
                "count": 6,
            },
            {
                "file": "couler_py/steps/tabular/tables.py",
                "line": 41,
                "start": 46,
                "count": 7,
            },
            {
                "file": "couler_py/steps/tabular/pipelines.py",
                "line": 17,
                "start": 55,
                "count": 1,
            },
            {
                "file": "couler_py/steps/tabular/pipelines.py",
                "line": 44,
                "start": 58,
                "count": 17,
            },
            {
                "file": "couler_py/steps/tabular/pipelines.py",
                "line": 28,
                "start": 77,
                "count": 14,
            },
            {
                "file": "couler_py/steps/tabular/pipelines.py",
                "line": 63,
                "start": 93,
                "count": 15,
            },
            {
                "file": "couler_py/steps/tabular/pipelines.py",
                "line": 20,
                "start": 110,
                "count": 6,
            },
            {
                "file": "couler_py/steps/tabular/pipelines.py",
                "line": 80,
                "start": 118,
                "count": 16,
            },
            {
                "file": "couler_py/steps/tabular/fitting.py",
                "line": 14,
                "start": 136,
                "count": 32,
            },
        ],
    },
    "xgboost-train": {
        "function": "xgboost_train",
        "returns": "fields",
        "future": ["annotations"],
        "packages": ["pandas>=2.1", "scikit-learn>=1.4", "xgboost>=2.1"],
        "inputs": [
            {"name": "target", "type": {"type": "scalar", "name": "str"}},
            {
                "name": "task",
                "type": {
                    "type": "choice",
                    "values": ("classification", "regression"),
                    "name": "",
                },
            },
            {"name": "rounds", "type": {"type": "scalar", "name": "int"}},
            {
                "name": "parameters",
                "type": {
                    "type": "union",
                    "options": (
                        {"type": "dict", "value": {"type": "scalar", "name": "any"}},
                        {"type": "scalar", "name": "none"},
                    ),
                },
            },
            {
                "name": "features",
                "type": {
                    "type": "union",
                    "options": (
                        {"type": "list", "item": {"type": "scalar", "name": "str"}},
                        {"type": "scalar", "name": "none"},
                    ),
                },
            },
            {"name": "holdout", "type": {"type": "scalar", "name": "float"}},
            {"name": "seed", "type": {"type": "scalar", "name": "int"}},
            {"name": "data", "artifact": True},
        ],
        "outputs": [
            {"name": "score", "type": {"type": "scalar", "name": "float"}},
            {
                "name": "features",
                "type": {"type": "list", "item": {"type": "scalar", "name": "str"}},
            },
            {"name": "model", "artifact": True},
        ],
        "decisions": [],
        "pieces": [
            {
                "file": "couler_py/steps/tabular/tables.py",
                "line": 5,
                "start": 3,
                "count": 1,
            },
            {
                "file": "couler_py/steps/tabular/tables.py",
                "line": 6,
                "start": 6,
                "count": 1,
            },
            {
                "file": "couler_py/steps/tabular/pipelines.py",
                "line": 10,
                "start": 9,
                "count": 1,
            },
            {
                "file": "couler_py/steps/tabular/pipelines.py",
                "line": 12,
                "start": 12,
                "count": 1,
            },
            {
                "file": "couler_py/steps/tabular/pipelines.py",
                "line": 10,
                "start": 15,
                "count": 1,
            },
            {
                "file": "couler_py/steps/tabular/tables.py",
                "line": 13,
                "start": 18,
                "count": 18,
            },
            {
                "file": "couler_py/steps/tabular/tables.py",
                "line": 33,
                "start": 38,
                "count": 6,
            },
            {
                "file": "couler_py/steps/tabular/tables.py",
                "line": 41,
                "start": 46,
                "count": 7,
            },
            {
                "file": "couler_py/steps/tabular/pipelines.py",
                "line": 17,
                "start": 55,
                "count": 1,
            },
            {
                "file": "couler_py/steps/tabular/pipelines.py",
                "line": 44,
                "start": 58,
                "count": 17,
            },
            {
                "file": "couler_py/steps/tabular/pipelines.py",
                "line": 28,
                "start": 77,
                "count": 14,
            },
            {
                "file": "couler_py/steps/tabular/pipelines.py",
                "line": 63,
                "start": 93,
                "count": 15,
            },
            {
                "file": "couler_py/steps/tabular/pipelines.py",
                "line": 20,
                "start": 110,
                "count": 6,
            },
            {
                "file": "couler_py/steps/tabular/pipelines.py",
                "line": 80,
                "start": 118,
                "count": 16,
            },
            {
                "file": "couler_py/steps/tabular/fitting.py",
                "line": 49,
                "start": 136,
                "count": 21,
            },
        ],
    },
    "lightgbm-train": {
        "function": "lightgbm_train",
        "returns": "fields",
        "future": ["annotations"],
        "packages": ["lightgbm>=4.3", "pandas>=2.1", "scikit-learn>=1.4"],
        "inputs": [
            {"name": "target", "type": {"type": "scalar", "name": "str"}},
            {
                "name": "task",
                "type": {
                    "type": "choice",
                    "values": ("classification", "regression"),
                    "name": "",
                },
            },
            {"name": "rounds", "type": {"type": "scalar", "name": "int"}},
            {
                "name": "parameters",
                "type": {
                    "type": "union",
                    "options": (
                        {"type": "dict", "value": {"type": "scalar", "name": "any"}},
                        {"type": "scalar", "name": "none"},
                    ),
                },
            },
            {
                "name": "features",
                "type": {
                    "type": "union",
                    "options": (
                        {"type": "list", "item": {"type": "scalar", "name": "str"}},
                        {"type": "scalar", "name": "none"},
                    ),
                },
            },
            {"name": "holdout", "type": {"type": "scalar", "name": "float"}},
            {"name": "seed", "type": {"type": "scalar", "name": "int"}},
            {"name": "data", "artifact": True},
        ],
        "outputs": [
            {"name": "score", "type": {"type": "scalar", "name": "float"}},
            {
                "name": "features",
                "type": {"type": "list", "item": {"type": "scalar", "name": "str"}},
            },
            {"name": "model", "artifact": True},
        ],
        "decisions": [],
        "pieces": [
            {
                "file": "couler_py/steps/tabular/tables.py",
                "line": 5,
                "start": 3,
                "count": 1,
            },
            {
                "file": "couler_py/steps/tabular/tables.py",
                "line": 6,
                "start": 6,
                "count": 1,
            },
            {
                "file": "couler_py/steps/tabular/pipelines.py",
                "line": 10,
                "start": 9,
                "count": 1,
            },
            {
                "file": "couler_py/steps/tabular/pipelines.py",
                "line": 12,
                "start": 12,
                "count": 1,
            },
            {
                "file": "couler_py/steps/tabular/pipelines.py",
                "line": 10,
                "start": 15,
                "count": 1,
            },
            {
                "file": "couler_py/steps/tabular/tables.py",
                "line": 13,
                "start": 18,
                "count": 18,
            },
            {
                "file": "couler_py/steps/tabular/tables.py",
                "line": 33,
                "start": 38,
                "count": 6,
            },
            {
                "file": "couler_py/steps/tabular/tables.py",
                "line": 41,
                "start": 46,
                "count": 7,
            },
            {
                "file": "couler_py/steps/tabular/pipelines.py",
                "line": 17,
                "start": 55,
                "count": 1,
            },
            {
                "file": "couler_py/steps/tabular/pipelines.py",
                "line": 44,
                "start": 58,
                "count": 17,
            },
            {
                "file": "couler_py/steps/tabular/pipelines.py",
                "line": 28,
                "start": 77,
                "count": 14,
            },
            {
                "file": "couler_py/steps/tabular/pipelines.py",
                "line": 63,
                "start": 93,
                "count": 15,
            },
            {
                "file": "couler_py/steps/tabular/pipelines.py",
                "line": 20,
                "start": 110,
                "count": 6,
            },
            {
                "file": "couler_py/steps/tabular/pipelines.py",
                "line": 80,
                "start": 118,
                "count": 16,
            },
            {
                "file": "couler_py/steps/tabular/fitting.py",
                "line": 73,
                "start": 136,
                "count": 21,
            },
        ],
    },
    "evaluate": {
        "function": "evaluate",
        "returns": "fields",
        "future": ["annotations"],
        "packages": ["pandas>=2.1", "scikit-learn>=1.4"],
        "inputs": [
            {"name": "model", "artifact": True},
            {"name": "data", "artifact": True},
        ],
        "outputs": [
            {
                "name": "scores",
                "type": {"type": "dict", "value": {"type": "scalar", "name": "float"}},
            },
            {"name": "rows", "type": {"type": "scalar", "name": "int"}},
            {"name": "report", "artifact": True},
        ],
        "decisions": [],
        "pieces": [
            {
                "file": "couler_py/steps/tabular/tables.py",
                "line": 5,
                "start": 3,
                "count": 1,
            },
            {
                "file": "couler_py/steps/tabular/tables.py",
                "line": 6,
                "start": 6,
                "count": 1,
            },
            {
                "file": "couler_py/steps/tabular/judging.py",
                "line": 8,
                "start": 9,
                "count": 1,
            },
            {
                "file": "couler_py/steps/tabular/judging.py",
                "line": 6,
                "start": 12,
                "count": 1,
            },
            {
                "file": "couler_py/steps/tabular/tables.py",
                "line": 13,
                "start": 15,
                "count": 18,
            },
            {
                "file": "couler_py/steps/tabular/tables.py",
                "line": 33,
                "start": 35,
                "count": 6,
            },
            {
                "file": "couler_py/steps/tabular/tables.py",
                "line": 41,
                "start": 43,
                "count": 7,
            },
            {
                "file": "couler_py/steps/tabular/networks.py",
                "line": 15,
                "start": 52,
                "count": 6,
            },
            {
                "file": "couler_py/steps/tabular/judging.py",
                "line": 21,
                "start": 60,
                "count": 21,
            },
            {
                "file": "couler_py/steps/tabular/judging.py",
                "line": 13,
                "start": 83,
                "count": 6,
            },
            {
                "file": "couler_py/steps/tabular/judging.py",
                "line": 45,
                "start": 91,
                "count": 45,
            },
        ],
    },
    "evaluate-2": {
        "function": "evaluate",
        "returns": "fields",
        "future": ["annotations"],
        "packages": ["pandas>=2.1", "scikit-learn>=1.4", "xgboost"],
        "inputs": [
            {"name": "model", "artifact": True},
            {"name": "data", "artifact": True},
        ],
        "outputs": [
            {
                "name": "scores",
                "type": {"type": "dict", "value": {"type": "scalar", "name": "float"}},
            },
            {"name": "rows", "type": {"type": "scalar", "name": "int"}},
            {"name": "report", "artifact": True},
        ],
        "decisions": [],
        "pieces": [
            {
                "file": "couler_py/steps/tabular/tables.py",
                "line": 5,
                "start": 3,
                "count": 1,
            },
            {
                "file": "couler_py/steps/tabular/tables.py",
                "line": 6,
                "start": 6,
                "count": 1,
            },
            {
                "file": "couler_py/steps/tabular/judging.py",
                "line": 8,
                "start": 9,
                "count": 1,
            },
            {
                "file": "couler_py/steps/tabular/judging.py",
                "line": 6,
                "start": 12,
                "count": 1,
            },
            {
                "file": "couler_py/steps/tabular/tables.py",
                "line": 13,
                "start": 15,
                "count": 18,
            },
            {
                "file": "couler_py/steps/tabular/tables.py",
                "line": 33,
                "start": 35,
                "count": 6,
            },
            {
                "file": "couler_py/steps/tabular/tables.py",
                "line": 41,
                "start": 43,
                "count": 7,
            },
            {
                "file": "couler_py/steps/tabular/networks.py",
                "line": 15,
                "start": 52,
                "count": 6,
            },
            {
                "file": "couler_py/steps/tabular/judging.py",
                "line": 21,
                "start": 60,
                "count": 21,
            },
            {
                "file": "couler_py/steps/tabular/judging.py",
                "line": 13,
                "start": 83,
                "count": 6,
            },
            {
                "file": "couler_py/steps/tabular/judging.py",
                "line": 45,
                "start": 91,
                "count": 45,
            },
        ],
    },
    "evaluate-3": {
        "function": "evaluate",
        "returns": "fields",
        "future": ["annotations"],
        "packages": ["lightgbm", "pandas>=2.1", "scikit-learn>=1.4"],
        "inputs": [
            {"name": "model", "artifact": True},
            {"name": "data", "artifact": True},
        ],
        "outputs": [
            {
                "name": "scores",
                "type": {"type": "dict", "value": {"type": "scalar", "name": "float"}},
            },
            {"name": "rows", "type": {"type": "scalar", "name": "int"}},
            {"name": "report", "artifact": True},
        ],
        "decisions": [],
        "pieces": [
            {
                "file": "couler_py/steps/tabular/tables.py",
                "line": 5,
                "start": 3,
                "count": 1,
            },
            {
                "file": "couler_py/steps/tabular/tables.py",
                "line": 6,
                "start": 6,
                "count": 1,
            },
            {
                "file": "couler_py/steps/tabular/judging.py",
                "line": 8,
                "start": 9,
                "count": 1,
            },
            {
                "file": "couler_py/steps/tabular/judging.py",
                "line": 6,
                "start": 12,
                "count": 1,
            },
            {
                "file": "couler_py/steps/tabular/tables.py",
                "line": 13,
                "start": 15,
                "count": 18,
            },
            {
                "file": "couler_py/steps/tabular/tables.py",
                "line": 33,
                "start": 35,
                "count": 6,
            },
            {
                "file": "couler_py/steps/tabular/tables.py",
                "line": 41,
                "start": 43,
                "count": 7,
            },
            {
                "file": "couler_py/steps/tabular/networks.py",
                "line": 15,
                "start": 52,
                "count": 6,
            },
            {
                "file": "couler_py/steps/tabular/judging.py",
                "line": 21,
                "start": 60,
                "count": 21,
            },
            {
                "file": "couler_py/steps/tabular/judging.py",
                "line": 13,
                "start": 83,
                "count": 6,
            },
            {
                "file": "couler_py/steps/tabular/judging.py",
                "line": 45,
                "start": 91,
                "count": 45,
            },
        ],
    },
    "compare": {
        "function": "compare",
        "returns": "fields",
        "future": ["annotations"],
        "packages": [],
        "inputs": [
            {
                "name": "names",
                "type": {"type": "list", "item": {"type": "scalar", "name": "str"}},
            },
            {
                "name": "scores",
                "type": {"type": "list", "item": {"type": "scalar", "name": "float"}},
            },
            {
                "name": "goal",
                "type": {
                    "type": "choice",
                    "values": ("maximize", "minimize"),
                    "name": "",
                },
            },
        ],
        "outputs": [
            {"name": "best", "type": {"type": "scalar", "name": "str"}},
            {"name": "score", "type": {"type": "scalar", "name": "float"}},
            {
                "name": "ranking",
                "type": {"type": "list", "item": {"type": "scalar", "name": "str"}},
            },
            {"name": "report", "artifact": True},
        ],
        "decisions": [],
        "pieces": [
            {"file": "couler_py/steps/choosing.py", "line": 6, "start": 3, "count": 1},
            {"file": "couler_py/steps/choosing.py", "line": 5, "start": 6, "count": 1},
            {"file": "couler_py/steps/choosing.py", "line": 8, "start": 9, "count": 1},
            {"file": "couler_py/steps/choosing.py", "line": 6, "start": 12, "count": 1},
            {
                "file": "couler_py/steps/choosing.py",
                "line": 10,
                "start": 15,
                "count": 1,
            },
            {
                "file": "couler_py/steps/choosing.py",
                "line": 30,
                "start": 18,
                "count": 10,
            },
            {
                "file": "couler_py/steps/choosing.py",
                "line": 13,
                "start": 30,
                "count": 7,
            },
            {
                "file": "couler_py/steps/choosing.py",
                "line": 43,
                "start": 39,
                "count": 14,
            },
        ],
    },
}

# Reads the inputs of Python steps, and writes their outputs.
RUNNER = "the runner"

INCLUDES = {}

boosting()
