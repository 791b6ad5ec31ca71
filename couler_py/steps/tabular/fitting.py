"""Models fitted to tables: any of scikit-learn's, and boosted trees, for `sklearn`, `xgboost` and `lightgbm`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from couler_py import step
from couler_py.steps.tabular.pipelines import Fitted, Task, fitted
from couler_py.steps.tabular.tables import TABLES


@step(name="sklearn-fit", packages=TABLES)
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


@step(name="xgboost-train", packages=[*TABLES, "xgboost>=2.1"])
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


@step(name="lightgbm-train", packages=[*TABLES, "lightgbm>=4.3"])
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
