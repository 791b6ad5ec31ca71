"""A task of a dag, or a step, as a call."""

from __future__ import annotations

import inspect
from typing import Any

from couler_py.backends.argo.native.calls import Template, task
from couler_py.backends.argo.native.printing.depends import depends
from couler_py.backends.argo.native.printing.literals import identifiers, named, reference, value
from couler_py.backends.argo.native.printing.members import members
from couler_py.backends.argo.native.printing.scope import Scope
from couler_py.printer.layout import Doc, call, items
from couler_py.printer.literal import quoted

OPTIONS = frozenset(inspect.signature(task).parameters) | frozenset(inspect.signature(Template.__call__).parameters)
"""Names of arguments that mean something else than an input of that name."""


def task_call(given: dict[str, Any], scope: Scope) -> Doc:
    """The call that writes a task. Raises `TypeError` for what no call says."""
    name = given.get("name", "")
    if not isinstance(name, str):
        raise TypeError("a task's name isn't text")
    rest = {key: item for key, item in given.items() if key not in ("name", "template", "arguments")}
    if None in given.values() or not rest.keys() <= OPTIONS:
        raise TypeError("a task has fields that no call says")
    template = given.get("template")
    variable = scope.template(template) if isinstance(template, str) else None
    first: list[Doc] = [quoted(name)]
    if variable is None and template is not None:
        first.append(value(template, scope))
    function = variable or ("argo.step" if scope.form == "steps" else "argo.task")
    options = [named(key, _option(key, item, scope)) for key, item in rest.items()]
    return call(function, *first, *_arguments(given, scope), *options)


def _option(key: str, given: Any, scope: Scope) -> Doc:
    if key == "depends" and isinstance(given, str):
        return depends(given, scope) or value(given, scope)
    if key == "dependencies" and isinstance(given, list):
        return items(_known(each, scope.task(each) if isinstance(each, str) else None, scope) for each in given)
    if key == "onExit" and isinstance(given, str):
        return _known(given, scope.template(given), scope)
    return value(given, scope)


def _known(given: Any, variable: str | None, scope: Scope) -> Doc:
    return variable or value(given, scope)


def _arguments(given: dict[str, Any], scope: Scope) -> list[Doc]:
    if "arguments" not in given:
        return []
    own = given["arguments"]
    plain = _plain(own)
    if plain is None:
        return [named("arguments", members(own, scope))]
    values, files = plain
    found: list[Doc] = []
    known = scope.inputs(given.get("template"))
    if _free(values, known):
        found += [named(name, value(item, scope)) for name, item in values.items()]
    elif values:
        found.append(named("parameters", value(values, scope)))
    tellable = all(isinstance(item, str) and _is_artifact(item, scope) for item in files.values())
    if tellable and _free(files, known) and not values.keys() & files.keys():
        found += [named(name, value(item, scope)) for name, item in files.items()]
    elif files:
        found.append(named("artifacts", value(files, scope)))
    return found


def _free(values: dict[str, Any], known: frozenset[str] | None) -> bool:
    """Whether they can be given by name: to a template that is called, only what it has inputs for."""
    return identifiers(values) and not values.keys() & OPTIONS and (known is None or values.keys() <= known)


def _plain(own: Any) -> tuple[dict[str, str], dict[str, Any]] | None:
    """Values and artifacts by name; None where the arguments say more than that."""
    if not isinstance(own, dict) or not own or not own.keys() <= {"parameters", "artifacts"} or not all(own.values()):
        return None
    values: dict[str, str] = {}
    for each in own.get("parameters", []):
        if not isinstance(each, dict) or each.keys() != {"name", "value"} or each["name"] in values:
            return None
        if not isinstance(each["name"], str) or not isinstance(each["value"], str):
            return None
        values[each["name"]] = each["value"]
    files: dict[str, Any] = {}
    for each in own.get("artifacts", []):
        if not isinstance(each, dict) or not isinstance(each.get("name"), str) or each["name"] in files:
            return None
        rest = {key: item for key, item in each.items() if key != "name"}
        files[each["name"]] = rest["from"] if rest.keys() == {"from"} and isinstance(rest["from"], str) else rest
    return values, files


def _is_artifact(given: str, scope: Scope) -> bool:
    """Whether the text is printed as an artifact, which a call tells from a parameter."""
    shown = reference(given, scope)
    if shown is None:
        return False
    return ".artifact(" in shown or (shown.startswith("argo.input_artifact(") and not shown.endswith(".path"))
