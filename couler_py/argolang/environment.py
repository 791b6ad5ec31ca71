"""The variables of an expression, made of names with dots as Argo makes them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any


def expanded(variables: Mapping[str, Any]) -> dict[str, Any]:
    """Nested objects of names with dots. Where one name begins another (`item`, `item.x`), the shorter one is left out.

    >>> expanded({"inputs.parameters.a": "1", "item": "{}", "item.x": "2"})
    {'inputs': {'parameters': {'a': '1'}}, 'item': {'x': '2'}}
    """
    names = sorted(variables)
    parents = {a for a, b in pairwise(names) if b.startswith(f"{a}.")}
    found: dict[str, Any] = {}
    for name in variables:
        if name in parents:
            continue
        *path, last = name.split(".")
        here = found
        for part in path:
            inner = here.get(part)
            if not isinstance(inner, dict):
                inner = here[part] = {}
            here = inner
        here.setdefault(last, variables[name])
    return found


def has(variables: Mapping[str, Any], name: str) -> bool:
    """Whether Argo finds a name with dots among the variables; a value that is nil counts.

    >>> has({"inputs": {"parameters": {"a": None}}}, "inputs.parameters.a")
    True
    """
    parts = name.split(".")
    here: Any = variables
    for length in range(len(parts), 0, -1):
        prefix = ".".join(parts[:length])
        if prefix in variables:
            here, parts = variables[prefix], parts[length:]
            break
    for part in parts:
        if not isinstance(here, Mapping) or part not in here:
            return False
        here = here[part]
    return True
