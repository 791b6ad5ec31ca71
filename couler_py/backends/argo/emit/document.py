"""The documents around the templates."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from couler_py.backends.argo.emission import Emission
from couler_py.backends.argo.emit.braces import check_settings
from couler_py.backends.argo.emit.handlers import exit_handler
from couler_py.backends.argo.emit.include import include_documents
from couler_py.backends.argo.emit.own_words import add_own_words
from couler_py.backends.argo.emit.policy import pod_patch, synchronization
from couler_py.backends.argo.emit.signature import parameter
from couler_py.backends.argo.emit.storage import storage
from couler_py.backends.argo.emit.template import DISPLAY, template_data
from couler_py.backends.argo.schema.checking import spec_schema
from couler_py.backends.argo.vocabulary import API
from couler_py.ir.model import Graph, Loop, Schedule
from couler_py.ir.names import legal_name
from couler_py.ir.pod import PodSettings
from couler_py.ir.types import STR
from couler_py.kubernetes import container, dns, plain, pod_fields, templated, volume, volume_claim

JSON = dict[str, Any]
OUTPUTS = "couler.dev/outputs"
"""The annotation of a run with the types of its outputs that aren't plain strings, so that others can decode them."""
PARAMETERS = "couler.dev/parameters"
"""The annotation with the types of its parameters that aren't plain strings."""
OF_SCHEDULES = ("stopStrategy", "when")
"""What `argo=` may say of a workflow with a schedule that only a CronWorkflow has."""
DESCRIPTION = "workflows.argoproj.io/description"


def documents(emission: Emission) -> list[JSON]:
    """All documents of a workflow, the main one last, so that one `kubectl create -f` finds what it refers to."""
    workflow = emission.workflow
    include_documents(emission)
    spec = specification(emission)
    kind = emission.options.kind or ("CronWorkflow" if workflow.schedule is not None else "Workflow")
    metadata = main_metadata(emission, kind)
    if kind == "CronWorkflow" and workflow.schedule is not None:
        spec = schedule(emission, workflow.schedule, spec, metadata)
    main: JSON = {"apiVersion": API, "kind": kind, "metadata": metadata, "spec": spec}
    return [*emission.semaphore_documents(), *emission.documents, main]


def main_metadata(emission: Emission, kind: str) -> JSON:
    workflow, options = emission.workflow, emission.options
    wish = options.name or workflow.name
    name = legal_name("argo", "cron" if kind == "CronWorkflow" else "workflow", wish)
    generated = kind == "Workflow" and options.generate_name and not options.name
    found: JSON = {"generateName": f"{name[:57]}-"} if generated else {"name": name}
    if options.namespace and kind != "ClusterWorkflowTemplate":
        found["namespace"] = options.namespace
    if workflow.labels:
        found["labels"] = dict(workflow.labels)
    annotations = dict(workflow.annotations)
    if workflow.display or workflow.name != name:
        annotations[DISPLAY] = workflow.display or workflow.name
    if workflow.description:
        annotations[DESCRIPTION] = workflow.description
    entrypoint = emission.program.templates[workflow.entrypoint]
    types = {each.name: emission.builtin_type(each.type) for each in entrypoint.outputs.parameters if each.type != STR}
    if types:
        annotations[OUTPUTS] = msgspec.json.encode(types).decode()
    typed = {each.name: emission.builtin_type(each.type) for each in workflow.parameters if each.type != STR}
    if typed:
        annotations[PARAMETERS] = msgspec.json.encode(typed).decode()
    annotations |= emission.annotations
    if annotations:
        found["annotations"] = annotations
    return found


def specification(emission: Emission) -> JSON:
    """The `spec` of a Workflow."""
    workflow = emission.workflow
    found: JSON = {"entrypoint": emission.program.template_name(workflow.entrypoint)}
    if arguments := run_arguments(emission):
        found["arguments"] = arguments
    found |= settings(emission)
    templates(emission)
    if workflow.handlers:
        found |= exit_handler(emission)
    found["templates"] = emission.templates
    if emission.run_annotations:  # last: a person who opens the file comes for the workflow
        given = found.pop("workflowMetadata", {})
        annotations = given.get("annotations", {}) | emission.run_annotations
        found["workflowMetadata"] = given | {"annotations": annotations}
    own = {key: value for key, value in workflow.engines.get("argo", {}).items() if key not in OF_SCHEDULES}
    if not own:
        return found
    place = {"step": workflow.display or workflow.name, "source": workflow.source}
    return add_own_words(emission, found, own, spec_schema("Workflow"), **place)  # type: ignore[arg-type]


def templates(emission: Emission) -> None:
    """Write every template of the workflow, in its forms, in their order; what one adds comes right after it."""
    program = emission.program
    for template in emission.workflow.templates:
        for variant in sorted(program.variants[template.name]):
            index = len(emission.templates)
            emission.templates.insert(index, template_data(emission, template, variant))


