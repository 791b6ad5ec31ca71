"""What an expression can give besides a value: a file or folder."""

from __future__ import annotations

import msgspec


class Artifact(msgspec.Struct, frozen=True):
    """The kind of an expression that names a file or folder."""


ARTIFACT = Artifact()
