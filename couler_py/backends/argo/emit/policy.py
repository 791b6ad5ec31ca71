"""What any template may have besides its body: retries, time limits, cache, locks, the pod's settings."""

from __future__ import annotations

from typing import Any

from couler_py.backends.argo import durations
from couler_py.backends.argo.emission import Emission, place
from couler_py.backends.argo.emit.arguments import report
from couler_py.backends.argo.emit.caching import memoize
from couler_py.backends.argo.emit.expressions import UnprovenError, condition
from couler_py.backends.argo.emit.leaf import seconds
from couler_py.backends.argo.emit.literals import string
from couler_py.backends.argo.emit.scope import TemplateScope
from couler_py.backends.argo.emit.text import EMPTY, needs_empty, render, render_command
from couler_py.ir.expr import TextLike
from couler_py.ir.model import Graph, Lock, Loop, Mutex, RetryPolicy, Semaphore, Suspend, Template
from couler_py.ir.pod import Container, PodSettings
from couler_py.kubernetes import Render, container, dns, pod_fields, templated, volume
from couler_py.kubernetes.containers import config_map_key
from couler_py.passes.retry.condition import Heard, heard

JSON = dict[str, Any]
_PLAIN_POD = PodSettings()
OWN = ("init", "wait", "main", "supervisor")
"""Names of containers that Argo adds itself."""


def policies(emission: Emission, template: Template, scope: TemplateScope) -> JSON:
    """All policies of a template, in the order in which they are shown."""
    rendered = render(emission, template, scope)
    found: JSON = {}
    nested = isinstance(template.body, Graph | Loop)
    if template.retry is not None:
        found["retryStrategy"] = retry(emission, template, template.retry, scope)
    found |= limits(emission, template, nested)
    if template.cache is not None:
        found["memoize"] = memoize(emission, template, scope)
    if template.locks:
        found["synchronization"] = synchronization(emission, template.locks, rendered)
    if template.daemon:
        found["daemon"] = True
    if template.parallelism is not None:
        found["parallelism"] = template.parallelism
    if template.archive_logs is not None:
        found["archiveLocation"] = {"archiveLogs": template.archive_logs}
    if template.metrics is not None:
        found["metrics"] = templated(template.metrics, raw)
    if template.pod != _PLAIN_POD:
        found |= pod(emission, template, scope)
    return found


def raw(text: TextLike) -> str:
    """Argo's own text: metrics are written in its words, tags included."""
    return text if isinstance(text, str) else "".join(part for part in text.parts if isinstance(part, str))


def limits(emission: Emission, template: Template, nested: bool) -> JSON:
    """Limits of time.

    `activeDeadlineSeconds` counts an attempt and is for pods only; `timeout` counts from the first attempt on.
    """
    found: JSON = {}
    timeout, deadline = template.timeout, template.deadline
    if (nested or isinstance(template.body, Suspend)) and (timeout is not None or deadline is not None):
        if template.name != emission.workflow.entrypoint:  # of the whole run it becomes the run's own deadline
            emission.problem(
                "CLR412",
                "Argo has no limit of time for a graph, a loop or a wait",
                severity="warning" if emission.options.on_unsupported == "warn" else "error",
                help="limit the steps inside, or the whole run by the workflow's deadline",
                **place(template),  # type: ignore[arg-type]
            )
        return found
    if timeout is not None:
        found["activeDeadlineSeconds"] = seconds(timeout)
    if deadline is not None:
        found["timeout"] = durations.written(deadline)
    return found


def retry(emission: Emission, template: Template, policy: RetryPolicy, scope: TemplateScope) -> JSON:
    """The `retryStrategy`. The policy is always said: Argo's default depends on whether there is an expression."""
    on_fault = policy.policy == "OnPlatformFault"
    found: JSON = {"limit": policy.limit, "retryPolicy": "Always" if on_fault else policy.policy}
    if policy.backoff is not None:
        backoff: JSON = {"duration": durations.written(policy.backoff.duration)}
        factor = policy.backoff.factor
        if factor != int(factor):
            emission.problem(
                "CLR405",
                f"a backoff that grows by {factor} is rounded to {max(1, round(factor))}",
                severity="warning",
                why="Argo multiplies by whole numbers only",
                **place(template),  # type: ignore[arg-type]
            )
        if factor != 1:
            backoff["factor"] = max(1, round(factor))
        if policy.backoff.maximum is not None:
            backoff["maxDuration"] = durations.written(policy.backoff.maximum)
        found["backoff"] = backoff
    if policy.when is not None or on_fault:
        try:
            found["expression"] = _worth(template, policy, scope)
        except UnprovenError as error:
            report(emission, error, "the condition of its retries", template.name, template.source)
    if policy.other_node:
        found["affinity"] = {"nodeAntiAffinity": {}}
    return found


