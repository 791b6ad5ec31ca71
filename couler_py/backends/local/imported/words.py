"""Values as Argo's controller writes them into texts: Go's JSON, Go's times, Argo's words for states."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from typing import Any

from couler_py.store.records import Result

_ESCAPED = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def go_json(value: Any) -> str:
    """JSON as Go's encoding/json writes it: compact, and with `<`, `>` and `&` escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for plain, escape in _ESCAPED.items():
        text = text.replace(plain, escape)
    return text


def said(value: Any) -> str:
    """A value as it stands in a text: strings as they are, the keys of an object in order.

    >>> said({"b": [1], "a": True})
    '{"a":true,"b":[1]}'
    """
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return go_json(dict(sorted(value.items())))
    return go_json(value)


def instant(seconds: float) -> str:
    """A point in time as Argo writes it: RFC 3339 in whole seconds, in UTC."""
    return datetime.datetime.fromtimestamp(int(seconds), datetime.UTC).isoformat().replace("+00:00", "Z")


def status(result: Result) -> str:
    """How a task ended, in Argo's word."""
    if result.state == "Failed" and result.errored:
        return "Error"
    return "Omitted" if result.state == "Blocked" else result.state


def aggregate(values: Sequence[str]) -> str:
    """The outputs of a fan-out's items as one text: a JSON list of strings, or of what they say as JSON.

    The latter where every one of them is the JSON of an object or list, also where there are none.

    >>> aggregate(["1", "x"]), aggregate(['{"b": 1, "a": 2}', "[]"])
    ('["1","x"]', '[{"a":2,"b":1},[]]')
    """
    parsed = []
    for value in values:
        try:
            found = json.loads(value)
        except ValueError:
            return go_json(list(values))
        if not isinstance(found, dict | list):
            return go_json(list(values))
        parsed.append(_sorted(found))
    return go_json(parsed)


def _sorted(value: Any) -> Any:
    # Go reads objects into maps, which it writes in the order of their keys.
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_sorted(item) for item in value]
    return value


def results(values: Sequence[str]) -> str:
    """The `result` outputs of a fan-out's items: a JSON list of what they say as JSON.

    Raises `ValueError` where one isn't JSON: Argo has no list then.
    """
    return go_json([json.loads(value) for value in values])
