"""What the references of an expression are, by the place where it stands."""

from __future__ import annotations

import re
from collections.abc import Mapping

from couler_py.backends.argo.emit.expressions import UnprovenError
from couler_py.backends.argo.emit.literals import member, string
from couler_py.backends.argo.emit.values import SIMPLE, Form, Value
from couler_py.backends.argo.program import Program
from couler_py.ir import wire
from couler_py.ir.expr import Expr, Input, Item, LastRetry, Own, Published, Run, TaskItems, TaskOutput, TaskStatus
from couler_py.ir.expr import WorkflowParameter as RunParameter
from couler_py.ir.model import Graph, Task, Template
from couler_py.ir.possible import Possible
from couler_py.ir.types import ANY, FLOAT, INT, STR, ListOf, Type

RUN = {
    "id": "workflow.uid",
    "name": "workflow.name",
    "namespace": "workflow.namespace",
    # A run that no CronWorkflow started has no scheduled instant: then it is the start.
    "scheduled_time": "(workflow.scheduledTime ?? workflow.creationTimestamp.RFC3339)",
    "start": "workflow.creationTimestamp.RFC3339",
    "status": "(workflow.status == 'Succeeded' ? 'Succeeded' : 'Failed')",
    "failures": "workflow.failures",
    "duration": "workflow.duration",
    "attempt": "retries",
}
RUN_TYPES: dict[str, Type] = {"duration": FLOAT, "attempt": INT}
ABSENT = "couler:absent"
"""What is published of a step that failed before it wrote the output."""
LAST_RETRY = {"exit_code": "lastRetry.exitCode", "message": "lastRetry.message", "duration": "lastRetry.duration"}


class TemplateScope:
    """The scope of a template that runs: its inputs, parameters of the run, facts about the run."""

    def __init__(self, program: Program, template: Template):
        self.program = program
        self.template = template
        self._inputs = {parameter.name: parameter.type for parameter in template.inputs.parameters}
        self.retries = template.retry is not None and not isinstance(template.body, Graph)

    def input_name(self, name: str) -> str:
        return name if self.program.legal_parameter(name) else self.program.field(self.template, name)

    def reference(self, node: Expr, guarded: bool) -> Value:
        if isinstance(node, Input):
            return self.input(node.name)
        if isinstance(node, RunParameter):
            return self.run_parameter(node.name)
        if isinstance(node, Run):
            return self.run(node)
        if isinstance(node, Published):
            return self.published_value(node.name, guarded)
        if isinstance(node, LastRetry):
            return last_retry(node)
        if isinstance(node, Own):
            raise UnprovenError("an output of the template itself is only known when it has ended")
        raise UnprovenError(f"{type(node).__name__} has no meaning here")

    def present(self, task: str) -> str:
        raise UnprovenError("tasks have no meaning here")

    def input(self, name: str) -> Value:
        type_ = self._inputs.get(name, ANY)
        known = self.input_name(name)
        form: Form = "plain" if (self.template.name, name) in self.program.plain_inputs else "wire"
        marks = self.program.marks("input", self.template.name, name) if form == "wire" else ()
        return Value(member("inputs.parameters", known), form, type_, f"inputs.parameters.{known}", marks)

    def run_parameter(self, name: str) -> Value:
        parameter = self.program.parameters[name]
        known = name if self.program.legal_parameter(name) else self.program.run_parameter_name(name)
        form: Form = "plain" if parameter.value_from is not None else "wire"
        marks = (wire.JSON_MARK,) if form == "wire" else ()
        text = member("workflow.parameters", known)
        return Value(text, form, parameter.type, f"workflow.parameters.{known}", marks)

    def published(self, name: str) -> str:
        """A step that fails publishes too: what its output's default is, or nothing."""
        _, form = self.program.published.get(name, (ANY, "wire"))
        text = member("workflow.outputs?.parameters", self.program.published_name(name), optional=True)
        return (
            f"({text} ?? '{ABSENT}') not in ['', '{ABSENT}']"
            if form == "plain"
            else f"({text} ?? '{ABSENT}') != '{ABSENT}'"
        )

    def published_value(self, name: str, guarded: bool) -> Value:
        known = self.program.published_name(name)
        type_, form = self.program.published.get(name, (ANY, "wire"))
        return Value(member("workflow.outputs?.parameters", known, optional=True), form, type_)

    def run(self, node: Run) -> Value:
        if node.field == "attempt" and not self.retries:
            return Value("0", "value", INT)
        text = RUN[node.field]
        simple = text if text.replace(".", "").isalnum() else ""
        return Value(text, "plain", RUN_TYPES.get(node.field, STR), simple)


