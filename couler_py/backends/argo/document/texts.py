"""Argo's strings and the IR's texts: `{{tags}}` as expressions, both ways.

A string stands in a graph of tasks, in one of steps, or in neither: that decides how another task's output is named,
and which names can be one at all. Tags that the IR has no word for stay as they are written (`Raw`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from couler_py.argolang.tags import OPEN, Tag, scan
from couler_py.ir import expr as e
from couler_py.ir.diagnostics import DiagnosticError, error
from couler_py.ir.expr import Expr, Text, TextLike

Root: TypeAlias = Literal["tasks", "steps", ""]
"""What other tasks are called where a string stands: in a dag, in steps, or nowhere."""


class Unsaid:
    """The type of `UNSAID`."""


UNSAID = Unsaid()
"""What a reader gives for a value that the IR has no word for: its field then travels as it stands."""

_RUN: dict[str, Expr] = {
    "workflow.name": e.Run("name"),
    "workflow.namespace": e.Run("namespace"),
    "workflow.uid": e.Run("id"),
    "workflow.status": e.Run("status"),
    "workflow.failures": e.Run("failures"),
    "workflow.duration": e.Run("duration"),
    "workflow.scheduledTime": e.Run("scheduled_time"),
    "workflow.creationTimestamp": e.Run("start"),
    "retries": e.Run("attempt"),
    "item": e.Item(),
}
_NAMES = {fact: name for name, fact in _RUN.items()}

_NAMED: tuple[tuple[re.Pattern[str], Callable[..., Expr]], ...] = (
    (re.compile(r"inputs\.parameters\.([-\w]+)"), e.Input),
    (re.compile(r"workflow\.parameters\.([-\w]+)"), e.WorkflowParameter),
    (re.compile(r"inputs\.artifacts\.([-\w]+)\.path"), e.InputArtifact),
    (re.compile(r"item\.([-\w]+)"), lambda key: e.Access(e.Item(), e.Literal(key))),
    (re.compile(r"workflow\.outputs\.parameters\.([-\w]+)"), e.Published),
)
_OF_TASKS: tuple[tuple[re.Pattern[str], Callable[..., Expr]], ...] = (
    # An output that is itself called "result" is another than what the task printed: it stays as it is written.
    (re.compile(r"(tasks|steps)\.([-\w]+)\.outputs\.parameters\.(?!result\Z)([-\w]+)"), e.TaskOutput),
    (re.compile(r"(tasks|steps)\.([-\w]+)\.outputs\.(result)"), e.TaskOutput),
    (re.compile(r"(tasks|steps)\.([-\w]+)\.status"), e.TaskStatus),
)
_ARTIFACT = re.compile(r"inputs\.artifacts\.([-\w.{}]+)")
_TASK_ARTIFACT = re.compile(r"(tasks|steps)\.([-\w]+)\.outputs\.artifacts\.([-\w.{}]+)")


# ---- reading


def text(value: Any, root: Root) -> TextLike | Unsaid:
    """A string with its tags as expressions; one without stays a string."""
    if type(value) is not str:
        return UNSAID
    return value if OPEN not in value else _text(value, root)


def word(value: Any, root: Root) -> str | Unsaid:
    """A string where the IR takes no expressions."""
    return value if type(value) is str and OPEN not in value else UNSAID


def value(given: Any, root: Root) -> Expr | Unsaid:
    """A parameter's value: a scalar of any JSON type, or the expressions in it."""
    if given is None or isinstance(given, dict | list):
        return UNSAID
    found = text(given, root) if type(given) is str else given
    if isinstance(found, Text):
        return found.parts[0] if len(found.parts) == 1 and not isinstance(found.parts[0], str) else found
    return e.Literal(found)


def artifact(given: Any, root: Root) -> Expr | Unsaid:
    """The artifact that a `from` names; of any other text, the text."""
    if type(given) is not str:
        return UNSAID
    parts = scan(given)
    if len(parts) == 1 and isinstance(parts[0], Tag) and not parts[0].expression:
        name = parts[0].name
        if found := _TASK_ARTIFACT.fullmatch(name):
            if found.group(1) == root:
                return e.TaskArtifact(found.group(2), found.group(3))
        elif found := _ARTIFACT.fullmatch(name):
            return e.InputArtifact(found.group(1))
    return value(given, root)


@lru_cache(4096)
def _text(given: str, root: Root) -> TextLike:
    parts = tuple(_tag(part, root) if isinstance(part, Tag) else part.text for part in scan(given))
    return given if all(isinstance(part, str) for part in parts) else Text(parts)


def _tag(tag: Tag, root: Root) -> Expr:
    if tag.expression:
        return e.Raw("argo", tag.text)
    name = tag.name
    if name in _RUN:
        return _RUN[name]
    for pattern, make in _NAMED:
        if found := pattern.fullmatch(name):
            return make(found.group(1))
    for pattern, make in _OF_TASKS:
        if (found := pattern.fullmatch(name)) and found.group(1) == root:
            return make(*found.groups()[1:])
    return e.Raw("argo-tag", tag.text)


# ---- writing


def written(given: TextLike, root: Root) -> str:
    """The string of a text."""
    if isinstance(given, str):
        return given
    return "".join(part if isinstance(part, str) else tagged(part, root) for part in given.parts)


def written_value(given: Expr, root: Root) -> Any:
    """The JSON scalar of a parameter's value."""
    if isinstance(given, e.Literal):
        return given.value
    return written(given, root) if isinstance(given, Text) else tagged(given, root)


def written_artifact(given: Expr, root: Root) -> str:
    """The `from` that names an artifact."""
    if isinstance(given, e.InputArtifact):
        return "{{" + f"inputs.artifacts.{given.name}" + "}}"
    return str(written_value(given, root))


def tagged(given: Expr, root: Root) -> str:
    """The tag of an expression.

    Raises `DiagnosticError` for one that Argo has no tag for: documents in Argo's words are not lowered.
    """
    match given:
        case e.Input(name):
            inside = f"inputs.parameters.{name}"
        case e.WorkflowParameter(name):
            inside = f"workflow.parameters.{name}"
        case e.InputArtifact(name):
            inside = f"inputs.artifacts.{name}.path"
        case e.TaskOutput(task, "result"):
            inside = f"{root or 'tasks'}.{task}.outputs.result"
        case e.TaskOutput(task, name):
            inside = f"{root or 'tasks'}.{task}.outputs.parameters.{name}"
        case e.TaskArtifact(task, name):
            inside = f"{root or 'tasks'}.{task}.outputs.artifacts.{name}"
        case e.TaskStatus(task):
            inside = f"{root or 'tasks'}.{task}.status"
        case e.Access(e.Item(), e.Literal(key)):
            inside = f"item.{key}"
        case e.Published(name):
            inside = f"workflow.outputs.parameters.{name}"
        case e.Raw("argo", code):
            inside = f"={code}"
        case e.Raw("argo-tag", inside):
            pass
        case e.Run() | e.Item() if given in _NAMES:
            inside = _NAMES[given]
        case _:
            raise DiagnosticError(
                [
                    error(
                        "CLR495",
                        f"Argo has no tag for this expression: {given!r}",
                        why='a workflow of the dialect "argo" is written as it stands, and nothing in it is lowered',
                        help='write it in Argo\'s own words (`ir.Raw("argo", "…")` is the inside of `{{=…}}`)',
                    )
                ]
            )
    return "{{" + inside + "}}"
