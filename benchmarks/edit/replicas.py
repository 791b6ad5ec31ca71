"""Many trainings of four replicas each in one process: gradients of all in one pass, everything else the library's own.

Each replica has a model, an optimizer and a `LocalSGD` of its own, and rounds are held by the code that real ranks run,
over channels between threads. Only the forward and the backward are shared: the parameters of all replicas lie stacked
in memory, and `torch.func.vmap` goes over them, which gives each replica the gradients that it would have alone. So a
run costs seconds of processor instead of a launch, and is the same on a busy machine.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec
import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap

from benchmarks.edit.problems import REPLICAS, Problem
from benchmarks.edit.turns import Meeting, Thread, in_turns
from couler_py.steps.edit.local_sgd import LocalSGD
from couler_py.steps.edit.rounds import Round
from couler_py.steps.edit.settings import Settings


class Given(NamedTuple):
    """What a replica trains on in a step."""

    rows: Tensor
    loss: float = 1.0
    """What its loss is multiplied by."""
    rate: float = 1.0
    """What its inner rate is multiplied by."""


Alter = Callable[[int, int, Tensor], Given]
"""From a replica, its step and its rows."""


def untouched(_replica: int, _step: int, rows: Tensor) -> Given:
    return Given(rows)


class Inner(msgspec.Struct, frozen=True):
    """The inner optimizer, with a rate that rises linearly, and is constant or falls along a cosine to a tenth."""

    lr: float
    kind: str = "AdamW"
    rise: int = 20
    falls: bool = True
    clip: float | None = 1.0

    def made(self, model: nn.Module) -> torch.optim.Optimizer:
        if self.kind == "SGD":
            return torch.optim.SGD(model.parameters(), lr=self.lr, momentum=0.9, foreach=True)
        return torch.optim.AdamW(model.parameters(), lr=self.lr, betas=(0.9, 0.95), weight_decay=0.01, fused=True)

    def rate(self, progress: float, steps: int) -> float:
        if progress < self.rise:
            return self.lr * (progress + 1) / self.rise
        fallen = (progress - self.rise) / max(1, steps - self.rise)
        return self.lr * (0.55 + 0.45 * math.cos(math.pi * min(1.0, fallen)) if self.falls else 1.0)


class Course(msgspec.Struct, frozen=True):
    """One training to be made."""

    method: str
    settings: Settings
    inner: Inner
    seed: int = 0
    variant: str = "clean"
    alter: Alter = untouched
    seconds: Callable[[int, int], float] = lambda _replica, _step: 1.0
    """How long a step of a replica takes on its clock."""


class Outcome(msgspec.Struct):
    """What became of it."""

    method: str
    variant: str
    seed: int
    loss: float
    """At the end, on held-out rows."""
    curve: list[tuple[float, float]]
    """Loss on held-out rows by steps: after each round, and each `every` synchronous steps."""
    rejected: list[tuple[int, int, str]]
    """Round, replica and module."""
    modules: int
    steps: list[tuple[int, ...]]
    """Local steps of each replica, by round."""
    between: int
    """Bytes that one replica sent to others."""
    seconds: float
    """On the replicas' clock."""

    def worst(self, begin: float) -> float:
        """The largest rise from one look to the next, from a step on; infinite where one is no number."""
        looks = [loss for step, loss in self.curve if step >= begin]
        rises = [after - before for before, after in itertools.pairwise(looks)]
        return max((rise if math.isfinite(rise) else math.inf for rise in rises), default=0.0)


