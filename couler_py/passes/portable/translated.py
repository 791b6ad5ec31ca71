"""Imported templates in the IR's own terms, for engines that know neither Argo's languages nor its rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from couler_py.ir.diagnostics import Diagnostic, error, warning
from couler_py.ir.expr import Condition, Expr, FromJson, Item, Raw, TaskOutput
from couler_py.ir.model import Graph, Task, Template, Workflow
from couler_py.passes.portable.conditions import comparison
from couler_py.passes.portable.edges import natural, tells_failures_apart
from couler_py.passes.portable.entry import with_entry
from couler_py.passes.portable.expressions import text_of, truth
from couler_py.passes.portable.graphs import as_dag
from couler_py.passes.portable.lists import with_lists, with_texts
from couler_py.passes.portable.nodes import changed, nodes
from couler_py.passes.portable.parameters import with_parameters

WAY_OUT = "say it with couler's own expressions, compute it in a step, or run it on Argo or on this machine"


def translated(workflow: Workflow) -> tuple[Workflow, list[Diagnostic]]:
    """The workflow without Argo's own words, as people write it where that means the same; and what there is to say."""
    findings: list[Diagnostic] = []
    templates = tuple(_template(each, findings) for each in workflow.templates)
    handlers = tuple(_translated(each, each.name, each.source, findings) for each in workflow.handlers)
    templates, more = with_lists(templates)
    workflow = with_parameters(msgspec.structs.replace(workflow, templates=templates, handlers=handlers))
    known = {template.name: template for template in workflow.templates}
    templates = tuple(_graph(each, known, findings) for each in workflow.templates)
    return with_entry(msgspec.structs.replace(workflow, templates=templates)), [*findings, *more]


def _graph(template: Template, known: Mapping[str, Template], findings: list[Diagnostic]) -> Template:
    """A graph with edges for trees where these say the same; what they say a little else is a finding."""
    if not isinstance(template.body, Graph):
        return template
    made = natural(template, known)
    findings += (_handles(task, template) for task in made.handlers)
    findings += (_reads(task, template) for task in made.readers)
    assert isinstance(made.template.body, Graph)
    trees = [task for task in made.template.body.tasks if task.depends and tells_failures_apart(task.depends)]
    findings += (_apart(task, template) for task in trees)
    return made.template


def _template(template: Template, findings: list[Diagnostic]) -> Template:
    body = template.body
    if isinstance(body, Graph):
        lists = {task.name for task in body.tasks if task.each is not None}
        graph = as_dag(body)
        tasks = tuple(with_texts(_with_truth(task)) for task in graph.tasks)
        graph = msgspec.structs.replace(graph, tasks=tasks)
        findings += (_of_items(task, template) for task in tasks if _asks_items(task))
        findings += (_hooked(task, template) for task in tasks if task.hooks)
        graph = changed(graph, lambda expr: _direct(expr, lists))
        # One by one: what is found in a task is said at its own place.
        tasks = tuple(
            _translated(each, template.name, each.source or template.source, findings) for each in graph.tasks
        )
        for task in body.tasks:
            read = {node.task for node in nodes(task) if isinstance(node, TaskOutput)} & lists
            findings += (_list(task.name, producer, template, task.source) for producer in sorted(read))
        rest = msgspec.structs.replace(template, body=msgspec.structs.replace(graph, tasks=()))
        made: Template = _translated(rest, template.name, template.source, findings)
        return msgspec.structs.replace(made, body=msgspec.structs.replace(graph, tasks=tasks))
    found: Template = _translated(template, template.name, template.source, findings)
    return found


def _with_truth(task: Task) -> Task:
    found = truth(task.when) if isinstance(task.when, Condition) else None
    return task if found is None else msgspec.structs.replace(task, when=found)


def _asks_items(task: Task) -> bool:
    """Whether a fan-out has a condition of its items, which only Argo asks for each."""
    return task.each is not None and any(isinstance(node, Item) for node in nodes(task.when))


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
        if isinstance(expr, Raw) and (text := text_of(expr)) is not None:
            return text
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


def _handles(task: Task, template: Template) -> Diagnostic:
    return warning(
        "CLR305",
        f"{task.name} runs on failure, whatever kind it is",
        source=task.source or template.source,
        step=template.name,
        why="on Argo its `depends` may tell a container that failed from an error, and it is Omitted, not Skipped, "
        "where nothing failed",
    )


def _apart(task: Task, template: Template) -> Diagnostic:
    return warning(
        "CLR305",
        f"the `depends` of {task.name} tells failures apart that are one for another engine",
        source=task.source or template.source,
        step=template.name,
        why="Failed and Errored, and the ends of a fan-out's items, are states of their own on Argo only",
    )


def _of_items(task: Task, template: Template) -> Diagnostic:
    return error(
        "CLR302",
        f"the condition of {task.name} is asked for each of its items",
        source=task.source or template.source,
        step=template.name,
        why="elsewhere a condition holds for a whole fan-out",
        help="put the condition into a template of its own, which the fan-out calls",
    )


def _hooked(task: Task, template: Template) -> Diagnostic:
    return warning(
        "CLR307",
        f"a hook of {task.name} that fails makes it fail",
        source=task.source or template.source,
        step=template.name,
        why="on Argo it changes nothing",
    )


def _reads(task: Task, template: Template) -> Diagnostic:
    return warning(
        "CLR308",
        f"{task.name} reads outputs of a task that may have failed",
        source=task.source or template.source,
        step=template.name,
        why="on Argo a failed task keeps what it wrote; elsewhere it has no outputs",
    )
