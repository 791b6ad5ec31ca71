"""The store of a namespace's artifacts, where it is S3: what Argo's controller would use, reached from here."""

from __future__ import annotations

import base64
from typing import Any

from couler_py.backends import yaml_reader
from couler_py.backends.argo.client.door import Door
from couler_py.backends.base import NotOffered
from couler_py.backends.rest.failures import MissingError
from couler_py.backends.rest.request import JSON

DEFAULT = "workflows.argoproj.io/default-artifact-repository"


def upload(door: Door, namespace: str, key: str, content: bytes) -> None:
    """Write the content under the key, as Argo's controller would.

    Raises `NotOffered` where the repository can't be found from here, or isn't S3.
    """
    place = default_place(door, namespace)
    if place is None:
        raise NotOffered(
            f"the archive {key} is too large for a ConfigMap, and the namespace {namespace} names no S3 repository in "
            "its ConfigMap artifact-repositories: put the file there under that key yourself"
        )
    store = filesystem(door, namespace, place)
    path = f"{place['bucket']}/{key}"
    if not store.exists(path):  # the key is the digest of the content
        store.pipe_file(path, content)


def filesystem(door: Door, namespace: str, place: JSON) -> Any:
    """An S3 store as fsspec sees it, with the keys that its place names, else those of this machine."""
    import fsspec

    found = {}
    for field in ("accessKeySecret", "secretKeySecret"):
        if ref := place.get(field):
            data = door.get("Secret", namespace, ref["name"]).get("data") or {}
            found[field] = base64.b64decode(data[ref["key"]]).decode()
    scheme = "http" if place.get("insecure") else "https"
    return fsspec.filesystem(
        "s3",
        key=found.get("accessKeySecret"),
        secret=found.get("secretKeySecret"),
        client_kwargs={"endpoint_url": f"{scheme}://{place['endpoint']}"} if place.get("endpoint") else {},
    )


def default_place(door: Door, namespace: str) -> JSON | None:
    """The S3 place that a namespace's own ConfigMap names as its default; None where there is none."""
    try:
        found = door.get("ConfigMap", namespace, "artifact-repositories")
    except MissingError:
        return None
    name = (found["metadata"].get("annotations") or {}).get(DEFAULT)
    document = yaml_reader.load((found.get("data") or {}).get(name, "{}")) if name else {}
    place = document.get("s3") if isinstance(document, dict) else None
    return place if isinstance(place, dict) else None
