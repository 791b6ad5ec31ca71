"""What expressions see: the values of one call of a template, and facts about the run."""

from __future__ import annotations

import datetime
from typing import Any

import msgspec
from msgspec import UNSET

from couler_py.ir import wire
from couler_py.ir.codec import to_builtins
from couler_py.ir.evaluate import AbsentError, EvaluationError, evaluate, evaluate_condition
from couler_py.ir.expr import Expr, Literal, TextLike
from couler_py.ir.model import Parameter
from couler_py.ir.types import STR, Type, mismatch
from couler_py.store.records import ArtifactRef, Result


class TaskFailure(Exception):  # noqa: N818 - not an error of the engine: it makes a task Failed
    """Why a task fails before, or without, running anything."""


class AbsentOutputError(TaskFailure):
    """A graph that Succeeded without one of its outputs. An item of a fan-out then counts as skipped."""


class Facts(msgspec.Struct):
    """What is known of the run. Times are seconds since 1970."""

    id: str
    name: str
    scheduled: float
    start: float
    parameters: dict[str, Any]
    namespace: str = "local"
    status: str = "Running"
    failures: list[dict[str, Any]] = []
    duration: float = 0.0
    published: dict[str, Any] = {}
    files: dict[str, ArtifactRef] = {}

    def field(self, name: str, attempt: int) -> Any:
        """One fact as a value of an expression."""
        if name == "attempt":
            return attempt
        if name == "scheduled_time":
            return timestamp(self.scheduled)
        if name == "start":
            return timestamp(self.start)
        return getattr(self, name)


def timestamp(seconds: float) -> str:
    """A point in time as RFC 3339 text in UTC."""
    moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return moment.isoformat(timespec="microseconds" if moment.microsecond else "seconds").replace("+00:00", "Z")


class Scope(msgspec.Struct):
    """The values that one call of a template sees. `results` are those of the tasks of a graph that have ended."""

    facts: Facts
    parameters: dict[str, Any] = {}
    artifacts: dict[str, ArtifactRef] = {}
    results: dict[str, Result] = {}
    states: dict[str, str] = {}
    own: dict[str, Any] = {}
    item: Any = UNSET
    attempt: int = 0
    last: dict[str, Any] = {}

    def resolve(self, node: Any) -> Any:
        """The value of a reference. Raises `AbsentError`, or `EvaluationError` for what has none here."""
        kind = node["type"]
        if kind == "input":
            return self._member(self.parameters, node["name"], "input")
        if kind in ("output", "artifact", "items"):
            return self._of_task(kind, node)
        if kind == "item":
            if self.item is UNSET:
                raise EvaluationError("there is no item outside a fan-out")
            return self.item
        if kind == "parameter":
            return self._member(self.facts.parameters, node["name"], "parameter of the workflow")
        if kind == "published":
            return self._member(self.facts.published, node["name"], "published value")
        if kind == "status":
            state = self.states.get(node["task"])
            return self.results[node["task"]].state if state is None else state
        if kind == "own":
            return self._member(self.own, node["name"], "output")
        if kind == "run":
            return self.facts.field(node["field"], self.attempt)
        if kind == "last_retry":
            return self.last[node["field"]]
        if kind == "input_artifact":
            return self._member(self.artifacts, node["name"], "input artifact")
        raise EvaluationError(f"an expression of {node.get('engine', kind)} has no meaning here")

    def _of_task(self, kind: str, node: Any) -> Any:
        name = node["task"]
        result = self.results.get(name)
        if result is None:
            raise EvaluationError(f"the task {name!r} has not ended")
        if result.state != "Succeeded":
            raise AbsentError(f"{name} is {result.state} and has no outputs")
        if kind == "items":
            if result.items is None:
                raise EvaluationError(f"{name} is no fan-out")
            return result.items
        known: dict[str, Any] = result.parameters if kind == "output" else result.artifacts
        return self._member(known, node["name"], f"output of {name}")

    @staticmethod
    def _member(known: dict[str, Any], name: str, what: str) -> Any:
        if name not in known:
            raise AbsentError(f"the {what} {name!r} is absent")
        return known[name]

    def value(self, expr: Expr) -> Any:
        """The value of an expression. Raises `EvaluationError`."""
        if isinstance(expr, Literal):
            return expr.value
        return evaluate(plain(expr), self.resolve)

    def condition(self, expr: Expr) -> bool:
        """The value of a condition. Raises `TaskFailure` where it has none."""
        try:
            return evaluate_condition(plain(expr), self.resolve)
        except EvaluationError as error:
            raise TaskFailure(f"the condition has no value: {error}") from None

    def text(self, text: TextLike) -> str:
        """A text with its values filled in. Raises `TaskFailure` where one has none."""
        if isinstance(text, str):
            return text
        try:
            return "".join(part if isinstance(part, str) else wire.as_text(self.value(part)) for part in text.parts)
        except EvaluationError as error:
            raise TaskFailure(f"a text has no value: {error}") from None


_plain: dict[int, tuple[Any, dict[str, Any]]] = {}


def plain(expr: Expr | Type) -> dict[str, Any]:
    """An expression or type in the form that the evaluator reads, made once for each object."""
    known = _plain.get(id(expr))
    if known is not None and known[0] is expr:
        return known[1]
    made: dict[str, Any] = to_builtins(expr)
    if len(_plain) > 100_000:
        _plain.clear()
    _plain[id(expr)] = (expr, made)
    return made


def bind(parameter: Parameter, value: Any) -> Any:
    """A value as the input it is given to. Raises `TaskFailure` where it isn't of the type."""
    if not parameter.portable and parameter.type == STR and not isinstance(value, str):
        value = wire.as_text(value)  # Argo's parameters are all strings
    problem = mismatch(parameter.type, value)
    if problem is not None:
        raise TaskFailure(f"the input {parameter.name!r}: {problem}")
    if parameter.enum is not None and value not in parameter.enum:
        raise TaskFailure(f"the input {parameter.name!r}: {value!r} is not one of {', '.join(parameter.enum)}")
    return wire.restore(plain(parameter.type), value)


def encode(type_: Type, value: Any) -> str:
    """A value as it travels. Raises `TaskFailure`."""
    try:
        return wire.encode(plain(type_), value)
    except ValueError as error:
        raise TaskFailure(str(error)) from None
