"""What this engine can do, feature by feature, and what stands in a workflow's way, said before it starts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from couler_py.backends.base import Support
from couler_py.backends.features import FEATURES
from couler_py.backends.local.containers import findings as in_containers
from couler_py.backends.local.containers import security
from couler_py.backends.local.context import Options
from couler_py.backends.local.machine.capacity import Share, asked
from couler_py.backends.local.scheduling.waiting import count
from couler_py.backends.local.steps import needed
from couler_py.backends.local.steps.forks import is_module
from couler_py.ir.diagnostics import Diagnostic, error, warning
from couler_py.ir.expr import Raw, Text
from couler_py.ir.graph import reachable, templates_by_name
from couler_py.ir.model import (
    ContainerSet,
    Data,
    DistributedJob,
    External,
    Function,
    Graph,
    Http,
    Inline,
    Plugin,
    Resource,
    Script,
    Semaphore,
    Template,
    Workflow,
)
from couler_py.ir.pod import ConfigMapRef, Container, FieldRef
from couler_py.ir.storage import SecretRef
from couler_py.passes import policy
from couler_py.passes.check.findings import Findings, Place
from couler_py.passes.check.names import check_distinct, check_names_of
from couler_py.passes.portable import rules
from couler_py.settings import load
from couler_py.store.home import Home
from couler_py.store.secrets import SecretNotFoundError, read_key, read_secret

NEVER = {
    "resource": "there is no Kubernetes here to create the object in: compile to Argo",
    "data": "Argo lists the files itself: write a step that does",
    "plugin": "the plugin runs inside Argo",
    "external": "the template is installed on a cluster: import it, so that it is part of the workflow",
    "pod_patch": "there is no pod",
    "raw": "the expression is in another engine's language",
    "retry_other_node": "there is one machine",
    "metrics": "nobody reads them here: use couler.log_metric",
}
IN_CONTAINERS = {
    "container_set": "with --runtime podman or docker; processes share no pod",
    "init_container": "with --runtime podman or docker; a process has no container before it: make it a step",
    "sidecar": "with --runtime podman or docker; a process has no container beside it: use a daemon step",
}
"""What only containers can do, and what a process has instead."""
EMULATED = {
    "container": "in its image with --runtime podman or docker; else as a process, with this machine's programs",
    "script": "in its image with --runtime podman or docker; else as a process, with this machine's programs",
    "container_set": IN_CONTAINERS["container_set"],
    "init_container": IN_CONTAINERS["init_container"],
    "sidecar": IN_CONTAINERS["sidecar"],
    "distributed_job": "processes of this machine, which the pass `distributed` puts into one step",
    "volume": "a folder of the home, mounted into containers; for a process, a link at the mount's path",
    "placement": "ignored, with a note: there is one machine",
    "schedule": "run at once; --at gives the scheduled time",
    "parameter_config_map": "read from config.toml of the home",
    "semaphore": "limits in ConfigMaps are read from config.toml of the home",
}
BODIES = {
    Resource: "resource",
    DistributedJob: "distributed_job",
    Data: "data",
    Plugin: "plugin",
}
FOLDER_VOLUMES = ("emptyDir", "persistentVolumeClaim", "secret", "configMap")


def support_table() -> tuple[Support, ...]:
    """A row for every feature of the IR."""
    rows = []
    for feature in FEATURES:
        if feature in NEVER:
            rows.append(Support(feature, "never", NEVER[feature]))
        elif feature in EMULATED:
            rows.append(Support(feature, "emulated", EMULATED[feature]))
        else:
            rows.append(Support(feature, "native"))
    return tuple(rows)


def findings(workflow: Workflow, home: Home, options: Options, machine: Share) -> list[Diagnostic]:
    """All that this machine can't do, or does otherwise than a cluster would, in the templates that a run calls."""
    processes = options.runtime == "process"
    templates = templates_by_name(workflow)
    used = [templates[name] for name in reachable(workflow)]
    for template in list(used):
        if isinstance(template.body, Graph):
            used += [task.call.template for task in template.body.tasks if isinstance(task.call, Inline)]
    found = _names(workflow, used)
    for template in used:
        found += _template(template, workflow)
        if processes:
            found += _process(template, workflow)
        else:
            found += in_containers.of_template(template, workflow, allow_host=options.allow_host)
        found += _references(template, home, options.config_maps)
        found += _resources(template, machine)
    found += _preload(workflow)
    found += policy.check(workflow, load().policies)
    found += needed.missing(workflow, used, home)
    images = sorted({str(image) for template in used for image in _images(template) if isinstance(image, str)})
    if images and processes:
        found.append(
            Diagnostic(
                "CLR608",
                "note",
                f"steps run as processes of this machine; these images are not used: {', '.join(images)}",
                step=workflow.name,
            )
        )
    ignored = sorted({name for pod in (workflow.pod, *(each.pod for each in used)) for name in _placement(pod)})
    if ignored:
        found.append(Diagnostic("CLR610", "note", f"not used on one machine: {', '.join(ignored)}", step=workflow.name))
    return found


