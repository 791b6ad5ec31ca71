"""Where a store of artifacts is: read from what a person writes, and written as messages name it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import msgspec

from couler_py.ir.diagnostics import CoulerError

SCHEMES = {"s3": "s3", "gs": "gcs", "oss": "oss", "az": "az"}
"""Kinds of stores by the scheme of their address, and the extra of this package that has the driver."""

_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,221}")
_PREFIX = re.compile(r"[A-Za-z0-9._~=@+-]+(/[A-Za-z0-9._~=@+-]+)*")


class LocationError(CoulerError, ValueError):
    """An address that can't be the one of a store."""


class Location(msgspec.Struct, frozen=True):
    """A store: its scheme, its bucket (none of a folder), and what all its keys begin with (a folder's path).

    >>> str(parse("s3://models/team-a/"))
    's3://models/team-a'
    """

    scheme: str
    bucket: str
    prefix: str

    def __str__(self) -> str:
        if self.scheme == "file":
            return f"file://{self.prefix}"
        return f"{self.scheme}://{self.bucket}" + (f"/{self.prefix}" if self.prefix else "")

    def key(self, name: str) -> str:
        """The key in the bucket, or the path, of a name below this place."""
        return f"{self.prefix}/{name}" if self.prefix else name

    def url(self, name: str) -> str:
        """The address of a name below this place, for messages."""
        return f"{self}/{name}"


def parse(text: str, folder: str | os.PathLike[str] | None = None) -> Location:
    """The place that an address or a path names; a relative path is one in `folder`, by default the working directory.

    Raises `LocationError`, which repeats no part of an address that may be a secret.
    """
    scheme, mark, _ = text.partition("://")
    if not mark:
        if not text.strip() or "\0" in text:
            raise LocationError(
                "a store of artifacts is an address such as s3://bucket/prefix, or the path of a folder"
            )
        scheme, mark, _ = text.partition(":")
        if mark and scheme in SCHEMES:
            raise LocationError(
                f"{scheme}: without two slashes is no address: it is written {scheme}://bucket/prefix (a folder of "
                f"that name: ./{scheme}:…)"
            )
        return Location("file", "", str(_absolute(Path(text).expanduser(), folder)))
    if scheme != "file" and scheme not in SCHEMES:
        known = ", ".join(f"{each}://" for each in (*SCHEMES, "file"))
        raise LocationError(f"{scheme}:// is no kind of store that is known here: {known}, or the path of a folder")
    parts = urlsplit(text)
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise LocationError(
            f"the address of a store ({scheme}://…) holds a name, a password, a query or a fragment: it is written "
            "into the records of runs, so it can't. Give credentials to the driver's usual places (see the page "
            "on artifact stores), and leave them out here"
        )
    if scheme == "file":
        path = unquote(parts.path)
        if parts.netloc not in ("", "localhost") or not path.startswith("/") or "\0" in path:
            raise LocationError("file:// is followed by an absolute path, as in file:///srv/artifacts")
        return Location("file", "", os.path.normpath(path))
    prefix = parts.path.strip("/")
    if not _BUCKET.fullmatch(parts.netloc):
        raise LocationError(
            f"{scheme}://{parts.netloc} names no bucket: write {scheme}://bucket or {scheme}://bucket/prefix"
        )
    if prefix and (not _PREFIX.fullmatch(prefix) or {".", ".."} & set(prefix.split("/"))):
        raise LocationError(
            f"{scheme}://{parts.netloc}/{prefix}: a prefix is names between slashes, of letters, digits and "
            ". _ ~ = @ + -"
        )
    return Location(scheme, parts.netloc, prefix)


def _absolute(path: Path, folder: str | os.PathLike[str] | None) -> Path:
    return Path(os.path.normpath(Path(folder or Path.cwd()).absolute() / path))


def blob_name(digest: str) -> str:
    """The name of what has a digest, below a store's place."""
    return f"sha256/{digest[:2]}/{digest[2:]}"
