"""All rules about what a document means, on one view of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from couler_py.backends.argo.lint.context import Context
from couler_py.backends.argo.lint.finding import Finding
from couler_py.backends.argo.lint.rules import (
    artifacts,
    conditions,
    cron_conditions,
    expressions,
    graph,
    loops,
    manifests,
    metrics,
    names,
    patches,
    pod_containers,
    pod_settings,
    pods,
    policies,
    references,
    safety,
    schedules,
    supplied,
    tags,
    values,
)
from couler_py.backends.argo.lint.rules.flow import Flow

RULES: tuple[Callable[[Flow], Iterator[Finding]], ...] = (
    references.entrypoint,
    references.called,
    references.one_type,
    references.beside_reference,
    references.endless,
    references.unreachable,
    names.twice,
    names.artifact_names,
    names.task_names,
    values.arguments,
    values.outputs,
    supplied.inputs_supplied,
    supplied.entrypoint_supplied,
    supplied.nothing_else,
    graph.edges,
    loops.loops,
    tags.resolved,
    expressions.fields,
    expressions.hooks,
    conditions.when,
    artifacts.paths,
    artifacts.locations,
    artifacts.outputs_of_graphs,
    artifacts.kinds_of_values,
    pods.images,
    pods.container_names,
    pods.container_sets,
    pods.mounts,
    pods.volumes_twice,
    pod_containers.pod_containers,
    pod_settings.pod_settings,
    patches.patches,
    policies.times,
    policies.retries,
    policies.caches,
    policies.locks,
    metrics.metrics,
    manifests.resources,
    schedules.schedules,
    cron_conditions.cron_conditions,
    safety.spliced_source,
    safety.absent,
    safety.absent_outputs,
    safety.large_values,
)


def meaning(context: Context) -> Iterator[Finding]:
    """What the server and the controller would say of references, values, edges, tags and settings."""
    flow = Flow(context)
    for rule in RULES:
        yield from rule(flow)
