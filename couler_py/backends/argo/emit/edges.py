"""Edges in Argo's words: what blocks goes into `depends`, what skips into `when`; run on a real controller."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from couler_py.backends.argo.emit.literals import string
from couler_py.ir.meaning import Edge
from couler_py.ir.model import Depends, DependsAll, DependsAny, DependsNot, DependsOn
from couler_py.ir.possible import Possible

ENDED = ("Succeeded", "Skipped", "Failed", "Errored", "Omitted", "Daemoned")


def ended(name: str) -> str:
    """A `depends` that holds however the task ended."""
    return "(" + " || ".join(f"{name}.{state}" for state in ENDED) + ")"


def depends(edges: Iterable[Edge], names: Mapping[str, str]) -> str:
    """When a task is decided: after all its producers, and Omitted (our Blocked) where one of them blocks it."""
    blocking: dict[str, None] = {}
    waiting: dict[str, None] = {}
    for edge in edges:
        into = waiting if edge.kind in ("on_failure", "always") else blocking
        for producer in edge.tasks:
            into[names[producer]] = None
    terms = [*blocking, *(ended(name) for name in waiting if name not in blocking)]
    return " && ".join(terms)


def skips(edges: Iterable[Edge], names: Mapping[str, str], possible: Mapping[str, Possible], root: str) -> list[str]:
    """The conditions without which a task is Skipped, in Argo's expression language; only those that can be false."""
    found: dict[str, None] = {}
    for edge in edges:
        if edge.kind == "value":
            if possible[edge.tasks[0]].skipped:
                found[succeeded(root, names[edge.tasks[0]])] = None
        elif edge.kind == "on_failure":
            found[f"{root}[{string(names[edge.tasks[0]])}].status in ['Failed', 'Error', 'Omitted']"] = None
        elif edge.kind == "first" and all(possible[name].skipped for name in edge.tasks):
            found["(" + " || ".join(succeeded(root, names[name]) for name in edge.tasks) + ")"] = None
    return list(found)


def succeeded(root: str, name: str) -> str:
    """Whether a task succeeded, in Argo's expression language."""
    return f"{root}[{string(name)}].status == 'Succeeded'"


def imported(given: Depends, names: Mapping[str, str]) -> str:
    """An imported boolean tree, as it was written but for spaces and parentheses."""
    if isinstance(given, DependsOn):
        return f"{names[given.task]}.{given.state}" if given.state else names[given.task]
    if isinstance(given, DependsNot):
        return f"!{_inner(given.operand, names)}"
    joiner = " && " if isinstance(given, DependsAll) else " || "
    return joiner.join(_inner(operand, names) for operand in given.operands)


def _inner(given: Depends, names: Mapping[str, str]) -> str:
    text = imported(given, names)
    return f"({text})" if isinstance(given, DependsAll | DependsAny) else text
