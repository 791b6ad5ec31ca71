"""Built-in steps, and those of installed packages: `from couler_py.steps import sklearn, notify`.

A step type is added by one file or folder, and from another package by an entry point in the group ``couler.steps``:
its name is what people import from here, its value the module (or the object in it) that they get. Ours are found
first, so no package changes what a workflow of ours means. What a step is made of travels into its pod: nobody has to
install this package there.
"""

from __future__ import annotations

import functools
import importlib
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any

if __name__ != "couler_py.steps":
    raise ImportError(
        f"{__name__!r} is the folder couler_py/steps, seen through a link that is for people; "
        "write `import couler_py.steps`"
    )

if TYPE_CHECKING:
    from couler_py.steps import dlrm as dlrm
    from couler_py.steps import edit as edit
    from couler_py.steps import huggingface as huggingface
    from couler_py.steps import hybrid as hybrid
    from couler_py.steps import katib as katib
    from couler_py.steps import lightgbm as lightgbm
    from couler_py.steps import lora as lora
    from couler_py.steps import mpi as mpi
    from couler_py.steps import pytorch as pytorch
    from couler_py.steps import ray as ray
    from couler_py.steps import sklearn as sklearn
    from couler_py.steps import spark as spark
    from couler_py.steps import tensorflow as tensorflow
    from couler_py.steps import xgboost as xgboost
    from couler_py.steps.choosing import compare as compare
    from couler_py.steps.choosing import select_best as select_best
    from couler_py.steps.stores import copy as copy
    from couler_py.steps.stores import sql as sql
    from couler_py.steps.tabular.judging import evaluate as evaluate
    from couler_py.steps.tabular.splitting import train_test_split as train_test_split
    from couler_py.steps.web import http as http
    from couler_py.steps.web import notify as notify

MODULES = (
    "dlrm",
    "edit",
    "huggingface",
    "hybrid",
    "katib",
    "lightgbm",
    "lora",
    "mpi",
    "pytorch",
    "ray",
    "sklearn",
    "spark",
    "tensorflow",
    "xgboost",
)
STEPS = {
    "choosing": ("compare", "select_best"),
    "stores": ("copy", "sql"),
    "tabular.judging": ("evaluate",),
    "tabular.splitting": ("train_test_split",),
    "web": ("http", "notify"),
}
_HOMES = {name: home for home, names in STEPS.items() for name in names}


@functools.cache
def installed() -> dict[str, EntryPoint]:
    """The steps that other packages bring, by the name that they are imported by."""
    return {entry.name: entry for entry in sorted(entry_points(group="couler.steps"), key=lambda entry: entry.name)}


def __getattr__(name: str) -> Any:
    if name in MODULES:
        return importlib.import_module(f"couler_py.steps.{name}")
    if name in _HOMES:
        return getattr(importlib.import_module(f"couler_py.steps.{_HOMES[name]}"), name)
    if not name.startswith("_") and (entry := installed().get(name)) is not None:
        return entry.load()
    raise AttributeError(f"module 'couler_py.steps' has no attribute {name!r}; it has {', '.join(__dir__())}")


def __dir__() -> list[str]:
    return sorted({*MODULES, *_HOMES, *installed()})
