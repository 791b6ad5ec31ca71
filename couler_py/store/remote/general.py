"""A store that fsspec has a driver for: Google Cloud Storage, Alibaba's OSS, Azure's blobs.

Credentials are found as the driver finds them: gcsfs by Google's application default credentials, ossfs by
OSS_ACCESS_KEY_ID, OSS_ACCESS_KEY_SECRET and OSS_ENDPOINT, adlfs by AZURE_STORAGE_* and the default Azure credential.
A large file travels in pieces, but an upload that was cut off begins again; a download goes on where it was.
"""

from __future__ import annotations

import contextlib
import datetime
import os
from collections.abc import Iterator
from typing import Any

import fsspec
from fsspec.callbacks import Callback

from couler_py.store.remote import reading
from couler_py.store.remote.drivers import Blob, Entry
from couler_py.store.remote.location import Location
from couler_py.store.remote.problems import RemoteError
from couler_py.store.remote.work import Work

PROTOCOLS = {"gs": "gcs", "oss": "oss", "az": "abfs"}
TIMES = ("mtime", "updated", "last_modified", "LastModified", "created")
"""Where the drivers say when an object was written."""


class General:
    """Objects of a bucket, by the driver of its scheme."""

    def __init__(self, location: Location, work: Work, system: Any = None):
        self._location = location
        self._system = system if system is not None else _system(location.scheme)
        self._halt = work.halt

    def entry(self, name: str) -> Entry | None:
        try:
            facts = self._system.info(self._path(name))
        except FileNotFoundError:
            return None
        return self._entry(name, facts) if facts["type"] == "file" else None

    def read(self, name: str, start: int, end: int) -> bytes:
        data: bytes = self._system.cat_file(self._path(name), start=start, end=end)
        return data

    def write(self, name: str, data: bytes) -> None:
        self._system.pipe_file(self._path(name), data)

    def upload(self, name: str, blob: Blob, work: Work) -> None:
        url = self._location.url(name)
        reading.check(blob, work)
        work.patiently(lambda: self._put(name, blob, work), url)
        found = work.patiently(lambda: self.entry(name), url)
        if found is None or found.size != blob.size:
            raise RemoteError(f"{url} isn't whole after it was written: try again")

    def _put(self, name: str, blob: Blob, work: Work) -> None:
        self._system.put_file(str(blob.path), self._path(name), callback=_Progress(work))

    def entries(self, prefix: str) -> Iterator[Entry]:
        top = self._path(prefix.rpartition("/")[0])
        cut = len(self._path(""))
        try:
            found = self._system.find(top, detail=True)
        except FileNotFoundError:
            return
        for path, facts in sorted(found.items()):
            name = path[cut:]
            if name.startswith(prefix):
                yield self._entry(name, facts)

    def delete(self, name: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._system.rm_file(self._path(name))

    def tidy(self, before: float) -> None:
        """Nothing: these stores drop by themselves what was never made whole."""

    def _path(self, name: str) -> str:
        return f"{self._location.bucket}/{self._location.key(name)}"

    @staticmethod
    def _entry(name: str, facts: dict[str, Any]) -> Entry:
        written = next((facts[each] for each in TIMES if facts.get(each) is not None), None)
        return Entry(name, int(facts["size"]), _seconds(written))


def _system(scheme: str) -> Any:
    # An instance of its own, without a memory of listings: others write to the bucket too.
    options: dict[str, Any] = {"skip_instance_cache": True, "use_listings_cache": False}
    if scheme == "oss":
        options |= {"key": os.environ.get("OSS_ACCESS_KEY_ID"), "secret": os.environ.get("OSS_ACCESS_KEY_SECRET")}
    if scheme == "az":
        options["anon"] = False
    return fsspec.filesystem(PROTOCOLS[scheme], **options)


def _seconds(written: Any) -> float:
    """A moment as seconds since 1970. One that can't be told is now: what is young is never deleted."""
    if isinstance(written, str):
        written = datetime.datetime.fromisoformat(written)
    if isinstance(written, datetime.datetime):
        return written.timestamp()
    if isinstance(written, int | float):
        return float(written)
    return datetime.datetime.now(datetime.UTC).timestamp()


class _Progress(Callback):  # type: ignore[misc]  # fsspec has no types
    """Ends a transfer of fsspec's at its next piece when the transfers are to end."""

    def __init__(self, work: Work):
        super().__init__()
        self._work = work

    def call(self, hook_name: str | None = None, **kwargs: Any) -> None:
        self._work.check()
