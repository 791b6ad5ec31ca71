"""What a verb's template reads: its arguments become typed inputs, and never part of the template's text.

So two calls that differ in arguments only share one template, and a value of a running workflow can stand
wherever text can: in a command, an argument, an environment variable.
"""

from __future__ import annotations

from typing import Any

from couler_py.dsl.frames import Node
from couler_py.dsl.lifting import lift
from couler_py.dsl.placeholder import Placeholder, task_of
from couler_py.dsl.problems import fail
from couler_py.dsl.verbs.artifacts import Artifact, file_name
from couler_py.dsl.verbs.outputs import FileValue, OutputEmpty, are_outputs, single
from couler_py.ir import expr as ir
from couler_py.ir.model import InputArtifact, Inputs, Parameter
from couler_py.ir.names import free_name, legal_name
from couler_py.ir.wire import as_text, travels_raw

ARGUMENT = "para"
"""What inputs made of a verb's `args` are called, with their number."""


class CallInputs:
    """The inputs of one call while they are gathered: parameters, artifacts, what is given for them, and order."""

    def __init__(self, verb: str) -> None:
        self.verb = verb
        self.parameters: list[Parameter] = []
        self.artifacts: list[InputArtifact] = []
        self.given: dict[str, Any] = {}
        self.after: list[Node] = []
        self._paths: dict[str, tuple[str, Any]] = {}

    @property
    def inputs(self) -> Inputs:
        """The inputs of the template."""
        return Inputs(tuple(self.parameters), tuple(self.artifacts))

    def argument(self, value: Any) -> ir.TextLike:
        """A text that is the value of an argument of the task.

        Text that engines would change on its way to a container (double braces on Argo, say) stands in the
        template as it is, where every engine carries it safely.
        """
        if isinstance(value, str) and not travels_raw(value):
            return value
        return self._parameter(f"{ARGUMENT}-{len(self.parameters)}", value)

    def text(self, value: Any, name: str) -> ir.TextLike:
        """A setting as text: as it is where it is known, else an argument of the task."""
        value = single(value)
        if isinstance(value, ir.Text):
            return value
        if isinstance(value, Placeholder):
            return self._parameter(name, value)
        return value if isinstance(value, str) else as_text(value)

    def file(self, value: Any) -> None:
        """A file that the step finds at its path: an artifact that a step left, or one in a storage.

        Raises `RecordingError` for two files at one path.
        """
        given: Any
        if isinstance(value, OutputEmpty):
            self.wait_for(value)
            return
        if isinstance(value, FileValue):
            path, given = value.path, value
        elif isinstance(value, Artifact):
            if value.storage is None:
                fail(
                    "CLR181",
                    f"input={value.path!r} names no place that the file could come from",
                    help="give the output of the step that makes it, or an artifact in a storage "
                    "(create_s3_artifact, create_raw_artifact, …)",
                )
            path, given = value.path, value.storage
        else:
            fail(
                "CLR181",
                f"{self.verb} can't read {value!r} as a file",
                help="give outputs of steps that declare an artifact, or an artifact in a storage",
            )
        known = self._paths.get(path)
        if known is not None:
            if _same_file(known[1], given):
                return
            fail("CLR181", f"two files would lie at {path} in one step", help="give one of the artifacts another path")
        name = free_name(file_name(path), self.given)
        self._paths[path] = (name, given)
        self.artifacts.append(InputArtifact(name, path))
        self.given[name] = given

    def wait_for(self, value: Any) -> None:
        """Run after the step of an output, without reading it."""
        self.after.append(task_of(value))

    def _parameter(self, name: str, value: Any) -> ir.Text:
        if value is None:
            fail("CLR181", f"None is no argument of {self.verb}", help="leave it out, or give a text")
        lifted = lift(value)
        if lifted.type is None:
            fail(
                "CLR181",
                f"{value!r} is a file and has no text",
                help=f"give it to {self.verb} as input=, and its path in the command",
            )
        name = free_name(legal_name("argo", "parameter", name), self.given)
        self.parameters.append(Parameter(name, lifted.type))
        self.given[name] = value
        return ir.Text((ir.Input(name),))


def flat(values: Any) -> list[Any]:
    """The arguments of a verb as a list: one value alone, and lists of outputs inside, taken apart."""
    if values is None:
        return []
    if isinstance(values, tuple):
        values = list(values)
    if not isinstance(values, list):
        return [values]
    found: list[Any] = []
    for value in values:
        if are_outputs(value):
            found.extend(value)
        else:
            found.append(value)
    return found


def _same_reference(one: Any, other: Any) -> bool:
    if one is other:
        return True
    return (
        hasattr(one, "node")
        and hasattr(other, "node")
        and (one.node, one.name, one.kind) == (other.node, other.name, other.kind)
    )


def _same_file(one: Any, other: Any) -> bool:
    if isinstance(one, Placeholder) or isinstance(other, Placeholder):
        return isinstance(one, type(other)) and _same_reference(one._couler_expr, other._couler_expr)
    return bool(one == other)
