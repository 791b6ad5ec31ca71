"""What of a run is worked on again: what failed, some tasks with all that follows them, what a new file has changed.

Tasks are meant here as they are shown (`paths.shown`), so that of what was retried as a whole all attempts count.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping

import msgspec

from couler_py.backends.base import RunNotFoundError
from couler_py.backends.local.paths import shown
from couler_py.ir.codec import digest
from couler_py.ir.graph import Shape, shape, templates_by_name
from couler_py.ir.model import Graph, Inline, Loop, Task, Template, Workflow
from couler_py.passes.split.mark import helpers_of, parts_of
from couler_py.store.records import TaskRecord

_SEGMENT = re.compile(r"(?P<name>[^/\[#!]*)(?P<marks>(?:\[\d+\]|#\d+)*)(?:!.*)?")
_MARK = re.compile(r"\[\d+\]|#\d+")
_END = re.compile(r"[/\[#!]")


class Choice(msgspec.Struct, frozen=True):
    """What is forgotten, so that it is worked on again: `whole` tasks with all inside them, and tasks `around` those.

    `failed` adds whatever didn't succeed. `anew` says that the cache forgets the whole ones, too: somebody asked for
    them by name.
    """

    whole: frozenset[str] = frozenset()
    around: frozenset[str] = frozenset()
    failed: bool = False
    anew: bool = False

    def holds(self, path: str, task: TaskRecord) -> bool:
        """Whether the record of a task, at its inner path, is to be forgotten."""
        name = shown(path)
        return (self.failed and task.state != "Succeeded") or name in self.around or self.chosen(name)

    def chosen(self, name: str) -> bool:
        """Whether a task, as it is shown, was asked for, follows one that was, or is inside of one."""
        return bool(self.whole) and any(each in self.whole for each in _outwards(name))


FAILED = Choice(failed=True)
"""What a plain retry takes: all but what succeeded."""


def choose(
    workflow: Workflow, tasks: Mapping[str, TaskRecord], start: Collection[str], only: Collection[str]
) -> Choice:
    """What a retry of a run takes: from some tasks on (`start`), besides what failed; or some tasks alone (`only`).

    Both take all that follows a task, too. Raises `RunNotFoundError` for a task that the run doesn't have.
    """
    if not start and not only:
        return msgspec.structs.replace(FAILED, around=_handing_over(workflow, tasks))
    names = {shown(path) for path in tasks}
    for name in (*start, *only):
        if name not in names and name != _entry(tasks):
            near = difflib.get_close_matches(name, names - {""}, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise RunNotFoundError(f"the run has no task {name!r}{hint}")
    entry = _entry(tasks)
    found = _following(workflow, names, ["" if name == entry else name for name in (*start, *only)])
    return msgspec.structs.replace(found, failed=bool(start), anew=True)


def _handing_over(workflow: Workflow, tasks: Mapping[str, TaskRecord]) -> frozenset[str]:
    """Of a split workflow the parts, which succeed although a task in them failed, and what tells others how it ended.

    They begin again, and what succeeded inside them stays as it is.
    """
    helpers = helpers_of(workflow)
    told = {shown(path) for path, task in tasks.items() if task.template in helpers}
    return frozenset({*told, *parts_of(workflow)})


def _entry(tasks: Mapping[str, TaskRecord]) -> str:
    """How the only step of a run without a graph is shown: by its template's name."""
    entry = tasks.get("")
    return entry.template if entry is not None and entry.kind not in ("graph", "loop") else ""