def last_retry(node: LastRetry) -> Value:
    """A fact about the attempt before. Argo's exit code and duration are strings."""
    if node.field == "status":
        return Value("(lastRetry.status == 'Succeeded' ? 'Succeeded' : 'Failed')", "value", STR)
    type_: Type = STR if node.field == "message" else INT if node.field == "exit_code" else FLOAT
    return Value(LAST_RETRY[node.field], "plain", type_)


class GraphScope(TemplateScope):
    """The scope of a graph's tasks and outputs: besides, what other tasks gave, and the item of a fan-out."""

    def __init__(
        self, program: Program, template: Template, possible: Mapping[str, Possible], names: Mapping[str, str]
    ):
        super().__init__(program, template)
        assert isinstance(template.body, Graph)
        self.tasks: dict[str, Task] = {task.name: task for task in template.body.tasks}
        self.possible = possible
        self.names = names
        self.root = "steps" if template.body.form == "steps" else "tasks"
        self.item: Value | None = None
        self.captured: set[str] = set()
        """References to printed outputs, for Argo captures only what it sees referenced in this plain form."""

    def reference(self, node: Expr, guarded: bool) -> Value:
        if isinstance(node, TaskOutput):
            return self.output(node, guarded)
        if isinstance(node, Item):
            if self.item is None:
                raise UnprovenError("there is no item here")
            return self.item
        if isinstance(node, TaskStatus):
            raw = f"{self.task(node.task)}.status"
            text = f"({raw} == 'Error' ? 'Failed' : {raw} == 'Omitted' ? 'Blocked' : {raw})"
            return Value(text, "value", STR, raw)
        if isinstance(node, TaskItems):
            return self.items(node, guarded)
        return super().reference(node, guarded)

    def task(self, name: str) -> str:
        return f"{self.root}[{string(self.names[name])}]"

    def present(self, task: str) -> str:
        return "" if self.possible[task].surely_succeeds else f"{self.task(task)}.status == 'Succeeded'"

    def output(self, node: TaskOutput, guarded: bool) -> Value:
        task = self.tasks[node.task]
        callee = self.program.callee(task)
        type_ = self.program.output_type(callee.name, node.name) if callee is not None else ANY
        printed = task.each is None  # a fan-out gathers it in a parameter
        text = output_of(self.program, callee, self.task(node.task), node.name, guarded, printed)
        if guarded and text.endswith("?.result"):
            self.captured.add(f"{self.root}.{self.names[node.task]}.outputs.result")
        if task.each is not None:
            return Value(text, "gathered", ListOf(type_))
        form: Form = "plain" if self.program.writes_plain(callee) else "wire"
        marks = self.program.marks("output", callee.name, node.name) if callee is not None else ()
        simple = ""
        if type_ in SIMPLE and not guarded:
            simple = _dotted(text, f"{self.root}.{self.names[node.task]}", self.task(node.task))
        return Value(text, form, type_, simple, marks)

    def items(self, node: TaskItems, guarded: bool) -> Value:
        text = output_of(self.program, None, self.task(node.task), "couler-item", guarded)
        return Value(text, "gathered", ListOf(ANY))


def output_of(
    program: Program, callee: Template | None, place: str, name: str, guarded: bool = False, printed: bool = True
) -> str:
    """An output of a task: where it printed it, Argo's own output `result`, else one of its parameters."""
    if printed and callee is not None and (callee.name, name) in program.printed:
        return f"{place}.outputs?.result" if guarded else f"{place}.outputs.result"
    known = name if program.legal_parameter(name) else program.field(callee, name)
    if guarded:
        return member(f"{place}.outputs?.parameters", known, optional=True)
    return member(f"{place}.outputs.parameters", known)


def _dotted(text: str, place: str, bracketed: str) -> str:
    """The reference in the form that stands in a plain tag."""
    rest = text[len(bracketed) :]
    return place + re.sub(r"\['([^']*)'\]", r".\1", rest)
