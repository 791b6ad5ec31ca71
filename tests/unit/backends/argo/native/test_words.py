"""The types of Argo's objects are what the tool makes of the CRDs, and cost nobody who doesn't use them."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Required, get_type_hints

import pytest

from couler_py.backends.argo import words


def test_the_shipped_types_are_what_the_tool_makes(checkout: Path) -> None:
    tool = runpy.run_path(str(checkout / "tools" / "words.py"))
    folder = checkout / "couler_py" / "backends" / "argo" / "words"
    made = {name: tool["formatted"](source) for name, source in tool["files"]().items()}
    assert {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.py")} == made


def test_what_the_api_says_of_each_field_is_what_the_tool_makes(checkout: Path) -> None:
    tool = runpy.run_path(str(checkout / "tools" / "schemas.py"))
    source = tool["api_schema"]()
    if source is None:
        pytest.skip(
            "needs Argo's api/jsonschema/schema.json: go mod download github.com/argoproj/argo-workflows/v4@v4.0.7"
        )
    known = runpy.run_path(str(checkout / "tools" / "words.py"))["descriptions"]()
    assert known == tool["described"](json.loads(source.read_text())["definitions"])


def test_types_know_their_fields() -> None:
    assert words.RetryStrategy.__annotations__.keys() == {"affinity", "backoff", "expression", "limit", "retryPolicy"}
    assert get_type_hints(words.Artifact, include_extras=True)["name"] == Required[str]
    assert "from" in words.Artifact.__annotations__


def test_a_type_that_is_not_there_is_an_attribute_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Pod'"):
        words.Pod  # noqa: B018


def test_neither_couler_nor_the_native_surface_loads_the_types() -> None:
    code = (
        "import sys, couler_py.argo_native\n"
        "print([name for name in sys.modules if name.startswith('couler_py.backends.argo.words')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
