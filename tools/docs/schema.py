"""The JSON schema of the IR, as a file of the site."""

from __future__ import annotations

import json

from couler_py.ir.codec import FORMAT, json_schema

NAME = FORMAT.replace("/", "-") + ".schema.json"


def files() -> dict[str, str]:
    """The schema by its path below docs/."""
    return {f"schema/{NAME}": json.dumps(json_schema(), indent=2, sort_keys=True) + "\n"}
