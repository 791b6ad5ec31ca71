"""Which features of the IR a workflow uses, and where: what an engine's support table is asked about.

The names are those of `couler_py.backends.features.FEATURES`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from couler_py.ir.expr import (
    Expr,
    First,
    Literal,
    NonFinite,
    OrElse,
    Raw,
    Record,
    TaskArtifact,
    TaskItems,
    TaskOutput,
    Text,
    walk,
)
from couler_py.ir.graph import Shape, expressions, recursive
from couler_py.ir.meaning import graph_edges, value_expressions
from couler_py.ir.model import (
    Each,
    External,
    Function,
    Graph,
    Inline,
    Loop,
    Mutex,
    RetryPolicy,
    Script,
    Sequence,
    Source,
    Task,
    Template,
    Workflow,
)
from couler_py.ir.pod import Container, PodSettings, Resources
from couler_py.ir.storage import SecretRef

Place: TypeAlias = Source | None
Use: TypeAlias = tuple[str, Place]


def used(workflow: Workflow, shapes: Mapping[str, Shape] | None = None) -> dict[str, tuple[Place, ...]]:
    """By feature, the places that use it, each once, in the order of the program. `shapes` are those of its graphs."""
    found: dict[str, dict[Place, None]] = {}
    for feature, place in _of_workflow(workflow, shapes or {}):
        found.setdefault(feature, {})[place] = None
    return {feature: tuple(places) for feature, places in found.items()}


def _of_workflow(workflow: Workflow, shapes: Mapping[str, Shape]) -> Iterator[Use]:
    place = workflow.source
    present = {
        "schedule": workflow.schedule,
        "parallelism": workflow.parallelism,
        "deadline": workflow.deadline,
        "include": workflow.includes,
        "volume": workflow.volumes or workflow.volume_claims,
        "parameter_enum": any(parameter.enum is not None for parameter in workflow.parameters),
        "parameter_config_map": any(parameter.value_from is not None for parameter in workflow.parameters),
    }
    yield from ((feature, place) for feature, value in present.items() if value not in (None, (), False))
    yield from ((_lock(lock), place) for lock in workflow.locks)
    yield from (("handler", handler.source or place) for handler in workflow.handlers)
    yield from _pod(workflow.pod, place)
    again = recursive(workflow)
    for template in workflow.templates:
        if template.name in again:
            yield "recursion", template.source
        yield from _template(template, shapes)


def _template(template: Template, shapes: Mapping[str, Shape]) -> Iterator[Use]:
    place, body = template.source, template.body
    yield str(body.__struct_config__.tag), place
    yield from ((feature, place) for feature in _policies(template))
    yield from _pod(template.pod, place)
    yield from _raw(expressions(template), place)
    if isinstance(body, Graph):
        yield from _graph(template, body, shapes)
    elif isinstance(body, Container | Script | Function):
        yield from _runs(body, place)
    if isinstance(body, Graph | Loop) and template.retry is not None:
        yield "retry_graph", place


def _policies(template: Template) -> Iterator[str]:
    inputs, outputs = template.inputs, template.outputs
    if template.retry is not None:
        yield from _retry(template.retry)
    present = {
        "timeout": template.timeout is not None,
        "deadline": template.deadline is not None,
        "cache": template.cache is not None,
        "daemon": template.daemon,
        "parallelism": template.parallelism is not None,
        "metrics": template.metrics is not None,
        "artifact": bool(inputs.artifacts or outputs.artifacts),
        "artifact_optional": any(file.optional for file in inputs.artifacts)
        or any(file.optional for file in outputs.artifacts),
        "parameter_enum": any(parameter.enum is not None for parameter in inputs.parameters),
        "parameter_config_map": any(parameter.value_from is not None for parameter in inputs.parameters),
        "published_output": any(output.global_name for output in outputs.parameters)
        or any(file.global_name for file in outputs.artifacts),
    }
    yield from (feature for feature, there in present.items() if there)
    yield from (_lock(lock) for lock in template.locks)
    stores = [file.storage for file in inputs.artifacts] + [file.storage for file in outputs.artifacts]
    for storage in stores:
        if storage is not None:
            yield "artifact_local" if storage.__struct_config__.tag == "local" else "artifact_storage"


def _retry(retry: RetryPolicy) -> Iterator[str]:
    yield "retry"
    if retry.backoff is not None:
        yield "retry_backoff"
    if retry.when is not None:
        yield "retry_when"
    if retry.other_node:
        yield "retry_other_node"


def _lock(lock: object) -> str:
    return "mutex" if isinstance(lock, Mutex) else "semaphore"


def _pod(pod: PodSettings, place: Place) -> Iterator[Use]:
    placed = (pod.node_selector, pod.tolerations, pod.priority_class, pod.scheduler)
    present = {
        "placement": any(placed),
        "volume": bool(pod.volumes),
        "init_container": bool(pod.init_containers),
        "sidecar": bool(pod.sidecars),
        "pod_patch": bool(pod.patch),
    }
    yield from ((feature, place) for feature, there in present.items() if there)


def _runs(body: Container | Script | Function, place: Place) -> Iterator[Use]:
    if body.resources != Resources():
        yield "resources", place
    if body.mounts:
        yield "volume", place
    secret = any(isinstance(variable.value, SecretRef) for variable in body.env)
    if secret or any(source.kind == "secret" for source in body.env_from):
        yield "secret", place
    if isinstance(body, Function) and body.include:
        yield "include", place


# ---- graphs


def _graph(template: Template, graph: Graph, shapes: Mapping[str, Shape]) -> Iterator[Use]:
    place = template.source
    present = {"steps": graph.form == "steps", "targets": bool(graph.targets), "fail_fast": graph.fail_fast}
    yield from ((feature, place) for feature, there in present.items() if there)
    mapped = {task.name for task in graph.tasks if task.each is not None}
    edges = shapes[template.name].edges if template.name in shapes else graph_edges(graph)
    for task in graph.tasks:
        here = task.source or place
        yield from ((f"edge_{kind}", here) for kind in dict.fromkeys([edge.kind for edge in edges[task.name]]))
        yield from ((feature, here) for feature in _task(task))
        yield from _values(value_expressions(task), mapped, here)
        if isinstance(task.call, Inline):
            yield from _template(task.call.template, {})
    outputs = [output.value for output in template.outputs.parameters]
    outputs += [output.value for output in template.outputs.artifacts]
    yield from _values((value for value in outputs if value is not None), mapped, place)


def _task(task: Task) -> Iterator[str]:
    if isinstance(task.call, External):
        yield "external"
    if isinstance(task.call, Inline):
        yield "inline"
    if task.depends is not None:
        yield "depends"
    if task.when is not None:
        yield "when"
    if task.hooks:
        yield "hook"
    if task.continue_on:
        yield "continue_on"
    if task.each is not None:
        yield from _each(task.each)
    for artifact in task.artifacts:
        if artifact.storage is not None:
            yield "artifact_storage"


_KNOWN = (Literal, NonFinite, Record, Text)
"""What an expression can be made of without a reference to anything that only a run knows."""


def _each(each: Each) -> Iterator[str]:
    if isinstance(each.items, Sequence):
        yield "each_sequence"
    else:
        known = all(isinstance(node, _KNOWN) for node in walk(each.items))
        yield "each_literal" if known else "each_dynamic"
    if each.parallel is not None:
        yield "each_parallel"
    if each.tolerate:
        yield "each_tolerate"


def _values(exprs: Iterable[Expr], mapped: set[str], place: Place) -> Iterator[Use]:
    for expr in exprs:
        for node in walk(expr):
            if isinstance(node, OrElse):
                yield "or_else", place
            elif isinstance(node, First):
                yield "edge_first", place
            elif isinstance(node, TaskOutput | TaskArtifact | TaskItems) and node.task in mapped:
                yield "fan_in", place


def _raw(exprs: Iterable[Expr], place: Place) -> Iterator[Use]:
    for expr in exprs:
        if any(isinstance(node, Raw) for node in walk(expr)):
            yield "raw", place


def counts_as_pod(template: Template) -> bool:
    """Whether running the template once costs a pod of its own on a cluster."""
    body = template.body
    kinds = ("container", "script", "function", "resource", "data", "container_set", "distributed_job")
    return str(body.__struct_config__.tag) in kinds
