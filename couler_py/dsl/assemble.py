"""A finished recording as a workflow of the IR."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec

from couler_py.dsl.frames import Frame, FrameInputSpec, LoopCall, Node
from couler_py.dsl.lower import Lowering
from couler_py.dsl.ordering import level
from couler_py.dsl.problems import fail
from couler_py.dsl.recorder import Recorder
from couler_py.dsl.verbs.depends import with_depends
from couler_py.ir import expr as ir
from couler_py.ir.graph import reachable
from couler_py.ir.model import (
    After,
    Argument,
    ArtifactArgument,
    Carry,
    External,
    Graph,
    Handler,
    InputArtifact,
    Inputs,
    Loop,
    OutputArtifact,
    OutputParameter,
    Outputs,
    Parameter,
    Source,
    Task,
    Template,
    Workflow,
)
from couler_py.ir.names import free_name, legal, legal_name
from couler_py.ir.storage import Storage


class HandlerCall(msgspec.Struct, eq=False):
    """A handler of the run's end while it is recorded."""

    frame: Frame
    on: Any
    name: str
    source: Source | None = None


def assemble(recorder: Recorder) -> Workflow:
    """The workflow that was recorded. Raises `RecordingError` for what only the whole shows to be wrong."""
    return _Assembly(recorder).workflow()


class _Assembly:
    def __init__(self, recorder: Recorder):
        self.recorder = recorder
        self.templates = recorder.templates.copy()
        self.lowering = Lowering()
        self.names: dict[Frame, str] = {}
        self.order: dict[Node, dict[After, None]] = {}
        self.begun: set[Frame] = set()  # a workflow that calls itself is met again before it is done
        self.frames = list(_frames(recorder))
        self.uses = Counter(id(node.call) for frame in self.frames for node in frame.nodes)

    def workflow(self) -> Workflow:
        recorder = self.recorder
        if not recorder.entry.nodes:
            fail(
                "CLR158",
                f"the workflow {recorder.name!r} calls no step",
                source=recorder.source,
                help="call a step in it",
            )
        for frame in self.frames:
            self.lowering.frame(frame)
            for node in frame.nodes:
                if node.after:
                    self._order(node)
        name, display = _named("workflow", recorder.name)
        for frame in self.frames:
            if frame.kind == "flow" or frame is recorder.entry:
                self.names[frame] = self._reserve(frame.base)
        entry = self._graph(recorder.entry)
        handlers = tuple(self._handler(handler) for handler in recorder.handlers)
        for frame in self.frames:
            if frame.kind == "flow":
                self._graph(frame)
        templates = self.templates.by_name
        found = Workflow(
            name=name,
            display=display,
            entrypoint=entry,
            templates=tuple(templates.values()),
            parameters=tuple(
                Parameter(given.name, given.type, given.default, given.enum, given.description)
                for given in recorder.parameters.values()
            ),
            handlers=handlers,
            volumes=tuple(recorder.volumes.values()),
            volume_claims=tuple(recorder.claims.values()),
            includes=tuple(recorder.includes.values()),
            source=recorder.source,
            **recorder.options,
        )
        return msgspec.structs.replace(found, templates=tuple(templates[name] for name in reachable(found)))

    def _reserve(self, base: str) -> str:
        return free_name(_legal(base), {*self.templates.by_name, *self.names.values()})

    def _graph(self, frame: Frame) -> str:
        fixed = self.names.get(frame)
        known = self.templates.by_name
        if fixed is not None and (frame in self.begun or frame.kind not in ("flow", "entry")):
            return fixed
        self.begun.add(frame)
        graph = Graph(tuple(self._task(node) for node in frame.nodes), fail_fast=frame.settings.fail_fast)
        base = fixed or _legal(frame.base)
        template = Template(
            base,
            graph,
            inputs=_inputs(frame.inputs),
            outputs=self._outputs(frame),
            retry=frame.settings.retry,
            deadline=frame.settings.deadline,
            locks=frame.settings.locks,
            parallelism=frame.settings.parallelism,
            description=frame.settings.description,
            display=frame.base if frame.base != base and fixed is None else "",
            source=frame.source,
        )
        if fixed is not None:
            known[fixed] = template
        else:
            self.names[frame] = self.templates.add(template, generated=True).name
        return self.names[frame]

    def _outputs(self, frame: Frame) -> Outputs:
        parameters, artifacts = [], []
        for name, output in frame.outputs.items():
            value = self.lowering.outputs[frame][name]
            if output.type is None:
                artifacts.append(OutputArtifact(name, value=value, global_name=output.global_name))
            else:
                parameters.append(OutputParameter(name, output.type, value=value, global_name=output.global_name))
        return Outputs(tuple(parameters), tuple(artifacts))

    def _task(self, node: Node) -> Task:
        task = Task(
            node.name,
            self._call(node),
            arguments=self._arguments(node),
            artifacts=self._artifacts(node),
            after=tuple(self.order.get(node, ())),
            when=self.lowering.conditions.get(node),
            each=None
            if node.each is None
            else msgspec.structs.replace(node.each.each, items=self.lowering.items[node]),
            hooks=node.hooks,
            display=node.display,
            source=node.source,
            extra=node.extra,
        )
        return task if node.depends is None else with_depends(task, *node.depends)

    def _arguments(self, node: Node) -> tuple[Argument, ...]:
        return tuple([Argument(name, value) for name, value in self.lowering.arguments[node].items()])

    def _artifacts(self, node: Node) -> tuple[ArtifactArgument, ...]:
        if not node.artifacts:
            return ()
        return tuple(_file(name, value) for name, value in self.lowering.artifacts[node].items())

    def _order(self, node: Node) -> None:
        """The edges that a person wrote, each between the tasks of one graph that stand for its ends."""
        for producer, kind in node.after:
            one, other = (producer, node) if producer.frame is node.frame else level(producer, node)
            if one is other:
                fail(
                    "CLR152",
                    f"{node.name} and {producer.name} can't wait for each other: one holds the other",
                    source=node.source,
                )
            if (one is not producer or other is not node) and kind != "order":
                fail(
                    "CLR152",
                    f"an edge {kind!r} can't lead from {producer.name} to {node.name}: they stand in different graphs",
                    source=node.source,
                    help="write the edge where both are, or between the calls that hold them",
                )
            self.order.setdefault(other, {})[After(one.name, kind)] = None

    def _call(self, node: Node) -> str | External:
        call = node.call
        if isinstance(call, Template):
            return self._published(node, call) if node.published else call.name
        if isinstance(call, Frame):
            return self._graph(call)
        if isinstance(call, External):
            return call
        return self._loop(node, call)

    def _published(self, node: Node, template: Template) -> str:
        """A template like the one called, whose outputs also have names in the run."""
        parameters = tuple(
            msgspec.structs.replace(output, global_name=node.published.get(output.name, output.global_name))
            for output in template.outputs.parameters
        )
        artifacts = tuple(
            msgspec.structs.replace(output, global_name=node.published.get(output.name, output.global_name))
            for output in template.outputs.artifacts
        )
        changed = msgspec.structs.replace(template, outputs=Outputs(parameters, artifacts))
        if self.uses[id(template)] == 1:
            self.templates.by_name[template.name] = changed
            return template.name
        return self.templates.add(changed, generated=True).name

    def _loop(self, node: Node, loop: LoopCall) -> str:
        until = self.lowering.untils[node]
        if isinstance(loop.body, Frame):
            body, inputs = self._graph(loop.body), _inputs(loop.body.inputs)
        else:
            body = loop.body.name
            given = {**node.arguments, **node.artifacts}
            inputs = Inputs(
                tuple(Parameter(item.name, item.type) for item in loop.body.inputs.parameters if item.name in given),
                tuple(
                    InputArtifact(item.name, optional=item.optional)
                    for item in loop.body.inputs.artifacts
                    if item.name in given
                ),
            )
        outputs = Outputs(
            tuple(
                OutputParameter(name, type_, value=ir.Own(own))
                for name, (own, type_) in loop.outputs.items()
                if type_ is not None
            ),
            tuple(
                OutputArtifact(name, value=ir.Own(own)) for name, (own, type_) in loop.outputs.items() if type_ is None
            ),
        )
        carry = tuple(Carry(output, input_) for output, input_ in loop.carry)
        template = Template(
            _legal(loop.base),
            Loop(body, until, carry, loop.max_iterations),
            inputs=inputs,
            outputs=outputs,
            source=loop.source,
        )
        return self.templates.add(template, generated=True).name

    def _handler(self, handler: HandlerCall) -> Handler:
        frame = handler.frame
        name = handler.name
        only = frame.nodes[0] if len(frame.nodes) == 1 else None
        if only is not None and isinstance(only.call, Template) and only.each is None and not only.hooks:
            return Handler(
                name,
                only.call.name,
                handler.on,
                when=self.lowering.conditions.get(only),
                arguments=self._arguments(only),
                artifacts=self._artifacts(only),
                source=handler.source,
            )
        return Handler(name, self._graph(frame), handler.on, source=handler.source)


