"""Files from and to places outside: stores by their fsspec driver, git, HTTP, this machine's own paths."""

from __future__ import annotations

import os
import shutil
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from couler_py.backends.local.artifacts.cloning import GitError, clone, without_user
from couler_py.backends.local.context import Context
from couler_py.backends.local.scope import Scope, TaskFailure
from couler_py.ir.diagnostics import CoulerError
from couler_py.ir.storage import (
    GCS,
    HDFS,
    OSS,
    S3,
    Archive,
    Azure,
    Git,
    HTTPLocation,
    LocalPath,
    RawData,
    SecretRef,
    Storage,
)
from couler_py.store import artifacts, content
from couler_py.store.records import ArtifactRef
from couler_py.store.remote import problems
from couler_py.store.secrets import read_key


def fetch(context: Context, storage: Storage, scope: Scope, archive: Archive = "") -> ArtifactRef:
    """A copy of what lies at a place, in the store; an archive is unpacked unless `archive` is "none".

    Raises `TaskFailure`.
    """
    try:
        match storage:
            case RawData(data=data):
                return artifacts.keep_bytes(context.home, scope.text(data).encode())
            case LocalPath(path=path):
                if not Path(path).exists():
                    raise TaskFailure(f"{path} is not on this machine")
                return artifacts.keep(context.home, Path(path).absolute())
        with tempfile.TemporaryDirectory(dir=context.home.path / "tmp") as folder:
            target = Path(folder) / "content"
            if isinstance(storage, Git):
                clone(context.home, storage, scope, target)
            else:
                system, path = _place(context, storage, scope)
                if isinstance(storage, HTTPLocation):  # asked for once: what lies there may be large, and is no folder
                    system.get_file(path, str(target))
                else:
                    system.get(path, str(target), recursive=system.isdir(path))
            return artifacts.keep(context.home, target if archive == "none" else _unpacked(target))
    except TaskFailure:
        raise
    except Exception as error:  # drivers have errors of their own
        raise TaskFailure(f"the artifact can't be fetched from {describe(storage, scope)}: {_why(error)}") from None


def send(context: Context, ref: ArtifactRef, storage: Storage, scope: Scope, archive: Archive = "") -> None:
    """Copy what is in the store to a place, as a compressed tar unless `archive` says otherwise (as Argo does).

    Raises `TaskFailure`.
    """
    if isinstance(storage, Git | RawData | HTTPLocation):
        raise TaskFailure(f"nothing can be written to {describe(storage, scope)}")
    try:
        if isinstance(storage, LocalPath):
            _replace(context, ref, Path(os.path.normpath(Path(storage.path).absolute())))
            return
        with tempfile.TemporaryDirectory(dir=context.home.path / "tmp") as folder:
            copy = Path(folder) / "content"
            artifacts.give(context.home, ref, copy, writable=True)
            if archive != "none":
                copy = _packed(copy, archive)
            system, path = _place(context, storage, scope)
            system.put(str(copy), path, recursive=copy.is_dir())
    except TaskFailure:
        raise
    except Exception as error:  # drivers have errors of their own
        raise TaskFailure(f"the artifact can't be written to {describe(storage, scope)}: {_why(error)}") from None


def _why(error: Exception) -> str:
    """What went wrong, and the way out where the store's answer tells it; without what may be a secret."""
    return str(error) if isinstance(error, GitError | CoulerError) else problems.read(error).text


def _replace(context: Context, ref: ArtifactRef, target: Path) -> None:
    """Put an artifact at a path of this machine, in the place of an earlier one, but never of more than that."""
    if ref.kind == "file" and target.is_dir():
        raise TaskFailure(f"{target} is a folder, and the artifact a file: name a file in it")
    if any(target in (kept, *kept.parents) for kept in (context.home.path, Path.cwd(), Path.home())):
        raise TaskFailure(f"{target} would be replaced with all that is in it: name a folder of the artifact's own")
    content.remove(str(target))
    artifacts.give(context.home, ref, target, writable=True)


