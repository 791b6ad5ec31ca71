"""The object for one's own training loop: replicas go their own ways between rounds, and agree while they compute.

mesh = replica_mesh(replicas=2, shards=2)
for layer in model.layers:
    fully_shard(layer, mesh=mesh["shard"])
fully_shard(model, mesh=mesh["shard"])
optimizer = torch.optim.AdamW(model.parameters())

with LocalSGD(model, optimizer, preset("edit", sync_every=64), mesh) as local:
    for batch in batches:  # other ones in each replica
        loss_of(model(batch)).backward()
        optimizer.step()
        optimizer.zero_grad()
    local.finish()
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import torch
from torch.distributed.tensor import DTensor

from couler_py.steps.edit.channel import Channel, Listen
from couler_py.steps.edit.detector import Running, judged
from couler_py.steps.edit.mesh import REPLICAS, SHARDS
from couler_py.steps.edit.outer import Anchored
from couler_py.steps.edit.planning import Plan, Told, plan, read
from couler_py.steps.edit.rounds import Progress, Round, told_of
from couler_py.steps.edit.settings import Settings
from couler_py.steps.edit.timing import Timing
from couler_py.steps.edit.tracing import ROUND, Tracer
from couler_py.steps.edit.units import local, units
from couler_py.steps.edit.warmup import average_gradients

if TYPE_CHECKING:
    from torch import nn
    from torch.distributed import DeviceMesh

    from couler_py.steps.edit.members import Members

Watch = Callable[[Round], None]


class LocalSGD:
    """Keeps replicas together: a context manager around a training loop that is otherwise as it was.

    `model` is what the loop calls; apply `fully_shard` and freeze parameters before. All replicas begin with what the
    first one has. A round begins in the first training forward after the step that makes it due, and each unit agrees
    right before it is needed. `clock` gives seconds for `sync_seconds`; `watch` gets each round, and `listen` each
    collective before it begins, to write it down or to act as a slow network. With `members`, replicas come and go;
    `tracer` notes when what happens in rounds.

    Don't call `set_modules_to_forward_prefetch`: it would gather a unit before it has agreed. Raises `ValueError` for
    a model whose parameters aren't sharded where the mesh has shards.
    """

    def __init__(
        self,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        settings: Settings,
        mesh: DeviceMesh | None = None,
        *,
        parts: Iterable[nn.Module] | None = None,
        clock: Callable[[], float] = time.monotonic,
        watch: Watch | None = None,
        listen: Listen | None = None,
        members: Members | None = None,
        tracer: Tracer | None = None,
    ):
        self.model, self.optimizer, self.settings = model, optimizer, settings
        self.members = members
        replicas = Channel("between", None if mesh is None else mesh[REPLICAS].get_group(), listen)
        if members is not None and replicas.size > 1:
            raise ValueError(f"a mesh of {replicas.size} replicas, and members: each of these is a mesh of one replica")
        self.between = replicas if members is None else members.circle
        self.within = Channel("within", None if mesh is None else mesh[SHARDS].get_group(), listen)
        self.tracer = tracer or Tracer()
        self.between.spoke = self.within.spoke = self.tracer.spoke if tracer else None
        self.units = units(model, parts)
        self.device = self.units[0].shards()[0].device
        self.timing = Timing(settings, clock)
        self.running = {unit.name: Running() for unit in self.units}
        self.anchored: list[Anchored] = []
        self.rounds = 0
        """Rounds so far, counted alike by all replicas."""
        self.agreed_steps = 0
        """Local steps of all replicas together up to the last round, the same on each: what to set learning rates by
        where replicas make different numbers of steps."""
        self.watch = watch
        self._progress: Progress | None = None
        self._handles: list[Any] = []
        self._open = False
        if self.within.size > 1:
            for unit in self.units:
                for name, parameter in unit.parameters.items():
                    if not isinstance(parameter, DTensor):
                        raise ValueError(f"{name} is whole on each of {self.within.size} shards: apply fully_shard")

    def __enter__(self) -> Self:
        self._open = True
        self._handles = average_gradients(self.model, self.between, lambda: self._open and self.timing.synchronous)
        self._handles.append(self.optimizer.register_step_post_hook(self._stepped))
        for number, unit in enumerate(self.units):
            if unit.name:
                self._handles.append(unit.module.register_forward_pre_hook(self._reaching(number), prepend=True))
        self._handles.append(self.model.register_forward_pre_hook(self._begin, prepend=True))
        self._handles.append(self.model.register_forward_hook(self._end))
        if self.members is not None:
            self.members.arrive(self)
        if not self.anchored:
            self._share_first()
            self.anchor()
        self.timing.restart()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open = False
        for handle in self._handles:
            handle.remove()
        self._handles = []

    def sync_now(self) -> Plan | None:
        """Hold a round outside of a forward, whatever is due. All replicas call it, or are in a round of their own.

        None during warm-up, when there is nothing to agree on.
        """
        return self._round_now(finished=False)

    def finish(self) -> None:
        """Take part in rounds until every replica has called this; then all of them have the same parameters.

        A replica whose data ends early waits here, and counts for nothing in rounds to which it brings no step. One
        that has left goes back to what was agreed on when it did.
        """
        if self.members is not None and self.members.gone:
            self.to_anchor()
            return
        while True:
            held = self._round_now(finished=True)
            if held is None or held.over or (self.members is not None and self.members.gone):
                break
        if held is not None and self.settings.late:
            for anchored in self.anchored:
                anchored.take(anchored.late, self.within)
                anchored.late = None

    @contextmanager
    def averaged(self) -> Iterator[None]:
        """The model with the parameters that replicas last agreed on: what to evaluate and export between rounds."""
        kept = [[shard.clone() for shard in anchored.unit.shards()] for anchored in self.anchored]
        self.to_anchor()
        try:
            yield
        finally:
            for anchored, shards in zip(self.anchored, kept, strict=True):
                anchored.unit.write(shards)

    def anchor(self) -> None:
        """Keep the parameters as what replicas agree on, once warm-up is over; later calls do nothing."""
        if self.settings.local and not self.timing.synchronous and not self.anchored:
            self.anchored = [Anchored(unit, self.settings, self.device) for unit in self.units]

    @contextmanager
    def paused(self) -> Iterator[None]:
        """A time in which steps of the optimizer don't count: torch makes one to give it its state."""
        self._open, was = False, self._open
        try:
            yield
        finally:
            self._open = was

    def to_anchor(self) -> None:
        """Set the parameters to what replicas last agreed on; what was learnt since is forgotten."""
        for anchored in self.anchored:
            anchored.unit.write(anchored.anchor)

    def _round_now(self, *, finished: bool) -> Plan | None:
        if not self.anchored:
            return None
        agreed = self._plan(finished=finished)
        if not agreed.put_off:
            progress = self._started(agreed)
            progress.finish()
            self._ended(progress)
        return agreed

    def _share_first(self) -> None:
        with torch.no_grad():
            for tensor in (*self.model.parameters(), *self.model.buffers()):
                self.between.as_first(local(tensor.detach()))

    def _stepped(self, *_: Any) -> None:
        if not self._open:
            return
        self.timing.stepped()
        if not self.anchored:
            self.anchor()
            self.timing.restart()

    def _begin(self, module: nn.Module, _: Any) -> None:
        if not (module.training and torch.is_grad_enabled() and self.anchored and self._progress is None):
            return
        if self.members is not None and self.members.gone:
            return
        if not self.timing.due(self.within, self.device):
            return
        agreed = self._plan(finished=False)
        if agreed.put_off:
            self.timing.restart()
            return
        self._progress = self._started(agreed)
        if not self.units[0].name:
            self._progress.reach(0)

    def _reaching(self, number: int) -> Callable[[nn.Module, Any], None]:
        def reach(_: nn.Module, __: Any) -> None:
            if self._progress is not None:
                self._progress.reach(number, gather=True)

        return reach

    def _end(self, *_: Any) -> None:
        if self._progress is not None:
            progress, self._progress = self._progress, None
            progress.finish()
            self._ended(progress)

    def _plan(self, *, finished: bool) -> Plan:
        """Meet the other replicas: the one place where a fast one waits for a slow one."""
        with torch.no_grad(), self.tracer.span(ROUND, "norms"):
            squares = [anchored.square() if self.timing.since else 0.0 for anchored in self.anchored]
        told = self.within.numbers(squares, "norms", self.device)
        norms = [math.sqrt(sum(shares)) for shares in zip(*told, strict=True)]
        rejected = [False] * len(norms)
        remembered = dict(self.running)
        if self.settings.penalty is not None and self.timing.since:
            for number, (unit, norm) in enumerate(zip(self.units, norms, strict=True)):
                rejected[number], remembered[unit.name] = judged(self.running[unit.name], norm, self.settings.penalty)
        leaves = self.members is not None and self.members.count(self)
        mine = Told(0 if leaves else self.timing.since, finished or leaves, tuple(norms), tuple(rejected))
        agreed = plan([read(row) for row in self.between.numbers(mine.row(), "plan", self.device)], self.settings)
        if not agreed.put_off:
            self.running = remembered
        return agreed

    def _started(self, agreed: Plan) -> Progress:
        return Progress(self.anchored, agreed, self.between, self.within, self.device, self.tracer)

    def _ended(self, progress: Progress) -> None:
        agreed, number = progress.plan, self.rounds
        self.rounds += 1
        self.agreed_steps += agreed.steps
        self.timing.since = 0
        self.timing.restart()
        self.tracer.over()
        (between, waited), (within, _) = self.between.take(), self.within.take()
        if self.watch is not None:
            self.watch(told_of(progress, self.units, number, self.timing.step, between, within, waited))
        if self.members is not None:
            self.members.settle(self, over=agreed.over)
