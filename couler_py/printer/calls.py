"""How a call of each template is written, and what it gives back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

import msgspec

from couler_py.ir import expr as x
from couler_py.ir.model import Function, Graph, Loop, Task, Template
from couler_py.ir.names import legal, legal_name
from couler_py.printer.options import UnsayableError

Form: TypeAlias = Literal["one", "members", "dict"]


class Callee(msgspec.Struct, frozen=True):
    """A step or workflow of the module: its variable, and its parameters in the order of places."""

    variable: str
    places: tuple[str, ...]


def positional(defaults: list[bool]) -> int:
    """How many parameters of a function can be given by place: up to the first without a default behind one with."""
    for place, has in enumerate(defaults):
        if not has and any(defaults[:place]):
            return place
    return len(defaults)


def outputs_of(template: Template) -> tuple[str, ...]:
    """The names of a template's outputs, values first."""
    outputs = template.outputs
    return (*(one.name for one in outputs.parameters), *(one.name for one in outputs.artifacts))


def form_of(template: Template, templates: dict[str, Template], direct: frozenset[str] = frozenset()) -> Form:
    """How the outputs of a call are reached: as the value itself, as attributes, or as keys of a dict.

    `direct` are the graphs and loops that are called as the IR says them.
    """
    names = outputs_of(template)
    body = template.body
    if template.name in direct:
        return "one" if len(names) == 1 else "members"
    if isinstance(body, Graph):
        if whole(template, templates) is not None:
            return "members"
        return "one" if names == ("result",) else "dict" if names else "members"
    if isinstance(body, Loop):
        inner = templates.get(body.body)
        if inner is None:
            raise UnsayableError("a loop over nothing")
        return "one" if names == ("result",) else form_of(inner, templates, direct)
    fields = isinstance(body, Function) and body.returns == "fields"
    return "one" if len(names) == 1 and not fields else "members"


def whole(template: Template, templates: dict[str, Template]) -> str | None:
    """The task of a graph whose outputs, all of them, are the graph's; None where there is none."""
    assert isinstance(template.body, Graph)
    outputs = template.outputs
    values = [*(one.value for one in outputs.parameters), *(one.value for one in outputs.artifacts)]
    tasks = {value.task for value in values if isinstance(value, x.TaskOutput | x.TaskArtifact)}
    if len(tasks) != 1 or any(one.global_name for one in outputs.parameters):
        return None
    (name,) = tasks
    task = next((task for task in template.body.tasks if task.name == name), None)
    called = templates.get(task.call) if task is not None and isinstance(task.call, str) else None
    if called is None or called is template or isinstance(called.body, Graph | Loop):
        return None
    names = outputs_of(template)
    same = outputs_of(called) == names == tuple(getattr(value, "name", None) for value in values)
    return name if same and form_of(called, templates) == "members" else None


class Counted:
    """The names that the DSL gives to the calls of one graph: the callee's, and a number for each further one."""

    def __init__(self, bases: Iterable[str], tasks: tuple[Task, ...]):
        self.given: dict[str, str] = {}
        forced: set[str] = set()
        pairs = list(zip(bases, tasks, strict=True))
        while (clash := self._count(pairs, forced)) is not None:
            forced.add(clash)

    def _count(self, pairs: list[tuple[str, Task]], forced: set[str]) -> str | None:
        """Name the calls in order; the name of one that has to be given, because a later one claims it."""
        holders: dict[str, bool] = {}
        counts: dict[str, int] = {}
        self.given = {}
        for base, task in pairs:
            plain = not task.display and task.name not in forced and legal("ir", "task", base)
            if plain and self._next(base, holders, counts) == task.name:
                if base in holders:
                    counts[base] = int(task.name.rpartition("-")[2])
                holders[task.name] = False
                continue
            wanted = task.display or task.name
            if (legal_name("ir", "task", wanted) if task.display else wanted) != task.name:
                raise UnsayableError("a name that no text gives")
            if not task.display and not legal("ir", "task", task.name):
                raise UnsayableError("a name that no text gives")
            if holders.get(task.name) is False:
                return task.name
            holders[task.name] = True
            self.given[task.name] = wanted
        return None

    def _next(self, base: str, holders: dict[str, bool], counts: dict[str, int]) -> str:
        if base not in holders:
            return base
        number = counts.get(base, 1) + 1
        while f"{base}-{number}" in holders:
            number += 1
        return f"{base}-{number}"