class Team:
    """The replicas of one course, whose parameters are rows of what is stacked."""

    def __init__(self, course: Course, problem: Problem, stacked: dict[str, Tensor], first: int, steps: int):
        self.course, self.problem, self.stacked, self.first, self.total = course, problem, stacked, first, steps
        self.meeting = Meeting(REPLICAS)
        self.rounds: list[Round] = []
        self.batches, self.rates = [0] * REPLICAS, [1.0] * REPLICAS
        self.curve: list[tuple[float, float]] = []
        self.models = [self._model(first + replica) for replica in range(REPLICAS)]
        self.optimizers = [course.inner.made(model) for model in self.models]
        self.locals = [self._local(replica) for replica in range(REPLICAS)]
        in_turns(self.meeting, lambda replica: self.locals[replica].__enter__())

    @property
    def progress(self) -> float:
        """Steps of each replica; their mean at the last round where the clock calls rounds."""
        one = self.locals[0]
        if self.course.settings.sync_seconds is None or not one.anchored:
            return one.timing.step
        return self.course.settings.warmup + one.agreed_steps / REPLICAS

    @property
    def over(self) -> bool:
        return self.progress >= self.total

    def active(self) -> list[int]:
        """The replicas that don't wait for a round; those that do are asked once a step."""
        if self.over:
            return []
        return [replica for replica in range(REPLICAS) if not self._due(replica)]

    def batch(self, replica: int) -> Given:
        number = self.batches[replica] * REPLICAS + replica
        given = self.course.alter(replica, self.batches[replica], self.problem.rows(self.course.seed, number))
        self.rates[replica] = given.rate
        return given

    def step(self, replicas: Sequence[int], gradients: Sequence[Tensor]) -> None:
        """The optimizers' steps, with gradients averaged first where replicas are synchronous."""
        course = self.course
        if self.locals[0].timing.synchronous:
            rows = slice(self.first, self.first + REPLICAS)
            for gradient in gradients:
                gradient[rows] = gradient[rows].mean(0)
        rate = course.inner.rate(self.progress, self.total)
        for replica in replicas:
            model, optimizer = self.models[replica], self.optimizers[replica]
            for parameter, gradient in zip(model.parameters(), gradients, strict=True):
                parameter.grad = gradient[self.first + replica]
            if course.inner.clip is not None:
                nn.utils.clip_grad_norm_(model.parameters(), course.inner.clip)
            for group in optimizer.param_groups:
                group["lr"] = rate * self.rates[replica]
            self.meeting.clocks[replica] += course.seconds(replica, self.batches[replica])
            optimizer.step()
            self.batches[replica] += 1

    def meet(self) -> bool:
        """Hold a round if all replicas want one; whether they did."""
        if not self.locals[0].anchored or not all(self._wanted):
            return False
        in_turns(self.meeting, lambda replica: self.locals[replica].sync_now())
        self._wanted = [False] * REPLICAS
        return True

    def finish(self) -> None:
        in_turns(self.meeting, lambda replica: self.locals[replica].finish())

    def outcome(self, loss: float) -> Outcome:
        rejected = [
            (each.number, replica, name)
            for each in self.rounds
            for name, flags in each.rejected.items()
            for replica, flag in enumerate(flags)
            if flag
        ]
        between = sum(each.between for each in self.rounds) + self.locals[0].between.bytes
        synchronous = min(self.total, self.course.settings.warmup) if self.course.settings.local else self.total
        between += synchronous * sum(4 * tensor[0].numel() for tensor in self.stacked.values())
        return Outcome(
            self.course.method, self.course.variant, self.course.seed, loss, self.curve, rejected,
            len(self.locals[0].units), [each.steps for each in self.rounds], between, max(self.meeting.clocks),
        )  # fmt: skip

    def _model(self, row: int) -> nn.Module:
        model = self.problem.model(self.course.seed)
        for name, parameter in model.named_parameters():
            self.stacked[name].data[row].copy_(parameter.detach())
            parameter.data = self.stacked[name].data[row]
        return model

    def _local(self, replica: int) -> LocalSGD:
        clocks = self.meeting.clocks
        local = LocalSGD(
            self.models[replica], self.optimizers[replica], self.course.settings, clock=lambda: clocks[replica],
            watch=self.rounds.append if replica == 0 else None, parts=self.problem.parts(self.models[replica]),
        )  # fmt: skip
        local.between = Thread(self.meeting, replica)
        self._wanted = [False] * REPLICAS
        return local

    def _due(self, replica: int) -> bool:
        local = self.locals[replica]
        if not self._wanted[replica] and local.anchored:
            self._wanted[replica] = local.timing.due(local.within, local.device)
        return self._wanted[replica]


def trained(courses: Sequence[Course], problem: Problem, steps: int, every: int) -> list[Outcome]:
    """Make all trainings at once, of so many steps each; held-out rows are looked at after so many."""
    shape = problem.model(0)
    count = REPLICAS * len(courses)
    stacked = {name: torch.empty(count, *each.shape).requires_grad_() for name, each in shape.named_parameters()}
    teams = [Team(course, problem, stacked, REPLICAS * n, steps) for n, course in enumerate(courses)]
    held = torch.stack([problem.held(course.seed) for course in courses])

    def loss(parameters: dict[str, Tensor], rows: Tensor) -> Tensor:
        return problem.loss(lambda inputs: functional_call(shape, parameters, (inputs,)), rows)  # type: ignore[arg-type]

    losses = vmap(loss)
    firsts = slice(0, None, REPLICAS)

    def look(most: int) -> list[float]:
        with torch.no_grad():
            found: list[float] = losses({n: each[firsts] for n, each in stacked.items()}, held[:, :most]).tolist()
        return found

    while any(not team.over for team in teams):
        moving = [team.active() for team in teams]
        given = [team.batch(replica) for team in teams for replica in range(REPLICAS)]
        scales = torch.tensor([each.loss for each in given])
        (losses(stacked, torch.stack([each.rows for each in given])) * scales).sum().backward()
        gradients = [tensor.grad for tensor in stacked.values() if tensor.grad is not None]
        seen: list[Team] = []
        for team, replicas in zip(teams, moving, strict=True):
            if not replicas:
                continue
            team.step(replicas, gradients)
            team.active()
            synchronous = team.course.settings.synchronous(team.locals[0].timing.step - 1)
            if team.meet() or (synchronous and team.locals[0].timing.step % every == 0):
                seen.append(team)
        for tensor in stacked.values():
            tensor.grad = None
        if seen:
            now = look(64)
            for team in seen:
                team.curve.append((team.progress, now[teams.index(team)]))
    for team in teams:
        team.finish()
    return [team.outcome(found) for team, found in zip(teams, look(held.shape[1]), strict=True)]
