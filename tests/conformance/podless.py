"""Workflows in which no step needs a process or a pod, for cases about nothing but graphs.

A task calls `act`, a graph that ends as it is told and gives back the text it was given; so every
engine runs these cases in a fraction of a second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from couler_py.ir.expr import (
    Compare,
    Expr,
    First,
    Input,
    Item,
    Literal,
    OrElse,
    TaskOutput,
    Text,
    WorkflowParameter,
)
from couler_py.ir.graph import called
from couler_py.ir.meaning import State
from couler_py.ir.model import (
    After,
    Argument,
    Each,
    Graph,
    Inputs,
    Loop,
    OutputParameter,
    Outputs,
    Parameter,
    Suspend,
    Task,
    Template,
    Workflow,
)
from couler_py.ir.types import STR, ListOf
from tests.conformance.case import Case

LETTERS: dict[str, State] = {"S": "Succeeded", "F": "Failed", "K": "Skipped", "B": "Blocked"}
"""How tables write the states. K: skipped."""

ABSENT = "-"

NOTHING = Template("nothing", Suspend(duration=0))
NEVER = Template("never", Loop("nothing", until=Literal(False), max_iterations=1))
ACT = Template(
    "act",
    Graph((Task("fail", "never", when=Compare("==", Input("does"), Literal("F"))),)),
    Inputs((Parameter("does"), Parameter("says"))),
    Outputs((OutputParameter("out", value=Input("says")),)),
)
SWITCH = Parameter("switch", default="off")
"""Conditions are over this parameter of the run, so that no engine knows them beforehand."""
OFF = Compare("==", WorkflowParameter("switch"), Literal("on"))
ON = Compare("==", WorkflowParameter("switch"), Literal("off"))


def said(task: str, otherwise: str | None = None) -> Expr:
    """What a task gave back; with `otherwise`, that in its absence."""
    output = TaskOutput(task, "out")
    return output if otherwise is None else OrElse(output, Literal(otherwise))


def act(
    name: str,
    does: str | Expr = "S",
    *,
    order: str = "",
    value: str = "",
    on_failure: str = "",
    always: str = "",
    first: str = "",
    or_else: str = "",
    when: Expr | None = None,
    each: Each | None = None,
    call: str = "act",
) -> Task:
    """A task that ends by `does` ("S", "F"; "K": it is switched off), with edges to tasks named in words.

    It says its name and, in parentheses, what its `value`, `first` and `or_else` edges gave it; in a
    fan-out, its item before them.
    """
    after = [After(producer, "order") for producer in order.split()]
    after += [After(producer, "on_failure") for producer in on_failure.split()]
    after += [After(producer, "always") for producer in always.split()]
    given: list[Expr] = [] if each is None else [Item()]
    given += [said(producer) for producer in value.split()]
    if first:
        given.append(First(tuple(said(producer) for producer in first.split())))
    given += [said(producer, ABSENT) for producer in or_else.split()]
    return Task(
        name,
        call,
        arguments=(
            Argument("does", Literal("S" if does == "K" else does) if isinstance(does, str) else does),
            Argument("says", saying(name, given)),
        ),
        after=tuple(after),
        when=OFF if does == "K" else when,
        each=each,
    )


def saying(name: str, given: Sequence[Expr]) -> Expr:
    """The text `name`, or `name(x,y)` with the values of expressions."""
    if not given:
        return Literal(name)
    parts: list[str | Expr] = [f"{name}("]
    for i, expr in enumerate(given):
        parts += [",", expr] if i else [expr]
    return Text((*parts, ")"))


def graph(name: str, *tasks: Task, out: Expr | None = None) -> Template:
    """A graph template that is called as `act` is; `out` is what it says (default: what it was told)."""
    return Template(
        name,
        Graph(tasks),
        Inputs((Parameter("does"), Parameter("says"))),
        Outputs((OutputParameter("out", value=Input("says") if out is None else out),)),
    )


# Called for each item of a fan-out, a graph that gives nothing back where the item is "K": it counts as skipped.
MAPPED = graph(
    "mapped",
    act("work", Input("does"), when=Compare("!=", Input("does"), Literal("K"))),
    out=said("work"),
)
BASE = (ACT, NEVER, NOTHING, MAPPED)


def workflow(*tasks: Task, templates: Sequence[Template] = (), outputs: Mapping[str, Expr] | None = None) -> Workflow:
    """A workflow of podless tasks. By default every task's text is an output, "-" where it is absent."""
    mapped = {task.name for task in tasks if task.each is not None}
    if outputs is None:
        outputs = {task.name: OrElse(said(task.name), Literal([] if task.each else ABSENT)) for task in tasks}
    made = tuple(
        OutputParameter(name, ListOf(STR) if name in mapped else STR, value=expr) for name, expr in outputs.items()
    )
    main = Template("main", Graph(tasks), outputs=Outputs(made))
    called = reachable_templates(main, {template.name: template for template in (*BASE, *templates)})
    return Workflow("podless", "main", (main, *called), parameters=(SWITCH,))


def reachable_templates(main: Template, known: Mapping[str, Template]) -> list[Template]:
    """The templates that a run can call, so that none is left over."""
    found: dict[str, Template] = {}
    waiting = list(called(main))
    while waiting:
        name = waiting.pop(0)
        if name not in found:
            found[name] = known[name]
            waiting += called(known[name])
    return list(found.values())


def states_of(text: str) -> dict[str, State]:
    """The states written as `a=S b=K`."""
    pairs = (word.split("=") for word in text.split())
    return {name: LETTERS[letter] for name, letter in pairs}


def producer(name: str, state: str) -> tuple[Task, ...]:
    """Tasks of which the first ends in the state; to be Blocked it takes another that fails."""
    if state == "B":
        return act(name, order=f"{name}x"), act(f"{name}x", "F")
    return (act(name, state),)


def case(
    name: str,
    *tasks: Task,
    states: str,
    status: str = "S",
    says: str = "",
    templates: Sequence[Template] = (),
) -> Case:
    """A case of podless tasks: the states that they end in, the run's, and texts (`task=text`) that must come out.

    With `says`, the run's outputs are exactly those texts; of a fan-out, a list, written with ";" between.
    """
    pairs = dict(word.split("=", 1) for word in says.split())
    fan_outs = {task.name for task in tasks if task.each is not None}
    outputs = {task: OrElse(said(task), Literal([] if task in fan_outs else ABSENT)) for task in pairs}
    built = workflow(*tasks, templates=templates, outputs=outputs)
    expected = {task: text.split(";") if text else [] for task, text in pairs.items() if task in fan_outs}
    return Case(name, lambda: built, states_of(states), LETTERS[status], pairs | expected)
