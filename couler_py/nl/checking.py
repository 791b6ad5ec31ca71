"""What is wrong with an outline that its types can't say: names that nobody has, cycles, comparisons that can't be."""

from __future__ import annotations

import keyword
from collections.abc import Iterator

from couler_py.ir.diagnostics import CoulerError
from couler_py.ir.schedules import cron_problem, is_timezone
from couler_py.nl.outline import Block, Condition, Outline, Task


class OutlineError(CoulerError):
    """An outline that no workflow can be made of. `problems` are texts that name the place."""

    def __init__(self, problems: tuple[str, ...]):
        self.problems = problems
        super().__init__("\n".join(problems))


def problems(outline: Outline) -> tuple[str, ...]:
    """Everything that keeps an outline from being a workflow, as texts that name the place and the way out.

    >>> from couler_py.nl.outline import Outline, Task
    >>> problems(Outline("x", tasks=(Task("fit", takes=("load",)),)))
    ("task fit takes 'load', and there is no task of that name",)
    """
    return tuple(dict.fromkeys((*_names(outline), *_references(outline), *_kinds(outline), *_schedule(outline))))


def parts(outline: Outline) -> list[Task | Block]:
    """The tasks and blocks of an outline."""
    return [*outline.tasks, *outline.blocks]


def _names(outline: Outline) -> Iterator[str]:
    if not outline.tasks:
        yield "there are no tasks"
    seen: set[str] = set()
    for each in parts(outline):
        if each.name in seen:
            yield f"the name {each.name!r} is given twice: tasks and blocks share their names"
        if keyword.iskeyword(each.name):
            yield f"the name {each.name!r} is a word of Python's: take another"
        seen.add(each.name)
    parameters = [each.name for each in outline.parameters]
    for name in sorted({name for name in parameters if parameters.count(name) > 1}):
        yield f"the parameter {name!r} is given twice"
    spoken = [name for task in outline.tasks for name in (*task.fields, *(each.name for each in task.arguments))]
    spoken += [*parameters, *(block.item for block in outline.blocks)]
    for name in sorted({name for name in spoken if keyword.iskeyword(name)}):
        yield f"the name {name!r} is a word of Python's: take another"
    for task in outline.tasks:
        given = [argument.name for argument in task.arguments]
        for name in sorted({name for name in given if given.count(name) > 1}):
            yield f"task {task.name} has the argument {name!r} twice"


def _references(outline: Outline) -> Iterator[str]:
    tasks = {task.name for task in outline.tasks}
    blocks = {block.name: block for block in outline.blocks}
    parameters = {each.name for each in outline.parameters}
    for task in outline.tasks:
        for verb, names in (
            ("takes", task.takes),
            ("comes after", task.after),
            ("handles failures of", task.on_failure),
            ("always follows", task.always),
        ):
            for name in names:
                if name not in tasks and not (name in blocks and verb != "takes"):
                    yield f"task {task.name} {verb} {name!r}, and there is no task of that name"
                if name == task.name:
                    yield f"task {task.name} {verb} itself"
        if task.on_failure and task.always:
            yield f"task {task.name} has both on_failure and always: one of them"
        if (task.on_failure or task.always) and task.when:
            yield f"task {task.name} has a condition and on_failure or always: put the condition on a task of its own"
        for argument in task.arguments:
            if argument.parameter and argument.parameter not in parameters:
                yield f"task {task.name} is given the parameter {argument.parameter!r}, which the run doesn't have"
    for each in parts(outline):
        if each.inside and each.inside not in blocks:
            yield f"{each.name} is inside {each.inside!r}, and there is no block of that name"
        for condition in each.when:
            yield from _condition(condition, each.name, outline)
    for block in outline.blocks:
        yield from _block(block, outline, blocks)


