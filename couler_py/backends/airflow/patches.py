"""Patches of pod specs, applied when the file is written.

A strategic merge patch, as Argo's `podSpecPatch`: objects are merged, lists with a merge key by that key, other lists
replaced, and null removes. Merge keys: Kubernetes' API reference ("Patch strategy: merge on key ..."), for the fields
of a PodSpec.
"""

from __future__ import annotations

from typing import Any

import yaml

from couler_py.ir.expr import TextLike

KEYS = {
    "containers": "name",
    "initContainers": "name",
    "ephemeralContainers": "name",
    "env": "name",
    "volumes": "name",
    "volumeMounts": "mountPath",
    "volumeDevices": "devicePath",
    "ports": "containerPort",
    "imagePullSecrets": "name",
    "hostAliases": "ip",
    "topologySpreadConstraints": "topologyKey",
    "resourceClaims": "name",
}
JSON = dict[str, Any]


class PatchError(ValueError):
    """A patch that can't be applied when the file is written."""


def patch_of(text: TextLike) -> JSON:
    """A patch as data: the container that Argo calls main is Airflow's base. Raises `PatchError`."""
    if not isinstance(text, str):
        raise PatchError("it holds values that only the run knows")
    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise PatchError(f"it is neither JSON nor YAML: {error}") from error
    if not isinstance(found, dict):
        raise PatchError("it is no object")
    for each in found.get("containers") or []:
        if isinstance(each, dict) and each.get("name") == "main":
            each["name"] = "base"
    return found


def patched(value: JSON, patch: JSON) -> JSON:
    """An object with a patch applied. Raises `PatchError` for an item without its merge key."""
    if patch.get("$patch") == "replace":
        return {key: each for key, each in patch.items() if key != "$patch"}
    found = dict(value)
    for key, new in patch.items():
        old = found.get(key)
        if new is None:
            found.pop(key, None)
        elif isinstance(new, dict):
            found[key] = patched(old if isinstance(old, dict) else {}, new)
        elif isinstance(new, list) and key in KEYS:
            found[key] = _merged(old if isinstance(old, list) else [], new, key)
        elif not key.startswith("$"):
            found[key] = new
    return found


def _merged(old: list[Any], new: list[Any], field: str) -> list[Any]:
    key = KEYS[field]
    found = {each.get(key): each for each in old}
    for item in new:
        name = item.get(key) if isinstance(item, dict) else None
        if name is None:
            raise PatchError(f"an item of {field!r} has no {key!r}")
        if item.get("$patch") == "delete":
            found.pop(name, None)
        else:
            found[name] = patched(found.get(name, {}), item)
    return list(found.values())
