"""Expressions over the outputs of one Python step are computed by that step's own runner.

So every engine only compares two words, and the meaning of an expression is that of `ir.evaluate`.
"""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from couler_py.ir.expr import (
    Access,
    AllOf,
    AnyOf,
    Compare,
    Compute,
    Contains,
    Expr,
    First,
    Length,
    NonFinite,
    Not,
    OrElse,
    Own,
    Record,
    TaskOutput,
    Text,
    Zip,
    children,
    rewrite,
)
from couler_py.ir.expr import Literal as Constant
from couler_py.ir.model import Argument, Function, Graph, Loop, OutputParameter, Outputs, Template, Workflow
from couler_py.ir.types import ANY, BOOL, FLOAT, INT, STR, DictOf, ListOf, Type, type_of

COMPUTED = (Access, AllOf, AnyOf, Compare, Compute, Contains, Length, Not, Record, Text, Zip)


def decide_in_steps(workflow: Workflow) -> Workflow:
    """The workflow in which each computed expression over one Python step's outputs is an output of that step."""
    rewriter = _Rewriter(workflow)
    changed = [rewriter.template(template) for template in workflow.templates]
    if not rewriter.added:
        return workflow
    made = tuple(rewriter.with_decisions(template) for template in changed)
    return msgspec.structs.replace(workflow, templates=made)


class _Rewriter:
    def __init__(self, workflow: Workflow):
        self.steps = {template.name: template for template in workflow.templates if type(template.body) is Function}
        self.added: dict[str, dict[str, OutputParameter]] = {}

    def template(self, template: Template) -> Template:
        body = template.body
        if isinstance(body, Loop) and body.body in self.steps and isinstance(body.until, COMPUTED):
            until = self._decided(body.until, body.body, "")
            if until is not None:
                return msgspec.structs.replace(template, body=msgspec.structs.replace(body, until=until))
        if not isinstance(body, Graph):
            return template
        calls: dict[str, str] | None = None
        tasks = list(body.tasks)
        touched = False
        for index, task in enumerate(tasks):
            computed = task.when is not None or any(
                isinstance(each.value, (*COMPUTED, OrElse)) for each in task.arguments
            )
            if not computed and (task.each is None or not isinstance(task.each.items, COMPUTED)):
                continue
            if calls is None:
                calls = {
                    each.name: each.call
                    for each in body.tasks
                    if each.each is None and isinstance(each.call, str) and each.call in self.steps
                }
            changes: dict[str, object] = {}
            if task.when is not None:
                changes["when"] = self._expr(task.when, calls)
            if task.arguments:
                changes["arguments"] = tuple(
                    Argument(each.name, self._expr(each.value, calls)) for each in task.arguments
                )
            if task.each is not None and isinstance(task.each.items, COMPUTED):
                items = self._expr(task.each.items, calls)
                changes["each"] = msgspec.structs.replace(task.each, items=items)
            new = msgspec.structs.replace(task, **changes)
            touched = touched or new != task
            tasks[index] = new
        outputs = self._outputs(template, body)
        if outputs is not None:
            template = msgspec.structs.replace(template, outputs=outputs)
        if not touched:
            return template
        return msgspec.structs.replace(template, body=msgspec.structs.replace(body, tasks=tuple(tasks)))

    def _outputs(self, template: Template, graph: Graph) -> Outputs | None:
        if not any(isinstance(each.value, (*COMPUTED, OrElse)) for each in template.outputs.parameters):
            return None
        calls = {
            each.name: each.call
            for each in graph.tasks
            if each.each is None and isinstance(each.call, str) and each.call in self.steps
        }
        parameters = tuple(
            each if each.value is None else msgspec.structs.replace(each, value=self._expr(each.value, calls))
            for each in template.outputs.parameters
        )
        return msgspec.structs.replace(template.outputs, parameters=parameters)

    def _expr(self, expr: Expr, calls: dict[str, str]) -> Expr:
        """The expression with its greatest computed parts over one step replaced."""
        if isinstance(expr, COMPUTED):
            tasks = _only_task(expr)
            if tasks is not None and tasks in calls:
                found = self._decided(expr, calls[tasks], tasks)
                if found is not None:
                    return found
        parts = children(expr)
        if not parts:
            return expr
        return with_children(expr, tuple(self._expr(part, calls) for part in parts))

    def _decided(self, expr: Expr, step: str, task: str) -> Expr | None:
        template = self.steps[step]
        known = {output.name: output.type for output in template.outputs.parameters if output.value is None}
        names = {node.name for node in _walk(expr) if isinstance(node, TaskOutput | Own)}
        if not names or not names <= known.keys():
            return None
        own = rewrite(expr, lambda node: Own(node.name) if isinstance(node, TaskOutput) else node)
        text = msgspec.json.encode(own)
        name = f"couler-{hashlib.sha256(text).hexdigest()[:8]}"
        type_ = inferred(own, known)
        self.added.setdefault(step, {})[name] = OutputParameter(name, type_, value=own)
        return TaskOutput(task, name) if task else Own(name)

    def with_decisions(self, template: Template) -> Template:
        found = self.added.get(template.name)
        if not found:
            return template
        parameters = (*template.outputs.parameters, *(found[name] for name in sorted(found)))
        return msgspec.structs.replace(
            template, outputs=msgspec.structs.replace(template.outputs, parameters=parameters)
        )


