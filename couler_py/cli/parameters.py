"""`-p NAME=VALUE`: values of the workflow's parameters, read by their types."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec import UNSET

from couler_py.cli.errors import UsageError
from couler_py.ir.model import Parameter, Workflow
from couler_py.ir.types import Choice, Scalar, Type, UnionOf, describe, mismatch


def read(workflow: Workflow, given: Iterable[str], defaults: Mapping[str, Any] = {}) -> dict[str, Any]:
    """The parameters that are typed, over `defaults` (what the file's own `run` was given).

    A string is taken as it is, every other value as JSON; `NAME=@FILE` reads the value from a file,
    `NAME=@@x` is the string "@x". Raises `UsageError` naming the parameter, its type and the value.
    """
    known = {parameter.name: parameter for parameter in workflow.parameters}
    values = dict(defaults)
    for text in given:
        name, equals, raw = text.partition("=")
        if not equals:
            raise UsageError(f"-p {text!r} is not NAME=VALUE")
        if name not in known:
            raise UsageError(_unknown(workflow, name), "CLR705")
        values[name] = _value(known[name], content(name, raw))
    missing = [
        parameter
        for parameter in workflow.parameters
        if parameter.default is UNSET and parameter.value_from is None and parameter.name not in values
    ]
    if missing:
        needed = ", ".join(f"-p {parameter.name}=<{describe(parameter.type)}>" for parameter in missing)
        raise UsageError(f"{workflow.name} needs {needed}", "CLR707")
    return values


def _unknown(workflow: Workflow, name: str) -> str:
    names = [parameter.name for parameter in workflow.parameters]
    if not names:
        return f"{workflow.name} has no parameters, and got {name!r}"
    close = difflib.get_close_matches(name, names, n=1)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    listing = ", ".join(f"{each.name} ({describe(each.type)})" for each in workflow.parameters)
    return f"{workflow.name} has no parameter {name!r}{hint}; it has {listing}"


def texts(given: Iterable[str]) -> dict[str, str]:
    """Parameters of Argo's own documents and of runs that there are: text; `NAME=@FILE` reads one from a file."""
    found = {}
    for text in given:
        name, equals, raw = text.partition("=")
        if not equals:
            raise UsageError(f"-p {text!r} is not NAME=VALUE")
        found[name] = content(name, raw)
    return found


def content(name: str, raw: str) -> str:
    """The text of a value that is typed: `@FILE` is what the file holds, `@@x` the text "@x"."""
    if raw.startswith("@@"):
        return raw[1:]
    if not raw.startswith("@"):
        return raw
    path = Path(raw[1:])
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"-p {name}=@{path}: can't be read: {error}") from error


def _value(parameter: Parameter, text: str) -> Any:
    value = parse(parameter.type, text)
    wrong = mismatch(parameter.type, value)
    if wrong is not None:
        shown = text if len(text) <= 60 else f"{text[:57]}..."
        message = f"the parameter {parameter.name!r} is {describe(parameter.type)}, and {shown!r} is not"
        raise UsageError(message, "CLR706")
    if parameter.enum is not None and value not in parameter.enum:
        message = f"the parameter {parameter.name!r} is one of {', '.join(parameter.enum)}, and {text!r} is not"
        raise UsageError(message, "CLR706")
    return value


def parse(type_: Type, text: str) -> Any:
    """A typed text as a value of the type, or as near as it comes: the caller checks.

    Where the type allows strings and other values, what is JSON of the type is that, the rest a string.
    """
    if isinstance(type_, Scalar) and type_.name in ("str", "datetime"):
        return text
    try:
        value = json.loads(text, parse_constant=str)
    except ValueError:
        value = {"True": True, "False": False, "None": None}.get(text, text)
    if _may_be_text(type_) and mismatch(type_, value) is not None:
        return text
    return value


def _may_be_text(type_: Type) -> bool:
    match type_:
        case Scalar(name=name):
            return name in ("str", "datetime", "any")
        case UnionOf(options=options):
            return any(_may_be_text(option) for option in options)
        case Choice(values=values):
            return any(isinstance(value, str) for value in values)
        case _:
            return False
