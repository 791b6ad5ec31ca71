"""Putting a file into the default artifact repository of a namespace: for archives too large for a ConfigMap."""

from __future__ import annotations

import base64
from typing import Any

from couler_py.backends import yaml
from couler_py.backends.argo.connection import library
from couler_py.backends.base import NotOffered

DEFAULT = "workflows.argoproj.io/default-artifact-repository"


def upload(api: Any, namespace: str, key: str, content: bytes) -> None:
    """Write the content under the key, as Argo's controller would.

    Raises `NotOffered` where the repository can't be found from here, or isn't S3.
    """
    core = library("client").CoreV1Api(api)
    place = _place(core, namespace)
    if place is None:
        raise NotOffered(
            f"the archive {key} is too large for a ConfigMap, and the namespace {namespace} names no S3 repository in "
            "its ConfigMap artifact-repositories: put the file there under that key yourself"
        )
    secrets = {}
    for field in ("accessKeySecret", "secretKeySecret"):
        if ref := place.get(field):
            data = core.read_namespaced_secret(ref["name"], namespace).data
            secrets[field] = base64.b64decode(data[ref["key"]]).decode()
    import fsspec

    scheme = "http" if place.get("insecure") else "https"
    store = fsspec.filesystem(
        "s3",
        key=secrets.get("accessKeySecret"),
        secret=secrets.get("secretKeySecret"),
        client_kwargs={"endpoint_url": f"{scheme}://{place['endpoint']}"} if place.get("endpoint") else {},
    )
    path = f"{place['bucket']}/{key}"
    if not store.exists(path):  # the key is the digest of the content
        store.pipe_file(path, content)


def _place(core: Any, namespace: str) -> dict[str, Any] | None:
    try:
        found = core.read_namespaced_config_map("artifact-repositories", namespace)
    except library("client").ApiException as error:
        if error.status == 404:
            return None
        raise
    name = (found.metadata.annotations or {}).get(DEFAULT)
    document = yaml.load((found.data or {}).get(name, "{}")) if name else {}
    place = document.get("s3") if isinstance(document, dict) else None
    return place if isinstance(place, dict) else None