def _walk(expr: Expr) -> list[Expr]:
    found = [expr]
    for node in found:
        found.extend(children(node))
    return found


def _only_task(expr: Expr) -> str | None:
    """The one task whose outputs an expression reads, if it reads nothing else and catches no absence inside."""
    found: set[str] = set()
    for node in _walk(expr):
        if isinstance(node, TaskOutput):
            found.add(node.task)
        elif not isinstance(node, (*COMPUTED, Constant, NonFinite)):
            return None
    return found.pop() if len(found) == 1 else None


def with_children(expr: Expr, parts: tuple[Expr, ...]) -> Expr:
    """The expression with other children, in the order of `ir.expr.children`."""
    given = iter(parts)
    if isinstance(expr, First):
        return First(parts)
    if isinstance(expr, Text):
        return Text(tuple(part if isinstance(part, str) else next(given) for part in expr.parts))
    old = children(expr)
    mapping = {id(before): after for before, after in zip(old, parts, strict=True)}
    fields: dict[str, Any] = {}
    for field in expr.__struct_fields__:
        value = getattr(expr, field)
        if isinstance(value, tuple):
            fields[field] = tuple(mapping.get(id(each), each) for each in value)
        else:
            fields[field] = mapping.get(id(value), value)
    return type(expr)(**fields)


def inferred(expr: Expr, known: dict[str, Type]) -> Type:
    """The type of an expression over a template's own outputs."""
    match expr:
        case Constant(value=value):
            return type_of(value)
        case Own(name=name):
            return known.get(name, ANY)
        case Compare() | AllOf() | AnyOf() | Not() | Contains():
            return BOOL
        case Length():
            return INT
        case Text():
            return STR
        case Compute(op=op, left=left, right=right):
            sides = {inferred(left, known), inferred(right, known)}
            if len(sides) == 1 and op != "/":
                return sides.pop()
            return FLOAT if sides <= {INT, FLOAT} else ANY
        case Access(value=value, key=key):
            return _member(inferred(value, known), key)
        case Record(form="list", values=values):
            types = {inferred(each, known) for each in values}
            return ListOf(types.pop() if len(types) == 1 else ANY)
        case Record(values=values):
            types = {inferred(each, known) for each in values}
            return DictOf(types.pop() if len(types) == 1 else ANY)
        case Zip():
            return ListOf(ListOf(ANY))
        case _:
            return ANY


def _member(type_: Type, key: Expr) -> Type:
    if isinstance(type_, ListOf):
        return type_.item
    if isinstance(type_, DictOf):
        return type_.value
    fields = getattr(type_, "fields", ())
    name = key.value if isinstance(key, Constant) else None
    return next((field.type for field in fields if field.name == name), ANY)
