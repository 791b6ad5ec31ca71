"""Deployment and dispatch as data: what is asked for and what is answered, each as JSON."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import msgspec

from couler_py.steps.lora.planning.buckets import Buckets, length_buckets
from couler_py.steps.lora.planning.costs import Config, Costs, Sample, fit
from couler_py.steps.lora.planning.deploying import deploy, least
from couler_py.steps.lora.planning.dispatching import Micro, balanced, micro_batches
from couler_py.steps.lora.planning.packing import packed, shared_out, time_of
from couler_py.steps.lora.planning.roofline import Device, roofline
from couler_py.steps.lora.ranges import held
from couler_py.steps.models.config import DecoderConfig

Lengths = Mapping[str, Sequence[int]]
"""Tokens of rows, by task."""


class Measured(msgspec.Struct, frozen=True, tag="measured", forbid_unknown_fields=True):
    """Times of one layer, forward and backward, that were measured, and how many layers the base has."""

    layers: int
    samples: tuple[Sample, ...]


class Bounds(msgspec.Struct, frozen=True, tag="bounds", forbid_unknown_fields=True):
    """A base and a kind of GPU that nobody has measured: its arithmetic, memory and links bound what a layer takes."""

    model: DecoderConfig
    device: Device
    rank: int = 16
    """Of adapters."""


class Deploying(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a deployment is asked for."""

    ranks: int
    replicas: tuple[Config, ...]
    """Kinds of replicas that there may be."""
    costs: Measured | Bounds
    batch: int | dict[str, int] = 64
    """Rows of a step, of every task or by task."""
    buckets: int = 16
    """The most lengths that a step pads to."""

    def __post_init__(self) -> None:
        held("deployment", least=1, ranks=self.ranks, buckets=self.buckets)
        for batch in self.batch.values() if isinstance(self.batch, dict) else (self.batch,):
            held("deployment", least=1, batch=batch)
        if not self.replicas:
            raise ValueError("there are no kinds of replicas: give at least one")
        for config in self.replicas:
            held("replica", least=1, tensor=config.tensor, stages=config.stages, tokens=config.tokens)


class Deployed(msgspec.Struct, frozen=True):
    """Replicas for many LoRA trainings, widest first, and what a step of expected rows takes."""

    replicas: tuple[Config, ...]
    costs: Costs
    buckets: int
    seconds: float
    gpu_seconds: float
    homogeneous: tuple[Config, ...]
    """The best plan with one kind of replica, and what it takes."""
    homogeneous_gpu_seconds: float


class Work(msgspec.Struct, frozen=True):
    """Rows that go through a replica together, by task and number in its list, all padded to one length."""

    length: int
    rows: tuple[tuple[str, int], ...]


Works = tuple[tuple[Work, ...], ...]
"""Micro-batches of each replica, in its order."""


class Dispatched(msgspec.Struct, frozen=True):
    """What each replica does of a step."""

    replicas: Works
    bounds: tuple[int, ...]
    """Lengths of micro-batches."""
    padding: float
    """The part of all places that holds no token."""
    seconds: float
    least: float
    """No dispatch takes less; 0 where that isn't known."""


def deployed(asked: Deploying, lengths: Lengths) -> Deployed:
    """The replicas for tasks whose rows are as long as these.

    Raises `ValueError` for no rows, tasks without a batch, or where no plan holds the longest. Needs SciPy.
    """
    everything = _checked(lengths)
    if isinstance(asked.batch, dict) and (missing := sorted(lengths.keys() - asked.batch.keys())):
        raise ValueError(f"task {missing[0]!r} has lengths and no batch")
    bounds = length_buckets(everything, asked.buckets, _align(asked.replicas, max(everything)))
    shares: dict[int, float] = defaultdict(float)
    for task, own in lengths.items():
        batch = asked.batch[task] if isinstance(asked.batch, dict) else asked.batch
        for length, count in Counter(map(bounds.of, own)).items():
            shares[length] += count * batch / len(own)
    longest = max(shares)
    expected = {length: max(round(share), int(length == longest)) for length, share in shares.items()}
    costs = _costs(asked)
    found = deploy(asked.replicas, asked.ranks, expected, costs, nodes=20, gap=0.005)
    same = found.homogeneous
    assert same is not None
    return Deployed(
        found.replicas,
        costs,
        asked.buckets,
        found.dispatch.time,
        found.gpu_seconds(),
        same.replicas,
        same.gpu_seconds(),
    )


