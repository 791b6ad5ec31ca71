"""A store of artifacts that many machines share: a bucket, or a folder on a disk that all of them mount.

The content-addressed folder of the home stays in front of it. What a task makes is put there and then here, and
comes back from here when it is missing there. What lies in it is the same in both, and named by its digest:

    PREFIX/couler.json                   what this is, and the version of its layout
    PREFIX/sha256/ab/cdef…               a file, or the list of a folder's entries (see `couler_py.store.content`)
    PREFIX/claims/HOME/PIECE             digests that one machine's home needs, a line each (see `claims.py`)
"""

from couler_py.store.remote.known import noted
from couler_py.store.remote.location import Location, LocationError, parse
from couler_py.store.remote.problems import DamagedError, Halted, MissingError, RemoteError
from couler_py.store.remote.remote import Remote
from couler_py.store.remote.sweep import Swept, sweep

__all__ = [
    "DamagedError",
    "Halted",
    "Location",
    "LocationError",
    "MissingError",
    "Remote",
    "RemoteError",
    "Swept",
    "noted",
    "parse",
    "sweep",
]
