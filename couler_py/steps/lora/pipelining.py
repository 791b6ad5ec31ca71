"""Many jobs in one pipeline of processes: while one job's micro-batch is down the pipe, another's enters (mLoRA, 3.2).

Each stage holds some layers of the base, and of every adapter what stands beside them, with its optimizer. Who does
what in which order is fixed before each round, so nothing can deadlock, and what a job learns is what it learns alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import torch
import torch.distributed as dist
from torch.distributed.constants import default_pg_timeout

from couler_py.steps.hybrid.layout import lay_out
from couler_py.steps.hybrid.plan import Pipeline, Plan, Stage
from couler_py.steps.hybrid.runtime.course import groups_of
from couler_py.steps.hybrid.runtime.handing import Handing
from couler_py.steps.hybrid.runtime.section import SectionModule
from couler_py.steps.hybrid.runtime.world import World
from couler_py.steps.lora.data import Encoder, OfBytes, examples_of
from couler_py.steps.lora.hosting import Host
from couler_py.steps.lora.jobs import Job, Policy
from couler_py.steps.lora.planning.pipeline import Job as Turns
from couler_py.steps.lora.planning.pipeline import Schedule, schedule
from couler_py.steps.lora.roster import Roster
from couler_py.steps.lora.rounds import Round
from couler_py.steps.lora.tuning import Tuning
from couler_py.steps.lora.weights import Weights
from couler_py.steps.models.decoder import Decoder, stream

if TYPE_CHECKING:
    from pathlib import Path

    from couler_py.steps.lora.admission import Need

PATIENCE = default_pg_timeout.total_seconds()
"""As long as torch's groups wait: a stage may read its lines or weights from a slow disk. Who is lost closes its
connections, and is missed at once."""


class PipelineTrainer(Roster):
    """One stage of a pipeline through which jobs train; all processes of the default process group make one alike.

    `base` is the built-in decoder, whole; of its layers this process keeps its own. All processes submit, cancel and
    turn alike. A turn is a round of `policy.save_every` steps of every job at work, or less where another waits for the
    place of one that ends sooner: between rounds the pipeline is empty, and jobs come, go and make room.
    `in_flight` is how many micro-batches the first stage may keep activations of, and `timeout` how many seconds a
    stage waits for what another sends before it fails. A job moves by the norm of its whole gradient. Lines that are
    held out are left out, and nobody is judged on the way.

    A job fails that isn't known beforehand or lies in other processes: early stopping, an adapter to go on from, a
    reference that is an adapter, VeRA beside single layers. Raises `ValueError` for more stages than layers.
    """

    def __init__(
        self,
        base: Decoder,
        policy: Policy = Policy(),
        *,
        encoder: Encoder = OfBytes(),
        root: str | Path = "",
        in_flight: int | None = None,
        timeout: float = PATIENCE,
        ended: Callable[[str], None] = lambda _name: None,
    ):
        config = base.config
        self.stage, self.stages = dist.get_rank(), dist.get_world_size()
        if self.stages > config.layers:
            raise ValueError(f"{self.stages} stages of {config.layers} layers: each has at least one")
        edges = [config.layers * at // self.stages for at in range(self.stages + 1)]
        stages = tuple(Stage((at,), (edges[at], edges[at + 1])) for at in range(self.stages))
        layout = lay_out(Plan(config.layers, 1, (Pipeline(stages, 1),)), config)
        self._world = World(self.stage, timeout)
        self._world.prepare(groups_of(layout))
        self._handing = Handing(self._world, layout.pipelines[0], 0)
        own = {name: each for name, each in base.named_parameters() if name in layout.boxes[self.stage]}
        self._module = SectionModule(layout.pipelines[0][self.stage], config, own, None, None)
        super().__init__(Host(self._module), policy, encoder, root, ended)
        with torch.device("meta"):
            self._whole = Host(Decoder(config))
        self._layers, self._in_flight = [each.count for each in stages], in_flight
        self.round: Round | None = None
        """The last one, on this stage."""
        self.peak = (0,) * self.stages
        """The most micro-batches that each stage kept activations of."""
        self._waits = self._spans = 0.0

    @property
    def bubble(self) -> float:
        """The part of all stages' time so far in which they waited, by the schedules."""
        return self._waits / self._spans if self._spans else 0.0

    def turn(self) -> bool:
        """One round; False where there is no job left."""
        running = self._admitted()
        if not running:
            return self.has_more
        self.turns += 1
        for tuning in running:
            tuning.rewind()
        waiting = [each for each in self.tunings.values() if each.progress.state == "ready"]
        left = [each.steps - each.progress.step for each in running]
        most = min(self.policy.save_every, min(left)) if waiting else self.policy.save_every
        plan = self._scheduled(running, [min(most, each) for each in left])
        self.round = Round(self.stage, self._handing, self._module, self.host, running, plan)
        self.round.run()
        for each in waiting:
            each.progress.waited += most - 1  # and one of its own
        span = max(stop for _, stop in plan.spans.values())
        self._waits, self._spans = self._waits + span * plan.bubble(), self._spans + span
        self._agreed(running)
        return True

    def told(self, value: Any) -> list[Any]:
        """What all stages say, in their order; all call it together."""
        said = self._world.gather(value)
        return [said[stage] for stage in range(self.stages)]

    def whole(self, name: str) -> Weights:
        """The whole adapter of a job, in the host's memory, beside no layers; all stages call it together."""
        own = self.tunings[name].weights
        found = Weights(own.adapter, {}, 0)
        for trained, frozen in self.told(({key: each.detach().cpu() for key, each in own.trained.items()}, own.frozen)):
            found.trained |= {key: torch.nn.Parameter(each) for key, each in trained.items()}
            found.frozen |= {key: each.cpu() for key, each in frozen.items()}
        return found

    def _agreed(self, running: Sequence[Tuning]) -> None:
        """Losses are known on the last stage, and what went wrong where it did: now all know it."""
        assert self.round is not None
        said = self.told(([tuning.progress for tuning in running], self.round.over, self.round.peak))
        self.peak = tuple(max(before, each[2]) for before, each in zip(self.peak, said, strict=True))
        for at, tuning in enumerate(running):
            tuning.progress = msgspec.structs.replace(said[-1][0][at])
            reasons = [over[at] for _, over, _ in reversed(said) if at in over]
            if reasons:
                self._end(tuning, "failed", next(filter(None, reasons)))
            elif tuning.progress.step == tuning.steps:
                self._end(tuning, "done", "all its steps are made")

    def _prepared(self, job: Job) -> Tuning:
        if job.unpiped:
            raise ValueError(job.unpiped)
        adapter = job.adapter
        names = self._whole.targets(adapter.targets)
        kinds = {name.rpartition(".")[2] for name in names}
        if adapter.method == "vera" and len(names) < len(kinds) * self._module.config.layers:
            raise ValueError("VeRA's matrices are those of all layers: target kinds of layers, not single ones")
        samples = examples_of(job, self.encoder, self.host.vocabulary, self.host.context, self.root)
        layers = {name: self.host.linears[name] for name in names if name in self.host.linears}
        return Tuning(job, samples, Weights(adapter, layers, stream(job.seed, "adapter")))

    def anywhere(self, problems: Sequence[str]) -> list[str]:
        return [next(filter(None, each), "") for each in zip(*self.told(list(problems)), strict=True)]

    @property
    def _memory(self) -> tuple[float | None, Need]:
        """No limit: what stages have of memory is bound by `in_flight`, and found out."""
        return None, lambda _rows, _length: 0.0

    def _scheduled(self, running: Sequence[Tuning], steps: Sequence[int]) -> Schedule:
        """The orders of all stages; a pass takes as long as it has tokens, a backward as long as its forward.

        The base is frozen: backward it gives gradients of inputs alone.
        """
        made = []
        for tuning, count in zip(running, steps, strict=True):
            begin = tuning.progress.step
            counts = tuple(tuning.pieces_of(step) for step in range(begin, begin + count))
            tokens = float(tuning.job.rows * tuning.longest)
            made.append(Turns(count, counts, tokens, tokens))
        mean = sum(self._layers) / len(self._layers)
        uneven = [count / mean for count in self._layers]
        return schedule(made, self.stages, uneven=uneven, in_flight=self._in_flight)
