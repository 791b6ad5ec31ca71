"""scikit-learn: `fit`, `evaluate`."""

from couler_py.steps.tabular.step import evaluate
from couler_py.steps.tabular.step import sklearn_fit as fit

__all__ = ["evaluate", "fit"]