def _block(block: Block, outline: Outline, blocks: dict[str, Block]) -> Iterator[str]:
    around, steps = block.inside, 0
    while around in blocks and steps <= len(blocks):
        around, steps = blocks[around].inside, steps + 1
    if steps > len(blocks):
        yield f"block {block.name} is inside itself"
    if not any(each.inside == block.name for each in parts(outline)):
        yield f"block {block.name} holds no task: name it in `inside` of one"
    if block.kind == "each":
        sources = [bool(block.items), bool(block.items_from), bool(block.parameter), block.count is not None]
        if sum(sources) != 1:
            yield f"block {block.name} needs exactly one of items, count, items_from and parameter"
        giver = next((task for task in outline.tasks if task.name == block.items_from), None)
        if block.items_from and giver is None:
            yield f"block {block.name} has its items from {block.items_from!r}, and there is no task of that name"
        if giver is not None and (giver.gives not in ("list", "value") or giver.kind != "python" or giver.fields):
            yield f"block {block.name} has its items from {giver.name}, which has to give a list"
        if giver is not None and block.name in _around(giver.inside, blocks):
            yield f"block {block.name} has its items from {giver.name}, which is inside it"
        given = next((each for each in outline.parameters if each.name == block.parameter), None)
        if block.parameter and (given is None or given.type != "list"):
            yield f"block {block.name} has its items from the parameter {block.parameter!r}, which has to be a list"
        return
    if not block.until:
        yield f"loop {block.name} needs a condition: until"
    inner = {task.name for task in outline.tasks if task.inside == block.name}
    for condition in block.until:
        yield from _condition(condition, block.name, outline)
        for name in (condition.task, condition.other):
            if name and name not in inner:
                yield f"loop {block.name} ends by what {name!r} gives, which is no task right inside it"
        if not condition.task:
            yield f"loop {block.name} has to read something that a task inside it gives, or it never changes"


def _around(name: str, blocks: dict[str, Block]) -> list[str]:
    """The block of a name and those around it, from the inside out."""
    found: list[str] = []
    while name in blocks and name not in found:
        found.append(name)
        name = blocks[name].inside
    return found


def _condition(condition: Condition, where: str, outline: Outline) -> Iterator[str]:
    tasks = {task.name: task for task in outline.tasks}
    parameters = {each.name: each for each in outline.parameters}
    if bool(condition.task) == bool(condition.parameter):
        yield f"a condition of {where} needs exactly one of task and parameter"
    if condition.parameter and condition.parameter not in parameters:
        yield f"a condition of {where} reads the parameter {condition.parameter!r}, which the run doesn't have"
    for name in (condition.task, condition.other):
        if name and name not in tasks:
            yield f"a condition of {where} reads {name!r}, and there is no task of that name"
        elif name == where:
            yield f"a condition of {where} reads what it gives itself"
        elif name and tasks[name].gives in ("nothing", "file", "list") and not tasks[name].fields:
            yield f"a condition of {where} reads what {name} gives: that is {tasks[name].gives}, not a value to compare"
    task = tasks.get(condition.task)
    if task is not None and condition.field and condition.field not in task.fields:
        yield f"a condition of {where} reads {condition.field!r} of {task.name}, which gives no such field"
    if task is not None and task.fields and not condition.field:
        yield f"a condition of {where} reads {task.name}: say which field, of {', '.join(task.fields)}"
    kind = _kind_of(task, condition.field) if task is not None else ""
    if condition.parameter in parameters:
        kind = {"int": "number", "float": "number", "bool": "flag", "str": "text"}.get(
            parameters[condition.parameter].type, "list"
        )
    if not condition.other:
        value = condition.value
        fits = {
            "number": isinstance(value, int | float) and not isinstance(value, bool),
            "flag": isinstance(value, bool) and condition.op in ("==", "!="),
            "text": isinstance(value, str) and condition.op in ("==", "!="),
            "list": False,
        }
        if not fits.get(kind, True):
            yield f"a condition of {where} compares a {kind} with {value!r} by {condition.op}"
        if kind == "value" and condition.op not in ("==", "!=") and isinstance(value, bool | str):
            yield f"a condition of {where} compares {value!r} by {condition.op}"


def _kind_of(task: Task, field: str) -> str:
    return "number" if field else task.gives


def _kinds(outline: Outline) -> Iterator[str]:
    for task in outline.tasks:
        needed = {"shell": ("command", task.command), "container": ("image", task.image), "http": ("url", task.url)}
        if task.kind in needed and not needed[task.kind][1].strip():
            yield f"task {task.name} is of the kind {task.kind} and needs {needed[task.kind][0]}"
        if task.kind == "wait" and not task.seconds:
            yield f"task {task.name} waits, and needs seconds"


def _schedule(outline: Outline) -> Iterator[str]:
    if outline.schedule is None:
        return
    for line in outline.schedule.crons:
        problem = cron_problem(line)
        if problem is not None:
            yield f"the schedule {line!r} is no cron line: {problem}"
    if not is_timezone(outline.schedule.timezone):
        yield f"there is no time zone {outline.schedule.timezone!r}: take a name as Europe/Berlin"
    for each in outline.parameters:
        if each.default is None:
            yield f"the parameter {each.name!r} needs a default, for nobody is asked when a schedule starts a run"


__all__ = ["OutlineError", "problems"]
