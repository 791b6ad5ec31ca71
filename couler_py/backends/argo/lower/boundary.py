"""What crosses the boundary of a module: what comes in becomes its inputs, what is read outside its outputs.

Nothing crosses that could fail to resolve: what comes in is there whenever the module runs, what goes out whenever it
succeeded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from couler_py.backends.argo.lower.decisions import with_children
from couler_py.ir.expr import (
    Expr,
    First,
    Input,
    OrElse,
    TaskArtifact,
    TaskItems,
    TaskOutput,
    TaskStatus,
    children,
    rewrite,
    walk,
)
from couler_py.ir.expr import InputArtifact as InputFile
from couler_py.ir.expr import Literal as Constant
from couler_py.ir.model import (
    After,
    Argument,
    ArtifactArgument,
    Each,
    Graph,
    InputArtifact,
    Inputs,
    OutputArtifact,
    OutputParameter,
    Outputs,
    Parameter,
    Sequence,
    Task,
    Template,
)
from couler_py.ir.names import take_name
from couler_py.ir.possible import can_err
from couler_py.ir.types import BOOL, ListOf, Type, type_of

READS = (TaskOutput, TaskArtifact, TaskItems, TaskStatus)


class CrossingError(Exception):
    """Something that the tasks read, or that is read of them, can't cross a boundary."""


def tasks_read(expr: Expr | None, *, status_only: bool = False) -> Iterator[str]:
    """The tasks that an expression refers to; with `status_only`, those of whom it reads the state or the items."""
    kinds = (TaskStatus, TaskItems) if status_only else READS
    for node in walk(expr):
        if isinstance(node, kinds):
            yield node.task


