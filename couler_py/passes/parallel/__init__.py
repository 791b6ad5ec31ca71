"""What could run at once and doesn't, because of order that no value needs.

Programs in the implicit style of Couler make a chain of everything that is written in a row. The pass lists each order
edge that no value needs, with what it adds to the critical path; with `drop_order_edges` it takes away those whose
tasks have no effects. `ordering.py` says why results stay the same. With `merge_chains` it makes one step of several
short ones (`joining.py`), with `batch_fanouts` one of several items of a fan-out (`batches.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from msgspec.structs import replace

from couler_py.ir.graph import Shape
from couler_py.ir.model import Graph, Template, Workflow
from couler_py.passes.parallel.batches import batched
from couler_py.passes.parallel.effects import Effects
from couler_py.passes.parallel.joining import merged
from couler_py.passes.parallel.ordering import Inside, OrderEdge, dropped, order_edges
from couler_py.passes.parallel.weights import Weights, longest, said
from couler_py.passes.situation import Note, Outcome, PassOptionError, Situation, asked

EFFORT = 500_000
"""So many steps are spent on what single edges save; in very large graphs, only that of all together is known."""
TOLD = 1_000
"""So many edges of a graph are told one by one, those that save something first; the rest is counted."""


def apply(workflow: Workflow, situation: Situation) -> Outcome:
    """List the order edges that no value needs; with the option `drop_order_edges`, take away those that can go."""
    drop = asked(situation.options, "drop_order_edges") is not None
    effects, weights = Effects(workflow), Weights(workflow, situation.history)
    notes: list[Note] = []
    templates = []
    for template in workflow.templates if drop or situation.explain else ():
        looked = order_edges(template.body, effects) if isinstance(template.body, Graph) else None
        if looked is not None and isinstance(template.body, Graph):
            found, inside = looked
            gone = [edge for edge in found if not edge.kept]
            less, after = dropped(template.body, gone, inside)
            if situation.explain:
                notes.extend(_notes(template, template.body, inside, after, found, weights, drop))
            template = replace(template, body=less) if drop and gone else template
        templates.append(template)
    made = replace(workflow, templates=tuple(templates)) if drop else workflow
    size = asked(situation.options, "batch_fanouts")
    if size is not None:
        made, in_batches = batched(made, size_of(size))
        notes.extend(in_batches)
    longest_step = asked(situation.options, "merge_chains")
    if longest_step is not None:
        made, joined = merged(made, situation, seconds_of(longest_step))
        notes.extend(joined)
    return Outcome(made, tuple(notes))


class ParallelOptionError(PassOptionError):
    """What an option of this pass is given can't be."""


def seconds_of(given: object) -> float:
    """How long steps may take that are joined: a number of seconds, or "all". Raises `ParallelOptionError`."""
    if given == "all" or given is True:
        return math.inf
    try:
        found = float(str(given).removesuffix("s"))
    except ValueError:
        found = -1.0
    if not 0 < found < math.inf:
        raise ParallelOptionError("merge_chains", given, ' is neither a number of seconds nor "all"')
    return found


def size_of(given: object) -> int:
    """How many items a batch has. Raises `ParallelOptionError`."""
    try:
        found = int(str(given))
    except ValueError:
        found = 0
    if found < 2:
        raise ParallelOptionError("batch_fanouts", given, " is not a number of items from 2 on")
    return found


def _notes(
    template: Template,
    graph: Graph,
    inside: Inside,
    less: Shape,
    found: tuple[OrderEdge, ...],
    weights: Weights,
    drop: bool,
) -> Iterator[Note]:
    """What is said of the order edges of a graph; `less` is its shape without those that can go."""
    weighed, seconds = weights.of(graph)
    before = longest(inside.shape, weighed, inside.order)
    free = [edge for edge in found if not edge.kept]
    if len(free) > 1:
        all_of_them = f"{'drops' if drop else 'could drop'} {len(free):,} order edges"
        saves = said(before - longest(less, weighed), seconds)
        yield Note(template.display or template.name, all_of_them, "no value needs them", saves, template.source)
    sources = {task.name: task.source for task in graph.tasks}
    saved = {each: less for each, less in _savings(inside, free, weighed, before).items() if less > 0}
    told = sorted(found, key=lambda edge: (edge.producer, edge.consumer) not in saved)[:TOLD]
    for edge in told:
        saves = said(saved.get((edge.producer, edge.consumer), 0.0), seconds)
        yield Note(edge.consumer, _did(edge, drop), edge.kept or "no value needs it", saves, sources[edge.consumer])
    if len(found) > len(told):
        kept = sum(bool(edge.kept) for edge in found) - sum(bool(edge.kept) for edge in told)
        rest = f"{len(found) - len(told):,} more order edges, {kept:,} of which stay"
        yield Note(template.display or template.name, rest, f"{TOLD:,} are told one by one", "", template.source)


def _did(edge: OrderEdge, drop: bool) -> str:
    if edge.kept:
        return f"keeps its order after {edge.producer}"
    return f"no longer waits for {edge.producer}" if drop else f"needn't wait for {edge.producer}"


def _savings(
    inside: Inside, free: list[OrderEdge], weights: dict[str, float], before: float
) -> dict[tuple[str, str], float]:
    """What each edge alone adds to the critical path, for as many as there is time for."""
    graph, order = inside.shape, inside.order
    room = EFFORT // max(1, sum(map(len, graph.producers.values())) + len(order))
    found = {}
    for edge in free[:room]:
        rest = tuple(each for each in graph.producers[edge.consumer] if each != edge.producer)
        without = replace(graph, producers=graph.producers | {edge.consumer: rest})
        found[edge.producer, edge.consumer] = before - longest(without, weights, order)
    return found
