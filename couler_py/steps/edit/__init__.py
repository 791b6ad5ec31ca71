"""EDiT and A-EDiT: replicas that train on their own for a while and then agree, each of them sharded.

Cheng et al., "EDiT: A Local-SGD-Based Efficient Distributed Training Method for Large Language Models" (arXiv
2412.07210). `prepare`, `train` and `evaluate` are steps; `local_sgd.py` is the object for one's own training loop.
Nothing here changes torch."""

from couler_py.steps.edit.settings import Outer, Penalty, Settings, preset
from couler_py.steps.edit.step import Trained, evaluate, prepare, train
from couler_py.steps.edit.task import Inner

__all__ = ["Inner", "Outer", "Penalty", "Settings", "Trained", "evaluate", "prepare", "preset", "train"]
