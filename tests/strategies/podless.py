"""Graphs that need neither pod nor process, of the parts in `tests.conformance.podless`."""

from __future__ import annotations

from couler_py.ir.expr import Expr, Item, Literal
from couler_py.ir.model import Each, Task, Template, Workflow
from tests.conformance.podless import ABSENT, OFF, ON, act, graph, said, workflow
from tests.strategies.dice import Dice, chance, pick, some


def make_podless(dice: Dice, most: int) -> Workflow:
    """A workflow of up to `most` tasks in a graph, with graphs and fan-outs in it."""
    templates: dict[str, Template] = {}
    made = _tasks(dice, templates, most, depth=1)
    return workflow(*made, templates=tuple(templates.values()))


def _tasks(dice: Dice, templates: dict[str, Template], most: int, depth: int) -> list[Task]:
    made: list[Task] = []
    for number in range(dice.number(1, most)):
        made.append(_task(dice, templates, f"t{number}", made, depth))
    return made


def _task(dice: Dice, templates: dict[str, Template], name: str, before: list[Task], depth: int) -> Task:
    always = bool(before) and chance(dice, 20)
    words: dict[str, list[str]] = {}
    for producer in some(dice, before, 3):
        kinds = ["order", "always"] if always else ["order", "value", "on_failure"]
        if producer.each is None:
            kinds.append("or_else")
        words.setdefault(pick(dice, kinds), []).append(producer.name)
    single = [task.name for task in before if task.each is None]
    if not always and len(single) > 1 and chance(dice, 25):
        first = dice.number(0, len(single) - 2)
        words["first"] = [single[first], single[dice.number(first + 1, len(single) - 1)]]
    edges = {kind: " ".join(names) for kind, names in words.items()}
    does = pick(dice, "SF" if always else "SFK")
    when: Expr | None = None if always else pick(dice, (None, None, None, ON, OFF))
    form = dice.number(0, 9) if depth else 0
    if form >= 8:
        return act(name, does, when=when, call=_nested(dice, templates, depth), **edges)
    if form >= 6:
        return _fan_out(dice, name, edges, when)
    return act(name, does, when=when, **edges)


def _nested(dice: Dice, templates: dict[str, Template], depth: int) -> str:
    inside = _tasks(dice, templates, 4, depth - 1)
    name = f"graph{len(templates)}"
    templates[name] = graph(name, *inside, out=said(inside[-1].name, ABSENT))
    return name


def _fan_out(dice: Dice, name: str, edges: dict[str, str], when: Expr | None) -> Task:
    call = pick(dice, ("act", "mapped"))
    items = [pick(dice, "SF" if call == "act" else "SFK") for _ in range(dice.number(0, 4))]
    each = Each(Literal(items), tolerate=dice.number(0, 2))
    return act(name, Item(), when=when, each=each, call=call, **edges)
