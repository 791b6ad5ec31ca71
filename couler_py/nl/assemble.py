"""An outline as a workflow: its tasks are called through the builders of the DSL, as a person would call them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from couler_py import dsl
from couler_py.ir.model import Workflow
from couler_py.nl.checking import OutlineError, problems
from couler_py.nl.given import Read, annotation, compare, free, literal, member, plain, tell
from couler_py.nl.outline import Argument, Block, Condition, Outline, Task
from couler_py.nl.steps import annotation_of, file_member, notice_step, step_of
from couler_py.nl.words import PRODUCTS, name_of
from couler_py.printer.names import Names, identifier
from couler_py.printer.places import unplaced

_MOST = 1000  # items of a fan-out that says nothing of how many it may have
_PYTHON: dict[str, Any] = {"str": str, "int": int, "float": float, "bool": bool, "list": list[Any]}


def assemble(outline: Outline) -> Workflow:
    """The workflow of an outline.

    Raises `OutlineError` for what is wrong with the outline itself, and `DiagnosticError` for what the checks of the
    DSL find; both name the place.

    >>> from couler_py.nl.outline import Outline, Task
    >>> found = assemble(Outline("nightly", tasks=(Task("load"), Task("fit", takes=("load",)))))
    >>> [template.name for template in found.templates]
    ['nightly', 'load', 'fit']
    """
    found = problems(outline)
    if found:
        raise OutlineError(found)
    return unplaced(_Assembly(outline).workflow())


class _Assembly:
    def __init__(self, outline: Outline):
        self.outline = outline
        self.tasks = {task.name: task for task in outline.tasks}
        self.blocks = {block.name: block for block in outline.blocks}
        self.parts: dict[str, Task | Block] = {**self.blocks, **self.tasks}
        self.values: dict[str, Any] = {}  # what calls gave, by name of the task or block
        self.types: dict[str, str] = {}  # the annotation of each of these, as it is seen from where it stands
        self.items: dict[str, tuple[Any, str]] = {}  # a block's item inside it, and its annotation
        self.absent: set[str] = set()  # what may give nothing: it is guarded, or reads what is
        self.parameters: dict[str, Any] = {}

    def workflow(self) -> Workflow:
        outline = self.outline
        with dsl.Workflow(free(outline.name, self.parts), **self._options()) as flow:
            for each in outline.parameters:
                given = {} if each.default is None else {"default": plain(each.default, each.type)}
                made = flow.parameter(each.name, _PYTHON[each.type], description=each.description, **given)
                self.parameters[each.name] = made
            self._level("")
        names = Names(self.parts)
        for notice in outline.notices:
            name = names.free(name_of(f"notify {notice.on} {notice.channel}"))
            record = {"failure": flow.on_failure, "success": flow.on_success, "exit": flow.on_exit}[notice.on]
            record(partial(tell, notice_step(name, notice), notice))
        return flow.build()

    def _options(self) -> dict[str, Any]:
        outline = self.outline
        found: dict[str, Any] = {
            "description": outline.description,
            "parallelism": outline.parallelism,
            "deadline": outline.deadline,
            "retries": outline.retries or None,
        }
        if outline.schedule is not None:
            crons = outline.schedule.crons
            found |= {
                "schedule": crons[0] if len(crons) == 1 else list(crons),
                "timezone": outline.schedule.timezone,
                "concurrency": outline.schedule.overlap,
            }
        return {key: value for key, value in found.items() if value not in (None, "")}

    # ---- levels

    def _level(self, inside: str) -> None:
        for part in self._sorted(inside):
            if isinstance(part, Block):
                self._block(part)
            else:
                self._task(part)

    def _sorted(self, inside: str) -> list[Task | Block]:
        """The tasks and blocks of a level, each behind all that it waits for, else as they are listed."""
        listed = self.outline.tasks, self.outline.blocks
        here = sorted(
            (part for parts in listed for part in parts if part.inside == inside), key=lambda part: self._place(part)
        )
        found: list[Task | Block] = []
        left = list(here)
        while left:
            waiting = {part.name for part in left}
            ready = next((part for part in left if not self._waits_for(part, waiting)), None)
            if ready is None:
                names = ", ".join(part.name for part in left)
                raise OutlineError((f"these wait for each other in a circle: {names}",))
            found.append(ready)
            left.remove(ready)
        return found

    def _place(self, part: Task | Block) -> int:
        if isinstance(part, Task):
            return self.outline.tasks.index(part)
        inner = [self._place(each) for each in self.parts.values() if each.inside == part.name]
        return min(inner, default=0)

    def _waits_for(self, part: Task | Block, waiting: set[str]) -> bool:
        for name in self._needs(part):
            at: Task | Block | None = self.parts.get(name)
            while at is not None and at.inside != part.inside:
                at = self.parts.get(at.inside)
            if at is not None and at.name in waiting and at is not part:
                return True
        return False

    def _needs(self, part: Task | Block) -> Iterable[str]:
        for condition in part.when:
            yield from (condition.task, condition.other)
        if isinstance(part, Task):
            yield from (*part.takes, *part.after, *part.on_failure, *part.always)
            return
        yield part.items_from
        for each in self.parts.values():
            if each.inside == part.name:
                yield from self._needs(each)

    # ---- tasks

    def _task(self, task: Task) -> None:
        reads = () if task.on_failure or task.kind != "python" else task.takes
        values = self._read(task, reads)
        ordered = [*task.after, *(name for name in task.takes if name not in values.read)]
        step = step_of(task, {name: annotation for name, (_, annotation) in values.given.items()})
        call: Callable[[], Any] = lambda: step(**{name: value for name, (value, _) in values.given.items()})  # noqa: E731
        if task.on_failure:
            made = dsl.on_failure([self.values[name] for name in task.on_failure], call, name=task.name)
        elif task.always:
            made = dsl.always([self.values[name] for name in task.always], call, name=task.name)
        else:
            made = self._guarded(task, call)
        self._order(task, made, ordered)
        self.values[task.name] = made
        self.types[task.name] = annotation_of(task)
        conditional = {name for name in values.read if name in self.absent and name not in values.joined}
        if task.when or task.on_failure or conditional or self._reads_absent(task.when):
            self.absent.add(task.name)

    def _guarded(self, part: Task | Block, call: Callable[[], Any]) -> Any:
        if not part.when:
            return call()
        return dsl.when(self._condition(part.when), call, name=part.name)

    def _order(self, part: Task, made: Any, names: Iterable[str]) -> None:
        for name in dict.fromkeys(names):
            if name in self.values and name not in (*part.on_failure, *part.always):
                dsl.after(made, self.values[name], kind="always" if part.always else "order")

    def _reads_absent(self, conditions: tuple[Condition, ...]) -> bool:
        return any(name in self.absent for each in conditions for name in (each.task, each.other) if name)

    def _read(self, task: Task, reads: tuple[str, ...]) -> Read:
        """What a task is called with: the items of the blocks around it, what other tasks give, and its arguments."""
        names = Names()
        found = Read()
        inside = task.inside
        around = []
        while inside:
            around.append(self.blocks[inside])
            inside = self.blocks[inside].inside
        for block in reversed(around):
            if block.name in self.items and task.kind in ("python", "shell"):
                found.given[names.free(block.item)] = self.items[block.name]
        several = [name for name in reads if name in self.absent]
        joined = several if len(several) > 1 and len({self.types[name] for name in several}) == 1 else []
        for name in reads:
            if name not in self.values or self.types[name] == "None":
                continue
            if name in joined:
                if name != joined[0]:
                    continue
                found.joined.update(joined)
                found.read.update(joined)
                self._give(found, names, self.tasks[name], dsl.first(*(self.values[each] for each in joined)))
                continue
            if task.always:
                continue
            found.read.add(name)
            self._give(found, names, self.tasks[name], self.values[name])
        for argument in task.arguments:
            found.given[names.free(argument.name)] = self._argument(argument)
        return found

    def _give(self, found: Read, names: Names, giver: Task, value: Any) -> None:
        if giver.fields and giver.gives == "file":
            member = file_member(giver)
            found.given[names.free(member, giver.name)] = (getattr(value, member), "Path")
            return
        if giver.fields:
            several = "list[float]" if self.types[giver.name].startswith("list[") else "float"
            for field in giver.fields:
                found.given[names.free(field, f"{giver.name}_{field}")] = (getattr(value, field), several)
            return
        wanted = PRODUCTS.get(giver.role, "")
        annotation = self.types[giver.name]
        if wanted and annotation.startswith("list["):
            wanted = f"{wanted}s" if not wanted.endswith("s") else wanted
        found.given[names.free(*filter(None, (wanted, giver.name)))] = (value, annotation)

    def _argument(self, argument: Argument) -> tuple[Any, str]:
        if argument.parameter:
            declared = next(each for each in self.outline.parameters if each.name == argument.parameter)
            annotation = "list[Any]" if declared.type == "list" else declared.type
            return self.parameters[argument.parameter], annotation
        return literal(argument.value)

    # ---- conditions

    def _condition(self, conditions: tuple[Condition, ...]) -> Any:
        found: Any = None
        for each in conditions:
            one = self._comparison(each)
            found = one if found is None else found & one
        return found

    def _comparison(self, condition: Condition, given: Callable[[str], Any] | None = None) -> Any:
        value_of = given or self.values.__getitem__
        if condition.parameter:
            left = self.parameters[condition.parameter]
        else:
            left = value_of(condition.task)
            left = getattr(left, condition.field) if condition.field else left
        if condition.other:
            other = value_of(condition.other)
            fields = self.tasks[condition.other].fields
            named = condition.field if condition.field in fields else (fields[0] if fields else "")
            return compare(left, condition.op, getattr(other, named) if named else other)
        if isinstance(condition.value, bool):
            return left if condition.value == (condition.op == "==") else ~left
        return compare(left, condition.op, condition.value)

    # ---- blocks

    def _block(self, block: Block) -> None:
        exports = self._exports(block)
        made = self._guarded(block, lambda: self._repeated(block, exports))
        self.values[block.name] = made
        self.types[block.name] = "None"
        inner = [name for name in exports if name in self.tasks]
        for name in inner:
            self.values[name] = made if len(inner) == 1 else member(made, name)
            if block.kind == "each" and self.types[name] != "Path":
                self.types[name] = f"list[{self.types[name]}]"
        if block.when or self._reads_absent(block.when):
            self.absent.update((block.name, *inner))
        for each in self._within(block):
            if each.name not in inner:
                self.values[each.name] = made
                self.types[each.name] = "None"
            if not block.when:
                self.absent.discard(each.name)

    def _repeated(self, block: Block, exports: list[str]) -> Any:
        if block.kind == "loop":

            def body() -> Any:
                self._level(block.name)
                return self._given_back(exports)

            return dsl.loop(
                body,
                until=lambda result: self._ends(block, exports, result),
                max_iterations=block.most,
                name=block.name,
            )

        def each(item: Any) -> Any:
            self.items[block.name] = (item, annotation(item))
            self._level(block.name)
            return self._given_back(exports)

        # The DSL names the item by the parameter of the function.
        named = inspect.Parameter(identifier(block.item), inspect.Parameter.POSITIONAL_OR_KEYWORD)
        each.__signature__ = inspect.Signature([named])  # type: ignore[attr-defined]
        most = block.count if block.count is not None and block.count > _MOST else None
        return dsl.map(
            each,
            self._items(block),
            parallel=block.parallel,
            tolerate=block.tolerate,
            max_items=most,
            name=block.name if len(self._within(block)) > 1 else "",  # a task alone keeps its own name
        )

    def _items(self, block: Block) -> Any:
        if block.items_from:
            return self.values[block.items_from]
        if block.parameter:
            return self.parameters[block.parameter]
        if block.count is not None:
            return dsl.sequence(count=block.count)
        return [list(item) if isinstance(item, tuple) else item for item in block.items]

    def _ends(self, block: Block, exports: list[str], result: Any) -> Any:
        def given(name: str) -> Any:
            return result if len(exports) == 1 else result[name]

        found: Any = None
        for each in block.until:
            one = self._comparison(each, given)
            found = one if found is None else found & one
        return found

    def _given_back(self, exports: list[str]) -> Any:
        if not exports:
            return None
        if len(exports) == 1:
            return self.values[exports[0]]
        return {name: self.values[name] for name in exports}

    def _exports(self, block: Block) -> list[str]:
        """The tasks in a block whose values are read outside of it, or say when it ends."""
        within = {part.name for part in self._within(block)}
        read: dict[str, None] = {}
        for condition in block.until:
            read.update(dict.fromkeys(filter(None, (condition.task, condition.other))))
        for part in self.parts.values():
            if part.name in within or part is block:
                continue
            names = [each for condition in part.when for each in (condition.task, condition.other)]
            names += [*part.takes] if isinstance(part, Task) else [part.items_from]
            read.update(dict.fromkeys(name for name in names if name in within))
        return [
            name for name in self.tasks if name in read and name in within and annotation_of(self.tasks[name]) != "None"
        ]

    def _within(self, block: Block) -> list[Task | Block]:
        found: list[Task | Block] = []
        for part in self.parts.values():
            if part.inside == block.name:
                found.append(part)
                if isinstance(part, Block):
                    found += self._within(part)
        return found


__all__ = ["assemble"]
