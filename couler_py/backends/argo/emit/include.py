"""The user's own modules on the cluster.

Archives of up to `IN_CONFIG_MAPS` bytes in all travel as ConfigMaps among the documents, mounted as files. Larger
ones are artifacts of the default repository under a key that is their digest; submitting puts them there.
"""

from __future__ import annotations

import base64
from typing import Any

from couler_py.backends.argo.emission import FOLDER, Emission
from couler_py.backends.includes import packed
from couler_py.ir.model import Function, IncludeArchive, Template

JSON = dict[str, Any]
IN_CONFIG_MAPS = 700_000
"""Bytes: a ConfigMap holds 1 MiB, base64 makes 4 of 3, and the object has other fields."""

FILE = "include.tar.gz"


def config_map_name(archive: IncludeArchive) -> str:
    """The ConfigMap of an archive: the same content has the same name."""
    return f"couler-include-{archive.digest[:16]}"


def include_documents(emission: Emission) -> None:
    """Pack the archives of the workflow and add their ConfigMaps, or note that they go to the repository."""
    for archive in emission.workflow.includes:
        emission.blobs[f"include/{archive.digest}.tar.gz"] = packed(archive)
    total = sum(map(len, emission.blobs.values()))
    emission.includes_by_key = total > IN_CONFIG_MAPS
    if emission.includes_by_key:
        return
    for archive in emission.workflow.includes:
        data = base64.b64encode(emission.blobs[f"include/{archive.digest}.tar.gz"]).decode()
        emission.documents.append(
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": emission.metadata(config_map_name(archive)),
                "immutable": True,
                "binaryData": {FILE: data},
            }
        )


def include_fields(emission: Emission, template: Template) -> tuple[list[JSON], list[tuple[JSON, JSON]]]:
    """The environment of a step that imports archives, and each one's mount and volume."""
    body = template.body
    assert isinstance(body, Function)
    if not body.include:
        return [], []
    archives = {archive.digest: archive for archive in emission.workflow.includes}
    volumes: list[tuple[JSON, JSON]] = []
    paths = []
    for digest in body.include:
        archive = archives[digest]
        folder = f"{FOLDER}/{digest[:16]}"
        paths.append(f"{folder}/{FILE}")
        if emission.includes_by_key:
            continue
        name = config_map_name(archive)
        volumes.append(
            ({"name": name, "mountPath": folder, "readOnly": True}, {"name": name, "configMap": {"name": name}})
        )
    return [{"name": "COULER_INCLUDE", "value": ":".join(paths)}], volumes


def include_artifacts(emission: Emission, template: Template) -> list[JSON]:
    """Input artifacts for archives that lie in the repository."""
    body = template.body
    if not isinstance(body, Function) or not emission.includes_by_key:
        return []
    return [
        {
            "name": f"couler-include-{digest[:16]}",
            "path": f"{FOLDER}/{digest[:16]}/{FILE}",
            "archive": {"none": {}},
            emission.options.repository: {"key": f"couler/include/{digest}.tar.gz"},
        }
        for digest in body.include
    ]
