"""lightgbm: `train`, and `evaluate` with its packages."""

from couler_py.steps.tabular.fitting import lightgbm_train as train
from couler_py.steps.tabular.judging import evaluate as evaluate_table
from couler_py.steps.tabular.tables import TABLES

evaluate = evaluate_table.with_options(packages=[*TABLES, "lightgbm"])

__all__ = ["evaluate", "train"]
