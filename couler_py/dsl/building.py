"""Whatever a person hands over as a workflow, as IR."""

from __future__ import annotations

from typing import Any
from weakref import WeakValueDictionary

from couler_py.dsl.assemble import assemble
from couler_py.dsl.builder import Workflow
from couler_py.dsl.flow import WorkflowFunction
from couler_py.dsl.problems import fail, problem
from couler_py.dsl.recorder import Recorder
from couler_py.ir import model

_built: WeakValueDictionary[int, model.Workflow] = WeakValueDictionary()
"""The IR that programs of this process wrote, by its id: equal IR that was read from a file is not among it."""


def written_here(workflow: Any) -> bool:
    """Whether a Python program of this process wrote a workflow, with our own functions.

    IR and documents that were handed over as data may have come from anywhere, so they count as written elsewhere,
    unless the IR is what `build` has given.
    """
    if isinstance(workflow, model.Workflow):
        return _built.get(id(workflow)) is workflow
    return not isinstance(workflow, model.Document)


def build(workflow: Any = None) -> model.Workflow:
    """The IR of a `@workflow` function, a `Workflow`, a recording, or (None) of what verbs recorded.

    Raises `DiagnosticError` for what is wrong with it, at its line.
    """
    found = _build(workflow)
    if written_here(workflow):
        _built[id(found)] = found
    return found


def _build(workflow: Any) -> model.Workflow:
    if isinstance(workflow, WorkflowFunction | Workflow):
        return workflow.build()
    if isinstance(workflow, Recorder):
        return assemble(workflow)
    if isinstance(workflow, model.Workflow):
        return workflow
    if isinstance(workflow, model.Document):
        return workflow.workflow
    written = getattr(workflow, "document", None)  # of `couler_py.argo_native`
    if isinstance(written, model.Document):
        return written.workflow
    if workflow is None:
        from couler_py.dsl.verbs import state

        recorder = state.implicit()
        if recorder is None:
            fail(
                "CLR158",
                "there is no workflow: no step was called",
                help="give a @couler.workflow or couler.Workflow, or call Couler's verbs before",
            )
        return assemble(recorder)
    raise problem(
        "CLR158",
        f"{workflow!r} is not a workflow",
        help="give a function with @couler.workflow, a couler.Workflow, or IR",
    )