def _worth(template: Template, policy: RetryPolicy, scope: TemplateScope) -> str:
    """The condition of another attempt. Argo's Error is never the program's: the pod was lost, or its files were."""
    asked = [] if policy.when is None else [condition(policy.when, scope)]
    if policy.policy == "OnPlatformFault":
        faults = _platform_fault(heard("Argo", begun=not template.effects))
        asked.append(faults if template.effects else f'(lastRetry.status == "Error" || {faults})')
    return " && ".join(asked)


def _platform_fault(found: Heard) -> str:
    """`passes.retry.condition` in fewer bytes: each step with such retries has it, and a run keeps all of them."""
    exits = [f"asInt(trim(lastRetry.exitCode)) == {code}" for code in found.exit_codes]
    return f"({' || '.join([*exits, _says(found.again)])}) && !{_says(found.never)}"


def _says(words: tuple[str, ...]) -> str:
    return f"any([{', '.join(map(string, words))}], {{lastRetry.message contains #}})"


def synchronization(emission: Emission, locks: tuple[Lock, ...], rendered: Render) -> JSON:
    """Mutexes and semaphores, sorted by name, so that two templates never take them in opposite order."""
    mutexes: list[JSON] = []
    semaphores: list[JSON] = []
    for lock in sorted(locks, key=lambda lock: str(lock.name)):
        entry: JSON = {}
        if isinstance(lock, Mutex):
            entry["name"] = rendered(lock.name)
            into = mutexes
        else:
            entry |= _semaphore(emission, lock, rendered)
            into = semaphores
        if lock.database:
            entry["database"] = True
        if lock.namespace:
            entry["namespace"] = lock.namespace
        into.append(entry)
    found: JSON = {}
    if mutexes:
        found["mutexes"] = mutexes
    if semaphores:
        found["semaphores"] = semaphores
    return found


def _semaphore(emission: Emission, lock: Semaphore, rendered: Render) -> JSON:
    if lock.config_map is not None:
        return {"configMapKeyRef": config_map_key(lock.config_map, rendered)}
    if lock.database:
        return {"key": rendered(lock.name)}
    key = rendered(lock.name)
    return {"configMapKeyRef": {"name": emission.semaphores(key, lock.limit or 1), "key": key}}


def pod(emission: Emission, template: Template, scope: TemplateScope) -> JSON:
    """The settings of a template's pod."""
    settings = template.pod
    rendered, command = render(emission, template, scope), render_command(emission, template, scope)
    found: JSON = {}
    metadata: JSON = {}
    if settings.labels:
        metadata["labels"] = {key: rendered(value) for key, value in settings.labels}
    if settings.annotations:
        metadata["annotations"] = {key: rendered(value) for key, value in settings.annotations}
    if metadata:
        found["metadata"] = metadata
    found |= pod_fields(settings, rendered)
    if settings.volumes:
        found["volumes"] = [volume(each, rendered) for each in settings.volumes]
    if settings.init_containers:
        found["initContainers"] = _named(settings.init_containers, "init", rendered, command)
    if settings.sidecars:
        found["sidecars"] = _named(settings.sidecars, "sidecar", rendered, command)
    try:
        patch = pod_patch(settings, rendered)
    except ValueError as error:
        emission.problem(
            "CLR402",
            f"the patch of its pod can't be joined with dns, host network or pull secrets: {error}",
            help="say these in the patch as well, or write the patch as JSON without values in it",
            **place(template),  # type: ignore[arg-type]
        )
        patch = ""
    if patch:
        found["podSpecPatch"] = patch
    return found


def _named(containers: tuple[Container, ...], kind: str, rendered: Render, command: Render) -> list[JSON]:
    """Containers beside the step, each with a name that Argo doesn't use for its own."""
    found = []
    for number, each in enumerate(containers, 1):
        name = f"{kind}-{number}" if not each.name else f"{each.name}-{kind}" if each.name in OWN else each.name
        given = container(each, rendered, command)
        if needs_empty(given):
            given["env"] = [{"name": EMPTY, "value": ""}, *given.get("env", [])]
        found.append({"name": name} | {key: value for key, value in given.items() if key != "name"})
    return found


def pod_patch(settings: PodSettings, rendered: Render) -> str:
    """The `podSpecPatch`: the user's own, or what a template has no field for (dns, host network, pull secrets).

    Raises `ValueError` where both are given and the user's isn't JSON data.
    """
    import json

    extra: JSON = {}
    if settings.dns is not None:
        extra |= dns(settings.dns)
    if settings.host_network is not None:
        extra["hostNetwork"] = settings.host_network
    if settings.image_pull_secrets:
        extra["imagePullSecrets"] = [{"name": name} for name in settings.image_pull_secrets]
    if not extra:
        return rendered(settings.patch) if settings.patch else ""
    if not settings.patch:
        return json.dumps(extra)
    if isinstance(settings.patch, str):
        return json.dumps(_merged(extra, json.loads(settings.patch)))
    raise ValueError("it has values in it")


def _merged(base: JSON, over: JSON) -> JSON:
    found = dict(base)
    for key, value in over.items():
        both = isinstance(value, dict) and isinstance(found.get(key), dict)
        found[key] = _merged(found[key], value) if both else value
    return found
