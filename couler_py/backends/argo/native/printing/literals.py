"""JSON values as source: references where a text is one, lines as lines, everything else as literals."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

from couler_py.backends.argo.native.printing.scope import Scope
from couler_py.backends.argo.native.references import Reference, WorkflowFacts
from couler_py.printer.layout import INDENT, Block, Doc, Group, Named, broken
from couler_py.printer.literal import literal, quoted
from couler_py.printer.names import is_identifier

_NAME = r"[-a-zA-Z0-9_]+"
_TAG = re.compile(r"\{\{([^{}]+)\}\}")
_OUTPUT = re.compile(rf"(tasks|steps)\.({_NAME})\.(.+)")
_FACTS = {"exitCode": "exit_code", "status": "status", "id": "id", "ip": "ip", "startedAt": "started_at"}
_FACTS |= {"finishedAt": "finished_at", "hostNodeName": "host_node_name", "outputs.result": "result"}
_WORKFLOW = frozenset(name for name in vars(WorkflowFacts) if isinstance(getattr(WorkflowFacts, name), Reference))
_CALLS = (
    (re.compile(rf"inputs\.parameters\.({_NAME})"), "argo.input({})"),
    (re.compile(rf"inputs\.artifacts\.({_NAME})"), "argo.input_artifact({})"),
    (re.compile(rf"inputs\.artifacts\.({_NAME})\.path"), "argo.input_artifact({}).path"),
    (re.compile(rf"outputs\.parameters\.({_NAME})\.path"), "argo.output_path({})"),
    (re.compile(rf"workflow\.parameters\.({_NAME})"), "argo.workflow.parameter({})"),
    (re.compile(rf"workflow\.outputs\.parameters\.({_NAME})"), "argo.workflow.output({})"),
    (re.compile(rf"workflow\.outputs\.artifacts\.({_NAME})"), "argo.workflow.artifact({})"),
    (re.compile(r"workflow\.labels\.([-a-zA-Z0-9_./]+)"), "argo.workflow.label({})"),
    (re.compile(r"workflow\.annotations\.([-a-zA-Z0-9_./]+)"), "argo.workflow.annotation({})"),
    (re.compile(rf"item\.({_NAME})"), "argo.item[{}]"),
)


def value(given: Any, scope: Scope) -> Doc:
    """Any JSON value. Raises `TypeError` for what isn't one."""
    if isinstance(given, str):
        return text(given, scope)
    if isinstance(given, list):
        return Group("[", tuple(value(item, scope) for item in given), "]")
    if isinstance(given, Mapping):
        pairs = tuple(Named((literal(key), ": "), _field(item, scope)) for key, item in given.items())
        return Group("{", pairs, "}")
    return literal(given)


def _field(given: Any, scope: Scope) -> Doc:
    """The value of a field, which may have none: no type has None among its values."""
    return "argo.null" if given is None else value(given, scope)


def text(given: str, scope: Scope) -> Doc:
    """A text: a reference where all of it is one, its lines as lines, or a literal."""
    return reference(given, scope) or lines(given) or formatted(given, scope) or quoted(given)


def formatted(given: str, scope: Scope) -> str | None:
    """An f-string with the tasks and items that a text names; None where text says it better, or as well.

    That is where there are other tags too, and where names in quotes would stand inside of quotes.
    """
    apart = re.split(r"(\{\{[^{}]+\}\})", given)
    values = [_of_task(tag[2:-2], scope) or ("argo.item" if tag == "{{item}}" else None) for tag in apart[1::2]]
    if not any(value and value != "argo.item" for value in values) or any(value is None for value in values):
        return None
    parts = [*apart[0::2], *(value or "" for value in values)]
    if any(sign in part for part in parts for sign in "{}") or any('"' in value for value in values if value):
        return None
    apart[1::2] = [f"{{{value}}}" for value in values]
    return f"f{quoted(''.join(apart))}"


def reference(given: str, scope: Scope) -> str | None:
    """The value that stands for a text which is one tag; None for other texts."""
    found = _TAG.fullmatch(given)
    if found is None:
        return None
    inside = found[1]
    if inside == "item":
        return "argo.item"
    if inside.startswith("workflow.") and inside.removeprefix("workflow.") in _WORKFLOW:
        return f"argo.{inside}"
    for pattern, form in _CALLS:
        if match := pattern.fullmatch(inside):
            return form.format(quoted(match[1]))
    return _of_task(inside, scope)


def _of_task(inside: str, scope: Scope) -> str | None:
    found = _OUTPUT.fullmatch(inside)
    if found is None or (found[1] == "steps") != (scope.form == "steps"):
        return None
    rest = found[3]
    member = re.fullmatch(rf"outputs\.(parameters|artifacts)\.({_NAME})", rest)
    if rest not in _FACTS and member is None:
        return None
    variable = scope.task(found[2])
    if variable is None:
        return None
    if member is None:
        return f"{variable}.{_FACTS[rest]}"
    return f"{variable}.{'parameter' if member[1] == 'parameters' else 'artifact'}({quoted(member[2])})"


def lines(given: str) -> Block | None:
    """A text of several lines as `argo.text` takes it; None where that wouldn't be this text, or for one line."""
    if "\n" not in given.rstrip("\n"):
        return None
    *whole, last = given.split("\n")
    shown = [*(_line(line) for line in whole), _line(last, last=True)]
    found = Block('argo.text("""', tuple(shown), '""")')
    source = broken(found, 0, 0).removeprefix("argo.text(").removesuffix(")")
    read = ast.literal_eval(source)
    deeper = ast.literal_eval(broken(found, INDENT, 0).removeprefix("argo.text(").removesuffix(")"))
    exact = all(textwrap.dedent(one.removeprefix("\n")) == given for one in (read, deeper))
    return found if exact else None


def _line(line: str, last: bool = False) -> str:
    shown = "".join(_sign(sign) for sign in line)
    shown = re.sub('"{3,}|"+$' if last else '"{3,}', lambda quotes: '\\"' * len(quotes[0]), shown)
    return re.sub(r"( +)$", lambda spaces: "\\x20" * len(spaces[1]), shown)


def _sign(sign: str) -> str:
    if sign == '"':
        return sign
    return sign if sign.isprintable() and sign != "\\" else quoted(sign)[1:-1]


def keywords(given: Mapping[str, Any], scope: Scope) -> tuple[Doc, ...]:
    """Fields as arguments by name. Raises `TypeError` where a name can't be one."""
    return tuple(named(key, _field(item, scope)) for key, item in given.items())


def named(name: str, doc: Doc) -> Named:
    """One argument by name."""
    if not is_identifier(name):
        raise TypeError(f"{name!r} can't name an argument")
    return Named((f"{name}=",), doc)


def identifiers(names: Iterable[str]) -> bool:
    """Whether all are names that Python can write as those of arguments."""
    return all(is_identifier(name) for name in names)
