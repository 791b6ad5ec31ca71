"""What a document of Argo's is called."""

from __future__ import annotations

from typing import Any


def name_of(metadata: Any, otherwise: str = "workflow") -> str:
    """A document's name, or the beginning of its runs' names without the dash; `otherwise` where it says neither.

    Its metadata may be anything, as a person wrote it.

    >>> name_of({"generateName": "hello-"}), name_of({"name": "hello"}), name_of(None, "")
    ('hello', 'hello', '')
    """
    about = metadata if isinstance(metadata, dict) else {}
    name, beginning = about.get("name"), about.get("generateName")
    if isinstance(name, str) and name.strip("-"):
        return name
    return (beginning.rstrip("-") if isinstance(beginning, str) else "") or otherwise
