"""Airflow's templates: the Jinja in a text, as literal parts and expressions.

Only what surely means the same is read: parameters, results of tasks, facts about the run and its dates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from couler_py.backends.airflow.importing.unsayable import UnsayableError
from couler_py.ir import expr as x
from couler_py.ir.names import legal_name

if TYPE_CHECKING:
    from jinja2 import nodes

MARKS = ("{{", "{%", "{#")
DATES = ("ds", "ds_nodash", "ts", "ts_nodash")
"""Names of a run's date in Airflow's templates, for which the workflow gets a step `run_dates`."""
RETURNED = "return_value"
INSTANCES = ("ti", "task_instance")


class Surroundings(Protocol):
    """What a template may refer to."""

    def param(self, name: str) -> x.Expr: ...
    def result(self, task: str, key: str) -> x.Expr: ...
    def date(self, name: str) -> x.Expr: ...
    def dag_id(self) -> str: ...
    def task_id(self) -> str: ...


def is_template(text: str) -> bool:
    """Whether Jinja does anything with a text."""
    return any(mark in text for mark in MARKS)


def parts(text: str, around: Surroundings) -> tuple[str | x.Expr, ...]:
    """The parts of a template. Raises `UnsayableError`."""
    from jinja2 import Environment, TemplateSyntaxError, nodes

    if not is_template(text):
        return (text,) if text else ()
    try:
        parsed = Environment(autoescape=False).parse(text)  # noqa: S701 - nothing is rendered
    except TemplateSyntaxError as problem:
        raise UnsayableError(f"the template {short(text)} is no Jinja: {problem.message}") from problem
    found: list[str | x.Expr] = []
    for node in parsed.body:
        if not isinstance(node, nodes.Output):
            raise _statement(text)
        for part in node.nodes:
            if isinstance(part, nodes.TemplateData):
                found.append(part.data)
            else:
                found.append(_Reading(around, text).expression(part))
    return tuple(found)


def context(name: str, around: Surroundings) -> x.Expr | None:
    """What a name of Airflow's context stands for; None where it has no counterpart.

    `params` is an object of all parameters, which only a Python step can be given.
    """
    if name in DATES:
        return around.date(name)
    if name == "run_id":
        return x.Run("id")
    if name in ("logical_date", "data_interval_start"):
        return around.date("ts")
    return None


class _Reading:
    def __init__(self, around: Surroundings, text: str):
        self.around = around
        self.text = text

    def expression(self, node: nodes.Node) -> x.Expr:
        from jinja2 import nodes

        match node:
            case nodes.Const(value=value) if value is None or isinstance(value, bool | int | float | str):
                return x.Literal(value)
            case nodes.Name(name=name):
                found = context(name, self.around) if name not in ("logical_date", "data_interval_start") else None
                if found is not None:
                    return found
            case nodes.Getattr(node=inner, attr=key) | nodes.Getitem(node=inner, arg=nodes.Const(value=key)):
                return self._member(inner, key)
            case nodes.Call(node=nodes.Getattr(node=nodes.Name(name=name), attr="xcom_pull")) if name in INSTANCES:
                return self._pulled(node)
            case nodes.Call(node=nodes.Getattr(node=inner, attr="get"), args=[nodes.Const(value=str(key)), *_]) if (
                _is_conf(inner)
            ):
                return self.around.param(key)
            case nodes.Call(node=nodes.Getattr(node=nodes.Name(name="logical_date"), attr="isoformat"), args=[]):
                return self.around.date("ts")
        raise self._unknown()

    def _member(self, inner: nodes.Node, key: Any) -> x.Expr:
        from jinja2 import nodes

        name = inner.name if isinstance(inner, nodes.Name) else ""
        if name == "params" and isinstance(key, str):
            return self.around.param(key)
        if (name, key) in (("dag", "dag_id"), ("ti", "dag_id"), ("task_instance", "dag_id")):
            return x.Literal(self.around.dag_id())
        if key == "task_id" and name in ("task", *INSTANCES):
            return x.Literal(self.around.task_id())
        if (name, key) == ("dag_run", "run_id") or (name in INSTANCES and key == "run_id"):
            return x.Run("id")
        if _is_conf(inner) and isinstance(key, str):
            return self.around.param(key)
        if isinstance(inner, nodes.Call | nodes.Getattr | nodes.Getitem) and isinstance(key, str | int):
            return x.Access(self.expression(inner), x.Literal(key))
        raise self._unknown()

    def _pulled(self, node: nodes.Call) -> x.Expr:
        from jinja2 import nodes

        given: dict[str, Any] = {}
        names = ("task_ids", "dag_id", "key")
        for name, value in [*zip(names, node.args, strict=False), *((each.key, each.value) for each in node.kwargs)]:
            if not isinstance(value, nodes.Const):
                raise self._unknown()
            given[name] = value.value
        task, key, dag = given.get("task_ids"), given.get("key", RETURNED), given.get("dag_id")
        if not isinstance(task, str) or not isinstance(key, str) or dag not in (None, self.around.dag_id()):
            raise self._unknown()
        return self.around.result(task, key)

    def _unknown(self) -> UnsayableError:
        return UnsayableError(
            f"the template {short(self.text)} uses what only Airflow knows",
            "make it a parameter of the workflow, or compute it in a step before",
        )


def _is_conf(node: nodes.Node) -> bool:
    """Whether a node is `dag_run.conf`."""
    from jinja2 import nodes

    return isinstance(node, nodes.Getattr) and node.attr == "conf" and getattr(node.node, "name", "") == "dag_run"


def _statement(text: str) -> UnsayableError:
    return UnsayableError(
        f"the template {short(text)} has statements of Jinja", "compute the text in a Python step before, and pass it"
    )


def short(text: str) -> str:
    """A text as it is shown in a message."""
    shown = repr(text)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def task_name(task_id: str) -> str:
    """The name of a task: its id, with the groups around it in front."""
    return legal_name("ir", "task", task_id.replace(".", "_"))
