"""References: that what an expression names is there and may be named where it stands, and its type."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from typing import Any

from couler_py.ir import expr as x
from couler_py.ir.types import ANY, DATETIME, FLOAT, INT, STR, ListOf, Type
from couler_py.passes.check.scope import IN_HANDLERS, Called, Scope
from couler_py.passes.check.values import ARTIFACT, Artifact

_RUN_TYPES: dict[str, Type] = {
    "attempt": INT,
    "duration": FLOAT,
    "scheduled_time": DATETIME,
    "start": DATETIME,
    "failures": ANY,
}
_RETRY_TYPES: dict[str, Type] = {"exit_code": INT, "duration": FLOAT}


def suggest(name: str, known: Iterable[str]) -> str:
    """What to do about an unknown name: the nearest known one, or all of a few."""
    names = list(known)
    near = difflib.get_close_matches(name, names[:1000], 1)
    if near:
        return f"did you mean {near[0]}?"
    return f"known: {', '.join(names)}" if 0 < len(names) <= 10 else ""


def _unknown(scope: Scope, code: str, message: str, name: str, known: Iterable[str]) -> Type:
    scope.findings.error(code, f"{scope.what} {message}", scope.place, help=suggest(name, known))
    return ANY


def _refuse(scope: Scope, message: str, help_: str = "") -> Type:
    scope.findings.error("CLR224", f"{scope.what} {message}", scope.place, help=help_)
    return ANY


def _called(scope: Scope, name: str) -> Called | None:
    if scope.tasks is None:
        _refuse(scope, f"reads the step {name}, and can't see the steps of a graph from here", "pass it as an argument")
        return None
    called = scope.tasks.get(name)
    if called is None:
        _unknown(scope, "CLR220", f"reads the step {name}, and there is none in this graph", name, scope.tasks)
    return called


def _task_output(expr: x.TaskOutput, scope: Scope) -> Type:
    called = _called(scope, expr.task)
    if called is None or called.signature is None:
        return ANY
    outputs = called.signature.outputs
    found = outputs.get(expr.name)
    if found is None:
        if expr.name in called.signature.output_artifacts:
            return _refuse(scope, f"reads the file {expr.name} of the step {expr.task} as if it were a value")
        message = f"reads the output {expr.name} of the step {expr.task}, which has no such output"
        return _unknown(scope, "CLR221", message, expr.name, outputs)
    return found if called.task.each is None else ListOf(found)


def _task_artifact(expr: x.TaskArtifact, scope: Scope) -> Type | Artifact:
    called = _called(scope, expr.task)
    if called is None:
        return ANY
    if called.signature is not None and expr.name not in called.signature.output_artifacts:
        message = f"reads the file {expr.name} of the step {expr.task}, which leaves no such file"
        return _unknown(scope, "CLR221", message, expr.name, called.signature.output_artifacts)
    return ARTIFACT


def _task_status(expr: x.TaskStatus, scope: Scope) -> Type:
    _called(scope, expr.task)
    return STR


def _task_items(expr: x.TaskItems, scope: Scope) -> Type:
    called = _called(scope, expr.task)
    if called is None:
        return ANY
    if called.item is None:
        return _refuse(scope, f"reads the items of the step {expr.task}, which is no fan-out")
    return ListOf(called.item)


def _input(expr: x.Input, scope: Scope) -> Type:
    if scope.inputs is None:
        return _refuse(scope, f"reads the input {expr.name}, and there are no inputs here")
    found = scope.inputs.parameters.get(expr.name)
    if found is None:
        message = f"reads the input {expr.name}, which {scope.inputs.name} doesn't have"
        return _unknown(scope, "CLR223", message, expr.name, scope.inputs.parameters)
    return found.type


def _input_artifact(expr: x.InputArtifact, scope: Scope) -> Type | Artifact:
    if scope.inputs is None:
        return _refuse(scope, f"reads the input file {expr.name}, and there are no inputs here")
    if expr.name not in scope.inputs.artifacts:
        message = f"reads the input file {expr.name}, which {scope.inputs.name} doesn't have"
        return _unknown(scope, "CLR223", message, expr.name, scope.inputs.artifacts)
    return ARTIFACT


def _workflow_parameter(expr: x.WorkflowParameter, scope: Scope) -> Type:
    found = scope.facts.parameters.get(expr.name)
    if found is None:
        message = f"reads the workflow's parameter {expr.name}, which it doesn't have"
        return _unknown(scope, "CLR222", message, expr.name, scope.facts.parameters)
    return found.type


def _own(expr: x.Own, scope: Scope) -> Type | Artifact:
    if scope.own is None:
        return _refuse(scope, f"reads the own output {expr.name}: only outputs of functions and loops can")
    found = scope.own.outputs.get(expr.name)
    if found is not None:
        return found
    if expr.name in scope.own.output_artifacts:
        return ARTIFACT
    message = f"reads the own output {expr.name}, and {scope.own.name} has none of that name"
    return _unknown(scope, "CLR225", message, expr.name, scope.own.outputs)


def _item(expr: x.Item, scope: Scope) -> Type:
    if scope.item is None:
        return _refuse(
            scope,
            "reads the item of a fan-out, and none is known here",
            "only the arguments of a step with `each` can; a condition on the item lives inside the mapped graph",
        )
    return scope.item


def _run(expr: x.Run, scope: Scope) -> Type:
    if expr.field not in scope.run:
        where = (
            "only exit handlers know it" if expr.field in IN_HANDLERS else "only what runs inside a step's pod knows it"
        )
        return _refuse(scope, f"reads run.{expr.field}: {where}")
    return _RUN_TYPES.get(expr.field, STR)


def _published(expr: x.Published, scope: Scope) -> Type:
    if "status" not in scope.run:
        return _refuse(scope, f"reads the published value {expr.name}: only exit handlers do", "use the value itself")
    found = scope.facts.published.get(expr.name)
    if found is None:
        message = f"reads {expr.name}, which no step publishes"
        return _unknown(scope, "CLR226", message, expr.name, scope.facts.published)
    return found


def _last_retry(expr: x.LastRetry, scope: Scope) -> Type:
    if not scope.last_retry:
        return _refuse(scope, "reads the last attempt: only the condition of a retry can")
    return _RETRY_TYPES.get(expr.field, STR)


REFERENCES: dict[type, Callable[[Any, Scope], Type | Artifact]] = {
    x.TaskOutput: _task_output,
    x.TaskArtifact: _task_artifact,
    x.TaskStatus: _task_status,
    x.TaskItems: _task_items,
    x.Input: _input,
    x.InputArtifact: _input_artifact,
    x.WorkflowParameter: _workflow_parameter,
    x.Own: _own,
    x.Item: _item,
    x.Run: _run,
    x.Published: _published,
    x.LastRetry: _last_retry,
}
