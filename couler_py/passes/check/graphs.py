"""Graphs: each task by itself, and what they make together."""

from __future__ import annotations

from couler_py.ir.model import Graph, Inline, Task, Template
from couler_py.passes.check.arguments import check_arguments
from couler_py.passes.check.calls import check_called
from couler_py.passes.check.edges import check_edges
from couler_py.passes.check.facts import Facts, Signature
from couler_py.passes.check.fanout import check_each, item_type
from couler_py.passes.check.findings import Findings, Place
from couler_py.passes.check.names import check_distinct
from couler_py.passes.check.references import suggest
from couler_py.passes.check.scope import Called, Scope
from couler_py.passes.check.typing import check_condition

STATUS = frozenset({"status"})


def check_graph(
    template: Template, graph: Graph, facts: Facts, findings: Findings, run: frozenset[str]
) -> dict[str, Called]:
    """Everything about one graph but its outputs. Gives its tasks as others see them."""
    place = Place(template.name, template.source)
    if not graph.tasks:
        findings.error("CLR209", "the graph has no steps", place)
    check_distinct("step", graph.tasks, "CLR204", findings, place)
    formed = _check_form(graph, findings, place)
    own = Signature.of(template)
    tasks = {task.name: Called(task, facts.signature_of_call(task)) for task in graph.tasks}
    for task in graph.tasks:
        if task.each is not None:
            silent = Scope(facts, Findings(), place, "", own, tasks, run=run)
            tasks[task.name] = Called(task, tasks[task.name].signature, item_type(task.each, silent))
    too_deep = False
    for task in graph.tasks:
        scope = Scope(facts, findings, Place(task.name, task.source), "", own, tasks, run=run)
        _check_task(task, tasks[task.name], scope)
        too_deep = too_deep or scope.too_deep
    if too_deep or not formed:
        facts.sound = False
    else:
        check_edges(template, graph, facts, findings)
    return tasks


def _check_task(task: Task, called: Called, scope: Scope) -> None:
    if isinstance(task.call, str) and called.signature is None:
        check_called(task.call, scope.facts, scope.findings, scope.place)
    if task.when is not None:
        scope.what = "the condition"
        check_condition(task.when, scope)
    if task.each is not None:
        check_each(task.each, scope)
        scope.item = called.item
    check_arguments(called.signature, task.arguments, task.artifacts, scope)
    if task.hooks:
        _check_hooks(task, scope)


def _check_hooks(task: Task, scope: Scope) -> None:
    check_distinct("hook", task.hooks, "CLR205", scope.findings, scope.place)
    scope.run |= STATUS
    for hook in task.hooks:
        check_called(hook.call, scope.facts, scope.findings, scope.place)
        if hook.when is not None:
            scope.what = f"the condition of the hook {hook.name}"
            check_condition(hook.when, scope)
        check_arguments(scope.facts.signature_of(hook.call), hook.arguments, hook.artifacts, scope)


def _check_form(graph: Graph, findings: Findings, place: Place) -> bool:
    """Report targets and groups that don't fit the tasks; whether the groups do."""
    names = {task.name for task in graph.tasks}
    for target in graph.targets:
        if target not in names:
            findings.error(
                "CLR220", f"the target {target} is no step of this graph", place, help=suggest(target, names)
            )
    if graph.form == "steps":
        grouped = [name for group in graph.groups for name in group]
        if sorted(grouped) != sorted(names):
            findings.error("CLR217", "in the form `steps`, each step stands in exactly one group", place)
            return False
    elif graph.groups:
        findings.error("CLR217", "only a graph in the form `steps` has groups", place)
    return True


def inline_templates(template: Template) -> list[Template]:
    """The templates that a graph's tasks hold themselves."""
    if not isinstance(template.body, Graph):
        return []
    return [task.call.template for task in template.body.tasks if isinstance(task.call, Inline)]