def _unpacked(path: Path) -> Path:
    """What a tar or zip file holds: its only entry, else all in a folder. Other files as they are."""
    if path.is_dir():
        return path
    target = path.with_name("unpacked")
    if tarfile.is_tarfile(path):
        with tarfile.open(path) as tar:
            tar.extractall(target, filter="data")
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            archive.extractall(target)  # noqa: S202 - zipfile keeps entries below the target
    else:
        return path
    entries = list(target.iterdir())
    return entries[0] if len(entries) == 1 else target


def _packed(path: Path, archive: Archive) -> Path:
    if archive == "zip":
        return Path(shutil.make_archive(str(path.with_name("packed")), "zip", path.parent, path.name))
    return Path(shutil.make_archive(str(path.with_name("packed")), "gztar", path.parent, path.name))


def describe(storage: Storage, scope: Scope) -> str:
    """A place as messages name it, without secrets."""
    match storage:
        case S3() | GCS() | OSS():
            scheme = type(storage).__name__.lower()
            return f"{scheme}://{storage.bucket}/{scope.text(storage.key)}"
        case Azure():
            return f"abfs://{storage.container}/{scope.text(storage.blob)}"
        case HDFS():
            return f"hdfs://{scope.text(storage.path)}"
        case Git():
            return without_user(scope.text(storage.repo))
        case HTTPLocation():
            return without_user(scope.text(storage.url))
        case LocalPath():
            return storage.path
        case RawData():
            return "the workflow itself"


def _place(context: Context, storage: Storage, scope: Scope) -> tuple[Any, str]:
    """The file system of a place and the path in it."""
    import fsspec

    def filesystem(protocol: str, **options: Any) -> Any:
        # An instance of its own, without a memory of listings: keys differ, and others write there too.
        return fsspec.filesystem(protocol, skip_instance_cache=True, use_listings_cache=False, **options)

    def secret(ref: SecretRef | None) -> str | None:
        return None if ref is None else read_key(context.home, ref.name, ref.key)

    try:
        match storage:
            case S3():
                options: dict[str, Any] = {"key": secret(storage.access_key), "secret": secret(storage.secret_key)}
                options["token"] = secret(storage.session_token)
                client: dict[str, Any] = {"region_name": storage.region or None}
                if storage.endpoint:
                    scheme = "http" if storage.insecure else "https"
                    client["endpoint_url"] = f"{scheme}://{storage.endpoint}"
                return filesystem("s3", client_kwargs=client, **options), f"{storage.bucket}/{scope.text(storage.key)}"
            case GCS():
                token = secret(storage.service_account_key)
                import json

                system = filesystem("gcs", token=None if token is None else json.loads(token))
                return system, f"{storage.bucket}/{scope.text(storage.key)}"
            case OSS():
                system = filesystem(
                    "oss", key=secret(storage.access_key), secret=secret(storage.secret_key), endpoint=storage.endpoint
                )
                return system, f"{storage.bucket}/{scope.text(storage.key)}"
            case Azure():
                account = storage.endpoint.removeprefix("https://").partition(".")[0]
                system = filesystem("abfs", account_name=account, account_key=secret(storage.account_key))
                return system, f"{storage.container}/{scope.text(storage.blob)}"
            case HDFS():
                host, _, port = storage.addresses[0].partition(":") if storage.addresses else ("default", "", "0")
                return fsspec.filesystem("hdfs", host=host, port=int(port or 0), user=storage.user), scope.text(
                    storage.path
                )
            case HTTPLocation():
                headers = {name: scope.text(value) for name, value in storage.headers}
                user, password = secret(storage.username), secret(storage.password)
                options = {"headers": headers}
                if user is not None:
                    import aiohttp

                    options["auth"] = aiohttp.BasicAuth(user, password or "")
                return fsspec.filesystem("http", client_kwargs=options), scope.text(storage.url)
            case _:
                raise TaskFailure(f"{describe(storage, scope)} is no store of files")
    except ImportError as error:
        extra = {"S3": "s3", "GCS": "gcs", "OSS": "oss", "Azure": "az"}.get(type(storage).__name__)
        way = f"pip install 'couler-py[{extra}]'" if extra else f"install it ({error.name})"
        raise TaskFailure(f"the driver for {describe(storage, scope)} is missing: {way}") from None
