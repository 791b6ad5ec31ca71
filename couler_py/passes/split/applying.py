"""The pass: splits the graph that a workflow starts with where that is asked for, and says what it costs."""

from __future__ import annotations

import statistics
from collections.abc import Mapping

import msgspec

from couler_py.ir.graph import templates_by_name
from couler_py.ir.model import Graph, Workflow
from couler_py.passes.situation import Note, Outcome, Situation
from couler_py.passes.split.budget import Budget, SplitError, budget_of
from couler_py.passes.split.choosing import BASELINES
from couler_py.passes.split.mark import parts_of
from couler_py.passes.split.nesting import nested
from couler_py.passes.split.preparing import prepared
from couler_py.passes.split.scale import Scale, TaskScale
from couler_py.passes.split.splitting import Splitting, Weights, not_split, split

TRIES = 8
"""How often parts are cut again, smaller, because they are emitted larger than they were taken to be."""
ROOM = 0.97
"""Then parts are cut for this share of their limits, divided by how full the fullest was."""


def apply(workflow: Workflow, situation: Situation) -> Outcome:
    """Split a workflow by the option `split`. Raises `SplitError` for one that can't be split so."""
    budget = budget_of(situation.options.get("split"))
    if budget is None or parts_of(workflow):
        return Outcome(workflow)
    scale = situation.scale or TaskScale()
    name = workflow.display or workflow.name
    if reason := not_split(workflow):
        return Outcome(workflow, (Note(name, "kept whole", reason, source=workflow.source),))
    if scale.fullness(workflow, budget) <= 1.0:
        why = f"it is within what a part may have on {situation.engine}"
        return Outcome(workflow, (Note(name, "kept whole", why, source=workflow.source),))
    ready = prepared(workflow)
    splitting, made = _within(ready, budget, scale, _times(ready, situation))
    return Outcome(made, (_note(name, splitting, budget, workflow),))


def _within(workflow: Workflow, budget: Budget, scale: Scale, times: Mapping[str, float]) -> tuple[Splitting, Workflow]:
    """Parts that are within their limits as they are really emitted."""
    weights = scale.weights(workflow, budget)
    for _ in range(TRIES):
        splitting = split(workflow, budget, weights, times)
        made = nested(workflow, splitting)
        fullness = scale.fullness(made, budget)
        if fullness <= 1.0:
            return splitting, made
        weights = _tighter(weights, ROOM / fullness)
    raise SplitError(
        f"{workflow.display or workflow.name} has parts that are {fullness:.2f} times as large as they may be, however "
        "it is cut: give more room, or put what belongs together into graphs of their own"
    )


def _tighter(weights: Weights, share: float) -> Weights:
    limits = tuple(
        None if limit is None else fixed + int((limit - fixed) * share)
        for limit, fixed in zip(weights.limits, weights.fixed, strict=True)
    )
    return msgspec.structs.replace(weights, limits=limits)


def _times(workflow: Workflow, situation: Situation) -> dict[str, float]:
    """The seconds of each task in earlier runs; without any, each counts as one."""
    templates = templates_by_name(workflow)
    graph = templates[workflow.entrypoint].body
    assert isinstance(graph, Graph)
    by_template: dict[str, float] = {}
    for name in dict.fromkeys(task.call for task in graph.tasks if isinstance(task.call, str)):
        seen = situation.history.find(workflow.name, templates[name])
        if seen is not None and seen.seconds:
            by_template[name] = statistics.median(seen.seconds)
    usual = statistics.median(by_template.values()) if by_template else 1.0
    return {task.name: by_template.get(str(task.call), usual) for task in graph.tasks}


def _seconds(value: float) -> str:
    return f"{value:,.0f} s" if value >= 10 else f"{value:.2g} s"


def _note(name: str, splitting: Splitting, budget: Budget, workflow: Workflow) -> Note:
    chosen, whole = splitting.choice.chosen, splitting.choice.whole
    sizes = [len(part.tasks) for part in splitting.parts]
    size = f"{min(sizes)} to {max(sizes)} tasks" if min(sizes) < max(sizes) else f"{sizes[0]} tasks each"
    need = f"{_seconds(chosen.seconds)} instead of {_seconds(whole)}"
    kept = f"{need} with {budget.slots} at once ({splitting.choice.loss:+.1%})"
    tried = [each for each in splitting.choice.tried if each.way in BASELINES]
    others = ", ".join(f"{each.way} {_seconds(each.seconds)}" for each in tried)
    return Note(
        name,
        f"split into {len(splitting.parts)} parts of {size}, by {chosen.way}",
        f"{len(splitting.crossings)} values cross, {chosen.carried:,} bytes; a run is taken to need {kept}; {others}",
        source=workflow.source,
    )