def _preload(workflow: Workflow) -> Iterator[Diagnostic]:
    given = workflow.engines.get("local", {}).get("preload", ())
    if not isinstance(given, list | tuple) or not all(isinstance(name, str) and is_module(name) for name in given):
        help_ = 'name them as import does: preload=["numpy"]'
        yield error("CLR613", f"preload is a list of modules, not {given!r}", help=help_, step=workflow.name)


def _names(workflow: Workflow, used: list[Template]) -> list[Diagnostic]:
    """Names that can't be those of files, for who comes with IR that nobody has checked."""
    found = Findings()
    place = Place(workflow.name, workflow.source)
    check_distinct("volume", (*workflow.volumes, *workflow.volume_claims), "CLR205", found, place)
    for template in used:
        check_names_of(template, found)
        if isinstance(template.body, Graph):
            check_distinct("step", template.body.tasks, "CLR204", found, Place(template.name, template.source))
    return found.all()


def _images(template: Template) -> Iterator[Any]:
    if isinstance(template.body, Container | Script):
        yield template.body.image


def _placement(pod: Any) -> Iterator[str]:
    for name in ("node_selector", "tolerations", "priority_class", "scheduler", "dns", "service_account"):
        if getattr(pod, name):
            yield name.replace("_", " ")


def _never(template: Template, feature: str, what: str, source: Any = None) -> Diagnostic:
    return error(
        "CLR600",
        f"{what} can't run on this machine",
        source=source or template.source,
        step=template.display or template.name,
        why=NEVER.get(feature) or EMULATED[feature],
        help="compile it for an engine that can: couler engines",
    )


def _process(template: Template, workflow: Workflow) -> Iterator[Diagnostic]:
    """What a process can't do of a step."""
    body = template.body
    if isinstance(body, ContainerSet):
        yield _never(template, "container_set", FEATURES["container_set"])
    if template.pod.init_containers or template.pod.sidecars:
        feature = "init_container" if template.pod.init_containers else "sidecar"
        yield _never(template, feature, "a step with init containers or sidecars")
    if isinstance(body, Container) and not body.command:
        yield error(
            "CLR602",
            f"{template.display or template.name} gives no command",
            source=template.source,
            why="the command stands in the image, and steps run as processes here, without their image",
            help="give command=[...], or run it with --runtime podman or docker",
        )
    if isinstance(body, Container | Script | Function):
        yield from _volumes(template, body, workflow)
        yield from _paths(template)


def _template(template: Template, workflow: Workflow) -> Iterator[Diagnostic]:
    body = template.body
    feature = BODIES.get(type(body))
    if feature is not None:
        yield _never(template, feature, FEATURES[feature])
    if isinstance(body, Graph):
        for task in body.tasks:
            if isinstance(task.call, External):
                yield _never(template, "external", f"{task.call.kind} {task.call.name!r}", task.source)
    if template.pod.patch:
        yield _never(template, "pod_patch", "a patch of the pod")
    for raw in () if rules(workflow) == "argo" else _raws(template):
        yield error(
            "CLR601",
            f"an expression of {raw.engine} has no meaning here: {raw.text}",
            source=template.source,
            step=template.display or template.name,
            why="it was imported and could not be translated",
            help="write it with couler's own expressions, or run it on that engine",
        )
    if isinstance(body, Http) and body.success_condition and rules(workflow) != "argo":
        yield error(
            "CLR601",
            f"the success condition of a request has no meaning here: {body.success_condition}",
            source=template.source,
            step=template.display or template.name,
            why="it is in Argo's own language",
            help="look at the answer in a step",
        )


def _volumes(template: Template, body: Container | Script | Function, workflow: Workflow) -> Iterator[Diagnostic]:
    volumes = {volume.name: volume for volume in (*workflow.volumes, *template.pod.volumes)}
    claims = {claim.name for claim in workflow.volume_claims}
    for wanted in body.mounts:
        volume = volumes.get(wanted.name)
        kind = next(iter(volume.source.value), "") if volume is not None else ""
        if wanted.name not in claims and kind not in FOLDER_VOLUMES:
            yield error(
                "CLR606",
                f"the volume {wanted.name!r} ({kind or 'unknown'}) can't be a folder of this machine",
                source=template.source,
                step=template.display or template.name,
                help=f"use one of {', '.join(FOLDER_VOLUMES)}",
            )


