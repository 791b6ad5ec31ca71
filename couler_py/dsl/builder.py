"""`couler.Workflow`: a workflow written with calls, by `with` or one by one.

with couler.Workflow("train", parallelism=4) as w:
    seed = w.parameter("seed", int, 0)
    w.output("score", evaluate(fit(seed)))

w = couler.Workflow("train")
model = w.add(fit, seed=1)
w.add(evaluate, model)
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, ParamSpec, Self, TypeVar, Unpack

import msgspec

from couler_py.dsl.annotations import ArtifactType, Scope, hint
from couler_py.dsl.assemble import assemble
from couler_py.dsl.conversions import ValueMismatchError, is_choice_of_strings, to_wire
from couler_py.dsl.frames import FrameOutput, is_name
from couler_py.dsl.handlers import Moment, record
from couler_py.dsl.lifting import lift
from couler_py.dsl.option_types import without_none
from couler_py.dsl.placeholder import Placeholder
from couler_py.dsl.problems import fail
from couler_py.dsl.recorder import Defaults, Recorder, WorkflowInput
from couler_py.dsl.sources import caller, caller_frame
from couler_py.dsl.workflow_options import WorkflowOptions, WorkflowReader
from couler_py.ir import expr as ir
from couler_py.ir.model import Workflow as WorkflowIR

if TYPE_CHECKING:
    from couler_py.api import Run
    from couler_py.backends.base import Bundle

P = ParamSpec("P")
R = TypeVar("R")
_REQUIRED: Any = object()


class Workflow:
    """A workflow in progress. `options` are those of `WorkflowOptions`.

    Steps that are called under `with` belong to it; `add` calls one without. An exception in the `with` block
    leaves it unusable, and nothing of it anywhere else.

    >>> with couler.Workflow("train", parallelism=4) as w:  # doctest: +SKIP
    ...     seed = w.parameter("seed", int, 0)
    ...     w.output("score", evaluate(fit(seed)))
    """

    def __init__(self, name: str, /, **options: Unpack[WorkflowOptions]):
        source = caller()
        if "name" in options:
            fail("CLR160", "the workflow's name is given twice", source=source)
        options = without_none(options)
        reader = WorkflowReader(options, name, source)
        self.name = name
        self.source = source
        defaults = Defaults(options.get("image"), tuple(options.get("packages", ())), tuple(options.get("include", ())))
        self._recorder = Recorder(name, source=source, defaults=defaults)
        self._recorder.options = reader.fields()
        volumes, claims = reader.volumes()
        self._recorder.volumes = {volume.name: volume for volume in volumes}
        self._recorder.claims = {claim.name: claim for claim in claims}
        self._recorder.entry.settings = reader.of_run()
        self._recorder.entry.base = reader.entrypoint()
        self._open: list[AbstractContextManager[Any]] = []
        self._broken: BaseException | None = None
        for on, handler in (
            ("success", options.get("on_success")),
            ("failure", options.get("on_failure")),
            ("exit", options.get("on_exit")),
        ):
            if handler is not None:
                self._handle(on, handler)  # type: ignore[arg-type]

    def __enter__(self) -> Self:
        recording = self._recorder.recording()
        recording.__enter__()
        self._open.append(recording)
        return self

    def __exit__(self, kind: Any, problem: BaseException | None, trace: Any) -> None:
        if problem is not None:
            self._broken = problem
        self._open.pop().__exit__(kind, problem, trace)

    def add(self, step: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call a step, a workflow, or any function that calls steps, in this workflow."""
        if not callable(step):
            fail("CLR156", f"a workflow takes steps and functions, not {step!r}", help="w.add(step, argument, ...)")
        with self._recorder.recording():
            return step(*args, **kwargs)

    def parameter(self, name: str, type: Any = str, default: Any = _REQUIRED, *, description: str = "") -> Any:  # noqa: A002
        """A parameter of the run, usable anywhere in the workflow. Without a default it is required.

        `type` is an annotation, as of a step's parameter. Raises `RecordingError` for a name that is taken, a
        type that can't travel, and a default of another type.
        """
        source = caller()
        if not is_name("parameter", name):
            fail("CLR161", f"{name!r} can't name a parameter", source=source)
        taken = self._recorder.parameters.get(name)
        if taken is not None:
            related = (("the other one", taken.source),) if taken.source else ()
            fail("CLR161", f"the parameter {name!r} is there already", source=source, related=related)
        frame = caller_frame()
        scope = Scope({**frame.f_globals, **frame.f_locals}, source, self.name, f"parameter {name!r}")
        found = hint(type, scope)
        if isinstance(found, ArtifactType):
            fail("CLR161", f"the parameter {name!r} is a file", help="take a str and load it in a step", source=source)
        wire: Any = msgspec.UNSET
        if default is not _REQUIRED:
            try:
                wire = to_wire(found, default)
            except ValueMismatchError as problem:
                fail("CLR161", f"the default of {name!r} doesn't fit: {problem}", source=source)
        self._recorder.parameters[name] = WorkflowInput(
            name, found, wire, is_choice_of_strings(found), description, source
        )
        return Placeholder(ir.WorkflowParameter(name), found, name, source)

    def output(self, name: str, value: Any) -> None:
        """Make a value an output of the run. Raises `RecordingError` for a name that is taken."""
        source = caller()
        outputs = self._recorder.entry.outputs
        if name in outputs:
            fail("CLR161", f"the output {name!r} is there already", source=source)
        if not is_name("parameter", name):
            fail("CLR161", f"{name!r} can't name an output", source=source)
        lifted = lift(value)
        outputs[name] = FrameOutput(lifted.expr, lifted.type, source=source)

    def on_exit(self, handler: Callable[[], Any], *, name: str = "") -> None:
        """See `couler.on_exit`."""
        self._handle("exit", handler, name)

    def on_success(self, handler: Callable[[], Any], *, name: str = "") -> None:
        """See `couler.on_success`."""
        self._handle("success", handler, name)

    def on_failure(self, handler: Callable[[], Any], *, name: str = "") -> None:
        """See `couler.on_failure`."""
        self._handle("failure", handler, name)

    def _handle(self, on: Moment, handler: Callable[[], Any], name: str = "") -> None:
        with self._recorder.recording():
            record(self._recorder, on, handler, name)

    def build(self) -> WorkflowIR:
        """The workflow as IR. Raises `DiagnosticError` for what is wrong with it, at its line."""
        if self._broken is not None:
            fail(
                "CLR158",
                f"the workflow {self.name!r} was never finished: its `with` block raised {type(self._broken).__name__}",
                source=self.source,
            )
        return assemble(self._recorder)

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
        return f"<workflow {self.name}: {len(self._recorder.entry.nodes)} tasks>"
