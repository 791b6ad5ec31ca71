"""Generated workflows: hypothesis strategies, and the same by seed for long runs.

`workflows()` gives any valid workflow (`check` finds no error in it): nested graphs, fan-outs, loops,
conditions, handlers, artifacts, every kind of edge and of step, hostile text everywhere.
`podless_workflows()` gives graphs whose tasks need neither pod nor process, so that a real engine can
run them by the hundred; how such tasks succeed, fail and are switched off in portable IR stands in
`tests.conformance.podless` (succeed: a graph around `Suspend(duration=0)`; fail: a loop of one
iteration that doesn't end; switched off: `when` on a parameter of the run).

Everything is made by one generator that asks a `Dice`: hypothesis rolls one that shrinks,
`random_ir(seed)` one from `random.Random`.
"""

from __future__ import annotations

import random

from hypothesis import strategies as st

from couler_py.ir.expr import Expr
from couler_py.ir.model import Workflow
from couler_py.ir.types import Type
from tests.strategies.dice import Dice, Drawn, Seeded
from tests.strategies.expressions import Known, expression
from tests.strategies.podless import make_podless
from tests.strategies.text import hostile, name
from tests.strategies.typed import make_type, make_value
from tests.strategies.workflow import make_workflow

__all__ = [
    "Dice",
    "expressions",
    "hostile_text",
    "names",
    "podless_workflows",
    "random_ir",
    "types",
    "values",
    "workflows",
]


@st.composite
def workflows(draw: st.DrawFn) -> Workflow:
    """Any valid workflow."""
    return make_workflow(Drawn(draw))


@st.composite
def podless_workflows(draw: st.DrawFn, tasks: int = 8) -> Workflow:
    """A workflow of at most `tasks` tasks in a graph that needs neither pod nor process."""
    return make_podless(Drawn(draw), tasks)


@st.composite
def types(draw: st.DrawFn, *, any_: bool = True) -> Type:
    """Any type of a value; with `any_` false, none in which `Any` occurs."""
    return make_type(Drawn(draw), any_=any_)


@st.composite
def values(draw: st.DrawFn, type_: Type) -> object:
    """A value of a type, in its wire form."""
    return make_value(Drawn(draw), type_)


@st.composite
def expressions(draw: st.DrawFn, type_: Type, known: tuple[tuple[Expr, Type], ...] = ()) -> Expr:
    """An expression of a type, over references of which the types are known."""
    return expression(Drawn(draw), type_, Known(tuple(known)))


@st.composite
def hostile_text(draw: st.DrawFn) -> str:
    """Text as people and programs write it: quotes, newlines, tags of engines, other alphabets, NUL."""
    return hostile(Drawn(draw))


@st.composite
def names(draw: st.DrawFn) -> str:
    """Names that the IR takes, of which many are legal on no engine."""
    return name(Drawn(draw), set())


def random_ir(seed: int) -> Workflow:
    """The valid workflow of a seed: the same one always."""
    return make_workflow(Seeded(random.Random(f"couler ir {seed}")))
