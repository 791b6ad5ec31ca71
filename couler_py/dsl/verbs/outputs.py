"""What Couler's verbs return: a list of outputs, each a value that exists when the workflow runs.

An output can be given to any verb or step, compared, and put in text by `couler.format`, like every other
value of a running workflow. Of several outputs, the first is the one that `when` and `exec_while` look at.
"""

from __future__ import annotations

from typing import Any

from couler_py.dsl.frames import Node, Reference
from couler_py.dsl.placeholder import Output as TaskOutputs
from couler_py.dsl.placeholder import Placeholder
from couler_py.dsl.problems import PlaceholderError, fail
from couler_py.dsl.recorder import current
from couler_py.ir.expr import Published
from couler_py.ir.types import STR, ListOf, Type


class Output(Placeholder):
    """One output of a step that a verb made. `is_global` says that handlers of the run's end can read it."""

    def __init__(self, node: Node, name: str, type_: Type | None, *, global_: bool | str = False):
        self._couler_node = node
        self._couler_name = name
        self._couler_global = global_  # the name that it is published by, once it is
        if node.each is not None and type_ is not None:
            type_ = ListOf(type_)
        reference = Reference(node, name, "artifact" if type_ is None else "output")
        Placeholder.__init__(self, reference, type_, f"{node.name}.{name}", node.source)
        self._couler_reference: Any = reference

    @property
    def _couler_expr(self) -> Any:
        """Where the value comes from; in a handler of the run's end, what it is published as."""
        if self._couler_global and _in_handler():
            return Published(str(self._couler_global))
        return self._couler_reference

    @_couler_expr.setter
    def _couler_expr(self, reference: Any) -> None:
        """Set once, when the output is made."""

    @property
    def value(self) -> str:
        """The task and the name of the output, for messages."""
        return self._couler_label

    @property
    def is_global(self) -> bool:
        """Whether handlers of the run's end can read it."""
        return bool(self._couler_global)


class OutputParameter(Output):
    """A value that a container wrote to a file."""


class OutputScript(Output):
    """What a script printed, without its last newline; or what a function returned."""


class FileValue(Placeholder):
    """A file or folder of a running workflow that steps find at `path`, wherever it comes from."""

    def __init__(self, value: Placeholder, path: str):
        self._couler_path = path
        Placeholder.__init__(self, value._couler_expr, None, value._couler_label, value._couler_source)

    @property
    def path(self) -> str:
        """Where the file lies, in the step that makes it and in each that reads it."""
        return self._couler_path


class OutputArtifact(Output, FileValue):
    """A file or folder that a container left at `path`. A step that is given it finds it at the same path."""

    def __init__(self, node: Node, name: str, path: str, *, global_: bool | str = False):
        self._couler_path = path
        Output.__init__(self, node, name, None, global_=global_)


class OutputJob(Output):
    """A Kubernetes object that a job step made: as a value, its name."""

    def __init__(self, node: Node):
        Output.__init__(self, node, "job-name", STR)

    @property
    def job_name(self) -> Output:
        """The name of the object."""
        return Output(self._couler_node, "job-name", STR)

    @property
    def job_id(self) -> Output:
        """The uid of the object."""
        return Output(self._couler_node, "job-id", STR)

    @property
    def job_obj(self) -> Output:
        """The whole object as JSON text."""
        return Output(self._couler_node, "job-obj", STR)


class OutputEmpty(TaskOutputs):
    """What a step without outputs returns: later steps can wait for it, but it has no value."""

    def __init__(self, node: Node):
        TaskOutputs.__init__(self, node, {}, None, None)

    @property
    def is_global(self) -> bool:
        """False: there is nothing to read."""
        return False


def _in_handler() -> bool:
    recorder = current()
    if recorder is None:
        return False
    frame = recorder.frame
    while frame.parent is not None:
        frame = frame.parent
    return frame.kind == "handler"


def are_outputs(value: Any) -> bool:
    """Whether a value is a list of outputs, as verbs return them."""
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(item, Placeholder) for item in value)


def single(value: Any) -> Any:
    """The output of a list of one; every other value as it is."""
    return value[0] if are_outputs(value) and len(value) == 1 else value


def first_value(value: Any, verb: str) -> Any:
    """The value that a condition looks at: of a list of outputs, the first.

    Raises `RecordingError` for an empty output, which orders steps but has no value.
    """
    if are_outputs(value):
        value = value[0]
    if isinstance(value, TaskOutputs) and value._couler_members == {}:
        fail(
            "CLR180",
            f"{value._couler_label} has no output that {verb} could look at",
            why="the step declares no output; it can only be waited for",
            help="give it output=couler.create_parameter_artifact(path=...), or use couler.run_script, whose output "
            "is what it prints",
            kind=PlaceholderError,
            related=(("the step", value._couler_source),) if value._couler_source else (),
        )
    return value
