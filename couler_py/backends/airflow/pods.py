"""The pod of a step, in Kubernetes' own words, as the data that its operator starts from."""

from __future__ import annotations

from typing import Any

from couler_py.backends.airflow import expressions
from couler_py.backends.airflow.emission import Emission
from couler_py.backends.airflow.patches import PatchError, patch_of, patched
from couler_py.backends.airflow.scope import Scope
from couler_py.ir.expr import TextLike
from couler_py.ir.model import Function, Script, Template
from couler_py.ir.pod import Container, PodSettings
from couler_py.kubernetes import container, container_fields, pod_fields, templated
from couler_py.kubernetes.pods import dns
from couler_py.printer.layout import Doc, Group, Named
from couler_py.printer.literal import literal, quoted

JSON = dict[str, Any]
SPEC_FIELDS = frozenset(
    {"affinity", "hostAliases", "automountServiceAccountToken", "enableServiceLinks", "runtimeClassName"}
    | {"shareProcessNamespace", "terminationGracePeriodSeconds", "topologySpreadConstraints", "securityContext"}
)
"""Fields of `PodSettings.extra` that a pod spec has under the same name."""


PLAIN_POD = literal({"spec": {"containers": [{"name": "base"}]}})
"""A pod of which nothing is said: the operator knows it."""


class Marks:
    """Texts with values in them, which stand as marks in JSON data until that is written as Python."""

    def __init__(self, scope: Scope):
        self.scope = scope
        self.docs: dict[str, Doc] = {}

    def render(self, text: TextLike) -> str:
        if isinstance(text, str):
            return text
        mark = f"\0{len(self.docs)}"
        self.docs[mark] = expressions.value(text, self.scope)
        return mark

    def written(self, value: Any) -> Doc:
        """JSON data as Python."""
        if isinstance(value, str) and value in self.docs:
            return self.docs[value]
        if isinstance(value, list):
            return Group("[", tuple(self.written(each) for each in value), "]")
        if isinstance(value, dict):
            return Group("{", tuple(Named((quoted(key), ": "), self.written(each)) for key, each in value.items()), "}")
        return literal(value)


def pod_entry(emission: Emission, template: Template, scope: Scope) -> Doc:
    """The pod of a step: a dict, or, where inputs are in it, a function of what the step was given."""
    marks = Marks(scope)
    found = marks.written(_pod(emission, template, marks))
    return expressions.late(found, "given") if marks.docs else found


def _pod(emission: Emission, template: Template, marks: Marks) -> JSON:
    body = template.body
    assert isinstance(body, Container | Script | Function)
    settings = [emission.workflow.pod, template.pod]
    base = {"name": "base"} | container_fields(body, marks.render, marks.render)
    # Plain variables are the operator's own; here stay those that the cluster resolves.
    base["env"] = [each for each in base.get("env", []) if "valueFrom" in each]
    if not base["env"]:
        del base["env"]
    if isinstance(body, Container | Script) and body.working_dir:
        base["workingDir"] = marks.render(body.working_dir)
    sidecars = [container(each, marks.render) for pod in settings for each in pod.sidecars]
    spec: JSON = {}
    for pod in settings:
        spec |= pod_fields(pod, marks.render)
        spec |= dns(pod.dns) if pod.dns is not None else {}
        spec |= _extra(emission, template, pod, marks)
        if pod.host_network is not None:
            spec["hostNetwork"] = pod.host_network
        if pod.image_pull_secrets:
            spec["imagePullSecrets"] = [{"name": each} for each in pod.image_pull_secrets]
    spec["containers"] = [base, *sidecars]
    volumes = [*emission.workflow.volumes, *(each for pod in settings for each in pod.volumes)]
    if volumes:
        spec["volumes"] = [{"name": each.name, **templated(each.source, marks.render)} for each in volumes]
    if before := [container(each, marks.render) for pod in settings for each in pod.init_containers]:
        spec["initContainers"] = before
    metadata: JSON = {}
    for name in ("labels", "annotations"):
        pairs = {key: marks.render(value) for pod in settings for key, value in getattr(pod, name)}
        if pairs:
            metadata[name] = pairs
    for pod in settings:
        if pod.patch:
            spec = _patched(emission, template, spec, pod.patch)
    return ({"metadata": metadata} if metadata else {}) | {"spec": spec}


def _patched(emission: Emission, template: Template, spec: JSON, text: TextLike) -> JSON:
    try:
        return patched(spec, patch_of(text))
    except PatchError as error:
        step = template.display or template.name
        emission.problem(
            "CLR516",
            f"the patch of the pod of {step!r} can't be applied: {error}",
            step=step,
            source=template.source,
            help="say it with the typed settings of pods, which may hold values",
        )
        return spec


def _extra(emission: Emission, template: Template, pod: PodSettings, marks: Marks) -> JSON:
    if pod.extra is None:
        return {}
    found: JSON = templated(pod.extra, marks.render)
    for name in sorted(found.keys() - SPEC_FIELDS):
        emission.problem(
            "CLR501",
            f"the field {name!r} of {template.display or template.name!r} is Argo's",
            step=template.display or template.name,
            source=template.source,
            why="a pod on Airflow has no such field",
        )
    return {name: value for name, value in found.items() if name in SPEC_FIELDS}
