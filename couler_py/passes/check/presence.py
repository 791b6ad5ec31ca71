"""A graph's output is there whenever the graph Succeeded."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from couler_py.ir.expr import Expr, TaskArtifact, TaskItems, TaskOutput, walk
from couler_py.ir.model import Graph, OutputArtifact, OutputParameter, Task, Template
from couler_py.ir.possible import Presence
from couler_py.passes.check.facts import Facts
from couler_py.passes.check.findings import Findings, Place, related


def check_presence(template: Template, graph: Graph, facts: Facts, findings: Findings) -> None:
    """Report outputs whose sources can be absent although the graph Succeeded. Asks `facts.possibilities`."""
    if template.name in facts.only_mapped:
        return
    outputs: tuple[OutputParameter | OutputArtifact, ...] = (*template.outputs.parameters, *template.outputs.artifacts)
    outputs = tuple(output for output in outputs if output.value is not None and not _settled(output))
    if not outputs:
        return
    presence = facts.possibilities.presence(template)
    tasks = {task.name: task for task in graph.tasks}
    for output in outputs:
        assert output.value is not None
        if not tasks.keys() >= set(_producers(output.value)):
            continue  # reported where the references are checked
        missing = presence.absent_source(output.value)
        if missing is not None:
            _report(output, missing, presence, tasks, template, findings)


def _producers(expr: Expr) -> Iterator[str]:
    for node in walk(expr):
        if isinstance(node, TaskOutput | TaskArtifact | TaskItems):
            yield node.task


def _settled(output: OutputParameter | OutputArtifact) -> bool:
    if isinstance(output, OutputArtifact):
        return output.optional
    return bool(output.default is not msgspec.UNSET)


def _report(
    output: OutputParameter | OutputArtifact,
    missing: str,
    presence: Presence,
    tasks: dict[str, Task],
    template: Template,
    findings: Findings,
) -> None:
    how = "be skipped" if presence.possible[missing].skipped else "fail and be absolved by an on_failure step"
    findings.error(
        "CLR240",
        f"the output {output.name} can be absent although the graph succeeded: {missing} can {how}",
        Place(template.name, template.source),
        help="write .or_else(value), or first(...) over steps of which one surely succeeds, as both branches of `when`",
        related=related((missing, tasks[missing].source)),
    )
