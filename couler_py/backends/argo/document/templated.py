"""JSON in Argo's own words, and the `Templated` that holds it: both ways, and what is in between."""

from __future__ import annotations

from typing import Any

from couler_py.argolang.tags import OPEN
from couler_py.backends.argo.document.texts import Root, text, written
from couler_py.ir.expr import Text
from couler_py.ir.templated import Substitution, Templated
from couler_py.kubernetes import templated as rendered


def templated(value: Any, root: Root) -> Templated:
    """A JSON value with its strings that hold tags beside it."""
    found: list[Substitution] = []
    plain = _plain(value, root, "", found)
    return Templated(plain, tuple(sorted(found, key=lambda each: each.pointer)))


def untemplated(given: Templated, root: Root) -> Any:
    """The JSON value again."""
    return rendered(given, lambda each: written(each, root))


def copied(value: Any) -> Any:
    """A copy that shares no list or object with the original."""
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [copied(item) for item in value]
    return value


def escaped(key: str | int) -> str:
    """A step of a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1") if isinstance(key, str) else str(key)


def steps(pointer: str) -> list[str]:
    """The steps of a JSON pointer."""
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def _plain(value: Any, root: Root, pointer: str, found: list[Substitution]) -> Any:
    if isinstance(value, str):
        if OPEN in value and isinstance(parsed := text(value, root), Text):
            found.append(Substitution(pointer, parsed))
            return ""
        return value
    if isinstance(value, dict):
        return {key: _plain(item, root, f"{pointer}/{escaped(key)}", found) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item, root, f"{pointer}/{index}", found) for index, item in enumerate(value)]
    return value