def run_arguments(emission: Emission) -> JSON:
    """Parameters of the run, and artifacts given to it."""
    workflow = emission.workflow
    found: JSON = {}
    if workflow.parameters:
        program = emission.program
        found["parameters"] = [
            parameter(emission, each, program.run_parameter_name(each.name), False, workflow.name, key="value")
            for each in workflow.parameters
        ]
    if workflow.artifacts:
        found["artifacts"] = [
            {"name": each.name}
            | ({} if each.storage is None else storage(emission, each.storage, plain, workflow.name, workflow.source))
            for each in workflow.artifacts
        ]
    return found


def settings(emission: Emission) -> JSON:
    """What holds for the whole run."""
    workflow = emission.workflow
    found: JSON = {}
    if workflow.parallelism is not None:
        found["parallelism"] = workflow.parallelism
    if (deadline := run_deadline(emission)) is not None:
        found["activeDeadlineSeconds"] = max(1, math.ceil(deadline))
    if workflow.priority is not None:
        found["priority"] = workflow.priority
    if workflow.ttl is not None:
        names = (
            ("secondsAfterCompletion", workflow.ttl.after_completion),
            ("secondsAfterSuccess", workflow.ttl.after_success),
            ("secondsAfterFailure", workflow.ttl.after_failure),
        )
        found["ttlStrategy"] = {name: value for name, value in names if value is not None}
    if workflow.pod_gc:
        found["podGC"] = {"strategy": workflow.pod_gc}
    if workflow.locks:
        found["synchronization"] = synchronization(emission, workflow.locks, plain)
    if workflow.volumes:
        found["volumes"] = [volume(each, plain) for each in workflow.volumes]
    if workflow.volume_claims:
        found["volumeClaimTemplates"] = [volume_claim(each) for each in workflow.volume_claims]
    if workflow.pod != PodSettings():
        found |= pod_defaults(workflow.pod, found)
    check_settings(emission, found)
    return found


def run_deadline(emission: Emission) -> float | None:
    """The seconds that a run may take: its own deadline, or a limit on the graph that it starts with."""
    entrypoint = emission.program.templates[emission.workflow.entrypoint]
    limits = [emission.workflow.deadline]
    if isinstance(entrypoint.body, Graph | Loop):
        limits += [entrypoint.timeout, entrypoint.deadline]
    return min((limit for limit in limits if limit is not None), default=None)


def pod_defaults(pod: PodSettings, known: JSON) -> JSON:
    """Settings of all pods of the run, as fields of the workflow's spec."""
    found = pod_fields(pod, plain)
    if "serviceAccountName" not in found and pod.service_account:
        found["serviceAccountName"] = pod.service_account
    if "priorityClassName" in found:
        found["podPriorityClassName"] = found.pop("priorityClassName")
    metadata: JSON = {}
    if pod.labels:
        metadata["labels"] = {key: plain(value) for key, value in pod.labels}
    if pod.annotations:
        metadata["annotations"] = {key: plain(value) for key, value in pod.annotations}
    if metadata:
        found["podMetadata"] = metadata
    if pod.image_pull_secrets:
        found["imagePullSecrets"] = [{"name": name} for name in pod.image_pull_secrets]
    if pod.dns is not None:
        found |= dns(pod.dns)
    if pod.host_network is not None:
        found["hostNetwork"] = pod.host_network
    if pod.volumes:
        found["volumes"] = known.get("volumes", []) + [volume(each, plain) for each in pod.volumes]
    defaults: JSON = {}
    if pod.init_containers:
        defaults["initContainers"] = [container(each, plain) for each in pod.init_containers]
    if pod.sidecars:
        defaults["sidecars"] = [container(each, plain) for each in pod.sidecars]
    if defaults:
        found["templateDefaults"] = defaults
    if pod.patch:
        patch = pod_patch(PodSettings(patch=pod.patch), plain)
        found["podSpecPatch"] = patch
    if pod.extra is not None:
        found |= templated(pod.extra, plain)
    return found


def schedule(emission: Emission, given: Schedule, spec: JSON, metadata: JSON) -> JSON:
    """The `spec` of a CronWorkflow."""
    found: JSON = {"schedules": list(given.crons)}
    found["timezone"] = given.timezone
    found["concurrencyPolicy"] = given.concurrency
    for name, value in (
        ("startingDeadlineSeconds", None if given.starting_deadline is None else math.ceil(given.starting_deadline)),
        ("successfulJobsHistoryLimit", given.keep_succeeded),
        ("failedJobsHistoryLimit", given.keep_failed),
    ):
        if value is not None:
            found[name] = value
    if given.suspended:
        found["suspend"] = True
    own = emission.workflow.engines.get("argo", {})
    found |= {key: own[key] for key in OF_SCHEDULES if key in own}
    inherited = {key: value for key, value in metadata.items() if key in ("labels", "annotations")}
    found["workflowSpec"] = spec
    if inherited:
        found["workflowMetadata"] = inherited  # what the runs of the schedule begin with
    return found
