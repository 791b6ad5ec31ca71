"""Who calls whom: that what is called is there, that calls come to an end, and that nothing is left over."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from couler_py.ir.graph import strongly_connected
from couler_py.ir.model import Graph, Inline, Loop, Task, Template, Workflow
from couler_py.passes.check.facts import Facts
from couler_py.passes.check.findings import Findings, Place
from couler_py.passes.check.references import suggest


def check_entrypoint(facts: Facts, findings: Findings) -> None:
    """The workflow begins with a template that it has."""
    workflow = facts.workflow
    if workflow.entrypoint not in facts.templates:
        findings.error(
            "CLR201",
            no_entrypoint(workflow),
            Place(workflow.name, workflow.source),
            help=suggest(workflow.entrypoint, facts.templates),
        )


def no_entrypoint(workflow: Workflow) -> str:
    """What is said of a workflow that doesn't begin with a template that it has."""
    if not workflow.entrypoint:
        return "the workflow has no entrypoint"
    return f"the entrypoint {workflow.entrypoint!r} is no template of the workflow"


def check_called(name: str, facts: Facts, findings: Findings, place: Place) -> None:
    """A template that is called is there."""
    if name not in facts.templates:
        findings.error(
            "CLR206", f"the template {name!r} is called, and there is none", place, help=suggest(name, facts.templates)
        )


def check_unreachable(facts: Facts, findings: Findings) -> None:
    """Every template can be called by a run."""
    reached = set(facts.reachable)
    for name, template in facts.templates.items():
        if name not in reached:
            findings.warning("CLR208", "no run can call this template", Place(name, template.source))


def check_endless(facts: Facts, findings: Findings) -> None:
    """A template that calls itself does so only under a condition. Asks `facts.possibilities`."""
    if not facts.calling_themselves:
        return
    calls = {name: tuple(dict.fromkeys(_sure_calls(template, facts))) for name, template in facts.templates.items()}
    place = {name: number for number, name in enumerate(facts.templates)}
    for group in strongly_connected(calls):
        if len(group) == 1 and group[0] not in calls[group[0]]:
            continue
        names = sorted(group, key=place.__getitem__)
        way = " -> ".join((*names, names[0]))
        findings.error(
            "CLR207",
            f"this never ends: {way} calls itself without a condition",
            Place(names[0], facts.templates[names[0]].source),
            help="guard the call with `when`, or use a loop",
        )


def _sure_calls(template: Template, facts: Facts) -> Iterator[str]:
    """The templates that every run of one calls, as long as nothing fails."""
    body = template.body
    if isinstance(body, Loop):
        yield body.body
    elif isinstance(body, Graph):
        calls = [(task, name) for task in body.tasks for name in _names(task)]
        if not any(name in facts.calling_themselves for _, name in calls):
            return
        possible = facts.possibilities.of_graph(template)
        for task, name in calls:
            guarded = task.when is not None or task.depends is not None or _may_be_empty(task)
            if not guarded and not possible[task.name].skipped:
                yield name


def _names(task: Task) -> Iterator[str]:
    if isinstance(task.call, str):
        yield task.call
    elif isinstance(task.call, Inline):
        inner = task.call.template.body
        if isinstance(inner, Loop):
            yield inner.body
        elif isinstance(inner, Graph):
            for one in inner.tasks:
                if one.when is None and one.each is None and one.depends is None:
                    yield from _names(one)


def _may_be_empty(task: Task) -> bool:
    if task.each is None:
        return False
    items = getattr(task.each.items, "value", msgspec.UNSET)
    return not (isinstance(items, list) and items)
