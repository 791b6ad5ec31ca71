"""Lists of items: on Argo a text that is read as JSON, and items that are filled into texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from couler_py.ir.diagnostics import Diagnostic, warning
from couler_py.ir.expr import Access, Expr, FromJson, Item, Literal, TaskOutput, Text
from couler_py.ir.model import Each, Graph, Http, OutputParameter, Script, Sequence, Task, Template
from couler_py.ir.pod import Container
from couler_py.ir.types import ANY, ListOf
from couler_py.ir.wire import as_text
from couler_py.passes.portable.nodes import changed, nodes

LIST = ListOf(ANY)
_NUMBER = re.compile(r"-?[0-9]+", re.ASCII)
NO_TAG = "{{item}}"
Place = tuple[str, str]
"""A template, and one of its outputs."""


def with_lists(templates: Iterable[Template]) -> tuple[tuple[Template, ...], list[Diagnostic]]:
    """The templates; an output that is only read as a list of items is one. And what there is to say about that."""
    known = {template.name: template for template in templates}
    read = dict.fromkeys(place for template in known.values() for place, _ in _lists(template))
    others = {place for template in known.values() for place in _otherwise(template)}
    made = [place for place in read if place not in others and _is_leaf(known, place)]
    chosen = frozenset(made)
    findings = [_said(known[name], output) for name, output in made]
    return tuple(_typed(_direct(template, chosen), chosen) for template in known.values()), findings


def _calls(template: Template) -> Mapping[str, str]:
    body = template.body
    tasks = body.tasks if isinstance(body, Graph) else ()
    return {task.name: task.call for task in tasks if isinstance(task.call, str) and task.each is None}


def _lists(template: Template) -> Iterator[tuple[Place, TaskOutput]]:
    """The outputs that the fan-outs of a graph read as JSON, each by itself."""
    calls = _calls(template)
    for task in template.body.tasks if isinstance(template.body, Graph) else ():
        if task.each is not None and isinstance(task.each.items, FromJson):
            output = task.each.items.text
            if isinstance(output, TaskOutput) and output.task in calls:
                yield (calls[output.task], output.name), output


def _otherwise(template: Template) -> Iterator[Place]:
    """The outputs that a graph reads in any other way."""
    calls = {task.name: task.call for task in template.body.tasks} if isinstance(template.body, Graph) else {}
    lists = [output for _, output in _lists(template)]
    for node in nodes(template):
        if isinstance(node, TaskOutput):
            if node in lists:
                lists.remove(node)
            else:
                yield (str(calls.get(node.task)), node.name)


def _is_leaf(known: Mapping[str, Template], place: Place) -> bool:
    template = known.get(place[0])
    if template is None or not isinstance(template.body, Container | Script | Http):
        return False
    output = next((each for each in template.outputs.parameters if each.name == place[1]), None)
    return output is not None and output == OutputParameter(output.name, path=output.path, stdout=output.stdout)


def _direct(template: Template, chosen: frozenset[Place]) -> Template:
    calls = _calls(template)

    def change(expr: Expr) -> Expr:
        if isinstance(expr, FromJson) and isinstance(expr.text, TaskOutput):
            place = (calls.get(expr.text.task, ""), expr.text.name)
            return expr.text if place in chosen else expr
        return expr

    found: Template = changed(template, change)
    return found


def _typed(template: Template, chosen: frozenset[Place]) -> Template:
    given = template.outputs.parameters
    made = tuple(
        msgspec.structs.replace(each, type=LIST) if (template.name, each.name) in chosen else each for each in given
    )
    if made == given:
        return template
    return msgspec.structs.replace(template, outputs=msgspec.structs.replace(template.outputs, parameters=made))


def _said(template: Template, output: str) -> Diagnostic:
    return warning(
        "CLR306",
        f"the output {output} is a list here, since its items are what is read of it",
        source=template.source,
        step=template.name,
        why="on Argo it is a text: where it isn't the JSON of a list, the fan-out fails there, and this step here",
    )


# ---- items


def with_texts(task: Task) -> Task:
    """A task, its items as the texts that Argo fills in; without items the tag is no tag."""
    each = task.each
    if each is None:
        found: Task = changed(task, lambda expr: Literal(NO_TAG) if expr == Item() else expr)
        return found
    if isinstance(each.items, Literal) and isinstance(each.items.value, list):
        made = _as_texts(each.items.value, task)
        if made is not None:
            return msgspec.structs.replace(task, each=msgspec.structs.replace(each, items=Literal(made)))
    if isinstance(each.items, Sequence):
        each = msgspec.structs.replace(each, items=_numbers(each.items))
    return msgspec.structs.replace(
        task,
        each=each,
        arguments=tuple(msgspec.structs.replace(one, value=_text(one.value, each)) for one in task.arguments),
    )


def _numbers(given: Sequence) -> Sequence:
    """A sequence with the numbers that its texts are."""
    parts = {name: getattr(given, name) for name in ("start", "end", "count")}
    known = {
        name: Literal(int(part.value))
        for name, part in parts.items()
        if isinstance(part, Literal) and isinstance(part.value, str) and _NUMBER.fullmatch(part.value)
    }
    return msgspec.structs.replace(given, **known)


def _as_texts(items: list[Any], task: Task) -> list[Any] | None:
    """The items, or their members, as texts, as far as a task reads only these; None where it reads more."""
    rest = msgspec.structs.replace(task, each=None)
    found = list(nodes(rest))
    members = [node for node in found if isinstance(node, Access) and node.value == Item()]
    whole = sum(1 for node in found if node == Item()) > len(members)
    if not members and all(_is_scalar(item) for item in items):
        return list(map(as_text, items))
    objects = all(isinstance(item, dict) and all(map(_is_scalar, item.values())) for item in items)
    if objects and not whole:
        return [{key: as_text(value) for key, value in item.items()} for item in items]
    return None


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def _text(value: Expr, each: Each) -> Expr:
    """A value that may be no text, as one."""
    of_item = value == Item() or (isinstance(value, Access) and value.value == Item())
    return Text((value,)) if of_item and not _of_texts(each) else value


def _of_texts(each: Each) -> bool:
    return isinstance(each.items, Sequence) and bool(each.items.form)
