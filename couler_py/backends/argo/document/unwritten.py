"""What a workflow in Argo's own words says and Argo's documents have no field for.

Nothing of this comes from an import. A change of the workflow can bring it in, and writing refuses it: what is written
never says less than the workflow.
"""

from __future__ import annotations

from collections.abc import Iterator

from couler_py.ir.diagnostics import Diagnostic, error
from couler_py.ir.model import DistributedJob, Function, Graph, Inline, Lock, Loop, Semaphore, Task, Template, Workflow
from couler_py.ir.storage import LocalPath


def unwritten(workflow: Workflow) -> list[Diagnostic]:
    """A finding for everything that the workflow's document would leave out."""
    found = [_finding(workflow.name, what) for what in _of_run(workflow)]
    for template in workflow.templates:
        found += [_finding(template.name, what) for what in _of_template(template)]
    return found


def _finding(step: str, what: str) -> Diagnostic:
    return error(
        "CLR497",
        f"Argo's own words have nothing for {what}",
        step=step,
        why='a workflow of the dialect "argo" is written as it stands, and nothing in it is lowered',
        help="say it in Argo's words, as in `extra`, or take it back",
    )


def _of_run(workflow: Workflow) -> Iterator[str]:
    for handler in workflow.handlers:
        if handler.on in ("success", "failure"):
            yield f"a handler on {handler.on}"
    if workflow.pod.volumes or workflow.pod.init_containers or workflow.pod.sidecars:
        yield "volumes, sidecars and init containers of all pods (volumes of the workflow are others)"
    if workflow.includes:
        yield "included files"
    yield from _locks(workflow.locks)


def _of_template(template: Template) -> Iterator[str]:
    body = template.body
    if isinstance(body, Function | Loop | DistributedJob):
        yield {"Function": "a Python function", "Loop": "a loop", "DistributedJob": "a distributed job"}[
            type(body).__name__
        ]
    if isinstance(body, Graph):
        for task in body.tasks:
            yield from _of_task(task)
    pod = template.pod
    if pod.dns is not None or pod.host_network is not None or pod.image_pull_secrets:
        yield "dns, the host's network and pull secrets of one template (`patch` has)"
    cache = template.cache
    if cache is not None and (cache.version or cache.key is None or not cache.store):
        yield "a cache without a key and the name of its ConfigMap, or with a version"
    places = [each.storage for each in template.inputs.artifacts]
    places += [each.storage for each in template.outputs.artifacts]
    if any(isinstance(each, LocalPath) for each in places):
        yield "an artifact at a path of this machine"
    yield from _locks(template.locks)


def _of_task(task: Task) -> Iterator[str]:
    for edge in task.after:
        if edge.kind != "order":
            yield f"the {edge.kind} edge from {edge.task!r} to {task.name!r} (`depends` has)"
    each = task.each
    if each is not None and (each.parallel is not None or each.tolerate):
        yield f"a bound of the fan-out {task.name!r} or failures that it tolerates"
    if isinstance(task.call, Inline):
        yield from _of_template(task.call.template)


def _locks(locks: tuple[Lock, ...]) -> Iterator[str]:
    for lock in locks:
        if isinstance(lock, Semaphore) and lock.config_map is None and not lock.database:
            yield "a semaphore without a ConfigMap or a database that holds its limit"
