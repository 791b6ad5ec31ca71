"""Volumes as folders: what a container would mount is a link at the mount's path."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from couler_py.backends.local.context import Call, Context
from couler_py.backends.local.environment import missing_config_map
from couler_py.backends.local.scope import Scope, TaskFailure
from couler_py.ir.model import Function, Script
from couler_py.ir.pod import Container, Volume, VolumeMount
from couler_py.store.secrets import SecretNotFoundError, read_secret


def mount(
    context: Context, made: Call, body: Container | Script | Function, scope: Scope, request: dict[str, Any]
) -> None:
    """Add the links of a step's mounts to its request. Raises `TaskFailure` for a volume that can't be a folder."""
    if not body.mounts:
        return
    known = {volume.name: volume for volume in (*context.workflow.volumes, *made.template.pod.volumes)}
    claims = {claim.name for claim in context.workflow.volume_claims}
    for wanted in body.mounts:
        if wanted.name in claims:
            target = context.folder / "volumes" / wanted.name
        elif wanted.name in known:
            target = _folder(context, known[wanted.name], request)
        else:
            raise TaskFailure(f"there is no volume {wanted.name!r}")
        sub_path = scope.text(wanted.sub_path)
        if sub_path:
            target = Path(os.path.normpath(target / sub_path))
        _link(wanted, target, request)


def _folder(context: Context, volume: Volume, request: dict[str, Any]) -> Path:
    kind, details = next(iter(volume.source.value.items()))
    if kind == "emptyDir":
        return Path(request["folder"]) / "volumes" / volume.name
    if kind == "persistentVolumeClaim":
        return context.home.path / "volumes" / str(details["claimName"])
    if kind in ("secret", "configMap"):
        folder = Path(request["folder"]) / "volumes" / volume.name
        request["clean"].append(str(folder))
        try:
            name = str(details["secretName"] if kind == "secret" else details["name"])
            data = read_secret(context.home, name) if kind == "secret" else context.options.config_maps.get(name)
        except SecretNotFoundError as error:
            raise TaskFailure(str(error)) from None
        if data is None:
            raise TaskFailure(missing_config_map(context, name))
        request["files"] += [{"path": str(folder / key), "text": text} for key, text in data.items()]
        request["redact"] += [text for text in data.values() if kind == "secret" and len(text) >= 4]
        return folder
    raise TaskFailure(f"the volume {volume.name!r} is a {kind}, which is no folder of this machine")


def _link(wanted: VolumeMount, target: Path, request: dict[str, Any]) -> None:
    request["make"].append(str(target))
    path = Path(wanted.path)
    if path.is_symlink() and path.readlink() != target:
        path.unlink()
    elif path.exists() and not path.is_symlink():
        raise TaskFailure(f"{path} exists on this machine, so a volume can't stand there for a process")
    request["links"].append({"path": str(path), "target": str(target)})
    request["lock_paths"].append(str(path))
    request["clean"].append(str(path))
