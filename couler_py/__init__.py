"""Write a workflow once, in Python; run it here, compile it to Argo Workflows, and get the same result.

>>> import couler_py as couler
>>> @couler.step
... def double(x: int) -> int:
...     return 2 * x
>>> @couler.workflow
... def twice(x: int = 5):
...     return double(double(x))
>>> couler.run(twice).outputs
{'result': 20}

Everything a workflow is written with is here; each name is loaded when it is first used, so that importing
this package costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from couler_py.api import Run as Run
    from couler_py.api import RunFailedError as RunFailedError
    from couler_py.api import build as build
    from couler_py.api import check as check
    from couler_py.api import compile as compile  # noqa: A004 - the verb's name
    from couler_py.api import run as run
    from couler_py.api import set_default_submitter as set_default_submitter
    from couler_py.backends.base import Bundle as Bundle
    from couler_py.backends.katib import katib_experiment as katib_experiment
    from couler_py.dsl import *  # noqa: F403
    from couler_py.ir.diagnostics import CoulerError as CoulerError
    from couler_py.ir.diagnostics import Diagnostic as Diagnostic
    from couler_py.ir.diagnostics import DiagnosticError as DiagnosticError
    from couler_py.runner.step import included as included
    from couler_py.runner.step import spill as spill
    from couler_py.runner.step import unspill as unspill

__version__ = "0.1.0"

_HOMES = {
    "api": ("Run", "RunFailedError", "build", "check", "compile", "run", "set_default_submitter"),
    "backends.base": ("Bundle",),
    "backends.katib": ("katib_experiment",),
    "ir.diagnostics": ("CoulerError", "Diagnostic", "DiagnosticError"),
    "runner.step": ("included", "spill", "unspill"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is not None:
        value = getattr(importlib.import_module(f"couler_py.{home}"), name)
    else:
        if name.startswith("_"):
            raise AttributeError(f"module 'couler_py' has no attribute {name!r}")
        dsl = importlib.import_module("couler_py.dsl")
        if name not in dsl.__all__:
            raise AttributeError(f"module 'couler_py' has no attribute {name!r}")
        value = getattr(dsl, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*_HOME, *importlib.import_module("couler_py.dsl").__all__, "__version__"})
