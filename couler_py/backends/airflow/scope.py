"""What names mean where an expression stands: how a file reads the tasks, inputs and items around it."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from couler_py.ir.types import ANY, Type
from couler_py.printer.layout import Doc

Shape: TypeAlias = Literal["task", "group", "fan_out"]


class Node(msgspec.Struct, frozen=True):
    """What a task of a graph became: the variable that holds it, what kind of thing that is, its outputs' types."""

    variable: str
    shape: Shape
    outputs: dict[str, Type] = {}

    @property
    def start(self) -> str:
        """What has to wait for those before it."""
        return self.variable if self.shape == "task" else f"{self.variable}.start"

    @property
    def end(self) -> str:
        """What those behind it wait for, and where its outputs stand; of a fan-out see `gather`."""
        return self.variable if self.shape == "task" else f"{self.variable}.end"


class Scope(msgspec.Struct):
    """The names of one graph. `inputs` are sources of its inputs, `own` that of outputs of a loop's body."""

    nodes: dict[str, Node] = {}
    inputs: dict[str, Doc] = {}
    input_types: dict[str, Type] = {}
    parameters: dict[str, Type] = {}
    own: str = ""
    own_types: dict[str, Type] = {}
    item_type: Type = ANY
    published: dict[str, tuple[tuple[str, str], ...]] = {}
    outcome: str = ""
