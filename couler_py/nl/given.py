"""Values on their way into calls: what a call gets by name, comparisons, literals and their annotations."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from couler_py import dsl
from couler_py.dsl.placeholder import Placeholder
from couler_py.ir import types
from couler_py.nl.outline import Notice
from couler_py.printer.names import identifier


class Read:
    """What a call gets by name, with annotations; the tasks that it reads, and which of them are joined into one."""

    def __init__(self) -> None:
        self.given: dict[str, tuple[Any, str]] = {}
        self.read: set[str] = set()
        self.joined: set[str] = set()


def tell(step: Callable[..., Any], notice: Notice) -> Any:
    """Call the step that tells how the run ended."""
    to = {"to": notice.target} if notice.target else {}
    return step(status=dsl.run_info.status, **to)


def compare(left: Any, op: str, right: Any) -> Any:
    """A comparison of two values, by its operator."""
    match op:
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return left > right
        case ">=":
            return left >= right
        case "==":
            return left == right
        case _:
            return left != right


def member(value: Any, name: str) -> Any:
    """One of several values that a call gave."""
    return value[name] if isinstance(value, dict) else getattr(value, name)


def literal(value: Any) -> tuple[Any, str]:
    """A value of an outline, as it is given to a call, and its annotation."""
    plain = list(value) if isinstance(value, tuple) else value
    if isinstance(plain, list):
        return plain, "list[Any]"
    return plain, "Any" if plain is None else type(plain).__name__


def annotation(item: Placeholder) -> str:
    """The annotation of an item of a fan-out."""
    found = item.__dict__["_couler_type"]
    named = types.describe(found) if found is not None else "Path"
    return named if named in ("int", "float", "str", "bool") else "list[Any]" if named.startswith("list") else "Any"


def plain(value: Any, type_: str) -> Any:
    """A default of a parameter, of the parameter's type."""
    if type_ == "float" and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return list(value) if isinstance(value, tuple) else value


def free(name: str, taken: Iterable[str]) -> str:
    """The name of the workflow: none of a task's."""
    found = identifier(name)
    return f"{found}_workflow" if found in set(taken) else found
