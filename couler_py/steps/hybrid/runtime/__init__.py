"""Plans carried out by processes: uneven pipelines, groups and micro-batches, and sequences in slices. With torch.

    trainer = Trainer(plan, config, adam=Adam(rate=1e-3))  # on every rank, after dist.init_process_group
    loss = trainer.step(batch).loss                 # the step's whole batch: `Batch`, or tokens (samples, length + 1)
    rates = profile_devices([trainer.timings()], …)
    trainer.switch(other)                           # weights and optimizer move through memory, none restarts
    trainer.save(folder); trainer.load(folder)      # whatever plan it was saved under

All ranks of the process group call each of these together. A rank of a plan is a *seat*: which process sits there may
change when some are lost and others come (`seat=`, `Trainer(None, …)` for one that comes, then `switch` by all).
`Slicing` cuts sequences into slices and stages into chunks (MEPipe), `Timed` waits in place of heavy computation.
"""

from couler_py.steps.hybrid.runtime.batches import Batch
from couler_py.steps.hybrid.runtime.course import Slicing
from couler_py.steps.hybrid.runtime.done import Done
from couler_py.steps.hybrid.runtime.emulated import Timed
from couler_py.steps.hybrid.runtime.moving import Switched
from couler_py.steps.hybrid.runtime.running import run_hetero_pipeline
from couler_py.steps.hybrid.runtime.state import Adam
from couler_py.steps.hybrid.runtime.trainer import Trainer

__all__ = ["Adam", "Batch", "Done", "Slicing", "Switched", "Timed", "Trainer", "run_hetero_pipeline"]
