"""xgboost: `train`, and `evaluate` with its packages."""

from couler_py.steps.tabular.step import TABLES
from couler_py.steps.tabular.step import evaluate as evaluate_table
from couler_py.steps.tabular.step import xgboost_train as train

evaluate = evaluate_table.with_options(packages=[*TABLES, "xgboost"])

__all__ = ["evaluate", "train"]
