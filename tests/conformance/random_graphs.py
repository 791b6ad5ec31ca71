"""Random workflows without pods, by seed: every kind of edge, tasks that succeed, fail or are switched off,
graphs nested in them, and fan-outs some of whose items fail or are skipped."""

from __future__ import annotations

import random

from couler_py.ir import Workflow
from couler_py.ir.expr import Expr, Item, Literal
from couler_py.ir.model import Each, Task, Template
from tests.conformance.podless import ABSENT, OFF, ON, act, graph, said, workflow

ENDS = ("S", "S", "S", "F", "F", "K")


def random_workflow(seed: int, tasks: int = 8, depth: int = 1) -> Workflow:
    """The workflow of a seed: the same one always. At most `tasks` tasks in a graph, graphs nested `depth` deep."""
    chance = random.Random(f"couler graph {seed}")
    templates: dict[str, Template] = {}
    made = _tasks(chance, templates, tasks, depth)
    return workflow(*made, templates=tuple(templates.values()))


def _tasks(chance: random.Random, templates: dict[str, Template], most: int, depth: int) -> list[Task]:
    made: list[Task] = []
    for number in range(chance.randint(2, most)):
        made.append(_task(chance, templates, f"t{number}", made, depth))
    return made


def _task(chance: random.Random, templates: dict[str, Template], name: str, before: list[Task], depth: int) -> Task:
    always = chance.random() < 0.2
    edges: dict[str, list[str]] = {}
    for producer in chance.sample(before, min(len(before), chance.choice((0, 1, 1, 2, 2, 3)))):
        kinds = ["order", "always"] if always else ["order", "value", "on_failure"]
        if producer.each is None:
            kinds.append("or_else")
        edges.setdefault(chance.choice(kinds), []).append(producer.name)
    single = [task.name for task in before if task.each is None]
    if not always and len(single) > 1 and chance.random() < 0.25:
        edges["first"] = chance.sample(single, 2)
    words = {kind: " ".join(names) for kind, names in edges.items()}
    does = chance.choice("SSF" if always else ENDS)
    when = None if always or chance.random() < 0.7 else chance.choice((ON, OFF))
    form = chance.random()
    if depth and form < 0.2:
        return act(name, does, when=when, call=_nested(chance, templates, depth), **words)
    if depth and form < 0.35:
        return _fan_out(chance, name, words, when)
    return act(name, does, when=when, **words)


def _nested(chance: random.Random, templates: dict[str, Template], depth: int) -> str:
    inside = _tasks(chance, templates, 5, depth - 1)
    name = f"graph{len(templates)}"
    templates[name] = graph(name, *inside, out=said(inside[-1].name, ABSENT))
    return name


def _fan_out(chance: random.Random, name: str, words: dict[str, str], when: Expr | None) -> Task:
    call = chance.choice(("act", "mapped"))
    items = [chance.choice("SSF" if call == "act" else "SSFK") for _ in range(chance.randint(0, 4))]
    each = Each(Literal(items), tolerate=chance.choice((0, 0, 1, 2)))
    return act(name, Item(), when=when, each=each, call=call, **words)
