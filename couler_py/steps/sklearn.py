"""scikit-learn: `fit`, `evaluate`."""

from couler_py.steps.tabular.fitting import sklearn_fit as fit
from couler_py.steps.tabular.judging import evaluate

__all__ = ["evaluate", "fit"]
