"""Deleting from a store that many machines share.

All that one home knows of the runs of others is their claims. So it deletes what all of these are true of: it has
claimed it itself, longer ago than the time of grace; its own runs and cached results need it no more; nobody else
claims it; it is older than the time of grace. The order makes this safe for others, and for a sweep that is killed:

1. Lists of folders go, then files. A list that is there says that its files are. Claims are read before, and those
   that are new again and again while the sweep goes on.
2. What is left of this home's old claims is claimed anew, in one piece.
3. The old pieces go. Whoever is killed before does it all again.

What remains is an instant between the last look and the deletion, in which another machine may come to rely on an
old object that nobody claimed. It finds it missing when it reads it, and says so.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

import msgspec

from couler_py.store import content
from couler_py.store.home import Home
from couler_py.store.remote import claims
from couler_py.store.remote.drivers import Driver, Entry
from couler_py.store.remote.location import Location, blob_name
from couler_py.store.remote.problems import RemoteError
from couler_py.store.remote.work import Work

A = TypeVar("A")
B = TypeVar("B")

GRACE = 24 * 3600.0
"""Seconds that an object stays at least. Clocks of machines and stores differ, and a run may pause for a night."""
BATCH = 200
"""Objects that are deleted between two looks at the claims."""


class Swept(msgspec.Struct):
    """What was deleted, or with `dry_run` would have been: objects, and their bytes."""

    count: int = 0
    size: int = 0


def sweep(
    home: Home,
    driver: Driver,
    location: Location,
    needed: Iterable[str],
    work: Work,
    *,
    grace: float = GRACE,
    dry_run: bool = False,
) -> Swept:
    """Delete what this home has put into a store and needs no more, as the page above says.

    `needed` are the digests of all artifacts that this home's runs and cached results refer to. `grace` is in seconds.
    Raises `RemoteError`, and has then deleted nothing that is needed.
    """
    return Sweep(home, driver, location, work, time.time() - grace, dry_run).run(set(needed))


class Sweep:
    """One sweep. Objects and claims that are younger than `before` (seconds since 1970) stay."""

    def __init__(self, home: Home, driver: Driver, location: Location, work: Work, before: float, dry_run: bool):
        self._home, self._driver, self._location, self._work = home, driver, location, work
        self._before, self._dry_run = before, dry_run

    def run(self, kept: set[str]) -> Swept:
        own = claims.home_id(self._home.path)
        old = [each for each in self._pieces() if claims.owner(each) == own and each.written < self._before]
        claimed = self._claimed(old)
        for digest in [each for each in kept if claimed.get(each)]:
            kept |= self._files(digest)
        elsewhere: set[str] = set()
        swept = Swept()
        gone: set[str] = set()
        seen = {piece.name for piece in old}
        for folders in (True, False):
            wanted = sorted(digest for digest, folder in claimed.items() if folder is folders)
            for start in range(0, len(wanted), BATCH):
                new = [piece for piece in self._pieces() if piece.name not in seen]
                elsewhere |= self._claimed(new).keys()
                seen.update(piece.name for piece in new)
                batch = [digest for digest in wanted[start : start + BATCH] if digest not in kept | elsewhere]
                for digest, entry in zip(batch, self._each(batch, self._drop), strict=True):
                    if entry is not None and entry.written >= self._before:
                        continue
                    gone.add(digest)
                    swept.count += entry is not None
                    swept.size += 0 if entry is None else entry.size
        if not self._dry_run:
            # What is only needed elsewhere is claimed there, and not here any more.
            left = kept | (claimed.keys() - gone - elsewhere)
            self._renew(own, old, {each: folder for each, folder in claimed.items() if each in left})
            self._work.patiently(lambda: self._driver.tidy(self._before), str(self._location))
        return swept

    def _renew(self, own: str, old: list[Entry], left: dict[str, bool]) -> None:
        if len(old) > 1 or not left:
            if left:
                claims.write(self._driver, self._location, own, left, self._work)
            self._each([piece.name for piece in old], self._delete)

    def _drop(self, digest: str) -> Entry | None:
        """Delete what isn't young, and give what was there."""
        name = blob_name(digest)
        found = self._work.patiently(lambda: self._driver.entry(name), self._location.url(name))
        if found is not None and found.written < self._before and not self._dry_run:
            self._delete(name)
        return found

    def _delete(self, name: str) -> None:
        self._work.patiently(lambda: self._driver.delete(name), self._location.url(name))

    def _pieces(self) -> list[Entry]:
        return claims.pieces(self._driver, self._location, self._work)

    def _claimed(self, pieces: list[Entry]) -> dict[str, bool]:
        found: dict[str, bool] = {}
        for one in self._each(pieces, lambda piece: claims.read(self._driver, self._location, piece, self._work)):
            found |= one
        return found

    def _each(self, given: list[A], what: Callable[[A], B]) -> list[B]:
        return list(self._work.parts.map(what, given))

    def _files(self, digest: str) -> set[str]:
        """The files of a folder. Raises `RemoteError` where its list can't be read, for then nothing may go."""
        local = Path(content.blob_path(str(self._home.artifacts), digest))
        name = blob_name(digest)
        if local.exists():
            data = local.read_bytes()
        else:
            found = self._work.patiently(lambda: self._driver.entry(name), self._location.url(name))
            if found is None:  # gone already, and its files are of no use without it
                return set()
            data = self._work.patiently(lambda: self._driver.read(name, 0, found.size), self._location.url(name))
        try:
            entries = json.loads(data)
            return {entry["digest"] for entry in entries if "digest" in entry}
        except (ValueError, TypeError, KeyError) as error:
            raise RemoteError(
                f"{self._location.url(name)} is no list of a folder's entries; nothing is deleted"
            ) from error