def _frames(recorder: Recorder) -> Iterator[Frame]:
    """All graphs of a recording, each before those inside it, in program order."""
    stack = [recorder.entry, *(handler.frame for handler in recorder.handlers)][::-1]
    seen: set[int] = set()
    while stack:
        frame = stack.pop()
        if id(frame) in seen:
            continue
        seen.add(id(frame))
        yield frame
        inner = []
        for node in frame.nodes:
            call = node.call.body if isinstance(node.call, LoopCall) else node.call
            if isinstance(call, Frame):
                inner.append(call)
        stack.extend(reversed(inner))


def _inputs(specs: dict[str, FrameInputSpec]) -> Inputs:
    return Inputs(
        tuple(
            Parameter(name, spec.type, spec.default, spec.enum, spec.description)
            for name, spec in specs.items()
            if spec.type is not None
        ),
        tuple(
            InputArtifact(name, optional=spec.optional, description=spec.description)
            for name, spec in specs.items()
            if spec.type is None
        ),
    )


def _file(name: str, value: Any) -> ArtifactArgument:
    if isinstance(value, Storage):
        return ArtifactArgument(name, storage=value)
    optional = any(isinstance(node, ir.OrElse) and node.default == ir.Literal(None) for node in ir.walk(value))
    return ArtifactArgument(name, value, optional=optional)


def _legal(base: str) -> str:
    return base if legal("ir", "template", base) else legal_name("ir", "template", base)


def _named(kind: Any, name: str) -> tuple[str, str]:
    if legal("ir", kind, name):
        return name, ""
    return legal_name("ir", kind, name), name
