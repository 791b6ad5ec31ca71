"""Fan-outs over very many items, in batches: one pod or process works on several items, one after the other.

It is done for Python steps whose items are written down, and whose fan-out tolerates no failure. Each item is checked
and built as if it were alone; where one fails, the others of its batch are worked on all the same, as in other pods,
and the batch fails then. One more task puts the lists of the batches together; it has the name of the fan-out, so that
readers see no difference.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from couler_py.ir import to_builtins
from couler_py.ir.evaluate import EvaluationError, evaluate
from couler_py.ir.expr import Access, Expr, Item, Literal, TaskItems, TaskOutput, TaskStatus, walk
from couler_py.ir.graph import expressions, has_edges_alone, templates_by_name
from couler_py.ir.interface import Argument, Inputs, OutputParameter, Outputs, Parameter
from couler_py.ir.model import Each, Function, Graph, Piece, Sequence, Task, Template, Workflow
from couler_py.ir.names import free_name
from couler_py.ir.pod import Resources
from couler_py.ir.types import ANY, ListOf, Type, accepts, mismatch, type_of_literal
from couler_py.ir.wire import NON_FINITE
from couler_py.passes.parallel.chains import bare
from couler_py.passes.parallel.making import keep, with_made
from couler_py.passes.situation import Note

FLAT = """\
def flat(**batches):
    return {name: [value for batch in found for value in batch] for name, found in batches.items()}"""
"""What puts the lists of batches together."""


def batched(workflow: Workflow, size: int) -> tuple[Workflow, tuple[Note, ...]]:
    """The workflow with its fan-outs of more than `size` items in batches of so many."""
    known = templates_by_name(workflow)
    made: dict[str, Template] = {}
    notes: list[Note] = []
    templates = []
    for template in workflow.templates:
        if isinstance(template.body, Graph):
            template = _in_graph(template, template.body, known, made, notes, size)
        templates.append(template)
    if not made:
        return workflow, ()
    return with_made(replace(workflow, templates=tuple(templates)), made), tuple(notes)


def _in_graph(
    template: Template,
    graph: Graph,
    known: Mapping[str, Template],
    made: dict[str, Template],
    notes: list[Note],
    size: int,
) -> Template:
    if not has_edges_alone(graph):
        return template
    looked_at = {
        node.task for expr in expressions(template) for node in walk(expr) if isinstance(node, TaskItems | TaskStatus)
    }
    tasks: list[Task] = []
    for task in graph.tasks:
        step = known.get(task.call) if isinstance(task.call, str) else None
        items = _items(task.each) if task.each is not None else None
        if step is None or items is None or len(items) <= size or task.name in looked_at or not _can(task, step):
            tasks.append(task)
            continue
        columns = _columns(task, items)
        types = None if columns is None else _types(step, columns)
        if columns is None or types is None:
            tasks.append(task)
            continue
        names = {each.name for each in (*graph.tasks, *tasks)}
        tasks.extend(_tasks(task, _batch(step, types), columns, len(items), size, names, known, made))
        count = -(-len(items) // size)
        why = f"each works on its items one after the other, {len(items):,} in all"
        saves = f"{len(items) - count:,} starts"
        notes.append(Note(task.name, f"{count:,} batches of {size} items", why, saves, task.source))
    return replace(template, body=replace(graph, tasks=tuple(tasks)))


def _items(each: Each) -> list[Any] | None:
    """The items, where they are written down."""
    items = each.items
    if isinstance(items, Literal) and isinstance(items.value, list) and len(items.value) <= each.max_items:
        return items.value
    if isinstance(items, Sequence) and isinstance(items.count, Literal) and items.end is None and not items.form:
        start = items.start.value if isinstance(items.start, Literal) else 0 if items.start is None else None
        count = items.count.value
        if isinstance(start, int) and isinstance(count, int) and count <= each.max_items:
            return list(range(start, start + count))
    return None


def _can(task: Task, step: Template) -> bool:
    assert task.each is not None
    if task.each.tolerate or task.hooks or task.continue_on or task.extra is not None or task.artifacts:
        return False
    if not isinstance(step.body, Function) or step.body.over or step.body.links or not bare(step):
        return False
    outputs = step.outputs
    if step.inputs.artifacts or outputs.artifacts:
        return False
    return not any(each.value is not None or each.global_name for each in outputs.parameters)


def _columns(task: Task, items: list[Any]) -> dict[str, list[Any]] | None:
    """The values of each argument that depends on the item, item by item; None where one needs more than the item."""
    found: dict[str, list[Any]] = {}
    for argument in task.arguments:
        if not any(isinstance(node, Item) for node in walk(argument.value)):
            continue
        if not all(isinstance(node, Item | Literal | Access | str) for node in walk(argument.value)):
            return None
        try:
            found[argument.name] = [_value(argument.value, item) for item in items]
        except EvaluationError:
            return None  # the item fails by itself, and alone
    return found or None


def _types(step: Template, columns: Mapping[str, list[Any]]) -> dict[str, Type] | None:
    """The types of the lists that a batch takes; None where an item isn't of its type, which fails by itself.

    Where what is written down doesn't show that it is of its type, as of the values of an enum, the list may hold
    anything: it was looked at here.
    """
    found: dict[str, Type] = {}
    for parameter in step.inputs.parameters:
        values = columns.get(parameter.name)
        if values is None:
            continue
        if any(mismatch(parameter.type, value) is not None for value in values):
            return None
        if accepts(ListOf(parameter.type), type_of_literal(values)):
            found[parameter.name] = ListOf(parameter.type)
        elif any(name in str(values) for name in NON_FINITE):
            return None  # only its type says which text is a number
        else:
            found[parameter.name] = ListOf(ANY)
    return found


def _value(expr: Expr, item: Any) -> Any:
    return evaluate(to_builtins(expr), lambda node: item)


def _tasks(
    task: Task,
    batch: Template,
    columns: Mapping[str, list[Any]],
    count: int,
    size: int,
    names: Container[str],
    known: Mapping[str, Template],
    made: dict[str, Template],
) -> Iterable[Task]:
    """The fan-out over batches, and, where there is something to read, the task that puts their lists together."""
    assert task.each is not None
    items = [
        {name: values[start : start + size] for name, values in columns.items()} for start in range(0, count, size)
    ]
    arguments = tuple(
        replace(each, value=Access(Item(), Literal(each.name))) if each.name in columns else each
        for each in task.arguments
    )
    each = replace(task.each, items=Literal(items), max_items=max(len(items), 1))
    call = keep(batch, known, made)
    if not batch.outputs.parameters:
        yield replace(task, call=call, arguments=arguments, each=each)
        return
    name = free_name(f"{task.name}-batches", names)
    yield replace(task, name=name, call=call, arguments=arguments, each=each)
    lists = tuple(Argument(out.name, TaskOutput(name, out.name)) for out in batch.outputs.parameters)
    flat = keep(_flat(batch), known, made)
    yield Task(task.name, flat, lists, display=task.display, source=task.source)


def _batch(step: Template, types: Mapping[str, Type]) -> Template:
    body = step.body
    assert isinstance(body, Function)
    parameters = tuple(
        Parameter(each.name, types[each.name], description=each.description) if each.name in types else each
        for each in step.inputs.parameters
    )
    outputs = tuple(OutputParameter(each.name, ListOf(each.type)) for each in step.outputs.parameters)
    return replace(
        step,
        name=f"{step.name}-batch",
        body=replace(body, over=tuple(types)),
        inputs=Inputs(parameters),
        outputs=Outputs(outputs),
        display="",
    )


def _flat(batch: Template) -> Template:
    """What puts the lists of batches together, in the image of their step."""
    body = batch.body
    assert isinstance(body, Function)
    inputs = tuple(Parameter(each.name, ListOf(each.type)) for each in batch.outputs.parameters)
    outputs = tuple(OutputParameter(each.name, each.type) for each in batch.outputs.parameters)
    plain = Function("flat", (Piece(FLAT),), "fields", body.image, body.command, pull_policy=body.pull_policy)
    whole = replace(plain, resources=Resources())
    name = f"{batch.name.removesuffix('-batch')}-flat"
    return Template(name, whole, Inputs(inputs), Outputs(outputs), pod=batch.pod, source=batch.source)
