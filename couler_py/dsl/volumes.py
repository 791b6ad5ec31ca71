"""Volumes of the usual kinds, by one call each."""

from __future__ import annotations

from typing import Any

from couler_py.ir.pod import Templated, Volume, VolumeClaim


def existing_claim(name: str, claim: str, *, read_only: bool = False) -> Volume:
    """A volume that is a PersistentVolumeClaim of the cluster.

    >>> existing_claim("data", "training-data").source.value
    {'persistentVolumeClaim': {'claimName': 'training-data'}}
    """
    source: dict[str, Any] = {"claimName": claim}
    if read_only:
        source["readOnly"] = True
    return Volume(name, Templated({"persistentVolumeClaim": source}))


def empty_dir(name: str, *, memory: bool = False, size_limit: str = "") -> Volume:
    """A volume that is empty when the pod starts and gone when it ends; in memory, it counts as memory.

    >>> empty_dir("scratch", size_limit="10Gi").source.value
    {'emptyDir': {'sizeLimit': '10Gi'}}
    """
    source: dict[str, Any] = {}
    if memory:
        source["medium"] = "Memory"
    if size_limit:
        source["sizeLimit"] = size_limit
    return Volume(name, Templated({"emptyDir": source}))


def secret_volume(name: str, secret: str) -> Volume:
    """A volume with one file for each key of a secret.

    >>> secret_volume("keys", "deploy-keys").source.value
    {'secret': {'secretName': 'deploy-keys'}}
    """
    return Volume(name, Templated({"secret": {"secretName": str(secret)}}))


def config_map_volume(name: str, config_map: str) -> Volume:
    """A volume with one file for each key of a ConfigMap.

    >>> config_map_volume("settings", "app-settings").source.value
    {'configMap': {'name': 'app-settings'}}
    """
    return Volume(name, Templated({"configMap": {"name": config_map}}))


def host_path(name: str, path: str) -> Volume:
    """A folder of the machine that the pod runs on. The local engine refuses it unless it is told to allow it.

    >>> host_path("dev", "/dev/infiniband").source.value
    {'hostPath': {'path': '/dev/infiniband'}}
    """
    return Volume(name, Templated({"hostPath": {"path": path}}))


__all__ = ["Volume", "VolumeClaim", "config_map_volume", "empty_dir", "existing_claim", "host_path", "secret_volume"]
