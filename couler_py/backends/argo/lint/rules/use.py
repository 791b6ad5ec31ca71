"""Where a name is used in a document, and why it can't be used there."""

from __future__ import annotations

from typing import Literal

import msgspec

from couler_py.backends.argo.lint.context import JSON
from couler_py.backends.argo.lint.rules.flow import Call, Template

CHECKED = ("item.", "steps.", "inputs.", "outputs.", "pod.", "workflow.", "tasks.")
"""Beginnings of the names that Argo's check looks up; it leaves every other tag alone."""
RETRY = frozenset({"retries", "lastRetry.exitCode", "lastRetry.status", "lastRetry.duration", "lastRetry.message"})


class Unresolved(msgspec.Struct, frozen=True):
    """Why a name can't be used at its place."""

    code: str
    message: str
    severity: Literal["error", "warning"] = "error"
    why: str = ""
    help: str = ""


class Place(msgspec.Struct, frozen=True):
    """Where a name is used: a template, and which of its calls. Argo's check doesn't look into expressions."""

    template: Template
    call: Call | None = None
    in_hook: bool = False
    in_expression: bool = False


def items_of(call: JSON) -> frozenset[str] | None:
    """The names that the items of a call give; None where they are known only at run time; none where it is no loop."""
    if items := call.get("withItems"):
        found: set[str] = set()
        for each in items:
            if isinstance(each, dict):
                found |= {f"item.{key}" for key in each}
            elif isinstance(each, list):
                found |= {f"item.[{index}]" for index in range(len(each))}
            else:
                found.add("item")
        return frozenset(found)
    if call.get("withParam"):
        return None
    return frozenset({"item"}) if call.get("withSequence") is not None else frozenset()
