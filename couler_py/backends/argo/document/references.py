"""What the IR of a document refers to, changed wherever it stands: as typed references, and in Argo's own words.

A change is what `couler_py.backends.argo.references` says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from couler_py.backends.argo.document.texts import Root
from couler_py.backends.argo.references import Change, in_expression, in_json, in_tag
from couler_py.ir import expr as e
from couler_py.ir.model import Inline, Template
from couler_py.ir.templated import Templated

T = TypeVar("T")


def in_ir(value: T, root: Root, change: Change, enter: Callable[[Template], bool] = lambda _: True) -> T:
    """Any part of the IR. `enter` says whether a template that is written inside a task is in the same scope."""
    found: Any = value
    if isinstance(value, Inline) and not enter(value.template):
        return value
    if isinstance(value, msgspec.Struct):
        changed: dict[str, Any] = {}
        for name in value.__struct_fields__:
            own = getattr(value, name)
            if isinstance(own, msgspec.Struct | tuple) and (new := in_ir(own, root, change, enter)) is not own:
                changed[name] = new
        if isinstance(value, Templated) and (plain := in_json(value.value, change)) != value.value:
            changed["value"] = plain
        found = msgspec.structs.replace(value, **changed) if changed else value
        found = _reference(found, root, change)
    elif isinstance(value, tuple):
        items = tuple(in_ir(item, root, change, enter) for item in value)
        found = items if any(new is not own for new, own in zip(items, value, strict=True)) else value
    return found  # type: ignore[no-any-return]


def _reference(node: Any, root: Root, change: Change) -> Any:
    match node:
        case e.TaskOutput() | e.TaskArtifact() | e.TaskStatus():
            path, field = change((root or "tasks", node.task)), "task"
        case e.Input():
            path, field = change(("inputs", "parameters", node.name)), "name"
        case e.InputArtifact():
            path, field = change(("inputs", "artifacts", node.name)), "name"
        case e.WorkflowParameter():
            path, field = change(("workflow", "parameters", node.name)), "name"
        case e.Raw("argo", text):
            new = in_expression(text, change)
            return node if new == text else e.Raw("argo", new)
        case e.Raw("argo-tag", text):
            new = in_tag(text, change)
            return node if new == text else e.Raw("argo-tag", new)
        case _:
            return node
    return node if path is None else msgspec.structs.replace(node, **{field: path[-1]})
