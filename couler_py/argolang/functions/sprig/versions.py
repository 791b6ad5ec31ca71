"""`sprig`: semantic versions."""

from __future__ import annotations

from couler_py.argolang.functions.semver import satisfies, version
from couler_py.argolang.functions.tables import table

VERSIONS = table(
    semver=("string", version),
    semverCompare=("string string", satisfies),
)
