"""Who needs what of a store that many machines share.

Every home has an id and claims the digests that it needs, before it relies on them: small objects of a line for each
digest, `claims/HOME/PIECE`; the line of a folder's list says so. What a home deletes is in `sweep.py`.
"""

from __future__ import annotations

import re
import secrets
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from couler_py.store.remote.drivers import Driver, Entry
from couler_py.store.remote.location import Location
from couler_py.store.remote.problems import RemoteError
from couler_py.store.remote.work import Work

CLAIMS = "claims"
RENEWAL = 3600.0
"""Seconds after which a process claims again what it relies on: far below the time of grace that claims have."""

_LINE = re.compile(r"([0-9a-f]{64})( folder)?")
_HOME = re.compile(r"[0-9a-f]{32}")


def home_id(home: Path) -> str:
    """The id of a home, made once, by which the claims of several are told apart. Raises `RemoteError`."""
    file = home / "store-id"
    try:
        made = secrets.token_hex(16)
        with file.open("x") as writing:
            writing.write(made)
    except FileExistsError:
        until = time.monotonic() + 5
        while not _HOME.fullmatch(made := file.read_text()):  # another process is just writing it
            if time.monotonic() > until:
                raise RemoteError(f"{file} is damaged: delete it, and this home's claims begin anew") from None
            time.sleep(0.01)
    return made


class Claims:
    """The claims of one process. Calls from several threads at the same time share one object."""

    def __init__(self, driver: Driver, location: Location, home: str, work: Work):
        self._driver = driver
        self._location = location
        self._home = home
        self._work = work
        self._claimed: dict[str, float] = {}
        self._pending: dict[str, bool] = {}
        self._lock = threading.Lock()
        self._writing = threading.Lock()

    def claim(self, wanted: Mapping[str, bool]) -> None:
        """Have the claim of these digests in the store, True for folders. Raises `RemoteError`, `Halted`."""
        fresh = time.monotonic() - RENEWAL
        with self._lock:
            new = {each: wanted[each] for each in wanted if self._claimed.get(each, fresh) <= fresh}
            self._pending |= new
        if not new:
            return
        with self._writing:  # who waited here may find that whoever was before has written its claims too
            with self._lock:
                taken = dict(self._pending)
            if taken:
                write(self._driver, self._location, self._home, taken, self._work)
                now = time.monotonic()
                with self._lock:
                    self._claimed |= dict.fromkeys(taken, now)
                    self._pending = {each: kind for each, kind in self._pending.items() if each not in taken}


def write(driver: Driver, location: Location, home: str, wanted: Mapping[str, bool], work: Work) -> None:
    """Write a piece of claims. Its name begins with the time, so that people can read its age."""
    name = f"{CLAIMS}/{home}/{time.time_ns():020d}-{secrets.token_hex(8)}"
    lines = [f"{digest} folder\n" if folder else f"{digest}\n" for digest, folder in sorted(wanted.items())]
    data = "".join(lines).encode()
    work.patiently(lambda: driver.write(name, data), location.url(name))


def pieces(driver: Driver, location: Location, work: Work) -> list[Entry]:
    """All pieces of all homes."""
    return work.patiently(lambda: list(driver.entries(f"{CLAIMS}/")), location.url(CLAIMS))


def owner(piece: Entry) -> str:
    """The id of the home whose claims a piece holds."""
    return piece.name.split("/")[1]


def read(driver: Driver, location: Location, piece: Entry, work: Work) -> dict[str, bool]:
    """What a piece claims, True for folders. Raises `RemoteError` where it can't be read."""
    if not piece.size:
        return {}
    url = location.url(piece.name)
    data = work.patiently(lambda: driver.read(piece.name, 0, piece.size), url)
    claimed: dict[str, bool] = {}
    for line in data.decode("utf-8", "replace").splitlines():
        found = _LINE.fullmatch(line)
        if found is None:
            raise RemoteError(f"{url} is no list of digests: something else wrote there, so nothing is deleted")
        claimed[found[1]] = found[2] is not None
    return claimed
