"""What a workflow leaves open, filled in from the settings: never against what it says.

Steps get the resources that they don't ask for, pods the placement and labels that nothing is said of, images the
places that `images` maps them to. A workflow in Argo's own words stays as it is written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from couler_py.ir.model import ContainerSet, DistributedJob, Function, Script, Template, Workflow
from couler_py.ir.pod import Container, PodSettings, Resources, Toleration
from couler_py.settings import Settings

Runs = TypeVar("Runs", bound=Container | Script | Function)
Value = TypeVar("Value")


class Filled(msgspec.Struct, frozen=True):
    """A key of the settings that changed the workflow, in how many places, and where the key was set."""

    key: str
    places: int
    origin: str = ""


def fill(workflow: Workflow, settings: Settings) -> tuple[Workflow, tuple[Filled, ...]]:
    """The workflow with what the settings say about the rest, and which of them had a say.

    >>> from couler_py import ir
    >>> from couler_py.settings import ResourceDefaults
    >>> w = ir.Workflow("w", "main", (ir.Template("main", ir.Script("python:3.11", "1")),))
    >>> fill(w, Settings(resources=ResourceDefaults(memory="2Gi")))[0].templates[0].body.resources.memory
    '2Gi'
    """
    if workflow.dialect == "argo":
        return workflow, ()
    filling = _Filling(settings)
    made = replace(
        workflow,
        templates=filling.templates(workflow.templates),
        pod=filling.surroundings(workflow.pod),
        labels=filling.pairs("labels", workflow.labels, settings.labels),
        annotations=filling.pairs("annotations", workflow.annotations, settings.annotations),
    )
    counted = filling.counted.items()
    return made, tuple(Filled(key, count, _origin(settings, key)) for key, count in counted)


def _origin(settings: Settings, key: str) -> str:
    found = settings.origins.get(key)
    return found or next((origin for name, origin in settings.origins.items() if name.startswith(f"{key}.")), "")


class _Filling:
    def __init__(self, settings: Settings):
        self.settings = settings
        self.counted: Counter[str] = Counter()
        self.active = bool(
            settings.images or settings.resources.cpu or settings.resources.memory or settings.resources.gpu
        )

    def templates(self, templates: tuple[Template, ...]) -> tuple[Template, ...]:
        return tuple(self._template(each) for each in templates) if self.active else templates

    def _template(self, template: Template) -> Template:
        body = template.body
        match body:
            case Container() | Script() | Function():
                body = self._main(body)
            case DistributedJob():
                body = body.with_containers(self._main)
            case ContainerSet():
                body = replace(body, containers=tuple(map(self._main, body.containers)))
        pod = self._helpers(template.pod)
        return template if body is template.body and pod is template.pod else replace(template, body=body, pod=pod)

    def _main(self, body: Runs) -> Runs:
        body = self._image(body)
        wanted = self._resources(body.resources)
        return body if wanted == body.resources else replace(body, resources=wanted)

    def _helpers(self, pod: PodSettings) -> PodSettings:
        if not (pod.init_containers or pod.sidecars):
            return pod
        return replace(
            pod,
            init_containers=tuple(map(self._image, pod.init_containers)),
            sidecars=tuple(map(self._image, pod.sidecars)),
        )

    def _image(self, body: Runs) -> Runs:
        mapped = mapped_image(body.image, self.settings.images) if isinstance(body.image, str) else body.image
        if mapped == body.image:
            return body
        self.counted["images"] += 1
        return replace(body, image=mapped)

    def _resources(self, given: Resources) -> Resources:
        defaults = self.settings.resources
        more: dict[str, str | int] = {}
        if defaults.cpu and not given.cpu and given.cpu_limit is None:
            more["cpu"] = str(defaults.cpu)
        if defaults.memory and not given.memory and given.memory_limit is None:
            more["memory"] = defaults.memory
        if defaults.gpu and not given.gpu:
            more["gpu"] = defaults.gpu
        self.counted.update(f"resources.{name}" for name in more)
        return replace(given, **more) if more else given

    def surroundings(self, pod: PodSettings) -> PodSettings:
        settings = self.settings
        more: dict[str, object] = {
            "labels": self.pairs("labels", pod.labels, settings.labels, count=False),
            "annotations": self.pairs("annotations", pod.annotations, settings.annotations, count=False),
            "node_selector": self.pairs("node_selector", pod.node_selector, settings.node_selector),
        }
        if settings.service_account and not pod.service_account:
            more["service_account"] = settings.service_account
            self.counted["service_account"] += 1
        if settings.tolerations and not pod.tolerations:
            more["tolerations"] = tuple(
                Toleration(each.key, each.operator, each.value, each.effect, each.seconds)
                for each in settings.tolerations
            )
            self.counted["tolerations"] += 1
        if settings.image_pull_secrets and not pod.image_pull_secrets:
            more["image_pull_secrets"] = settings.image_pull_secrets
            self.counted["image_pull_secrets"] += 1
        return replace(pod, **more)

    def pairs(
        self, key: str, given: tuple[tuple[str, Value], ...], more: Mapping[str, str], *, count: bool = True
    ) -> tuple[tuple[str, Value | str], ...]:
        known = {name for name, _ in given}
        added = tuple((name, value) for name, value in more.items() if name not in known)
        if added and count:
            self.counted[key] += len(added)
        return (*given, *added)


def mapped_image(image: str, images: Mapping[str, str]) -> str:
    """Where an image is taken from: by its name, else by the longest pattern `PREFIX*` that fits it.

    One that is taken from there already stays as it is.

    >>> mapped_image("python:3.11", {"*": "mirror.example.com/*", "python:3.11": "ours/python:3.11"})
    'ours/python:3.11'
    >>> mapped_image("alpine", {"*": "mirror.example.com/*"})
    'mirror.example.com/alpine'
    """
    if image in images:
        return images[image]
    fitting = [each for each in images if each.endswith("*") and image.startswith(each[:-1])]
    if not fitting:
        return image
    pattern = max(fitting, key=len)
    target = images[pattern]
    if not target.endswith("*"):
        return target
    return image if image.startswith(target[:-1]) else target[:-1] + image[len(pattern) - 1 :]
