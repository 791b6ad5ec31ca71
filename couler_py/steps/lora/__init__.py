"""Many LoRA trainings on one base: each learns what it would learn alone, in less time and memory.

Ye et al., "mLoRA" (arXiv 2312.02515). `train_many`, `evaluate` and `export` are steps; `trainer.py` is the object for
one's own program. `jobs.py` is what is asked for, `operator.py` the one operator in which rows of all jobs meet.
"""

from couler_py.steps.lora.config import read as read_queue
from couler_py.steps.lora.inbox import cancel, submit
from couler_py.steps.lora.jobs import Adapter, Data, EarlyStop, Job, Optimizer, Policy, Scaler, Schedule
from couler_py.steps.lora.objectives import CPO, DPO, SFT
from couler_py.steps.lora.step import Tuned, evaluate, export, train_many

__all__ = [
    "CPO",
    "DPO",
    "SFT",
    "Adapter",
    "Data",
    "EarlyStop",
    "Job",
    "Optimizer",
    "Policy",
    "Scaler",
    "Schedule",
    "Tuned",
    "cancel",
    "evaluate",
    "export",
    "read_queue",
    "submit",
    "train_many",
]