def _paths(template: Template) -> Iterator[Diagnostic]:
    paths = [each.path for each in template.inputs.artifacts]
    paths += [each.path for each in template.outputs.artifacts]
    paths += [each.path for each in template.outputs.parameters]
    for path in paths:
        if path.startswith("/") and len([part for part in path.split("/") if part not in ("", ".")]) < 2:
            yield error(
                "CLR609",
                f"the path {path} would be replaced on this machine",
                source=template.source,
                step=template.display or template.name,
                why="steps run as processes here, and a declared path is cleared before and taken away after",
                help="use a path below /tmp",
            )


_NESTED = (msgspec.Struct, tuple)


def _raws(template: Template) -> Iterator[Raw]:
    found: dict[Raw, None] = {}

    def visit(node: Any) -> None:
        if isinstance(node, Raw):
            found.setdefault(node)
        elif isinstance(node, msgspec.Struct):
            for name in node.__struct_fields__:
                value = getattr(node, name)
                if isinstance(value, _NESTED):
                    visit(value)
        elif isinstance(node, tuple):
            for each in node:
                visit(each)

    visit(template)
    yield from found


def _references(template: Template, home: Home, config_maps: dict[str, dict[str, str]]) -> Iterator[Diagnostic]:
    place = {"source": template.source, "step": template.display or template.name}
    for lock in template.locks:
        limit = lock.config_map if isinstance(lock, Semaphore) and lock.limit is None else None
        if limit is None or _is_text(limit.name, limit.key):
            continue
        if str(limit.key) not in config_maps.get(str(limit.name), {}):
            yield _no_config_map(home, str(limit.name), str(limit.key), place)
    for each in security.containers(template):
        yield from _environment(each, home, config_maps, place)


def _environment(
    body: Container | Script | Function, home: Home, config_maps: dict[str, dict[str, str]], place: dict[str, Any]
) -> Iterator[Diagnostic]:
    for variable in body.env:
        value = variable.value
        if isinstance(value, SecretRef) and not value.optional:
            try:
                read_key(home, value.name, value.key)
            except SecretNotFoundError as missing:
                yield error("CLR604", str(missing), **place)
        if isinstance(value, ConfigMapRef) and not value.optional and not _is_text(value.name, value.key):
            name, key = str(value.name), str(value.key)
            if key not in config_maps.get(name, {}):
                yield _no_config_map(home, name, key, place)
        if isinstance(value, FieldRef):
            yield error(
                "CLR603",
                f"{variable.name} is the field {value.path} of a pod, and a process has none",
                help="use couler.run_info for facts about the run",
                **place,
            )
    for source in body.env_from:
        if source.optional:
            continue
        if source.kind == "config_map" and source.name not in config_maps:
            yield _no_config_map(home, source.name, "", place)
        if source.kind == "secret":
            try:
                read_secret(home, source.name)
            except SecretNotFoundError as missing:
                yield error("CLR604", str(missing), **place)


def _is_text(*texts: Any) -> bool:
    return any(isinstance(text, Text) for text in texts)


def _no_config_map(home: Home, name: str, key: str, place: dict[str, Any]) -> Diagnostic:
    what = f"the key {key!r} of the ConfigMap {name!r}" if key else f"the ConfigMap {name!r}"
    table = f"[local.config_maps.{name}]"
    return error(
        "CLR605", f"this machine doesn't have {what}", help=f"write {table} into {home.path}/config.toml", **place
    )


def _resources(template: Template, machine: Share) -> Iterator[Diagnostic]:
    if not isinstance(template.body, Container | Script | Function):
        return
    share = asked(template)
    place = {"source": template.source, "step": template.display or template.name}
    if share.gpus > machine.gpus:
        yield error(
            "CLR607",
            f"it asks for {count(share.gpus, 'GPU')}, and this machine has {machine.gpus or 'none'}",
            why="GPUs are counted by CUDA_VISIBLE_DEVICES, else by /dev/nvidia*",
            help="ask for fewer, or run it on a cluster",
            **place,
        )
    over = (
        ("processors", share.cpu, machine.cpu),
        ("GiB of memory", share.memory / 2**30, machine.memory / 2**30),
    )
    for what, wanted, there in over:
        if wanted > there:
            yield warning(
                "CLR607",
                f"it asks for {wanted:g} {what}, and this machine has {there:.3g}",
                why="it runs with what there is, and nothing beside it",
                **place,
            )
