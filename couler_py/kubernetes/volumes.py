"""Volumes of pods, and claims that a run makes."""

from __future__ import annotations

from typing import Any

from couler_py.ir.pod import Volume, VolumeClaim
from couler_py.kubernetes.templated import Render, templated


def volume(given: Volume, render: Render) -> dict[str, Any]:
    """One entry of a pod's `volumes`."""
    return {"name": given.name, **templated(given.source, render)}


def volume_claim(given: VolumeClaim) -> dict[str, Any]:
    """A PersistentVolumeClaim to be made with the run (Argo `volumeClaimTemplates`)."""
    spec: dict[str, Any] = {
        "accessModes": list(given.access_modes),
        "resources": {"requests": {"storage": given.size}},
    }
    if given.storage_class:
        spec["storageClassName"] = given.storage_class
    return {"metadata": {"name": given.name}, "spec": spec}
