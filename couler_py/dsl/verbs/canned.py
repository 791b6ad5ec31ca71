"""`run_canned_step`: a step that is installed on the engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from couler_py.dsl.placeholder import Outputs
from couler_py.dsl.placeholder import task_of as node_of
from couler_py.dsl.problems import fail
from couler_py.dsl.verbs.calls import name_of
from couler_py.dsl.verbs.outputs import Output, OutputEmpty, single
from couler_py.dsl.verbs.state import recording
from couler_py.ir.model import External
from couler_py.ir.types import ANY

CLUSTER = "cluster:"


def run_canned_step(
    name: str,
    args: Mapping[str, Any] | None = None,
    inputs: Any = None,
    outputs: Any = None,
    step_name: str | None = None,
    cache: Any = None,
) -> list[Any]:
    """Call a template that is installed on the engine, by "WORKFLOW-TEMPLATE/TEMPLATE" (before it "cluster:").

    `args` gives the template's parameters by name, `outputs` names those of its outputs to give back, all
    of them values. In Couler no engine could run such a step.

    Raises `RecordingError` for another form of name, and for `inputs` and `cache`, which the installed
    template decides itself.

    >>> score = run_canned_step("zoo/evaluate", {"model": "m1"}, outputs=["score"])  # doctest: +SKIP
    """
    whole = name.removeprefix(CLUSTER)
    library, slash, template = whole.partition("/")
    if not (slash and library and template):
        fail("CLR181", f"{name!r} names no installed step", help='write "WORKFLOW-TEMPLATE/TEMPLATE"')
    if inputs is not None or cache is not None:
        fail(
            "CLR185", "a canned step takes neither inputs nor cache", help="its template says what it reads and reuses"
        )
    if args is not None and not isinstance(args, Mapping):
        fail("CLR181", f"args of a canned step is a dict, not a {type(args).__name__}")
    if step_name is not None:
        step_name = name_of(step_name, template).text
    kind = "ClusterWorkflowTemplate" if name.startswith(CLUSTER) else "WorkflowTemplate"
    values = {key: single(value) for key, value in (args or {}).items()}
    wanted = [outputs] if isinstance(outputs, str) else list(outputs or ())
    with recording() as here:
        made = here.recorder.external(External(library, template, kind), values, name=step_name or "")  # type: ignore[arg-type]
        node = node_of(made)
        found = Outputs(Output(node, output, ANY) for output in wanted)
        if not wanted:
            found.append(OutputEmpty(node))
        here.outputs[node] = found
        return found
