"""Files that steps of a run left: where they are, and fetching them."""

from __future__ import annotations

import html
import io
import posixpath
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import msgspec

from couler_py.backends.argo.client import store
from couler_py.backends.argo.client.door import Door
from couler_py.backends.argo.client.server import Server
from couler_py.backends.argo.status import artifact_key, paths
from couler_py.backends.base import NotOffered
from couler_py.backends.rest.failures import NotUnderstoodError
from couler_py.backends.rest.request import JSON

FOLDER = 307
"""How the Argo server says that an artifact is a folder: it sends us to the same place with a "/" behind."""


class Artifact(msgspec.Struct, frozen=True):
    """A file or folder: `task/name`, the key under which it lies, and what its node says of it."""

    path: str
    name: str
    key: str
    node: str
    said: JSON

    @property
    def full(self) -> str:
        """`TASK/NAME`."""
        return f"{self.path}/{self.name}"


def listed(workflow: JSON, *, logs: bool = False) -> Iterator[Artifact]:
    """The output artifacts of a run's tasks; with `logs`, also what Argo kept of what they printed."""
    for path, _, node in paths(workflow):
        for each in node.get("outputs", {}).get("artifacts") or []:
            if (logs or each["name"] != "main-logs") and (key := artifact_key(each)):
                yield Artifact(path, each["name"], key, node["id"], each)


def download(door: Door, workflow: JSON, artifact: Artifact, folder: Path) -> list[Path]:
    """Fetch one artifact below a folder, at `TASK/NAME/`, unpacked where Argo packed it. Gives the files.

    Through the Argo server from every store, else from S3 itself. Raises `NotOffered` for other stores.
    """
    target = folder.joinpath(*(safe(part) for part in artifact.full.split("/")))
    target.mkdir(parents=True, exist_ok=True)
    namespace, name = workflow["metadata"]["namespace"], workflow["metadata"]["name"]
    if isinstance(door, Server):
        found = _from_server(door, namespace, name, artifact)
    else:
        found = _from_s3(door, workflow, artifact)
    written = []
    for inside, content in found:
        written += _written(target, inside, content)
    return written


def safe(part: str) -> str:
    """A name as one part of a path of this machine."""
    return re.sub(r'[\x00-\x1f/\\:*?"<>|]', "_", part).strip(". ") or "_"


def _written(target: Path, inside: str, content: bytes) -> list[Path]:
    if inside.endswith((".tgz", ".tar.gz")):
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:gz") as archive:
            names = [member.name for member in archive.getmembers() if member.isfile()]
            archive.extractall(target, filter="data")  # refuses what would leave the folder
        return [target / name for name in names]
    file = target.joinpath(*(safe(part) for part in inside.split("/") if part))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    return [file]


def _from_server(door: Server, namespace: str, name: str, artifact: Artifact) -> Iterator[tuple[str, bytes]]:
    def read(inside: str) -> bytes:
        return b"".join(door.artifact(namespace, name, artifact.node, artifact.name, inside))

    def walk(folder: str) -> Iterator[tuple[str, bytes]]:
        for entry in entries(read(folder).decode("utf-8", "replace")):
            place = folder.lstrip("/") + entry
            if entry.endswith("/"):
                yield from walk(place)
            else:
                yield place, read(place)

    try:
        whole = read("")
    except NotUnderstoodError as error:
        if error.status != FOLDER:
            raise
        yield from walk("/")
    else:
        yield posixpath.basename(artifact.key), whole


def entries(page: str) -> list[str]:
    """The names in the page with which the Argo server lists a folder; folders end in "/"."""
    found = re.findall(r'<a href="\./([^"]+)">', page)
    return [unquote(html.unescape(each)) for each in found]


def _from_s3(door: Door, workflow: JSON, artifact: Artifact) -> Iterator[tuple[str, bytes]]:
    place = _s3_place(door, workflow, artifact.said)
    if place is None:
        raise NotOffered(
            f"{artifact.full} isn't in an S3 store that can be found from here: through the Argo server (--server URL) "
            "every store can be read"
        )
    files: Any = store.filesystem(door, workflow["metadata"]["namespace"], place)
    root = f"{place['bucket']}/{artifact.key.rstrip('/')}"
    if files.isfile(root):
        yield posixpath.basename(root), files.cat_file(root)
        return
    for each in sorted(files.find(root)):
        yield each[len(root) + 1 :], files.cat_file(each)


def _s3_place(door: Door, workflow: JSON, said: JSON) -> JSON | None:
    """The store of an artifact: what it says itself, over what the run's repository says."""
    own = said.get("s3")
    if own is None:
        return None
    noted = workflow.get("status", {}).get("artifactRepositoryRef") or {}
    repository = (noted.get("artifactRepository") or {}).get("s3")
    if repository is None and not own.get("bucket"):
        repository = store.default_place(door, workflow["metadata"]["namespace"])
    whole: JSON = (repository or {}) | own
    return whole if whole.get("bucket") else None
