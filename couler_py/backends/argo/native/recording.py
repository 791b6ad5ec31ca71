"""The document and the graph that are being written, and where in a program each template stands."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any

from couler_py.backends.argo.native.tasks import Form
from couler_py.dsl.problems import fail
from couler_py.dsl.sources import caller
from couler_py.ir.model import Source

JSON = dict[str, Any]


class Recording:
    """The templates of a document in progress, in the order in which they were written.

    `checked` says whether they are held against Argo's schema.
    """

    def __init__(self, label: str, *, checked: bool):
        self.label = label
        self.checked = checked
        self.templates: dict[str, JSON] = {}
        self.places: dict[str, Source] = {}
        self.tasks: dict[tuple[str, str], Source] = {}

    def add(self, template: JSON) -> None:
        """Add a template. Raises `RecordingError` (CLR193) where there is one of its name."""
        name = template["name"]
        place = caller()
        if name in self.places:
            fail(
                "CLR193",
                f"there is a template {name!r} already",
                step=self.label,
                related=(("the other one", self.places[name]),),
            )
        self.templates[name] = template
        self.places[name] = place


class Graph:
    """The tasks of a dag or the groups of a `steps` template in progress."""

    def __init__(self, recording: Recording, template: str, form: Form):
        self.recording = recording
        self.template = template
        self.form = form
        self.tasks: list[JSON] = []
        self.groups: list[list[JSON]] = []
        self._group: list[JSON] | None = None

    def add(self, task: JSON) -> None:
        """Add a task, or a step: to the group that is open, else in one of its own."""
        name = task.get("name", "")
        tasks = self.recording.tasks
        if name and (self.template, name) in tasks:
            what = "step" if self.form == "steps" else "task"
            related = (("the other one", tasks[self.template, name]),)
            fail("CLR193", f"there is a {what} {name!r} already", step=self.template, related=related)
        tasks[self.template, name] = caller()
        if self.form == "dag":
            self.tasks.append(task)
        elif self._group is None:
            self.groups.append([task])
        else:
            self._group.append(task)

    def group(self) -> AbstractContextManager[None]:
        """The steps inside run side by side."""
        if self._group is not None:
            fail("CLR192", "a group of steps stands in another", step=self.template, help="steps have one level only")
        return self._grouped()

    @contextmanager
    def _grouped(self) -> Iterator[None]:
        self._group = []
        self.groups.append(self._group)
        try:
            yield
        finally:
            self._group = None


_recording: ContextVar[Recording | None] = ContextVar("argo_document", default=None)
_graph: ContextVar[Graph | None] = ContextVar("argo_graph", default=None)


def recording(into: Recording) -> AbstractContextManager[None]:
    """While a document is being written."""
    if _recording.get() is not None:
        fail("CLR192", "a document is written inside of another", help="end the first `with` block before")
    return _recorded(into)


@contextmanager
def _recorded(into: Recording) -> Iterator[None]:
    token = _recording.set(into)
    try:
        yield
    finally:
        _recording.reset(token)


@contextmanager
def graph(into: Graph) -> Iterator[None]:
    """While the tasks of a template are being written."""
    token = _graph.set(into)
    try:
        yield
    finally:
        _graph.reset(token)


def current(what: str) -> Recording:
    """The document in progress. Raises `RecordingError` (CLR192) where there is none."""
    found = _recording.get()
    if found is None:
        fail("CLR192", f"{what} stands outside of a document", help="write it under `with argo.Workflow(...):`")
    return found


def current_graph(what: str) -> Graph:
    """The graph in progress. Raises `RecordingError` (CLR192) where there is none."""
    found = _graph.get()
    if found is None:
        fail(
            "CLR192",
            f"{what} is called outside of a graph",
            help='call templates under `with argo.dag("name"):` or `with argo.steps("name"):`',
        )
    return found
