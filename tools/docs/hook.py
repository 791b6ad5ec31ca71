"""The part of the documentation that is made from the program: MkDocs calls this when it builds the site.

Nothing made here is written into docs/: the pages exist while MkDocs builds, and are the same bytes each time.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from mkdocs.structure.files import File, Files  # noqa: E402

from tools.docs import diagnostics, engines, examples, reference, schema  # noqa: E402

SOURCES = {"examples": examples, "reference": reference}
"""Folders of pages whose number isn't known to mkdocs.yml: there, `NAME/*` stands for them."""


def made() -> dict[str, str]:
    """The files by their path below docs/."""
    found: dict[str, str] = {"changelog.md": (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")}
    for source in (examples, reference, diagnostics, engines, schema):
        found |= source.files()
    return found


def on_config(config: Any) -> Any:
    """Write the pages that there are where the navigation says `NAME/*`."""
    config["nav"] = [_filled(entry) for entry in config["nav"]]
    return config


def on_files(files: Files, *, config: Any) -> Files:
    """Add what is made to the files of docs/."""
    for path, text in made().items():
        files.append(File.generated(config, path, content=text))
    return files


def _filled(entry: Any) -> Any:
    if not isinstance(entry, dict):
        return entry
    ((title, inside),) = entry.items()
    if not isinstance(inside, list):
        return entry
    pages: list[Any] = []
    for each in inside:
        name = each.removesuffix("/*") if isinstance(each, str) else ""
        pages += SOURCES[name].navigation() if name in SOURCES else [_filled(each)]
    return {title: pages}
