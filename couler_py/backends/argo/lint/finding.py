"""What a rule of the linter finds, by its path in the data; lines and columns are worked out only for these."""

from __future__ import annotations

from typing import Literal

import msgspec

from couler_py.backends.argo.paths import Path as Path
from couler_py.ir.diagnostics import Severity


class Finding(msgspec.Struct, frozen=True):
    """One finding in a document: `path` leads to the value (or, `on="key"`, to the key) that it is about.

    `offset` counts characters into the string at the path, as where a tag begins. `related` are further places in the
    same document, each with what it is.
    """

    code: str
    message: str
    path: Path
    severity: Severity = "error"
    on: Literal["key", "value"] = "value"
    offset: int = 0
    why: str = ""
    help: str = ""
    related: tuple[tuple[str, Path], ...] = ()
