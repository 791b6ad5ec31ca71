"""The workflow in progress: what calls of steps are written into.

A recording lives in a context variable: threads and notebooks each have their own, and one that an
exception ends is gone.

    recorder = current()                      # None outside of a workflow
    recorder.call(template, {"x": value})     # adds a task, returns its output
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NoReturn

import msgspec

from couler_py.dsl.binding import bind, check_reach
from couler_py.dsl.frames import Callee, Frame, FrameKind, Node
from couler_py.dsl.lifting import lift
from couler_py.dsl.placeholder import output_of
from couler_py.dsl.problems import fail
from couler_py.dsl.sources import caller
from couler_py.ir.codec import digest
from couler_py.ir.model import External, Function, Hook, IncludeArchive, Source, Template
from couler_py.ir.pod import Volume, VolumeClaim
from couler_py.ir.templated import Templated
from couler_py.ir.types import Type

_recording: ContextVar[Recorder | None] = ContextVar("couler_recording", default=None)


def current() -> Recorder | None:
    """The workflow being recorded in this thread or notebook cell; None outside of one."""
    return _recording.get()


class Defaults(msgspec.Struct, frozen=True):
    """What steps of a workflow have where they say nothing themselves. `include` and `packages` are added to theirs."""

    image: str | None = None
    packages: tuple[str, ...] = ()
    include: tuple[str, ...] = ()


class WorkflowInput(msgspec.Struct, frozen=True):
    """A parameter of the workflow: its type, and the wire JSON of its default (unset: required)."""

    name: str
    type: Type
    default: Any = msgspec.UNSET
    enum: tuple[str, ...] | None = None
    description: str = ""
    source: Source | None = None


class Recorder:
    """One workflow while it is recorded.

    With `sequential`, each call waits for the call before it (Couler's verbs); otherwise only values order calls.
    """

    def __init__(
        self,
        name: str,
        *,
        sequential: bool = False,
        source: Source | None = None,
        defaults: Defaults = Defaults(),
    ):
        self.name = name
        self.source = source
        self.defaults = self._defaults = defaults
        self.entry = Frame("entry", None, name, source, self)
        self.entry.sequential = sequential
        self.frame = self.entry
        self.parameters: dict[str, WorkflowInput] = {}
        self.includes: dict[str, IncludeArchive] = {}
        self.volumes: dict[str, Volume] = {}
        self.claims: dict[str, VolumeClaim] = {}
        self.handlers: list[Any] = []
        self.flows: dict[Any, Any] = {}
        self.published: dict[str, tuple[Type | None, Source]] = {}
        self.templates = Registry()
        self.options: dict[str, Any] = {}
        self.verbs: Any = None  # what `couler_py.dsl.verbs` knows of this workflow

    @contextmanager
    def recording(self) -> Iterator[Recorder]:
        """Record what is called inside into this workflow."""
        token = _recording.set(self)
        try:
            yield self
        finally:
            _recording.reset(token)

    @contextmanager
    def inside(self, frame: Frame) -> Iterator[Frame]:
        """Record what is called inside into a nested graph."""
        before, self.frame = self.frame, frame
        try:
            yield frame
        finally:
            self.frame = before
            frame.closed = True

    def nested(self, kind: FrameKind, base: str, source: Source | None = None) -> Frame:
        """A new graph inside the one at hand; a handler stands alone, and sees nothing of it."""
        return Frame(kind, None if kind == "handler" else self.frame, base, source or caller(), self)

    def call(
        self,
        template: Template,
        arguments: Mapping[str, Any],
        *,
        name: str = "",
        base: str = "",
        generated: bool = False,
        source: Source | None = None,
        hooks: Sequence[Hook] = (),
        extra: Templated | None = None,
    ) -> Any:
        """Add a task that calls a template, and return its output.

        `arguments` gives values for input parameters and artifacts by name: Python values, placeholders,
        containers with placeholders in them, `Path`, places in storage, or IR expressions. Each is checked
        against the type of the input. `name` is the task's own name; without, it is `base`, or the
        template's name, and a counter. With `generated`, a template whose name is taken by another content
        gets a counter; without, that is an error naming both lines. `extra` is the task's own.

        Raises `RecordingError` for a missing, unknown or ill-typed argument.
        """
        source = source or caller()
        base = name or base or template.name
        # A step of a called workflow may have another image there: the same step, and another template.
        generated = generated or self.defaults != self._defaults
        template = self.templates.add(template, generated=generated, source=source)
        node = Node(self.frame, template, base, source, explicit=bool(name))
        bind(node, template, arguments)
        node.hooks = tuple(hooks)
        node.extra = extra
        self.frame.add(node)
        return output_of(node, template)

    def task(self, call: Callee, *, name: str = "", base: str = "task", source: Source | None = None) -> Node:
        """Add a task that calls a nested graph, a loop or a template on the engine, its arguments still to be given."""
        node = Node(self.frame, call, name or base, source or caller(), explicit=bool(name))
        self.frame.add(node)
        if isinstance(call, Frame):
            call.callers.append(node)
        return node

    def external(self, call: External, arguments: Mapping[str, Any], *, name: str = "", base: str = "") -> Any:
        """Add a task that calls a template installed on the engine. Its outputs have any name and any type."""
        node = Node(self.frame, call, name or base or call.template, caller(), explicit=bool(name))
        for key, value in arguments.items():
            lifted = lift(value)
            check_reach(lifted.expr, node)
            (node.artifacts if lifted.type is None else node.arguments)[key] = lifted.expr
        self.frame.add(node)
        return output_of(node, None)

    def include(self, archive: IncludeArchive) -> None:
        """Name files that steps of this workflow import."""
        self.includes[archive.digest] = archive


class Registry:
    """The templates of a workflow, by content: the same content is shared, one name never means two things."""

    def __init__(self) -> None:
        self.by_name: dict[str, Template] = {}
        self._counted: set[str] = set()  # names that were given to several contents before
        self._seen: dict[int, tuple[Template, Template]] = {}
        self._digests: dict[str, dict[str, Template]] = {}
        self._outputs: dict[int, tuple[dict[str, Type | None], str | None]] = {}

    def copy(self) -> Registry:
        """A registry that can be added to without changing this one."""
        other = Registry()
        other.by_name = dict(self.by_name)
        other._counted = set(self._counted)
        other._seen = dict(self._seen)
        other._digests = {name: dict(known) for name, known in self._digests.items()}
        return other

    def outputs(self, template: Template) -> tuple[dict[str, Type | None], str | None]:
        """The outputs of a template of this workflow by name, None for a file; and the one that is the value itself."""
        known = self._outputs.get(id(template))
        if known is None:
            found: dict[str, Type | None] = {output.name: output.type for output in template.outputs.parameters}
            found.update({output.name: None for output in template.outputs.artifacts})
            fields = isinstance(template.body, Function) and template.body.returns == "fields"
            one = next(iter(found)) if len(found) == 1 and not fields else None
            known = self._outputs[id(template)] = (found, one)
        return known

    def add(self, template: Template, *, generated: bool = False, source: Source | None = None) -> Template:
        """The template to call for this content: the given one, one of the same content, or one renamed.

        Raises `RecordingError` where the name, not a generated one, already means another content.
        """
        seen = self._seen.get(id(template))
        if seen is not None:
            return seen[1]
        known = self._digests.setdefault(template.name, {})
        try:
            content = digest(template)
        except UnicodeEncodeError as error:
            _half(template, error, source)
        found = known.get(content)
        if found is None:
            found = template
            taken = self.by_name.get(template.name)
            if taken is not None:
                if not generated and template.name not in self._counted:
                    _clash(template, taken, source)
                number = len(known) + 1
                while f"{template.name}-{number}" in self.by_name:
                    number += 1
                found = msgspec.structs.replace(template, name=f"{template.name}-{number}")
            known[content] = found
            if generated:
                self._counted.add(template.name)
            self.by_name[found.name] = found
        self._seen[id(template)] = (template, found)
        return found

    def replace(self, old: Template, new: Template) -> None:
        """Put a template of the same name in the place of one, for those who call it from now on."""
        self.by_name[old.name] = new
        known = self._digests[old.name]
        self._digests[old.name] = {
            **{content: new if template is old else template for content, template in known.items()},
            digest(new): new,
        }
        self._seen = {key: (given, new if found is old else found) for key, (given, found) in self._seen.items()}


def _half(template: Template, error: UnicodeEncodeError, source: Source | None) -> NoReturn:
    fail(
        "CLR228",
        f"a text of the step {template.name!r} can't travel: {error.object[:40]!r} holds half of a surrogate pair at "
        f"{error.start}, which is not Unicode",
        source=template.source or source,
        step=template.name,
        help="Python reads bytes that are no UTF-8 as such halves: hand them over as base64, or in a file",
    )


def _clash(template: Template, taken: Template, source: Source | None) -> None:
    where = taken.source
    fail(
        "CLR140",
        f"two different steps are named {template.name!r}",
        source=template.source or source,
        step=template.name,
        why="a name stands for one content in a workflow, and these differ",
        help="rename one of the functions, or give one a name of its own",
        related=(("the other one", where),) if where is not None else (),
    )
