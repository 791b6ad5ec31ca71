"""Many LoRA trainings on one base: each learns what it would learn alone, and all of them share the base.

Ye et al., "mLoRA" (arXiv 2312.02515). `train_many`, `pipeline`, `evaluate` and `export` are steps; `trainer.py` is the
object for one's own program. `deploy_plan` and `dispatch` plan replicas of the base (LobRA, PVLDB 18(8)). `jobs.py` is
what is asked for, `operator.py` the one operator in which rows of all jobs meet.
"""

from couler_py.steps.lora.config import read as read_queue
from couler_py.steps.lora.inbox import cancel, submit
from couler_py.steps.lora.jobs import Adapter, Data, EarlyStop, Job, Optimizer, Policy, Scaler, Schedule
from couler_py.steps.lora.objectives import CPO, DPO, SFT
from couler_py.steps.lora.piped import Piped, pipeline
from couler_py.steps.lora.planning.asking import Bounds, Measured
from couler_py.steps.lora.planning.costs import Config as Replica
from couler_py.steps.lora.planning.costs import Sample
from couler_py.steps.lora.planning.roofline import A100_40GB, A800_80GB, Device
from couler_py.steps.lora.planning.step import DeployPlan, DispatchPlan, deploy_plan, dispatch
from couler_py.steps.lora.step import Tuned, evaluate, export, train_many

__all__ = [
    "A100_40GB",
    "A800_80GB",
    "CPO",
    "DPO",
    "SFT",
    "Adapter",
    "Bounds",
    "Data",
    "DeployPlan",
    "Device",
    "DispatchPlan",
    "EarlyStop",
    "Job",
    "Measured",
    "Optimizer",
    "Piped",
    "Policy",
    "Replica",
    "Sample",
    "Scaler",
    "Schedule",
    "Tuned",
    "cancel",
    "deploy_plan",
    "dispatch",
    "evaluate",
    "export",
    "pipeline",
    "read_queue",
    "submit",
    "train_many",
]
