"""A workflow's `spec`: what holds for the whole run, and the templates."""

from __future__ import annotations

from typing import Any

from couler_py.backends.argo.document import parameters, pods
from couler_py.backends.argo.document.artifacts import artifact_argument
from couler_py.backends.argo.document.artifacts import written_argument as written_artifact
from couler_py.backends.argo.document.calls import ON_EXIT, hooks, written_hook
from couler_py.backends.argo.document.durations import seconds, written_seconds
from couler_py.backends.argo.document.lens import JSON, Field, Table, whole, whole_field, word_field
from couler_py.backends.argo.document.policies import locks, written_locks
from couler_py.backends.argo.document.templated import copied, untemplated
from couler_py.backends.argo.document.templates import template, written_template
from couler_py.backends.argo.document.texts import UNSAID, Root
from couler_py.ir.model import Handler, Ttl, Workflow
from couler_py.ir.pod import PodSettings

_TTL = {
    "secondsAfterCompletion": "after_completion",
    "secondsAfterSuccess": "after_success",
    "secondsAfterFailure": "after_failure",
}


def _ttl(given: Any, root: Root) -> Any:
    if not isinstance(given, dict) or not given or given.keys() - _TTL.keys():
        return UNSAID
    found = {_TTL[key]: whole(value, root) for key, value in given.items()}
    return UNSAID if UNSAID in found.values() else Ttl(**found)


def _written_ttl(given: Ttl, root: Root) -> JSON:
    said = {key: getattr(given, attribute) for key, attribute in _TTL.items()}
    return {key: value for key, value in said.items() if value is not None}


_POD_GC = ("OnPodCompletion", "OnPodSuccess", "OnWorkflowCompletion", "OnWorkflowSuccess")


def _pod_gc(given: Any, root: Root) -> Any:
    if isinstance(given, dict) and given.keys() == {"strategy"} and given["strategy"] in _POD_GC:
        return given["strategy"]
    return UNSAID


_SPEC = Table(
    Workflow,
    word_field("entrypoint", "entrypoint"),
    whole_field("parallelism", "parallelism"),
    Field("activeDeadlineSeconds", "deadline", seconds, written_seconds),
    Field("ttlStrategy", "ttl", _ttl, _written_ttl),
    Field("podGC", "pod_gc", _pod_gc, lambda value, root: {"strategy": value}, ""),
    whole_field("priority", "priority"),
    Field("synchronization", "locks", locks, written_locks, ()),
    pods.VOLUMES,
    pods.VOLUME_CLAIMS,
)


def specification(data: JSON) -> dict[str, Any]:
    """The attributes of a workflow that its `spec` says. What the IR has no word for is the engine's own option."""
    found, rest = _SPEC.taken(data, "")
    found["templates"] = tuple(template(each) for each in rest.pop("templates", ()))
    found |= _arguments(rest)
    found["handlers"] = tuple(_handler(each) for each in hooks(rest, ""))
    pod, further = pods.OF_RUN.taken(rest, "")
    pod |= pods.labels(further, "podMetadata", "") | pods.resolver(further, "")
    found["pod"] = PodSettings(**pod)
    if further:
        found["engines"] = {"argo": copied(further)}
    return {"entrypoint": ""} | found


def written_specification(given: Workflow) -> JSON:
    """The `spec` again."""
    found = _SPEC.write(given, "")
    arguments = _written_arguments(given)
    entrypoint = {"entrypoint": found.pop("entrypoint")} if "entrypoint" in found else {}
    found = entrypoint | arguments | _written_handlers(given) | found
    pod = given.pod
    found |= pods.OF_RUN.write(pod, "") | pods.written_labels(pod, "podMetadata", "") | pods.written_resolver(pod.dns)
    if pod.extra is not None:
        found |= untemplated(pod.extra, "")
    found |= copied(given.engines.get("argo", {}))
    if given.templates:
        found |= {"templates": [written_template(each) for each in given.templates]}
    return found


def _arguments(rest: JSON) -> dict[str, Any]:
    given = rest.get("arguments")
    if not isinstance(given, dict) or given.keys() - {"parameters", "artifacts"}:
        return {}
    del rest["arguments"]
    return {
        "parameters": tuple(parameters.parameter(each, "", of_run=True) for each in given.get("parameters") or ()),
        "artifacts": tuple(artifact_argument(each, "") for each in given.get("artifacts") or ()),
    }


def _written_arguments(given: Workflow) -> JSON:
    found: JSON = {}
    if given.parameters:
        found["parameters"] = [parameters.written_parameter(each, "", of_run=True) for each in given.parameters]
    if given.artifacts:
        found["artifacts"] = [written_artifact(each, "") for each in given.artifacts]
    return {"arguments": found} if found else {}


def _handler(given: Any) -> Handler:
    """A hook of the run: `exit` and `onExit` run at its end, the others at the moment that their expression says."""
    ends = given.name in (ON_EXIT, "exit")
    return Handler(
        given.name,
        given.call,
        "exit" if ends else "when",
        given.when,
        given.arguments,
        given.artifacts,
        extra=given.extra,
    )


def _written_handlers(given: Workflow) -> JSON:
    found: JSON = {}
    for each in given.handlers:
        plain = each.when is None and not (each.arguments or each.artifacts or each.extra)
        if each.name == ON_EXIT and each.on == "exit" and plain:
            found["onExit"] = each.call
        else:
            found.setdefault("hooks", {})[each.name] = written_hook(each, "")
    return found
