"""Argo's `depends` language, as `set_dependencies` takes it: names, states, `&&`, `||`, `!` and parentheses.

The language: https://argo-workflows.readthedocs.io/en/latest/enhanced-depends-logic/
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import get_args

import msgspec

from couler_py.dsl.frames import Node
from couler_py.ir.meaning import Edge, edges
from couler_py.ir.model import Depends, DependsAll, DependsAny, DependsNot, DependsOn, DependsState, Task

STATES: tuple[str, ...] = tuple(state for state in get_args(DependsState) if state)

_TOKEN = re.compile(r"\s*(?:(&&|\|\||!|\(|\))|([\w-]+)(?:\.([A-Za-z]+))?)")


class DependsError(ValueError):
    """A text that isn't of the language; the message says where."""


def parse(text: str) -> Depends:
    """The tree of a `depends` text. Raises `DependsError`.

    >>> parse("A && !B.Failed")
    DependsAll(operands=(DependsOn(task='A', state=''), DependsNot(operand=DependsOn(task='B', state='Failed'))))
    """
    parser = _Parser(text)
    found = parser.any_of()
    if parser.ahead is not None:
        raise DependsError(f"{parser.ahead!r} is not expected at column {parser.column} of {text!r}")
    return found


class _Parser:
    """Recursive descent: `||` binds least, then `&&`, then `!`."""

    def __init__(self, text: str):
        self._text = text
        self._at = 0
        self.column = 1
        self.ahead: str | DependsOn | None = None
        self._next()

    def any_of(self) -> Depends:
        operands = [self._all_of()]
        while self.ahead == "||":
            self._next()
            operands.append(self._all_of())
        return operands[0] if len(operands) == 1 else DependsAny(tuple(operands))

    def _all_of(self) -> Depends:
        operands = [self._operand()]
        while self.ahead == "&&":
            self._next()
            operands.append(self._operand())
        return operands[0] if len(operands) == 1 else DependsAll(tuple(operands))

    def _operand(self) -> Depends:
        ahead = self.ahead
        if ahead is None:
            raise DependsError(f"{self._text!r} ends where a task is expected")
        if isinstance(ahead, DependsOn):
            self._next()
            return ahead
        if ahead == "!":
            self._next()
            return DependsNot(self._operand())
        if ahead == "(":
            self._next()
            inner = self.any_of()
            if self.ahead != ")":
                raise DependsError(f"a parenthesis of {self._text!r} is not closed")
            self._next()
            return inner
        raise DependsError(f"{ahead!r} is not expected at column {self.column} of {self._text!r}")

    def _next(self) -> None:
        rest = self._text[self._at :]
        if not rest.strip():
            self.ahead = None
            return
        match = _TOKEN.match(self._text, self._at)
        self.column = self._at + len(rest) - len(rest.lstrip()) + 1
        if match is None:
            raise DependsError(
                f"{self._text[self.column - 1]!r} is not expected at column {self.column} of {self._text!r}"
            )
        self._at = match.end()
        sign, task, state = match.groups()
        if sign:
            self.ahead = sign
            return
        if state is not None and state not in STATES:
            raise DependsError(f"{state!r} is not a state; the states are {', '.join(STATES)}")
        self.ahead = DependsOn(task, state or "")  # type: ignore[arg-type]


def tasks_of(depends: Depends) -> tuple[str, ...]:
    """The tasks that a tree names, in order, each once."""
    match depends:
        case DependsOn(task=task):
            return (task,)
        case DependsNot(operand=operand):
            return tasks_of(operand)
        case DependsAll(operands=operands) | DependsAny(operands=operands):
            return tuple(dict.fromkeys(name for operand in operands for name in tasks_of(operand)))


def with_depends(task: Task, depends: Depends, nodes: Mapping[str, Node]) -> Task:
    """A task with a `depends` in the place of its edges: those of its values are joined to it.

    `nodes` are the tasks behind the names of the tree.
    """
    tree = _renamed(depends, {name: node.name for name, node in nodes.items()})
    named = set(tasks_of(tree))
    further = [_edge(edge) for edge in edges(task) if not named.issuperset(edge.tasks)]
    whole = DependsAll((tree, *further)) if further else tree
    return msgspec.structs.replace(task, depends=whole, after=())


def _edge(edge: Edge) -> Depends:
    if edge.kind == "first":
        return DependsAll(
            (
                *(DependsOn(name) for name in edge.tasks),
                DependsAny(tuple(DependsOn(name, "Succeeded") for name in edge.tasks)),
            )
        )
    return DependsOn(edge.tasks[0], "Succeeded" if edge.kind == "value" else "")


def _renamed(depends: Depends, names: Mapping[str, str]) -> Depends:
    match depends:
        case DependsOn(task=task, state=state):
            return DependsOn(names[task], state)
        case DependsNot(operand=operand):
            return DependsNot(_renamed(operand, names))
        case DependsAll(operands=operands):
            return DependsAll(tuple(_renamed(operand, names) for operand in operands))
        case DependsAny(operands=operands):
            return DependsAny(tuple(_renamed(operand, names) for operand in operands))
