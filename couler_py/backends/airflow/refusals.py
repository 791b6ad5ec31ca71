"""What stands in a workflow's way, found before anything is emitted: all of it at once, each with its place."""

from __future__ import annotations

from couler_py.backends.airflow.calls import MOST_MAPPED
from couler_py.backends.airflow.emission import Emission, is_group
from couler_py.backends.airflow.support import LOCAL, NEVER
from couler_py.backends.features import FEATURES
from couler_py.ir.diagnostics import Severity
from couler_py.ir.model import Graph, Source, Template
from couler_py.passes.features import used

FATAL = frozenset({"recursion", "inline", "external", "depends", "raw", "targets"})
"""What can't be left out: nothing could be emitted in its place."""


def check_support(emission: Emission) -> None:
    """Note everything that Airflow, or the chosen operators, can't do."""
    never = NEVER | (LOCAL if emission.options.operators == "local" else {})
    for feature, places in used(emission.workflow).items():
        if feature in never:
            for place in places:
                _refuse(emission, feature, never[feature], place)
    for template in emission.workflow.templates:
        _policies(emission, template)
        if isinstance(template.body, Graph):
            _fan_outs(emission, template.body)
    if emission.workflow.locks:
        _lock(emission, emission.workflow.name, emission.workflow.source)


def _refuse(emission: Emission, feature: str, why: str, place: Source | None) -> None:
    demoted = emission.options.on_unsupported == "warn" and feature not in FATAL
    severity: Severity = "warning" if demoted else "error"
    emission.problem("CLR501", f"Airflow has nothing for {FEATURES[feature]}", severity=severity, source=place, why=why)


def _policies(emission: Emission, template: Template) -> None:
    step, source = template.display or template.name, template.source
    grouped = is_group(template)
    if template.locks and (grouped or len(template.locks) > 1 or any(not _known(lock) for lock in template.locks)):
        _lock(emission, step, source)
    over_attempts = template.deadline is not None and template.retry is not None and template.retry.limit > 0
    if over_attempts or (grouped and (template.deadline is not None or template.timeout is not None)):
        emission.problem("CLR509", f"{step!r} has a deadline over several attempts or tasks", step=step, source=source)
    if template.parallelism is not None:
        _refuse(emission, "parallelism", "Airflow bounds tasks of a DAG, not of a group", source)


def _known(lock: object) -> bool:
    return isinstance(getattr(lock, "name", None), str) and getattr(lock, "limit", 1) is not None


def _lock(emission: Emission, step: str, source: Source | None) -> None:
    emission.problem("CLR508", f"the locks of {step!r} can't be a pool", step=step, source=source)


def _fan_outs(emission: Emission, graph: Graph) -> None:
    for task in graph.tasks:
        if task.each is None or not isinstance(task.call, str):
            continue
        name = task.display or task.name
        if not is_group(emission.templates[task.call]):
            continue
        if task.each.max_items > MOST_MAPPED:
            emission.problem(
                "CLR507",
                f"the fan-out {name!r} may have {task.each.max_items} items of a graph, and Airflow maps {MOST_MAPPED}",
                step=name,
                source=task.source,
                help=f"give it max_items={MOST_MAPPED} or fewer",
            )
        if task.each.parallel is not None:
            emission.problem(
                "CLR506",
                f"the fan-out {name!r} keeps each of its tasks, not its items, to {task.each.parallel} at once",
                severity="warning",
                step=name,
                source=task.source,
            )
