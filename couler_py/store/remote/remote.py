"""A store of artifacts beside a home's own: what a run makes goes there, what is missing here comes from there.

Transfers run in threads of their own, a bounded number at a time; the methods without `async` are for threads.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from couler_py.store import content, faults
from couler_py.store.home import Home
from couler_py.store.records import ArtifactRef
from couler_py.store.remote import claims, known, multipart
from couler_py.store.remote.downloads import download, here
from couler_py.store.remote.drivers import Blob, Driver, driver_of
from couler_py.store.remote.location import Location, blob_name
from couler_py.store.remote.problems import MissingError, RemoteError
from couler_py.store.remote.sweep import GRACE, Swept, sweep
from couler_py.store.remote.work import BRIEF, PATIENT, Patience, Work

FILES = 8
"""Files that are transferred at once."""
PARTS = 8
"""Parts of files that are transferred at once."""
CALLS = 16
"""Tasks whose artifacts are looked at at once."""
SMALL = 64 << 10
"""Bytes up to which a file is sent without asking whether it is there: one request, not two."""
STALE = 7 * 24 * 3600.0
"""Seconds after which an upload that was cut off isn't gone on with."""

MARK = "couler.json"
LAYOUT = {"couler": "artifacts", "layout": 1}


class Remote:
    """One store, for one run."""

    def __init__(self, location: Location, home: Home, patience: Patience = PATIENT):
        self.location = location
        self._home = home
        self._root = home.artifacts
        self._parts = ThreadPoolExecutor(PARTS, "couler-parts")
        self._files = ThreadPoolExecutor(FILES, "couler-files")
        self._calls = ThreadPoolExecutor(CALLS, "couler-artifacts")
        self._work = Work(self._parts, home.path / "tmp" / "uploads", patience)
        self._lock = threading.Lock()
        self._driver: Driver | None = None
        self._claims: claims.Claims | None = None
        self._there: set[str] = set()
        self._under_way: dict[tuple[str, str], Future[None]] = {}

    def open(self) -> None:
        """See that the store can be written and is one that we understand, before anything relies on it.

        Raises `RemoteError` with the way out: a missing driver, wrong credentials, no such bucket, no permission.
        """
        driver = driver_of(self.location, self._work)
        url = self.location.url(MARK)
        try:
            self._work.patiently(lambda: self._check(driver), url, BRIEF)
        except MissingError:
            data = json.dumps(LAYOUT).encode()
            try:
                self._work.patiently(lambda: driver.write(MARK, data), url, BRIEF)
            except MissingError:
                raise RemoteError(
                    f"{self.location}: there is no such bucket: make it, or correct the address"
                ) from None
        known.note(self._home, self.location)
        multipart.forget(self._work.records, time.time() - STALE)
        self._claims = claims.Claims(driver, self.location, claims.home_id(self._home.path), self._work)
        self._driver = driver

    def _check(self, driver: Driver) -> None:
        data = driver.read(MARK, 0, 4096)
        try:
            found: Any = json.loads(data)
        except ValueError:
            found = None
        if not isinstance(found, dict) or found.get("couler") != "artifacts":
            raise RemoteError(f"{self.location.url(MARK)} isn't ours: choose another prefix for the store")
        if found.get("layout") != 1:
            raise RemoteError(f"{self.location} was laid out by a newer version of couler-py: upgrade couler-py")

    def close(self) -> None:
        """End what is under way; an upload of many parts, and a download, can be gone on with by the next run."""
        self._work.halt.set()
        for pool in (self._calls, self._files, self._parts):
            pool.shutdown(wait=True, cancel_futures=True)

    # ---- for the engine

    async def keep(self, ref: ArtifactRef) -> None:
        """Have an artifact in the store, with all of its files. Raises `RemoteError`, `Halted`."""
        if ref.digest not in self._there:
            await asyncio.wrap_future(self._calls.submit(self.put, ref))

    async def bring(self, ref: ArtifactRef, *, list_only: bool = False) -> None:
        """Have an artifact here; with `list_only`, of a folder what it has, and not the files.

        Raises `MissingError`, `DamagedError`, `RemoteError`, `Halted`.
        """
        await asyncio.wrap_future(self._calls.submit(self.get, ref, list_only=list_only))

    async def has(self, ref: ArtifactRef) -> bool:
        """Whether an artifact is here or in the store, with all of its files. Raises `RemoteError`."""
        return await asyncio.wrap_future(self._calls.submit(self.holds, ref))

    # ---- for threads

    def put(self, ref: ArtifactRef) -> None:
        """As `keep`."""
        files = {ref.digest: ref.size}
        if ref.kind == "folder":
            entries = self._list(ref.digest)
            files = {entry["digest"]: entry["size"] for entry in entries if entry["kind"] == "file"}
        wanted = dict.fromkeys(files, False)
        if ref.kind == "folder":
            wanted[ref.digest] = True
        assert self._claims is not None
        self._claims.claim(wanted)
        self._all("put", files, self._put)
        if ref.kind == "folder":  # last: where the list is, the files are
            place = Path(content.blob_path(str(self._root), ref.digest))
            self._all("put", {ref.digest: place.stat().st_size}, self._put)
        faults.reach("upload.kept")

    def get(self, ref: ArtifactRef, *, list_only: bool = False) -> None:
        """As `bring`."""
        if ref.kind == "file":
            self._all("get", {ref.digest: ref.size}, self._get)
            return
        entries = self._list(ref.digest)
        if not list_only:
            files = {entry["digest"]: entry["size"] for entry in entries if entry["kind"] == "file"}
            self._all("get", files, self._get)

    def holds(self, ref: ArtifactRef) -> bool:
        """As `has`."""
        files = {ref.digest: ref.size}
        try:
            if ref.kind == "folder":
                files = {each["digest"]: each["size"] for each in self._list(ref.digest) if each["kind"] == "file"}
            self._all("look", files, self._look)
        except MissingError:
            return False
        return True

    def sweep(self, needed: Iterable[str], *, grace: float = GRACE, dry_run: bool = False) -> Swept:
        """Delete from the store what this home has put there and needs no more: see `couler_py.store.remote.sweep`."""
        return sweep(self._home, self._open_driver, self.location, needed, self._work, grace=grace, dry_run=dry_run)

    # ---- one blob

    @property
    def _open_driver(self) -> Driver:
        assert self._driver is not None, "open() comes first"
        return self._driver

    def _list(self, digest: str) -> list[dict[str, Any]]:
        """What a folder has; its list is brought here where it is missing, or damaged."""
        with contextlib.suppress(content.LostContentError):
            return content.manifest(str(self._root), digest)
        name = blob_name(digest)
        found = self._work.patiently(lambda: self._open_driver.entry(name), self.location.url(name))
        if found is None:
            raise MissingError(f"{self.location.url(name)} isn't in the store, nor in {self._root}")
        self._all("get", {digest: found.size}, self._get)
        return content.manifest(str(self._root), digest)

    def _put(self, digest: str, size: int) -> None:
        driver, name = self._open_driver, blob_name(digest)
        place = Path(content.blob_path(str(self._root), digest))
        only_there = not here(place, size)
        if size > SMALL or only_there:
            found = self._work.patiently(lambda: driver.entry(name), self.location.url(name))
            if found is not None and found.size == size:
                return
        if only_there:
            raise MissingError(f"{self.location.url(name)} isn't in the store, nor in {self._root}")
        driver.upload(name, Blob(place, digest, size), self._work)

    def _get(self, digest: str, size: int) -> None:
        if not here(Path(content.blob_path(str(self._root), digest)), size):
            download(self._open_driver, self.location, digest, size, self._root, self._work)

    def _look(self, digest: str, size: int) -> None:
        name = blob_name(digest)
        if here(Path(content.blob_path(str(self._root), digest)), size):
            return
        found = self._work.patiently(lambda: self._open_driver.entry(name), self.location.url(name))
        if found is None or found.size != size:
            raise MissingError(f"{self.location.url(name)} isn't in the store, nor in {self._root}")

    # ---- many blobs

    def _all(self, verb: str, blobs: dict[str, int], what: Callable[[str, int], None]) -> None:
        """Do something to many blobs, to each once even when several threads ask for it. Raises the first error."""
        running: set[Future[None]] = set()
        for digest, size in blobs.items():
            if len(running) >= 4 * FILES:  # a folder may have a hundred thousand files
                running = self._until_one(running)
            begun = self._begin(verb, digest, size, what)
            if begun is not None:
                running.add(begun)
        while running:
            running = self._until_one(running)

    def _begin(self, verb: str, digest: str, size: int, what: Callable[[str, int], None]) -> Future[None] | None:
        """The work on one blob, whoever began it; None for what was put before."""
        key = (verb, digest)
        with self._lock:
            if verb == "put" and digest in self._there:
                return None
            found = self._under_way.get(key)
            if found is not None:
                return found
            begun = self._under_way[key] = self._files.submit(what, digest, size)
        begun.add_done_callback(lambda done: self._ended(verb, digest, done))
        return begun

    def _ended(self, verb: str, digest: str, done: Future[None]) -> None:
        with self._lock:
            del self._under_way[verb, digest]
            if verb == "put" and not done.cancelled() and done.exception() is None:
                self._there.add(digest)

    @staticmethod
    def _until_one(running: set[Future[None]]) -> set[Future[None]]:
        done, left = wait(running, return_when=FIRST_COMPLETED)
        for each in done:
            each.result()
        return left
