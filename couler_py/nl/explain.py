"""A workflow in plain words: what runs when, one line a step."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import UNSET

from couler_py.ir import expr as x
from couler_py.ir.graph import templates_by_name
from couler_py.ir.meaning import edges
from couler_py.ir.model import (
    Each,
    Function,
    Graph,
    Http,
    Loop,
    Schedule,
    Script,
    Sequence,
    Suspend,
    Task,
    Template,
    Workflow,
)
from couler_py.ir.pod import Container
from couler_py.report.graph.phrase import phrase

_MOMENTS = {
    "failure": "When the run has failed",
    "success": "When the run has succeeded",
    "exit": "When the run has ended",
}


def explain(workflow: Workflow) -> str:
    """What a workflow will do, as lines of text: when it starts, its steps in order, and what runs at its end.

    >>> import couler_py as couler
    >>> w = couler.Workflow("pause")
    >>> nothing = w.add(couler.suspend("1m"))
    >>> print(explain(w.build()))
    1. suspend waits 60 seconds.
    """
    return "\n".join(_lines(workflow))


def _lines(workflow: Workflow) -> Iterator[str]:
    templates = templates_by_name(workflow)
    if workflow.schedule is not None:
        yield _when(workflow.schedule)
    for parameter in workflow.parameters:
        yield f"It is given {parameter.name}{_default(parameter.default)}."
    entry = templates[workflow.entrypoint]
    if isinstance(entry.body, Graph):
        yield from _graph(entry.body, templates, "", ())
    for handler in workflow.handlers:
        yield f"{_MOMENTS.get(handler.on, 'At a moment of the run')}: {_calls(templates[handler.call], templates)}."


def _default(value: object) -> str:
    return ", which whoever starts it has to say" if value is UNSET else f" ({value} if nothing is said)"


def _when(schedule: Schedule) -> str:
    lines = " and ".join(schedule.crons)
    zone = schedule.timezone or "the engine's own"
    return f"It starts by itself at {lines} (minute, hour, day, month, weekday), time zone {zone}."


def _graph(graph: Graph, templates: dict[str, Template], indent: str, above: tuple[str, ...]) -> Iterator[str]:
    for number, task in enumerate(graph.tasks, 1):
        called = templates.get(task.call) if isinstance(task.call, str) else None
        yield f"{indent}{number}. {_task(task, called)}."
        if called is None or called.name in above:
            continue
        body = called.body
        if isinstance(body, Loop) and isinstance(templates[body.body].body, Graph):
            body = templates[body.body].body
        if isinstance(body, Graph):
            yield from _graph(body, templates, f"{indent}   ", (*above, called.name))


def _task(task: Task, template: Template | None) -> str:
    parts = [task.display or task.name]
    waits = [(name, edge.kind) for edge in edges(task) for name in edge.tasks]
    for kind, words in (("on_failure", "only if {} failed"), ("always", "in any case after {}")):
        names = [name for name, of in waits if of == kind]
        if names:
            parts.append(words.format(_and(names)))
    before = [name for name, of in waits if of not in ("on_failure", "always")]
    if before:
        parts.append(f"after {_and(before)}")
    if task.when is not None:
        parts.append(f"only if {phrase(task.when)}")
    if task.each is not None:
        parts.append(_each(task.each))
    return f"{', '.join(parts)}{_does(template)}"


def _does(template: Template | None) -> str:
    if template is None:
        return ""
    body = template.body
    if isinstance(body, Loop):
        return f": again until {phrase(body.until)}, at most {body.max_iterations} times"
    if isinstance(body, Suspend):
        return f" waits {body.duration:g} seconds" if body.duration else " waits for a person's approval"
    if isinstance(body, Http):
        return f" asks {phrase(body.url)}"
    if isinstance(body, Script):
        return f" runs the command {phrase(body.source)}{_policies(template)}"
    if isinstance(body, Container):
        return f" runs the image {phrase(body.image)}{_policies(template)}"
    said = template.description.rstrip(".")
    to_write = " (still to be written)" if isinstance(body, Function) and _unwritten(body) else ""
    return f"{f': {said}' if said else ''}{to_write}{_policies(template)}"


def _unwritten(body: Function) -> bool:
    return "raise NotImplementedError(" in body.pieces[-1].text


def _policies(template: Template) -> str:
    found = []
    if template.retry is not None:
        found.append(f"tried again up to {template.retry.limit} times")
    if template.timeout is not None:
        found.append(f"at most {template.timeout:g} seconds")
    return f"; {', '.join(found)}" if found else ""


def _each(each: Each) -> str:
    if isinstance(each.items, Sequence):
        return "for each number of a sequence"
    if isinstance(each.items, x.Literal) and isinstance(each.items.value, list | tuple):
        shown = [str(item) for item in each.items.value[:8]]
        more = f" and {len(each.items.value) - 8} more" if len(each.items.value) > 8 else ""
        return f"for each of {', '.join(shown)}{more}"
    return f"for each of {phrase(each.items)}"


def _calls(template: Template, templates: dict[str, Template]) -> str:
    if not isinstance(template.body, Graph):
        return f"{template.name}{_does(template)}"
    return ", then ".join(_task(task, templates.get(str(task.call))) for task in template.body.tasks)


def _and(names: list[str]) -> str:
    unique = list(dict.fromkeys(names))
    return unique[0] if len(unique) == 1 else f"{', '.join(unique[:-1])} and {unique[-1]}"
