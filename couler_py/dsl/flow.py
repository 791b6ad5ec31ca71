"""`@workflow`: a Python function whose calls of steps are a workflow.

    @couler.workflow(schedule="0 3 * * *")
    def nightly(seed: int = 0) -> float:
        return score(train(load(seed)))

    nightly.run(parameters={"seed": 7})
    nightly.compile(to="argo").write("out")

Its parameters are values of the run. What it returns are the run's outputs. Called in another workflow, it
is a task like a step, with its own graph; it may call itself there, inside `couler.when`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType, FunctionType
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, Unpack, cast, overload

import msgspec

from couler_py.dsl import signature
from couler_py.dsl.annotations import Scope
from couler_py.dsl.assemble import assemble
from couler_py.dsl.binding import bind
from couler_py.dsl.branches import run
from couler_py.dsl.choice import Joined
from couler_py.dsl.conversions import is_choice_of_strings, to_wire
from couler_py.dsl.exporting import Shape, give, result
from couler_py.dsl.frames import Frame, FrameInput, FrameInputSpec, Node
from couler_py.dsl.handlers import record
from couler_py.dsl.option_types import without_none
from couler_py.dsl.placeholder import Output, Placeholder, output_one
from couler_py.dsl.problems import fail
from couler_py.dsl.recorder import Defaults, Recorder, WorkflowInput, current
from couler_py.dsl.sources import caller, caller_frame, shown
from couler_py.dsl.workflow_options import ALONE, WorkflowOptions, WorkflowReader
from couler_py.ir import expr as ir
from couler_py.ir.model import ArtifactArgument, Inputs, Outputs, Source, Suspend, Template, Workflow

if TYPE_CHECKING:
    from couler_py.api import Run
    from couler_py.backends.base import Bundle

P = ParamSpec("P")
R = TypeVar("R")


class _Called(msgspec.Struct, eq=False):
    """A workflow that is called in another: its graph, and what a call returns once that is known."""

    frame: Frame
    shape: Shape = None
    done: bool = False


class WorkflowFunction(Generic[P, R]):
    """A workflow made of a Python function. It keeps the function's name, signature and documentation.

    >>> nightly.compile(to="argo").write("build")  # doctest: +SKIP
    """

    def __init__(self, function: Callable[P, R], options: WorkflowOptions, place: Source, frame: FrameType):
        functools.update_wrapper(self, function)
        if not isinstance(function, FunctionType) or function.__name__ == "<lambda>":
            fail("CLR160", f"{function!r} can't be a workflow", source=place, help="decorate a `def` function")
        self._function = function
        options = without_none(options)
        self.name: str = options.get("name") or function.__name__
        code = function.__code__
        self.source = Source(shown(code.co_filename), code.co_firstlineno)
        self._reader = WorkflowReader(options, self.name, place)
        self._fields = self._reader.fields()
        self._volumes = self._reader.volumes()
        self._entrypoint = self._reader.entrypoint()
        self._options = options
        self._task_name = ""
        self._original: WorkflowFunction[P, R] = self
        scope = Scope({**function.__globals__, **frame.f_locals, **_closure(function)}, self.source, self.name)
        self.inputs: Inputs = signature.inputs(function, scope)
        self._returns: Outputs | None = None
        if "return" in function.__annotations__:
            self._returns = signature.outputs(function, scope, returns_value=True)[1]

    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        """In a workflow: a task that runs this one. Elsewhere an error, which names `run` and `compile`."""
        recorder = current()
        if recorder is None:
            fail(
                "CLR157",
                f"the workflow {self.name} is called outside of a workflow",
                why="its function only says which steps there are; nothing would run",
                help=f"{self.name}.run(...) runs it here, {self.name}.compile(to=...) compiles it, "
                f"{self.name}.build() gives its IR",
            )
        return cast(R, self._call(recorder, args, kwargs))

    def named(self, name: str) -> WorkflowFunction[P, R]:
        """The same workflow, whose calls in another make a task of the given name: `select.named("digits")(data)`."""
        found: WorkflowFunction[P, R] = WorkflowFunction.__new__(WorkflowFunction)
        found.__dict__.update(self.__dict__)
        found._task_name = name
        return found

    def build(self, **parameters: Any) -> Workflow:
        """The workflow as IR. `parameters` replace defaults; the others stay to be given when a run starts.

        Raises `DiagnosticError` for what is wrong with it, at its line.
        """
        recorder = self._recorder()
        options = self._options
        with recorder.recording():
            values = self._parameters(recorder, parameters)
            give(recorder.entry, self._function(**values))
            for on, handler in (
                ("success", options.get("on_success")),
                ("failure", options.get("on_failure")),
                ("exit", options.get("on_exit")),
            ):
                if handler is not None:
                    record(recorder, on, handler)  # type: ignore[arg-type]
        return assemble(recorder)

    def compile(self, to: str | None = None, **options: Any) -> Bundle:
        """Compile for an engine: `couler.compile(workflow, to, **options)`. Returns a `Bundle`."""
        from couler_py import api

        return api.compile(self, to=to, **options)

    def run(self, **options: Any) -> Run:
        """Run it: `couler.run(workflow, parameters=..., submitter=..., ...)`. Returns a `Run`."""
        from couler_py import api

        return api.run(self, **options)

    def _repr_svg_(self) -> str | None:
        # What a notebook shows.
        from couler_py import api

        return api.picture(self)

    def __repr__(self) -> str:
        return f"<workflow {self.name}>"

    # ---- as a program

    def _recorder(self) -> Recorder:
        recorder = Recorder(self.name, source=self.source, defaults=self._defaults(Defaults()))
        recorder.options = dict(self._fields)
        recorder.options.setdefault("description", inspect.getdoc(self._function) or "")
        volumes, claims = self._volumes
        recorder.volumes = {volume.name: volume for volume in volumes}
        recorder.claims = {claim.name: claim for claim in claims}
        recorder.entry.settings = self._reader.of_run()
        recorder.entry.base = self._entrypoint
        return recorder

    def _defaults(self, around: Defaults) -> Defaults:
        options = self._options
        return Defaults(
            options.get("image", around.image),
            (*around.packages, *options.get("packages", ())),
            (*around.include, *options.get("include", ())),
        )

    def _parameters(self, recorder: Recorder, given: Mapping[str, Any]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        known = {item.name for item in self.inputs.parameters} | {item.name for item in self.inputs.artifacts}
        unknown = sorted(set(given) - known)
        if unknown:
            fail(
                "CLR161",
                f"the workflow {self.name} has no parameter {unknown[0]!r}",
                help=f"its parameters are {', '.join(sorted(known)) or 'none'}",
            )
        for parameter in self.inputs.parameters:
            name, default = parameter.name, parameter.default
            if name in given:
                try:
                    default = to_wire(parameter.type, given[name])
                except TypeError as problem:
                    fail("CLR161", f"the parameter {name!r} doesn't fit: {problem}", step=self.name)
            recorder.parameters[name] = WorkflowInput(
                name, parameter.type, default, is_choice_of_strings(parameter.type), parameter.description, self.source
            )
            values[name] = Placeholder(ir.WorkflowParameter(name), parameter.type, name, self.source)
        files = []
        for artifact in self.inputs.artifacts:
            name = artifact.name
            if artifact.storage is None:
                fail(
                    "CLR161",
                    f"the parameter {name!r} is a file without a default",
                    source=self.source,
                    step=self.name,
                    why="who starts a run gives values; a file has to be somewhere already",
                    help="give it a default (a Path or a place in storage), or take a str and load it in a step",
                )
            recorder.entry.inputs[name] = FrameInputSpec(None, optional=artifact.optional)
            files.append(ArtifactArgument(name, storage=artifact.storage))
            values[name] = Placeholder(FrameInput(recorder.entry, name, artifact=True), None, name, self.source)
        if files:
            recorder.options["artifacts"] = tuple(files)
        return values

    # ---- as a task of another workflow

    def _call(self, recorder: Recorder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        source = caller()
        arguments = self._bound(args, kwargs, source)
        called = recorder.flows.get(self._original)
        if called is None:
            called = self._original._record(recorder)
        explicit = bool(self._task_name)
        node = Node(recorder.frame, called.frame, self._task_name or self.name, source, explicit=explicit)
        bind(node, self._face(), arguments)
        for artifact in self.inputs.artifacts:
            if artifact.name not in arguments and artifact.storage is not None:
                node.artifacts[artifact.name] = artifact.storage
        recorder.frame.add(node)
        called.frame.callers.append(node)
        return result(node, called.shape) if called.done else self._promised(node)

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any], source: Source) -> dict[str, Any]:
        try:
            return dict(inspect.signature(self._function).bind(*args, **kwargs).arguments)
        except TypeError as problem:
            fail("CLR151", f"{self.name}: {problem}", source=source, related=(("it is defined here", self.source),))

    def _face(self) -> Template:
        return Template(self.name, Suspend(), inputs=self.inputs, source=self.source)

    def _record(self, recorder: Recorder) -> _Called:
        alone = sorted(set(self._options) & ALONE)
        if alone:
            fail(
                "CLR160",
                f"the workflow {self.name} has {alone[0]}, which is for a run of its own",
                why="called in another workflow it is a task: handlers and placement are those of the run around",
                help=f"say {alone[0]} of the workflow around, or of its steps",
                related=(("it is defined here", self.source),),
            )
        frame = recorder.nested("flow", self.name, self.source)
        frame.sequential, frame.previous = False, []
        frame.settings = self._reader.of_graph(inspect.getdoc(self._function) or "")
        volumes, claims = self._volumes
        recorder.volumes.update((volume.name, volume) for volume in volumes)
        recorder.claims.update((claim.name, claim) for claim in claims)
        values: dict[str, Any] = {}
        for parameter in self.inputs.parameters:
            frame.inputs[parameter.name] = FrameInputSpec(
                parameter.type, parameter.default, description=parameter.description
            )
            leaf = FrameInput(frame, parameter.name)
            values[parameter.name] = Placeholder(leaf, parameter.type, parameter.name, self.source)
        for artifact in self.inputs.artifacts:
            frame.inputs[artifact.name] = FrameInputSpec(None, optional=artifact.optional)
            leaf = FrameInput(frame, artifact.name, artifact=True)
            values[artifact.name] = Placeholder(leaf, None, artifact.name, self.source)
        called = recorder.flows[self] = _Called(frame)
        try:
            with self._defaults_of(recorder):
                value = run(recorder, frame, lambda: self._function(**values))
        except BaseException:
            del recorder.flows[self]
            raise
        if not frame.nodes:
            fail("CLR158", f"the workflow {self.name} calls no step", source=self.source)
        called.shape = give(frame, value)
        called.done = True
        self._keep_promise(frame)
        return called

    @contextmanager
    def _defaults_of(self, recorder: Recorder) -> Iterator[None]:
        before, recorder.defaults = recorder.defaults, self._defaults(recorder.defaults)
        try:
            yield
        finally:
            recorder.defaults = before

    def _promised(self, node: Node) -> Any:
        """What a call of a workflow by itself returns, known from its annotation only."""
        if self._returns is None:
            return Joined(None, [node], self.name, f"annotate what {self.name} returns: it calls itself")
        types = {output.name: output.type for output in self._returns.parameters}
        members = {**types, **{output.name: None for output in self._returns.artifacts}}
        if list(members) == [signature.RESULT]:
            return output_one(node, signature.RESULT, members[signature.RESULT])
        return Output(node, members, None, None)

    def _keep_promise(self, frame: Frame) -> None:
        if self._returns is None or len(frame.callers) == 0:
            return
        promised = {output.name for output in self._returns.parameters}
        promised.update(output.name for output in self._returns.artifacts)
        missing = sorted(promised - set(frame.outputs))
        if missing:
            fail(
                "CLR158",
                f"{self.name} calls itself and its annotation promises {missing[0]!r}, which it doesn't return",
                source=self.source,
            )


@overload
def workflow(function: Callable[P, R], /) -> WorkflowFunction[P, R]: ...
@overload
def workflow(
    function: None = None, /, **options: Unpack[WorkflowOptions]
) -> Callable[[Callable[P, R]], WorkflowFunction[P, R]]: ...
def workflow(function: Any = None, /, **options: Unpack[WorkflowOptions]) -> Any:
    """Make a workflow of a function. Bare, or with options (see `WorkflowOptions`).

    Raises `DefinitionError` at the workflow's line for an option or a parameter that can't be honoured.

    >>> @workflow(schedule="0 3 * * *", parallelism=4)
    ... def nightly(seed: int = 0) -> None: ...
    >>> nightly.name
    'nightly'
    """
    place, frame = caller(), caller_frame()
    if function is not None:
        return WorkflowFunction(function, options, place, frame)
    return lambda decorated: WorkflowFunction(decorated, options, place, frame)


def _closure(function: FunctionType) -> dict[str, Any]:
    """The variables of the functions around, as far as they have a value yet."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # a function that is defined here may name itself
            continue
    return found
