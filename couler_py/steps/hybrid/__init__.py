"""Training on uneven hardware and with little memory: plans that are computed, checked by others, and simulated.

- `plan.py` is what planners emit, and its validator; `rates.py` says how slow ranks are.
- Slow ranks: `grouping.py`, `straggler.py`, with `splitting.py` to share layers and micro-batches. Lost ones:
  `elastic.py`. `placing.py` keeps layers where they are, `migration.py` leads from one plan to another.
- Sequences of many lengths: `schemes.py` says what they cost, `fitting.py` has its constants from measures;
  `proposing.py`, `dispatching.py` and `packing.py` decide.
- Small cards: `slices.py` has schedules of sequences in slices, `filling.py` fills their gaps.
- `timeline.py` plays any schedule.
- `layout.py` says where a plan puts tensors, and `runtime/` trains under plans, on processes; `watching.py` says when
  another plan is worth it. `train` is the step.
- The planners are steps too: `planners.py`, `sequences.py` and `schedules.py`, whose inputs `given.py` checks.

All but the runtime and the step of it is pure.
"""

from couler_py.steps.hybrid.planners import plan_elastic, plan_migration, plan_straggler, profile_devices
from couler_py.steps.hybrid.schedules import plan_slices, simulate_schedule
from couler_py.steps.hybrid.sequences import dispatch_and_pack, fit_cost, propose_strategies
from couler_py.steps.hybrid.step import Trained, train
from couler_py.steps.hybrid.task import Emulated

__all__ = [
    "Emulated",
    "Trained",
    "dispatch_and_pack",
    "fit_cost",
    "plan_elastic",
    "plan_migration",
    "plan_slices",
    "plan_straggler",
    "profile_devices",
    "propose_strategies",
    "simulate_schedule",
    "train",
]
