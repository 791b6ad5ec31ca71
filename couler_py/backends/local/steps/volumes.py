"""Volumes as folders: what a container would mount is a link at the mount's path."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from couler_py.backends.local.context import Call, Context
from couler_py.backends.local.scope import Scope, TaskFailure
from couler_py.backends.local.steps.environment import hidden_parts, missing_config_map
from couler_py.ir.model import Function, Script
from couler_py.ir.pod import Container, Volume, VolumeMount
from couler_py.store.locks import release, try_paths
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
            inside = Path(os.path.normpath(target / sub_path))
            if not inside.is_relative_to(target):
                raise TaskFailure(f"the path {sub_path!r} leads out of the volume {wanted.name!r}")
            target = inside
        _link(context, wanted, target, request)


def _folder(context: Context, volume: Volume, request: dict[str, Any]) -> Path:
    kind, details = next(iter(volume.source.value.items()))
    if kind == "emptyDir":
        return Path(request["folder"]) / "volumes" / volume.name
    if kind == "persistentVolumeClaim":
        return context.home.path / "volumes" / _file_name(str(details["claimName"]))
    if kind in ("secret", "configMap"):
        folder = Path(request["folder"]) / "volumes" / volume.name
        request["clean"].append(str(folder))
        try:
            name = str(details["secretName"] if kind == "secret" else details["name"])
            data = read_secret(context.home, name) if kind == "secret" else context.options.config_maps.get(name)
        except SecretNotFoundError as error:
            if not details.get("optional"):
                raise TaskFailure(str(error)) from None
            data = {}
        if data is None:
            raise TaskFailure(missing_config_map(context, name))
        mode = 0o400 if kind == "secret" else 0o600
        request["files"] += [
            {"path": str(folder / _file_name(key)), "text": text, "mode": mode} for key, text in data.items()
        ]
        if kind == "secret":
            request["redact"] += [part for text in data.values() for part in hidden_parts(text)]
        return folder
    raise TaskFailure(f"the volume {volume.name!r} is a {kind}, which is no folder of this machine")


def _file_name(name: str) -> str:
    if name in ("", ".", "..") or "/" in name or "\0" in name:
        raise TaskFailure(f"{name!r} is no name of a file")
    return name


def _link(context: Context, wanted: VolumeMount, target: Path, request: dict[str, Any]) -> None:
    """Add one link. Several steps may share a claim at its path; a folder of one step's own is held alone."""
    path = os.path.normpath(wanted.path)
    shared = Path(request["folder"]) not in target.parents
    unmount(context, path, unless=str(target))
    context.mounts.add(path)
    request["make"].append(str(target))
    request["links"].append({"path": path, "target": str(target)})
    request["shared_paths" if shared else "lock_paths"].append(path)
    if not shared:
        request["clean"].append(path)


def unmount(context: Context, path: str, *, unless: str = "") -> None:
    """Take a link of ours away, unless it leads to a certain folder, or somebody else uses it."""
    place = Path(path)
    if not place.is_symlink() or str(place.readlink()) == unless:
        return
    if context.home.path not in place.readlink().parents:
        return  # not made by us
    held = try_paths([path])
    if held is not None:
        place.unlink(missing_ok=True)
        release(held)
