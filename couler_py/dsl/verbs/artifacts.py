"""The artifact makers: what a step leaves or reads, where in its container, and in which storage.

Given as `output=`, an artifact says what the step leaves at `path`; given as `input=`, what it finds there.
Keys to a storage are references to secrets: text given as a key goes to the secret store of the engine
(see `create_secret`), never into the workflow.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import msgspec

from couler_py.dsl.problems import fail
from couler_py.dsl.verbs.secrets import create_secret
from couler_py.ir.names import legal_name
from couler_py.ir.storage import (
    GCS,
    HDFS,
    OSS,
    S3,
    Azure,
    Git,
    HTTPLocation,
    LocalPath,
    RawData,
    SecretRef,
    Storage,
)
from couler_py.ir.types import STR, Type


class ArtifactType:
    """The kinds of artifacts, by the names that Couler gives them."""

    LOCAL: ClassVar[str] = "local"
    S3: ClassVar[str] = "s3"
    OSS: ClassVar[str] = "oss"
    GCS: ClassVar[str] = "gcs"
    HDFS: ClassVar[str] = "hdfs"
    GIT: ClassVar[str] = "git"
    HTTP: ClassVar[str] = "http"
    AZURE: ClassVar[str] = "azure"
    RAW: ClassVar[str] = "raw"
    PARAMETER: ClassVar[str] = "parameters"


class Artifact(msgspec.Struct, frozen=True):
    """Something at a path of a container: a value in a file (`type` "parameters"), or the file or folder itself.

    `is_global` lets handlers of the run's end read it. `value_type` is the type of the value in the file.
    """

    path: str
    type: str = ArtifactType.PARAMETER
    storage: Storage | None = None
    is_global: bool = False
    value_type: Type = STR

    @property
    def is_parameter(self) -> bool:
        """Whether it is a value, and no file."""
        return self.type == ArtifactType.PARAMETER


def file_name(path: str) -> str:
    """The name that an artifact has among the inputs or outputs of a step: that of its file.

    >>> file_name("/mnt/score.txt")
    'score-txt'
    """
    name = posixpath.basename(path.rstrip("/")) or "output"
    return legal_name("argo", "artifact", name.replace(".", "-"))


def create_parameter_artifact(path: str, is_global: bool = False) -> Artifact:
    """A value that the step writes to the file at `path`, as text.

    >>> create_parameter_artifact("/mnt/score.txt").is_parameter
    True
    """
    return _artifact(path, ArtifactType.PARAMETER, None, is_global)


def create_local_artifact(path: str, is_global: bool = False) -> Artifact:
    """A file or folder at `path`, kept in the default store of the engine.

    >>> model = couler.create_local_artifact("/tmp/model")
    """
    return _artifact(path, ArtifactType.LOCAL, None, is_global)


def create_s3_artifact(
    path: str,
    bucket: str | None = None,
    accesskey_id: str | SecretRef | None = None,
    accesskey_secret: str | SecretRef | None = None,
    key: str | None = None,
    endpoint: str = "s3.amazonaws.com",
    is_global: bool = False,
    insecure: bool = False,
    *,
    region: str = "",
) -> Artifact:
    """A file or folder in an S3 bucket. Without `key`, the key is the path. `insecure` speaks http.

    >>> model = couler.create_s3_artifact("/tmp/model", bucket="team-a", key="models/latest")
    """
    access, secret = _keys(accesskey_id, accesskey_secret)
    storage = S3(
        key=_key(key, path),
        bucket=bucket or "",
        endpoint=endpoint or "",
        region=region,
        insecure=insecure,
        access_key=access,
        secret_key=secret,
    )
    return _artifact(path, ArtifactType.S3, storage, is_global)


def create_oss_artifact(
    path: str,
    bucket: str | None = None,
    accesskey_id: str | SecretRef | None = None,
    accesskey_secret: str | SecretRef | None = None,
    key: str | None = None,
    endpoint: str = "http://oss-cn-hangzhou-zmf.aliyuncs.com",
    is_global: bool = False,
) -> Artifact:
    """A file or folder in a bucket of Alibaba Cloud's object store. Without `key`, the key is the path.

    >>> model = couler.create_oss_artifact("/tmp/model", bucket="team-a", key="models/latest")
    """
    access, secret = _keys(accesskey_id, accesskey_secret)
    storage = OSS(
        key=_key(key, path), bucket=bucket or "", endpoint=endpoint or "", access_key=access, secret_key=secret
    )
    return _artifact(path, ArtifactType.OSS, storage, is_global)


def create_gcs_artifact(
    path: str,
    bucket: str = "",
    key: str | None = None,
    service_account_key: SecretRef | None = None,
    is_global: bool = False,
) -> Artifact:
    """A file or folder in a bucket of Google Cloud Storage.

    >>> model = couler.create_gcs_artifact("/tmp/model", bucket="team-a", key="models/latest")
    """
    return _artifact(path, ArtifactType.GCS, GCS(_key(key, path), bucket, service_account_key), is_global)


def create_hdfs_artifact(
    path: str,
    hdfs_path: str,
    addresses: Iterable[str] = (),
    user: str = "",
    force: bool = False,
    is_global: bool = False,
) -> Artifact:
    """A file or folder of an HDFS cluster, by its name nodes (`host:port`).

    >>> data = couler.create_hdfs_artifact("/tmp/data", "/team/data", addresses=["name-node:8020"])
    """
    storage = HDFS(hdfs_path, tuple(addresses), user, force)
    return _artifact(path, ArtifactType.HDFS, storage, is_global)


def create_git_artifact(
    path: str,
    repo: str,
    revision: str = "",
    depth: int | None = None,
    username: SecretRef | None = None,
    password: SecretRef | None = None,
    ssh_private_key: SecretRef | None = None,
) -> Artifact:
    """A git repository to check out at `path`. For input only.

    >>> code = couler.create_git_artifact("/src", "https://github.com/argoproj/argo-workflows", revision="main")
    """
    storage = Git(repo, revision, depth, username=username, password=password, ssh_private_key=ssh_private_key)
    return _artifact(path, ArtifactType.GIT, storage, False)


def create_http_artifact(path: str, url: str, headers: Mapping[str, str] | None = None) -> Artifact:
    """A file behind an address: fetched as input, sent there (PUT) as output.

    >>> data = couler.create_http_artifact("/tmp/data.csv", "https://example.org/data.csv")
    """
    return _artifact(path, ArtifactType.HTTP, HTTPLocation(url, tuple((headers or {}).items())), False)


def create_azure_artifact(
    path: str,
    container: str,
    blob: str | None = None,
    endpoint: str = "",
    account_key: SecretRef | None = None,
    is_global: bool = False,
) -> Artifact:
    """A file or folder in a container of Azure Blob Storage.

    >>> model = couler.create_azure_artifact("/tmp/model", container="models", blob="latest")
    """
    storage = Azure(_key(blob, path), container, endpoint, account_key)
    return _artifact(path, ArtifactType.AZURE, storage, is_global)


def create_raw_artifact(path: str, data: str) -> Artifact:
    """A file with this content. For input only.

    >>> settings = couler.create_raw_artifact("/etc/settings.ini", "[main]")
    """
    return _artifact(path, ArtifactType.RAW, RawData(data), False)


def create_path_artifact(path: str, source: str) -> Artifact:
    """A file or folder of this machine, for runs on this machine: `source` is where it lies here.

    >>> data = couler.create_path_artifact("/tmp/data.csv", source="data/train.csv")
    """
    return _artifact(path, ArtifactType.LOCAL, LocalPath(source), False)


INPUT_ONLY = (Git, RawData, LocalPath)


def _artifact(path: Any, kind: str, storage: Storage | None, is_global: bool) -> Artifact:
    if not isinstance(path, str) or not path.startswith("/"):
        fail("CLR181", f"the path {path!r} of an artifact is not absolute", help="write it as in path='/mnt/data.csv'")
    return Artifact(path, kind, storage, is_global)


def _key(key: str | None, path: str) -> str:
    return key if key is not None else path


Keys = tuple[SecretRef | None, SecretRef | None]
_WHICH = {"accesskey_id": "accessKey", "accesskey_secret": "secretKey"}


def _keys(access: str | SecretRef | None, secret: str | SecretRef | None) -> Keys:
    given = {"accesskey_id": access, "accesskey_secret": secret}
    missing = [name for name, value in given.items() if not value]
    if len(missing) == 1:
        fail("CLR181", f"{missing[0]} is missing", help="give both keys of the storage, or neither")
    texts = {_WHICH[name]: value for name, value in given.items() if isinstance(value, str) and value}
    made = create_secret(texts, artifact_secret=True) if texts else None

    def reference(name: str) -> SecretRef | None:
        value = given[name]
        return value if isinstance(value, SecretRef) else made[_WHICH[name]] if made is not None and value else None

    return reference("accesskey_id"), reference("accesskey_secret")


__all__ = [
    "INPUT_ONLY",
    "Artifact",
    "ArtifactType",
    "create_azure_artifact",
    "create_gcs_artifact",
    "create_git_artifact",
    "create_hdfs_artifact",
    "create_http_artifact",
    "create_local_artifact",
    "create_oss_artifact",
    "create_parameter_artifact",
    "create_path_artifact",
    "create_raw_artifact",
    "create_s3_artifact",
]
