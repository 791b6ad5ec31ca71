"""From a workflow to the scene of its picture."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from couler_py.ir.expr import Literal
from couler_py.ir.graph import templates_by_name
from couler_py.ir.meaning import graph_edges
from couler_py.ir.model import (
    Each,
    External,
    Graph,
    Handler,
    Inline,
    Loop,
    Sequence,
    Task,
    Template,
    Workflow,
)
from couler_py.passes.entrypoint import entrypoint_of
from couler_py.report.graph.fold import fold
from couler_py.report.graph.phrase import phrase
from couler_py.report.graph.scene import Link, Node, Scene
from couler_py.report.graph.states import Tally

LIMIT = 500
"""Above this many boxes, nested graphs and alike tasks are folded into one box each."""

_NOUNS = {"container": "container", "script": "script", "function": "Python", "resource": "Kubernetes object",
          "distributed_job": "distributed job", "suspend": "waits", "http": "HTTP", "data": "data",
          "container_set": "containers", "plugin": "plugin", "external": "on the engine"}  # fmt: skip
_HANDLER_LINK: Mapping[str, str] = {"exit": "always", "failure": "on_failure", "success": "order"}


def scene(workflow: Workflow, *, limit: int = LIMIT, states: Mapping[str, Tally] | None = None) -> Scene:
    """What the picture of a workflow shows, in at most about `limit` boxes.

    `states` colour the boxes of a run, by the path that a task has in the workflow ("prepare/train"; see `tally`).
    Raises `DiagnosticError` for a workflow that begins nowhere.
    """
    entry = entrypoint_of(workflow)
    builder = _Builder(workflow, states or {})
    depth = builder.depth_within(limit)
    main = builder.template(entry.name, "", depth, ())
    if not workflow.handlers:
        return fold(main, limit)
    return fold(_with_handlers(builder, workflow, main), limit)


def _with_handlers(builder: _Builder, workflow: Workflow, main: Scene) -> Scene:
    body = Node("main", workflow.display or workflow.name, kind="graph", inside=main)
    handlers = tuple(builder.handler(handler, index) for index, handler in enumerate(workflow.handlers))
    links = tuple(
        Link("main", node.id, _HANDLER_LINK[handler.on])  # type: ignore[arg-type]
        for node, handler in zip(handlers, workflow.handlers, strict=True)
    )
    return Scene((body, *handlers), links)


class _Builder:
    def __init__(self, workflow: Workflow, states: Mapping[str, Tally]):
        self._templates = templates_by_name(workflow)
        self._states = states
        self._sizes: dict[tuple[str, int], int] = {}
        self._entry = workflow.entrypoint

    def depth_within(self, limit: int) -> int:
        """The greatest depth of nesting that can be shown within the limit; 1 shows no graph inside another."""
        shown = 1
        for depth in range(2, 12):
            if self._size(self._entry, depth) > limit:
                break
            shown = depth
        return shown

    def _size(self, name: str, depth: int) -> int:
        template = self._templates.get(name)
        if template is None or depth == 0:
            return 0
        key = (name, depth)
        if key not in self._sizes:
            self._sizes[key] = sum(1 + self._size(call, depth - 1) for call in _calls(template))
        return self._sizes[key]

    def template(self, name: str, path: str, depth: int, outer: tuple[str, ...]) -> Scene:
        """What is inside a template: its tasks, the body of a loop, or the one box that it is."""
        template = self._templates[name]
        body = template.body
        if isinstance(body, Graph):
            return self._graph(body, path, depth, (*outer, name))
        if isinstance(body, Loop):
            inner = self._called(body.body, path, depth, (*outer, name))
            return Scene((Node("body", body.body, note=_noun(self._templates.get(body.body)), inside=inner),))
        return Scene((self._plain(template),))

    def _plain(self, template: Template) -> Node:
        label = template.display or template.name
        node = Node("only", label, note=_noun(template), kind=_kind(template), title=_title(template))
        return self._seen(node, template.name)

    def _seen(self, node: Node, path: str) -> Node:
        """The box with what is known of its task in a run."""
        found = self._states.get(path)
        return (
            node if found is None else msgspec.structs.replace(node, state=found.state, tally=found.counts, path=path)
        )

    def _graph(self, graph: Graph, path: str, depth: int, outer: tuple[str, ...]) -> Scene:
        nodes = tuple(self._task(task, path, depth, outer) for task in graph.tasks)
        links: dict[Link, None] = {}
        for name, edges in graph_edges(graph).items():
            for edge in edges:
                for producer in edge.tasks:
                    links[Link(producer, name, edge.kind)] = None
        return Scene(nodes, _strongest(links))

    def _task(self, task: Task, path: str, depth: int, outer: tuple[str, ...]) -> Node:
        here = f"{path}/{task.name}" if path else task.name
        template = self._template_of(task)
        called = task.call if isinstance(task.call, str) else ""
        inside = self._called(called, here, depth - 1, outer) if called else None
        label = task.display or task.name
        note = _noun(template)
        if called and called != label:
            note = f"{called} · {note}" if note else called
        if called in outer:
            note = f"{called} again"
        node = Node(
            task.name,
            label,
            note=note,
            kind=_kind(template) if template else "external",
            template=template.name if template else "",
            condition=phrase(task.when) if task.when is not None else "",
            many=_many(task.each),
            title=_title(template, task),
            inside=inside,
        )
        return self._seen(node, here)

    def _template_of(self, task: Task) -> Template | None:
        if isinstance(task.call, Inline):
            return task.call.template
        return None if isinstance(task.call, External) else self._templates.get(task.call)

    def _called(self, name: str, path: str, depth: int, outer: tuple[str, ...]) -> Scene | None:
        template = self._templates.get(name)
        if template is None or depth <= 0 or name in outer or not isinstance(template.body, Graph | Loop):
            return None
        return self.template(name, path, depth, outer)

    def handler(self, handler: Handler, index: int) -> Node:
        """The box of what runs after the run."""
        template = self._templates.get(handler.call)
        called = f"{handler.call} · " if handler.call != handler.name else ""
        node = Node(
            f"handler{index}",
            handler.name,
            note=f"{called}on {handler.on}",
            kind=_kind(template) if template else "external",
            condition=phrase(handler.when) if handler.when is not None else "",
        )
        return self._seen(node, f"onExit/{handler.name}")


def _calls(template: Template) -> list[str]:
    if isinstance(template.body, Graph):
        return [task.call if isinstance(task.call, str) else "" for task in template.body.tasks]
    return [template.body.body] if isinstance(template.body, Loop) else []


def _strongest(links: Mapping[Link, None]) -> tuple[Link, ...]:
    # Two boxes are joined by one line: a value says more than an order.
    kept: dict[tuple[str, str], Link] = {}
    for link in links:
        ends = (link.source, link.target)
        if ends not in kept or kept[ends].kind == "order":
            kept[ends] = link
    return tuple(kept.values())


def _many(each: Each | None) -> str:
    if each is None:
        return ""
    items = each.items
    if isinstance(items, Literal) and isinstance(items.value, list):
        return f"× {len(items.value)}"
    if isinstance(items, Sequence):
        if isinstance(items.count, Literal):
            return f"× {items.count.value}"
        return "× n"
    return f"× each of {phrase(items)}"


def _kind(template: Template) -> str:
    return str(template.body.__struct_config__.tag)


def _noun(template: Template | None) -> str:
    if template is None:
        return "on the engine"
    if isinstance(template.body, Loop):
        return f"until {phrase(template.body.until)}, at most {template.body.max_iterations} times"
    return _NOUNS.get(_kind(template), "")


def _title(template: Template | None, task: Task | None = None) -> str:
    lines = []
    if task is not None:
        lines.append(task.display or task.name)
        if task.source is not None:
            lines.append(str(task.source))
    if template is not None:
        image = getattr(template.body, "image", "")
        lines.append(f"{_kind(template)} {template.name}" + (f" in {phrase(image)}" if image else ""))
        lines.append(template.description)
    if task is not None and task.when is not None:
        lines.append(f"when {phrase(task.when)}")
    return "\n".join(line for line in lines if line)
