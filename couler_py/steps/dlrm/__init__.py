"""Recommenders in the way of DLRM (Naumov et al., arXiv 1906.00091): data, embedding tables, models, their training.

`data/` makes training shards of tables in Criteo's format, `sharding/` hands them out to workers that come and go, and
`embeddings/` are tables that ranks share. `trainer.py` makes one step of training, `training.py` all of them, and
`planning/` says what they are given."""

from couler_py.steps.dlrm.data.step import Prepared, generate, prepare
from couler_py.steps.dlrm.planning.allocation import Allocation, Goal, Measured, Prices
from couler_py.steps.dlrm.planning.step import Planned, plan
from couler_py.steps.dlrm.shapes import Shape
from couler_py.steps.dlrm.step import Evaluated, Trained, evaluate, export, train, train_on_nodes
from couler_py.steps.dlrm.task import Emulated, Task

__all__ = [
    "Allocation",
    "Emulated",
    "Evaluated",
    "Goal",
    "Measured",
    "Planned",
    "Prepared",
    "Prices",
    "Shape",
    "Task",
    "Trained",
    "evaluate",
    "export",
    "generate",
    "plan",
    "prepare",
    "train",
    "train_on_nodes",
]