def changed(old: Workflow, new: Workflow, tasks: Mapping[str, TaskRecord]) -> tuple[Choice, tuple[str, ...]]:
    """What runs again where the workflow of a run is another: what failed, changed steps and all that follows them.

    Also gives the names of these steps, as they are shown.
    """
    before = templates_by_name(old)
    digests: dict[int, str] = {}

    def of(template: Template) -> str:
        return digests.setdefault(id(template), digest(template))

    steps: dict[str, None] = {}
    around: set[str] = set()
    for path, task in tasks.items():
        if task.kind in ("task", "map") or path.startswith("!"):
            continue
        name = shown(path)
        was, now = before.get(task.template), template_at(new, name)
        if now is not None and was is not None and of(was) == of(now):
            continue
        if now is not None and isinstance(now.body, Graph | Loop) and task.kind in ("graph", "loop"):
            around.update(_outwards(name))  # it begins again, and its tasks are what they are
        else:
            steps[name] = None
    found = _following(new, {shown(path) for path in tasks}, steps)
    whole = found.whole | frozenset(steps)
    return Choice(whole, found.around | around, failed=True), tuple(steps)


def template_at(workflow: Workflow, name: str) -> Template | None:
    """The template of a task as it is shown; None where a workflow has no such task."""
    hops = list(_hops(workflow, name))
    return hops[-1].inside if hops else None


class _Hop(msgspec.Struct, frozen=True):
    """One step of the way to a task: from a template to what is inside at a path."""

    template: Template
    path: str
    inside: Template | None
    task: str = ""
    mark: str = ""


def _hops(workflow: Workflow, name: str) -> Iterator[_Hop]:
    """The way from the entrypoint to a task; its last hop leads nowhere where a workflow has no such task."""
    templates = templates_by_name(workflow)
    template: Template | None = templates.get(workflow.entrypoint)
    if template is not None:
        yield _Hop(template, "", template)
    path = ""
    for segment in name.split("/") if name else ():
        found = _SEGMENT.fullmatch(segment)
        if template is None or found is None:
            return
        path = f"{path}/{found['name']}" if path else found["name"]
        if found["name"]:
            task = _task(template, found["name"])
            inside = None if task is None else _called(templates, task)
            yield _Hop(template, path, inside, found["name"])
            template = inside
        for mark in _MARK.findall(found["marks"]):
            path += mark
            if template is not None:
                inside = template if mark[0] == "[" else _body(templates, template)
                yield _Hop(template, path, inside, mark=mark)
                template = inside


def _task(template: Template, name: str) -> Task | None:
    tasks = template.body.tasks if isinstance(template.body, Graph) else ()
    return next((task for task in tasks if task.name == name), None)


def _called(templates: Mapping[str, Template], task: Task) -> Template | None:
    if isinstance(task.call, Inline):
        return task.call.template
    return templates.get(task.call) if isinstance(task.call, str) else None


def _body(templates: Mapping[str, Template], template: Template) -> Template | None:
    return templates.get(template.body.body) if isinstance(template.body, Loop) else None


def _following(workflow: Workflow, names: Collection[str], chosen: Iterable[str]) -> Choice:
    """Some tasks with all that follows them, at their own level and around it."""
    whole: set[str] = set()
    around: set[str] = set()
    shapes: dict[str, Shape] = {}
    for name in chosen:
        whole.add(name)
        around.update(_outwards(name))
        for hop in _hops(workflow, name):
            outer = hop.path.rpartition("/")[0]
            if hop.task and isinstance(hop.template.body, Graph):
                known = shapes.get(hop.template.name) or shapes.setdefault(hop.template.name, shape(hop.template.body))
                whole.update(f"{outer}/{each}" if outer else each for each in known.behind(hop.task))
            elif hop.mark.startswith("#"):
                loop, number = hop.path[: -len(hop.mark)], int(hop.mark[1:])
                whole.update(f"{loop}#{later}" for later in _later(names, loop, number))
    return Choice(frozenset(whole), frozenset(around))


def _later(names: Collection[str], loop: str, number: int) -> Iterator[int]:
    later = number + 1
    while f"{loop}#{later}" in names:
        yield later
        later += 1


def _outwards(name: str) -> Iterator[str]:
    """A task, and all that is around it, outwards.

    >>> list(_outwards("a/map[3]#2"))
    ['', 'a', 'a/map', 'a/map[3]', 'a/map[3]#2']
    """
    yield ""
    for found in _END.finditer(name):
        if found.start():
            yield name[: found.start()]
    if name:
        yield name