def dispatched(plan: Deployed, lengths: Lengths) -> Dispatched:
    """Which replica does which rows of a step, in which micro-batches: in buckets or packed, whichever ends sooner.

    Raises `ValueError` for no rows, and for one that no replica holds. Needs SciPy.
    """
    everything = _checked(lengths)
    align = _align(plan.replicas, max(everything))
    rounded = Counter(-(-length // align) * align for length in everything)
    by_bucket, by_row = _in_buckets(plan, lengths, align), _packed(plan, lengths, align)
    made, seconds = min((by_bucket, by_row), key=lambda each: each[1])
    places = sum(work.length * len(work.rows) for own in made for work in own)
    return Dispatched(
        made,
        tuple(sorted({work.length for own in made for work in own})),
        1 - sum(everything) / places,
        seconds,
        least(plan.replicas, rounded, plan.costs),
    )


def _in_buckets(plan: Deployed, lengths: Lengths, align: int) -> tuple[Works, float]:
    """LobRA's dispatch: numbers of rows by bucket."""
    everything = [length for own in lengths.values() for length in own]
    bounds = length_buckets(everything, plan.buckets, align)
    rows = [_by_bound(own, bounds) for own in lengths.values()]
    counts = [{length: len(numbers) for length, numbers in own.items()} for own in rows]
    total = {length: sum(own.get(length, 0) for own in counts) for length in bounds.bounds}
    found = balanced(plan.replicas, total, plan.costs, nodes=200, gap=0.005)
    names = list(lengths)

    def work(micro: Micro) -> Work:
        return Work(micro.length, tuple((names[task], rows[task][micro.length][at]) for task, at in micro.rows))

    return tuple(tuple(map(work, own)) for own in micro_batches(found, plan.replicas, counts)), found.time


def _packed(plan: Deployed, lengths: Lengths, align: int) -> tuple[Works, float]:
    """Rows one by one, in micro-batches as long as their longest; rows of a task lie together."""
    waiting: dict[int, list[tuple[str, int]]] = {}
    for task, own in lengths.items():
        for number, length in enumerate(own):
            waiting.setdefault(-(-length // align) * align, []).append((task, number))
    rounded = [length for length, rows in waiting.items() for _ in rows]
    tasks = {task: at for at, task in enumerate(lengths)}
    made, seconds = [], 0.0
    for config, dealt in zip(plan.replicas, shared_out(plan.replicas, rounded, plan.costs), strict=True):
        seconds = max(seconds, time_of(config, dealt, plan.costs))
        rows = [waiting[length].pop(0) for length in sorted(dealt, reverse=True)]
        works = []
        for count, length in packed(config, dealt, plan.costs):
            works.append(Work(length, tuple(sorted(rows[:count], key=lambda row: (tasks[row[0]], row[1])))))
            rows = rows[count:]
        made.append(tuple(works))
    return tuple(made), seconds


def _checked(lengths: Lengths) -> list[int]:
    if empty := [task for task, own in lengths.items() if not own]:
        raise ValueError(f"task {empty[0]!r} has no rows")
    everything = [length for own in lengths.values() for length in own]
    if not everything:
        raise ValueError("there are no tasks, so there is nothing to plan for")
    return everything


def _align(replicas: Sequence[Config], longest: int) -> int:
    """Buckets are multiples of 16 where the longest row, rounded up, still fits."""
    most = max(config.tokens for config in replicas)
    return 16 if -(-longest // 16) * 16 <= most else 1


def _by_bound(own: Sequence[int], bounds: Buckets) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for number, length in enumerate(own):
        found.setdefault(bounds.of(length), []).append(number)
    return found


def _costs(asked: Deploying) -> Costs:
    tensors = sorted({config.tensor for config in asked.replicas})
    if isinstance(asked.costs, Bounds):
        most = max(config.tokens for config in asked.replicas)
        return roofline(asked.costs.model, asked.costs.device, tensors, asked.costs.rank, most)[0]
    found = fit(asked.costs.samples)
    if missing := [tensor for tensor in tensors if tensor not in found]:
        raise ValueError(f"nothing was measured at tensor parallelism {missing[0]}, which a kind of replica has")
    return Costs(asked.costs.layers, {tensor: tau for tensor, (tau, _) in found.items()})
