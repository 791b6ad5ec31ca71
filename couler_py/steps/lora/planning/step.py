"""Planning as steps of a workflow: `lora.deploy_plan` once, from the lengths of all data; `lora.dispatch` of a step.

Lengths come and plans go as files of JSON: {"task": [tokens of each row, …], …}.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Unpack

import msgspec

from couler_py.dsl.options import StepOptions
from couler_py.dsl.step import step
from couler_py.steps.lora.planning.asking import Bounds, Deploying, Measured
from couler_py.steps.lora.planning.costs import Config


class DeployPlan(NamedTuple):
    """A plan for `dispatch`, its replicas in words, and what a step of expected rows takes on all GPUs."""

    plan: Path
    replicas: dict[str, int]
    """How many of each kind, as <tensor, stages>:tokens."""
    gpu_seconds: float
    saved: float
    """The share less than the best plan with one kind of replica takes."""


class DispatchPlan(NamedTuple):
    """A step's micro-batches of each replica, how long it takes, and the part of places that is padding."""

    micro_batches: Path
    seconds: float
    padding: float


@step(name="lora-deploy-plan")
def on_lengths(lengths: Path, asked: str) -> DeployPlan:
    """Plan replicas for a file of lengths, by settings that are given as JSON."""
    from collections import Counter

    from couler_py.steps.lora.planning.asking import Deploying, deployed

    told = msgspec.json.decode(lengths.read_bytes(), type=dict[str, list[int]])
    found = deployed(msgspec.json.decode(asked, type=Deploying), told)
    out = Path("plan.json")
    out.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=2))
    saved = 1 - found.gpu_seconds / found.homogeneous_gpu_seconds
    return DeployPlan(out, dict(Counter(map(str, found.replicas))), found.gpu_seconds, saved)


def deploy_plan(
    lengths: Any,
    *,
    ranks: int,
    replicas: Sequence[Config],
    costs: Measured | Bounds,
    batch: int | Mapping[str, int] = 64,
    buckets: int = 16,
    **options: Unpack[StepOptions],
) -> Any:
    """The replicas on which many adapters train together in the fewest GPU-seconds: few wide ones, many small ones.

    `lengths` is a file of JSON with the tokens of rows by task, as many as tell how they are distributed. `replicas`
    are the kinds that the base fits, with how many tokens of a micro-batch fit each; `costs` are measured times or,
    where there are none, the bounds of a kind of GPU. `batch` is how many rows of a task make a step, `buckets` how
    many lengths a step may pad to. Options are those of every step.

    Raises `ValueError` for numbers below 1 and no kinds; the step fails where no plan holds the longest row.
    """
    chosen = dict(batch) if isinstance(batch, Mapping) else batch
    asked = Deploying(ranks, tuple(replicas), costs, chosen, buckets)
    run = on_lengths
    if "name" in options:
        run = run.named(options.pop("name"))
    return run.with_options(**options)(lengths, msgspec.json.encode(asked).decode())


@step(name="lora-dispatch")
def dispatch(plan: Path, lengths: Path) -> DispatchPlan:
    """Which replica of a plan does which rows of a step, in which micro-batches, so that the last one ends soonest.

    `plan` is that of `deploy_plan`; `lengths` are of this step's rows, by task. Micro-batches name rows by task and
    their number in its list. Raises `ValueError` for a row that no replica holds.
    """
    from couler_py.steps.lora.planning.asking import Deployed, dispatched

    told = msgspec.json.decode(lengths.read_bytes(), type=dict[str, list[int]])
    found = dispatched(msgspec.json.decode(plan.read_bytes(), type=Deployed), told)
    out = Path("micro-batches.json")
    out.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=2))
    return DispatchPlan(out, found.seconds, found.padding)
