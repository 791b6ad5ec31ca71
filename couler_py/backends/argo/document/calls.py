"""What a call gives to a template, when it is made, and the hooks of a task or a run."""

from __future__ import annotations

from typing import Any

from couler_py.backends.argo.document.artifacts import artifact_argument
from couler_py.backends.argo.document.artifacts import written_argument as written_artifact_argument
from couler_py.backends.argo.document.lens import JSON, extra, with_extra
from couler_py.backends.argo.document.parameters import argument, written_argument
from couler_py.backends.argo.document.texts import UNSAID, Root, tagged, text, word, written
from couler_py.ir.expr import Condition, Expr, Raw
from couler_py.ir.model import Hook


def condition(given: Any, root: Root) -> Any:
    """A `when`: text that is filled in first and read then."""
    found = text(given, root)
    return UNSAID if found is UNSAID or found == "" else Condition(found)  # type: ignore[arg-type]


def written_condition(given: Expr, root: Root) -> str:
    """The `when` again; an expression of Argo's own in its tag."""
    if isinstance(given, Condition):
        return written(given.text, root)
    return tagged(given, root)


def arguments(rest: JSON, root: Root) -> JSON:
    """The attributes `arguments` and `artifacts`, taken out of the remaining fields."""
    given = rest.get("arguments")
    if not isinstance(given, dict) or given.keys() - {"parameters", "artifacts"}:
        return {}
    del rest["arguments"]
    return {
        "arguments": tuple(argument(each, root) for each in given.get("parameters") or ()),
        "artifacts": tuple(artifact_argument(each, root) for each in given.get("artifacts") or ()),
    }


def written_arguments(given: Any, root: Root) -> JSON:
    """The `arguments` again."""
    found: JSON = {}
    if given.arguments:
        found["parameters"] = [written_argument(each, root) for each in given.arguments]
    if given.artifacts:
        found["artifacts"] = [written_artifact_argument(each, root) for each in given.artifacts]
    return {"arguments": found} if found else {}


def hook(name: str, data: JSON, root: Root) -> Hook:
    """A template at a moment of a task's life."""
    rest = {key: value for key, value in data.items() if value is not None}
    found = arguments(rest, root)
    if isinstance(called := word(rest.get("template"), root), str):
        found["call"] = called
        del rest["template"]
    if isinstance(moment := word(rest.get("expression"), root), str):
        found["when"] = Raw("argo", moment)
        del rest["expression"]
    attributes: JSON = {"call": ""} | found | extra(rest, root)
    return Hook(name=name, **attributes)


def written_hook(given: Any, root: Root) -> JSON:
    """The hook again."""
    found: JSON = {}
    if given.call:
        found["template"] = given.call
    if given.when is not None:
        found["expression"] = given.when.text if isinstance(given.when, Raw) else written_condition(given.when, root)
    return with_extra(found | written_arguments(given, root), given.extra, root)


ON_EXIT = "onExit"
"""The name of the hook that a task's or a run's `onExit` is."""


def hooks(rest: JSON, root: Root) -> tuple[Hook, ...]:
    """`onExit` and `hooks`, taken out of the remaining fields."""
    found = []
    if isinstance(last := word(rest.get("onExit"), root), str) and last:
        found.append(Hook(ON_EXIT, last))
        del rest["onExit"]
    given = rest.get("hooks")
    # A hook that is called "onExit" itself would be taken for the other.
    if (
        isinstance(given, dict)
        and given
        and ON_EXIT not in given
        and all(isinstance(each, dict) for each in given.values())
    ):
        found += [hook(name, each, root) for name, each in given.items()]
        del rest["hooks"]
    return tuple(found)


def written_hooks(given: tuple[Hook, ...], root: Root) -> JSON:
    """`onExit` and `hooks` again."""
    found: JSON = {}
    for each in given:
        if each.name == ON_EXIT and each.when is None and not (each.arguments or each.artifacts or each.extra):
            found["onExit"] = each.call
        else:
            found.setdefault("hooks", {})[each.name] = written_hook(each, root)
    return found
