"""What texts and expressions refer to, changed wherever it stands: in tags, in expressions, and as typed references.

A change is a function from the path of a reference, as `("tasks", "a", "outputs", "result")`, to the path that stands
there instead, or None.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import msgspec

from couler_py.argolang.chains import replaced
from couler_py.argolang.problems import SyntaxProblem
from couler_py.argolang.tags import OPEN, Tag, scan
from couler_py.argolang.tags import written as written_part
from couler_py.backends.argo.document.texts import Root
from couler_py.ir import expr as e
from couler_py.ir.model import Inline, Template
from couler_py.ir.templated import Templated

Path: TypeAlias = tuple[str, ...]
Change: TypeAlias = Callable[[Path], Path | None]
T = TypeVar("T")


def in_expression(text: str, change: Change) -> str:
    """An expression with other references. One that can't be parsed stays: it refers to nothing."""
    try:
        return replaced(text, lambda reference: change(reference.path))
    except SyntaxProblem:
        return text


def in_tag(text: str, change: Change) -> str:
    """The inside of a tag that is a name; spaces around it stay."""
    name = text.strip()
    path = change(tuple(name.split(".")))
    return text if path is None else text.replace(name, ".".join(path))


def in_text(text: str, change: Change) -> str:
    """A string with tags."""
    if OPEN not in text:
        return text
    return "".join(written_part(_tag(part, change) if isinstance(part, Tag) else part) for part in scan(text))


def _tag(part: Tag, change: Change) -> Tag:
    inside = in_expression if part.expression else in_tag
    return msgspec.structs.replace(part, text=inside(part.text, change))


def in_json(value: Any, change: Change) -> Any:
    """A JSON value in Argo's words: all its strings, and the expressions that stand without a tag."""
    if isinstance(value, str):
        return in_text(value, change)
    if isinstance(value, dict):
        return {
            key: in_expression(item, change)
            if key in _EXPRESSIONS and isinstance(item, str) and OPEN not in item
            else in_json(item, change)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [in_json(item, change) for item in value]
    return value


_EXPRESSIONS = ("expression", "fromExpression")


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
