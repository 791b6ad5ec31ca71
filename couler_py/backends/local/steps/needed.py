"""The secrets that the steps of a run need beside their variables: as volumes, for places of artifacts, in requests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from couler_py.ir.diagnostics import Diagnostic, error
from couler_py.ir.model import Http, Template, Workflow
from couler_py.ir.pod import VolumeMount
from couler_py.ir.storage import SecretRef
from couler_py.store.home import Home
from couler_py.store.secrets import SecretNotFoundError, read_key, read_secret


def missing(workflow: Workflow, templates: Iterable[Template], home: Home) -> Iterator[Diagnostic]:
    """A finding for each of them that this machine doesn't have, so that no run begins without."""
    for template in templates:
        place = {"source": template.source, "step": template.display or template.name}
        for ref in dict.fromkeys(_references(template)):
            try:
                read_key(home, ref.name, ref.key)
            except SecretNotFoundError as absent:
                yield error("CLR604", str(absent), **place)
        for name in dict.fromkeys(_mounted(workflow, template)):
            try:
                read_secret(home, name)
            except SecretNotFoundError as absent:
                yield error("CLR604", str(absent), **place)


def _references(template: Template) -> Iterator[SecretRef]:
    parts: list[Any] = [template.inputs.artifacts, template.outputs.artifacts]
    if isinstance(template.body, Http):
        parts.append(template.body.headers)
    for part in parts:
        yield from (ref for ref in _inside(part) if not ref.optional)


def _inside(part: Any) -> Iterator[SecretRef]:
    if isinstance(part, SecretRef):
        yield part
    elif isinstance(part, msgspec.Struct):
        for name in part.__struct_fields__:
            yield from _inside(getattr(part, name))
    elif isinstance(part, tuple):
        for each in part:
            yield from _inside(each)


def _mounted(workflow: Workflow, template: Template) -> Iterator[str]:
    wanted = {mount.name for mount in getattr(template.body, "mounts", ()) if isinstance(mount, VolumeMount)}
    for volume in (*workflow.volumes, *workflow.pod.volumes, *template.pod.volumes):
        source = volume.source.value
        details = source.get("secret") if isinstance(source, dict) else None
        if volume.name in wanted and isinstance(details, dict) and not details.get("optional"):
            yield str(details.get("secretName"))
