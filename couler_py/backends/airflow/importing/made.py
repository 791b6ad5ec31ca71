"""What an operator becomes: a template, and what its task gives to it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from couler_py.ir import expr as x
from couler_py.ir.model import Body, Inputs, OutputParameter, Outputs, Parameter
from couler_py.ir.pod import PodSettings
from couler_py.ir.types import ANY, STR, Type

RESULT = "result"
"""The output that stands for a task's XCom."""


class Made(msgspec.Struct, frozen=True):
    """The template of a task, but for its name and policies, and the task's arguments by input.

    `choices` are the names that a branch surely chooses among. `about` are warnings: code, what was left out or means
    something else, and the way out.
    """

    body: Body
    inputs: Inputs = Inputs()
    outputs: Outputs = Outputs()
    arguments: dict[str, x.Expr] = {}
    pod: PodSettings = PodSettings()
    name: str = ""
    description: str = ""
    choices: tuple[str, ...] = ()
    about: tuple[tuple[str, str, str], ...] = ()


class Slots:
    """Inputs of a template that stand for values of its task, each once. `types` are those of the run's parameters."""

    def __init__(self, taken: frozenset[str] = frozenset(), types: Mapping[str, Type] | None = None):
        self.taken = set(taken)
        self.types = types or {}
        self.parameters: dict[str, Parameter] = {}
        self.arguments: dict[str, x.Expr] = {}

    def input(self, value: x.Expr, wanted: str) -> x.Input:
        """The input for a value."""
        for name, known in self.arguments.items():
            if known == value:
                return x.Input(name)
        name, number = wanted, 1
        while name in self.parameters or name in self.taken:
            number += 1
            name = f"{wanted}_{number}"
        self.parameters[name] = Parameter(name, self._type(value))
        self.arguments[name] = value
        return x.Input(name)

    def _type(self, value: x.Expr) -> Type:
        match value:
            case x.WorkflowParameter(name=name):
                return self.types.get(name, ANY)
            case x.Text() | x.Run(field="id"):
                return STR
        return ANY

    def text(self, given: x.TextLike) -> x.TextLike:
        """A text in which values of the task are inputs of the template."""
        if isinstance(given, str):
            return given
        parts = tuple(each if isinstance(each, str) else self.input(each, wanted_name(each)) for each in given.parts)
        return x.Text(parts)

    @property
    def inputs(self) -> Inputs:
        return Inputs(tuple(self.parameters.values()))


def wanted_name(value: x.Expr) -> str:
    """What an input for a value is called."""
    from couler_py.printer.names import identifier

    match value:
        case x.WorkflowParameter(name=name) | x.Input(name=name):
            return identifier(name)
        case x.TaskOutput(task=task):
            return identifier(task)
        case x.Access(key=x.Literal(value=str(key))):
            return identifier(key)
        case x.Run(field=field):
            return f"run_{field}"
        case x.Item():
            return "item"
        case _:
            return "value"


def printed(type_: Type = STR) -> Outputs:
    """The output of a container that prints it."""
    return Outputs((OutputParameter(RESULT, type_, stdout=True),))


def at(path: str) -> Outputs:
    """The output of a container that writes it to a file, as JSON."""
    return Outputs((OutputParameter(RESULT, ANY, path=path),))
