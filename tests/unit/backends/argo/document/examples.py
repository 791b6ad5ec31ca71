"""Argo's own examples, as text and as data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from couler_py.backends import yaml
from couler_py.backends.argo.document import is_argo, set_aside

JSON = dict[str, Any]


def texts(reference_data: Path) -> dict[str, str]:
    """The files that hold a document of Argo's, by name."""
    files = sorted((reference_data / "argo" / "examples").rglob("*.yaml"))
    found = {str(path.relative_to(reference_data)): path.read_text(encoding="utf-8") for path in files}
    return {name: text for name, text in found.items() if any(is_argo(each) for each in yaml.load_all(text))}


def expected(text: str) -> list[Any]:
    """What importing and writing a file has to give: its data, without what a cluster added."""
    found = [each for each in yaml.load_all(text) if each is not None]
    return [set_aside(each)[0] if is_argo(each) else each for each in found]
