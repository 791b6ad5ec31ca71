"""Imported templates in the IR's own terms, for engines that know neither Argo's languages nor its rules."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from couler_py.ir.diagnostics import Diagnostic, error, warning
from couler_py.ir.expr import Condition, Expr, FromJson, Raw, TaskOutput
from couler_py.ir.model import Graph, Handler, Template
from couler_py.passes.portable.conditions import comparison
from couler_py.passes.portable.graphs import as_dag
from couler_py.passes.portable.nodes import changed, nodes

WAY_OUT = "say it with couler's own expressions, compute it in a step, or run it on Argo or on this machine"


def translated(
    templates: Iterable[Template], handlers: Iterable[Handler]
) -> tuple[tuple[Template, ...], tuple[Handler, ...], list[Diagnostic]]:
    """The templates and the handlers without Argo's own words, and what there is to say about them."""
    findings: list[Diagnostic] = []
    return (
        tuple(_template(each, findings) for each in templates),
        tuple(_translated(each, each.name, each.source, findings) for each in handlers),
        findings,
    )


def _template(template: Template, findings: list[Diagnostic]) -> Template:
    body = template.body
    if isinstance(body, Graph):
        lists = {task.name for task in body.tasks if task.each is not None}
        template = changed(msgspec.structs.replace(template, body=as_dag(body)), lambda expr: _direct(expr, lists))
        for task in body.tasks:
            read = {node.task for node in nodes(task) if isinstance(node, TaskOutput)} & lists
            findings += (_list(task.name, producer, template, task.source) for producer in sorted(read))
    found: Template = _translated(template, template.name, template.source, findings)
    return found


def _direct(expr: Expr, lists: set[str]) -> Expr:
    """A list of a fan-out is one already: nothing is read as JSON."""
    if isinstance(expr, FromJson) and isinstance(expr.text, TaskOutput) and expr.text.task in lists:
        return expr.text
    return expr


def _translated(part: Any, step: str, source: Any, findings: list[Diagnostic]) -> Any:
    def change(expr: Expr) -> Expr:
        if isinstance(expr, Condition):
            found = comparison(expr)
            if found is not None:
                if any(isinstance(node, TaskOutput) for node in nodes(found)) or list(nodes(found))[1:]:
                    findings.append(_compared(expr, step, source))
                return found
        inside = isinstance(expr, Condition) and any(isinstance(node, Raw) for node in nodes(expr))
        if isinstance(expr, Raw | Condition) and not inside:  # what stands inside is said already
            findings.append(_foreign(expr, step, source))
        return expr

    return changed(part, change)


def _foreign(expr: Raw | Condition, step: str, source: Any) -> Diagnostic:
    if isinstance(expr, Condition):
        text = expr.text if isinstance(expr.text, str) else "".join(_shown(part) for part in expr.text.parts)
    else:
        text = expr.text
    what = "condition" if isinstance(expr, Condition) else "expression"
    return error("CLR302", f"a {what} in Argo's language: {text.strip()}", source=source, step=step, help=WAY_OUT)


def _shown(part: str | Expr) -> str:
    return part if isinstance(part, str) else "{{…}}"


def _compared(condition: Condition, step: str, source: Any) -> Diagnostic:
    text = condition.text if isinstance(condition.text, str) else "".join(map(_shown, condition.text.parts))
    return warning(
        "CLR303",
        f"the condition {text.strip()!r} compares texts",
        source=source,
        step=step,
        why="on Argo a value with a space or a quote in it makes this one an error, and numbers are compared as such",
    )


def _list(task: str, producer: str, template: Template, source: Any) -> Diagnostic:
    return warning(
        "CLR304",
        f"{task} reads outputs of the fan-out {producer} as a list of texts",
        source=source or template.source,
        step=template.name,
        why="on Argo it is a list of objects where every one of them is the JSON of an object or a list",
    )