class Boundary:
    """The boundary around the tasks named `inside`, some of which are `optional`: skipped although the module runs."""

    def __init__(
        self,
        outer: Template,
        tasks: Mapping[str, Task],
        inside: set[str],
        templates: Mapping[str, Template],
        optional: set[str],
    ):
        self.inside = inside
        self._tasks = tasks
        self._templates = templates
        self._optional = optional
        self._types = {each.name: each.type for each in outer.inputs.parameters}
        self._files = {each.name: each for each in outer.inputs.artifacts}
        self._known: dict[bytes, str] = {}
        self._taken: set[str] = set()
        self.parameters: list[Parameter] = []
        self.arguments: list[Argument] = []
        self.artifacts: list[InputArtifact] = []
        self.artifact_arguments: list[ArtifactArgument] = []
        self.values: dict[tuple[str, str], str] = {}
        self.files: dict[tuple[str, str], str] = {}

    # ---- what comes in

    def member(self, task: Task) -> Task:
        """A task as it stands inside. Raises `CrossingError`."""
        callee = self._templates.get(task.call) if isinstance(task.call, str) else None
        targets = {} if callee is None else {each.name: each.type for each in callee.inputs.parameters}
        each = task.each
        if each is not None:
            each = msgspec.structs.replace(each, items=self._items(each))
        return msgspec.structs.replace(
            task,
            arguments=tuple(Argument(a.name, self._inward(a.value, targets.get(a.name))) for a in task.arguments),
            artifacts=tuple(map(self._file, task.artifacts)),
            after=tuple(after for after in task.after if after.task in self.inside),
            when=None if task.when is None else self._inward(task.when, BOOL),
            each=each,
        )

    def _items(self, each: Each) -> Expr | Sequence:
        if not isinstance(each.items, Sequence):
            return self._inward(each.items, None)
        parts = {
            key: None if part is None else self._inward(part, None)
            for key, part in (("start", each.items.start), ("end", each.items.end), ("count", each.items.count))
        }
        return msgspec.structs.replace(each.items, **parts)

    def _inward(self, expr: Expr, target: Type | None) -> Expr:
        """An expression inside: its parts that the graph outside knows come in as inputs."""
        if type(expr) is Constant:
            return expr
        if isinstance(expr, Input):
            return self._value(expr, self._types[expr.name])
        outside = [name for name in tasks_read(expr) if name not in self.inside]
        if isinstance(expr, TaskOutput) and outside:
            return self._value(expr, self._output_type(expr))
        if isinstance(expr, OrElse) and outside:
            nodes = list(walk(expr))
            if len(outside) < sum(isinstance(node, READS) for node in nodes) or can_err(expr):
                raise CrossingError
            if not all(isinstance(node, TaskOutput | OrElse | Constant | Input) for node in nodes):
                raise CrossingError
            return self._value(expr, self._type(expr) if target is None else target)
        if isinstance(expr, (First, *READS)) and outside:
            raise CrossingError
        parts = children(expr)
        return with_children(expr, tuple(self._inward(part, None) for part in parts)) if parts else expr

    def _type(self, expr: Expr) -> Type:
        """The type of what `or_else` gives. Raises `CrossingError` where that is not one."""
        if isinstance(expr, TaskOutput):
            return self._output_type(expr)
        if isinstance(expr, Input):
            return self._types[expr.name]
        if isinstance(expr, Constant):
            return type_of(expr.value)
        assert isinstance(expr, OrElse)
        value = self._type(expr.value)
        empty = isinstance(expr.default, Constant) and expr.default.value == [] and isinstance(value, ListOf)
        if not empty and self._type(expr.default) != value:
            raise CrossingError
        return value

    def _output_type(self, node: TaskOutput) -> Type:
        task = self._tasks[node.task]
        callee = self._templates.get(task.call) if isinstance(task.call, str) else None
        if callee is not None:
            for output in callee.outputs.parameters:
                if output.name == node.name:
                    return output.type if task.each is None else ListOf(output.type)
        raise CrossingError

    def _value(self, expr: Expr, type_: Type) -> Expr:
        key = msgspec.json.encode((expr, type_))
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._name(expr)
            self.parameters.append(Parameter(known, type_))
            self.arguments.append(Argument(known, expr))
        return Input(known)

    def _file(self, given: ArtifactArgument) -> ArtifactArgument:
        expr = given.value
        if expr is None or (self.inside.issuperset(tasks_read(expr)) and not isinstance(expr, InputFile)):
            return given
        if isinstance(expr, InputFile):
            optional = given.optional or self._files[expr.name].optional
        else:
            optional = given.optional
            whole = expr.value if isinstance(expr, OrElse) else expr
            if not isinstance(whole, TaskArtifact) or self._tasks[whole.task].each is not None:
                raise CrossingError
        key = msgspec.json.encode((expr, optional))
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._name(expr)
            self.artifacts.append(InputArtifact(known, optional=optional))
            self.artifact_arguments.append(ArtifactArgument(known, expr, optional=optional))
        return msgspec.structs.replace(given, value=InputFile(known))

    def _name(self, expr: Expr) -> str:
        for node in walk(expr):
            if isinstance(node, TaskOutput | TaskArtifact):
                return take_name(f"{node.task}-{node.name}", self._taken)
            if isinstance(node, Input | InputFile):
                return take_name(node.name, self._taken)
        raise CrossingError

    # ---- what goes out

    def read(self, exprs: Iterable[Expr | None]) -> None:
        """Make outputs of what expressions outside read of the tasks inside. Raises `CrossingError`."""
        for expr in exprs:
            for node in walk(expr):
                if not isinstance(node, READS) or node.task not in self.inside:
                    continue
                mapped = self._tasks[node.task].each is not None
                if node.task in self._optional or (isinstance(node, TaskArtifact) and mapped):
                    raise CrossingError
                if isinstance(node, TaskOutput):
                    self._output_type(node)
                    if (node.task, node.name) not in self.values:
                        self.values[node.task, node.name] = take_name(f"{node.task}-{node.name}", self._taken)
                elif isinstance(node, TaskArtifact):
                    if (node.task, node.name) not in self.files:
                        self.files[node.task, node.name] = take_name(f"{node.task}-{node.name}", self._taken)
                else:
                    raise CrossingError

    def template(self, name: str, graph: Graph, outer: Template) -> Template:
        """The module itself."""
        parameters = tuple(
            OutputParameter(known, self._output_type(TaskOutput(*read)), value=TaskOutput(*read))
            for read, known in self.values.items()
        )
        files = tuple(OutputArtifact(known, value=TaskArtifact(*read)) for read, known in self.files.items())
        inputs = Inputs(tuple(self.parameters), tuple(self.artifacts))
        return Template(name, graph, inputs, Outputs(parameters, files), source=outer.source)

    def reader(self, task: Task, module: str) -> Task:
        """A task outside that waits for the module instead of for the tasks in it."""
        after = dict.fromkeys(After(module, each.kind) if each.task in self.inside else each for each in task.after)
        each = task.each
        if each is not None:
            each = msgspec.structs.replace(each, items=self._redirected_items(each, module))
        return msgspec.structs.replace(
            task,
            arguments=tuple(Argument(a.name, self.outward(a.value, module)) for a in task.arguments),
            artifacts=tuple(
                a if a.value is None else msgspec.structs.replace(a, value=self.outward(a.value, module))
                for a in task.artifacts
            ),
            after=tuple(after),
            when=None if task.when is None else self.outward(task.when, module),
            each=each,
        )

    def _redirected_items(self, each: Each, module: str) -> Expr | Sequence:
        if not isinstance(each.items, Sequence):
            return self.outward(each.items, module)
        parts = {
            key: None if part is None else self.outward(part, module)
            for key, part in (("start", each.items.start), ("end", each.items.end), ("count", each.items.count))
        }
        return msgspec.structs.replace(each.items, **parts)

    def outputs(self, given: Outputs, module: str) -> Outputs:
        """Outputs of the graph outside, read of the module."""
        return msgspec.structs.replace(
            given,
            parameters=tuple(
                each if each.value is None else msgspec.structs.replace(each, value=self.outward(each.value, module))
                for each in given.parameters
            ),
            artifacts=tuple(
                each if each.value is None else msgspec.structs.replace(each, value=self.outward(each.value, module))
                for each in given.artifacts
            ),
        )

    def outward(self, expr: Expr, module: str) -> Expr:
        """An expression outside, reading the module instead of the tasks in it."""

        def change(node: Expr) -> Expr:
            if isinstance(node, TaskOutput) and node.task in self.inside:
                return TaskOutput(module, self.values[node.task, node.name])
            if isinstance(node, TaskArtifact) and node.task in self.inside:
                return TaskArtifact(module, self.files[node.task, node.name])
            return node

        return rewrite(expr, change)
