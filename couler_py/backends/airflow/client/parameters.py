"""Parameters of DAGs, as they are typed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec


def typed(params: Mapping[str, Any], given: Mapping[str, str]) -> dict[str, Any]:
    """Values that are typed, by the schemas of a DAG's parameters: what may only be a string as it is, else JSON.

    Raises `ValueError` for a parameter that the DAG doesn't have.

    >>> typed({"n": {"schema": {"type": "integer"}}, "s": {"schema": {"type": "string"}}}, {"n": "3", "s": "3"})
    {'n': 3, 's': '3'}
    """
    if unknown := sorted(set(given) - set(params)):
        raise ValueError(f"the DAG has no parameter {unknown[0]!r}; its parameters are {', '.join(params) or 'none'}")
    return {name: _value(params[name], text) for name, text in given.items()}


def _value(param: Any, text: str) -> Any:
    schema = param.get("schema") if isinstance(param, Mapping) else None
    if (schema or {}).get("type") == "string":
        return text
    try:
        return msgspec.json.decode(text.encode())
    except msgspec.DecodeError:
        return text
