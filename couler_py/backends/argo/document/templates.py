"""Templates: what they take, what they do, what they give, and what holds while they run."""

from __future__ import annotations

from typing import Any

from couler_py.backends.argo.document import artifacts, parameters, pods
from couler_py.backends.argo.document.bodies import body, written_body
from couler_py.backends.argo.document.durations import duration, seconds, written_duration, written_seconds
from couler_py.backends.argo.document.graphs import graph, written_graph
from couler_py.backends.argo.document.lens import (
    JSON,
    Field,
    Table,
    flag_field,
    whole_field,
    with_extra,
    word_field,
)
from couler_py.backends.argo.document.policies import (
    cache,
    locks,
    retry,
    written_cache,
    written_locks,
    written_retry,
)
from couler_py.backends.argo.document.structure import is_template
from couler_py.backends.argo.document.templated import templated, untemplated
from couler_py.backends.argo.document.texts import UNSAID, Root
from couler_py.ir.model import Graph, Inputs, Outputs, Template
from couler_py.ir.pod import PodSettings


def _archive_logs(given: Any, root: Root) -> Any:
    """Whether logs are kept, where nothing is said about the place."""
    if isinstance(given, dict) and given.keys() == {"archiveLogs"} and type(given["archiveLogs"]) is bool:
        return given["archiveLogs"]
    return UNSAID


_TEMPLATE = Table(
    Template,
    word_field("name", "name"),
    Field("retryStrategy", "retry", retry, written_retry),
    Field("activeDeadlineSeconds", "timeout", seconds, written_seconds),
    Field("timeout", "deadline", duration, written_duration),
    Field("memoize", "cache", cache, written_cache),
    Field("synchronization", "locks", locks, written_locks, ()),
    flag_field("daemon", "daemon"),
    whole_field("parallelism", "parallelism"),
    Field("archiveLocation", "archive_logs", _archive_logs, lambda value, root: {"archiveLogs": value}),
    Field("metrics", "metrics", templated, untemplated),
)


def template(data: JSON, around: Root = "") -> Template:
    """A template. `around` is where one stands that is written inside a task: its texts name the tasks there."""
    root: Root = "steps" if isinstance(data.get("steps"), list) else "tasks" if "dag" in data else around
    attributes, rest = _TEMPLATE.taken(data, root)
    own: Any = graph(rest, _inline)
    attributes["body"] = body(rest, root) if own is None else own
    if "inputs" in rest:
        attributes |= _inputs(rest, root)
    if "outputs" in rest:
        attributes |= _outputs(rest, root)
    if rest:
        pod, further = pods.OF_TEMPLATE.taken(rest, root)
        pod |= pods.labels(further, "metadata", root)
        if further:
            pod["extra"] = templated(further, root)
        attributes["pod"] = PodSettings(**pod)
    return Template(**({"name": ""} | attributes))


def written_template(given: Template, around: Root = "") -> JSON:
    """The template again."""
    root: Root = around
    if isinstance(given.body, Graph):
        root = "steps" if given.body.form == "steps" else "tasks"
    found: JSON = {"name": given.name} if given.name else {}
    found |= _written_inputs(given.inputs, root) | _written_outputs(given.outputs, root)
    found |= (
        written_graph(given.body, written_template) if isinstance(given.body, Graph) else written_body(given.body, root)
    )
    found |= _TEMPLATE.write(given, root)
    pod = given.pod
    if pod is not _PLAIN and pod != _PLAIN:
        found |= pods.written_labels(pod, "metadata", root) | pods.OF_TEMPLATE.write(pod, root)
        with_extra(found, pod.extra, root)
    return found


_PLAIN = PodSettings()


def _inline(given: Any, root: Root) -> Any:
    return template(given, root) if is_template(given) else UNSAID


def _inputs(rest: JSON, root: Root) -> JSON:
    given = rest["inputs"]
    if given.keys() - {"parameters", "artifacts"}:
        return {}
    del rest["inputs"]
    return {
        "inputs": Inputs(
            tuple(parameters.parameter(each, root) for each in given.get("parameters") or ()),
            tuple(artifacts.input_artifact(each, root) for each in given.get("artifacts") or ()),
        )
    }


def _written_inputs(given: Inputs, root: Root) -> JSON:
    found: JSON = {}
    if given.parameters:
        found["parameters"] = [parameters.written_parameter(each, root) for each in given.parameters]
    if given.artifacts:
        found["artifacts"] = [artifacts.written_input(each, root) for each in given.artifacts]
    return {"inputs": found} if found else {}


def _outputs(rest: JSON, root: Root) -> JSON:
    given = rest["outputs"]
    if given.keys() - {"parameters", "artifacts"}:  # a result and an exit code are a finished run's
        return {}
    del rest["outputs"]
    return {
        "outputs": Outputs(
            tuple(parameters.output_parameter(each, root) for each in given.get("parameters") or ()),
            tuple(artifacts.output_artifact(each, root) for each in given.get("artifacts") or ()),
        )
    }


def _written_outputs(given: Outputs, root: Root) -> JSON:
    found: JSON = {}
    if given.parameters:
        found["parameters"] = [parameters.written_output(each, root) for each in given.parameters]
    if given.artifacts:
        found["artifacts"] = [artifacts.written_output(each, root) for each in given.artifacts]
    return {"outputs": found} if found else {}
