"""The edges of a `dag`: what tasks wait for exists, in one way of saying it, and without a ring."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from couler_py.argolang import RESERVED, RESULTS
from couler_py.backends.argo.lint.finding import Finding, Path
from couler_py.backends.argo.lint.rules import language
from couler_py.backends.argo.lint.rules.depends import OF_ITEMS, dependencies, in_order, words
from couler_py.backends.argo.lint.rules.flow import Call, Flow, Template
from couler_py.backends.argo.lint.rules.references import nearest


class Ancestry:
    """Who comes before whom in one `dag`: a set of bits for each task, made when somebody asks."""

    def __init__(self, template: Template) -> None:
        self._calls = template.by_name

    def before(self, call: Call, other: str) -> bool:
        """Whether `other` ends before `call` begins."""
        return other in dependencies(call.data) or bool(self._bits.get(call.name, 0) >> self._number[other] & 1)

    @cached_property
    def _number(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self._calls)}

    @cached_property
    def _bits(self) -> dict[str, int]:
        """The bits of each task whose order can be told; those behind a ring have none."""
        bits: dict[str, int] = {}
        tasks = {name: call.data for name, call in self._calls.items()}
        for name in in_order(tasks, rings=False):
            found = 0
            for each in dependencies(tasks[name]):
                if each in tasks:
                    found |= bits[each] | 1 << self._number[each]
            bits[name] = found
        return bits


def edges(flow: Flow) -> Iterator[Finding]:
    """What a task waits for is a task of its graph, and how it waits is something that Argo can tell."""
    for template in flow.all_templates:
        if template.type != "dag":
            continue
        names = template.by_name
        uses_depends = any(call.data.get("depends") for call in template.calls)
        for call in template.calls:
            if call.data.get("depends"):
                yield from _depends(call, names)
            else:
                for index, each in enumerate(call.data.get("dependencies", ())):
                    path = (*call.path, "dependencies", index)
                    for name, _, _ in words(each):
                        if name not in names:
                            yield _undefined(call, name, path, 0, names)
            if uses_depends:
                yield from _mixed(call)
        yield from _ring(template)
        yield from _targets(template)


def _undefined(call: Call, name: str, path: Path, offset: int, names: Mapping[str, Call]) -> Finding:
    return Finding(
        "CLR461",
        f"{call.where} waits for {name!r}, which is no task of its graph",
        path,
        offset=offset,
        why="a task can wait only for tasks of the same `dag`",
        help=nearest(name, [each for each in names if each != call.name]),
    )


def _depends(call: Call, names: Mapping[str, Call]) -> Iterator[Finding]:
    text, path, fine = call.data["depends"], (*call.path, "depends"), True
    for name, result, offset in words(text):
        if name not in names:
            fine = False
            yield _undefined(call, name, path, offset, names)
        elif result and result not in RESULTS:
            fine = False
            yield Finding(
                "CLR463",
                f"{call.where} waits for {name}.{result}, and a task has no such result",
                path,
                offset=offset + len(name) + 1,
                why=f"results are {', '.join(RESULTS)}",
                help=nearest(result, RESULTS),
            )
        elif result in OF_ITEMS and not names[name].loops:
            yield Finding(
                "CLR463",
                f"{call.where} waits for {name}.{result}, and {name!r} isn't run for items",
                path,
                offset=offset,
                why=f"{result} is about the items of `withItems`, `withParam` or `withSequence`",
                help=f"write {name}.{'Succeeded' if result == 'AnySucceeded' else 'Failed'}",
            )
    if fine and "{{" not in text and RESERVED.isdisjoint(name for name, _, _ in words(text)):
        readable = re.sub(r"[a-zA-Z0-9][-a-zA-Z0-9]*", lambda m: m[0].replace("-", "_"), text)
        if (problem := language.expression_problem(readable)) is not None:
            yield Finding(
                "CLR463",
                f"what {call.where} depends on can't be read: {problem.message}",
                path,
                offset=min(problem.offset, len(text)),
                why="the server doesn't look, and the task ends in Error when its turn comes",
                help="join tasks with `&&`, `||`, `!` and parentheses",
            )


def _mixed(call: Call) -> Iterator[Finding]:
    """What one task can't have since another has `depends`; what it has beside its own is a rule of the schema."""
    if call.data.get("depends"):
        return
    if call.data.get("dependencies"):
        yield Finding(
            "CLR462",
            f"{call.where} has `dependencies` in a graph that uses `depends`",
            (*call.path, "dependencies"),
            on="key",
            why="Argo takes one of the two in a `dag`",
            help=f"write `depends: {' && '.join(call.data['dependencies'])}`",
        )
    if "continueOn" in call.data:
        yield Finding(
            "CLR462",
            f"{call.where} has `continueOn` in a graph that uses `depends`",
            (*call.path, "continueOn"),
            on="key",
            why="with `depends`, what waits says on which results it goes on",
            help=f"write {call.name}.Failed or {call.name}.Errored into what depends on it",
        )


def _ring(template: Template) -> Iterator[Finding]:
    edges = {call.name: list(dict.fromkeys(dependencies(call.data))) for call in template.calls}
    ring = first_ring(edges)
    if ring:
        call = template.by_name[ring[0]]
        yield Finding(
            "CLR460",
            f"tasks wait for each other in a ring: {' -> '.join(ring)}",
            (*call.path, "depends" if call.data.get("depends") else "dependencies"),
            why="none of them could ever begin",
            help="take one of the edges out",
            related=tuple((f"the task {name!r}", template.by_name[name].path) for name in ring[1:-1]),
        )


def first_ring(edges: Mapping[str, Sequence[str]]) -> list[str]:
    """The names of a ring in order, the first one again at its end; [] where there is none. Edges lead anywhere."""
    done: set[str] = set()
    for start in edges:
        stack = [(start, iter(edges[start]))] if start not in done else []
        on_stack = {start: None} if stack else {}
        while stack:
            name, following = stack[-1]
            for each in following:
                if each in on_stack:
                    order = list(on_stack)
                    return [*order[order.index(each) :], each]
                if each in edges and each not in done:
                    stack.append((each, iter(edges[each])))
                    on_stack[each] = None
                    break
            else:
                done.add(name)
                stack.pop()
                del on_stack[name]
    return []


def _targets(template: Template) -> Iterator[Finding]:
    text = template.data["dag"].get("target", "")
    offset = 0
    for name in text.split(" ") if text else ():
        if name not in template.by_name and not re.search(r"\{\{[-a-zA-Z0-9]+(\.[-a-zA-Z0-9_]+)*\}\}", name):
            yield Finding(
                "CLR466",
                f"the target {name!r} of {template.where} is none of its tasks",
                (*template.path, "dag", "target"),
                offset=offset,
                why="targets are names of tasks with one space between them",
                help=nearest(name, template.by_name),
            )
        offset += len(name) + 1
