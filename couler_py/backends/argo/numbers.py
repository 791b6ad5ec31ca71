"""Written integers that Argo's expression language would round where it takes lists and objects apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from couler_py.backends.argo.emission import Emission
from couler_py.ir.evaluate import EXACT
from couler_py.ir.expr import Access, Contains, Expr, Item, Literal, walk
from couler_py.ir.model import Graph, Sequence, Task, Template
from couler_py.passes.exact import taken_apart


def check_numbers(emission: Emission, templates: Mapping[str, Template]) -> None:
    """Note every written integer beyond ±2^53 that would not reach its reader as it is."""
    if not any(large(value) for template in templates.values() for value in _written(template)):
        return
    taken = taken_apart(templates)
    for template in templates.values():
        for task in template.body.tasks if isinstance(template.body, Graph) else ():
            exprs = [each.value for each in task.arguments if ("input", str(task.call), each.name) in taken]
            if task.each is not None and not isinstance(task.each.items, Sequence) and _is_read_apart(task):
                exprs.append(task.each.items)
            if any(large(node.value) for expr in exprs for node in walk(expr) if isinstance(node, Literal)):
                emission.problem(
                    "CLR402",
                    "a list holds an integer beyond plus or minus 2^53, and Argo takes the list apart with doubles",
                    step=task.display or task.name,
                    source=task.source,
                    help="write such integers as strings",
                )


def large(value: Any) -> bool:
    """Whether a JSON value is, or holds, an integer that a double can't tell from its neighbour."""
    if isinstance(value, list | tuple):
        return any(map(large, value))
    if isinstance(value, dict):
        return any(map(large, value.values()))
    return isinstance(value, int) and abs(value) > EXACT


def _written(template: Template) -> Iterator[Any]:
    for task in template.body.tasks if isinstance(template.body, Graph) else ():
        for expr in _exprs(task):
            yield from (node.value for node in walk(expr) if isinstance(node, Literal))


def _exprs(task: Task) -> Iterator[Expr]:
    yield from (each.value for each in task.arguments)
    if task.each is not None and not isinstance(task.each.items, Sequence):
        yield task.each.items


def _is_read_apart(task: Task) -> bool:
    """Whether a fan-out's items are more than handed on as they were written."""
    assert task.each is not None
    if not isinstance(task.each.items, Literal):
        return True
    reads = [node for each in task.arguments for node in walk(each.value) if isinstance(node, Access | Contains)]
    return any(isinstance(inner, Item) for node in reads for inner in walk(node))
