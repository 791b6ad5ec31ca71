"""Label selectors, as objects and as text."""

from __future__ import annotations

import re
from typing import Any

from couler_py.backends.argo.lint.finding import Path

_PART = r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
_PREFIX = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_KEY = re.compile(rf"({_PREFIX}/)?{_PART}")
_VALUE = re.compile(rf"({_PART})?")
_OPERATORS = {"In": True, "NotIn": True, "Exists": False, "DoesNotExist": False}

_TOKEN = re.compile(r"\s*(?:(?P<sign>==|!=|=|>|<|!|,|\(|\))|(?P<word>[^\s=!<>,()]+))")


def is_label_key(text: str) -> bool:
    """Whether Kubernetes takes a text as the key of a label."""
    return _KEY.fullmatch(text) is not None


def is_label_value(text: str) -> bool:
    """Whether Kubernetes takes a text as the value of a label."""
    return _VALUE.fullmatch(text) is not None


def label_selector_problem(selector: dict[str, Any]) -> tuple[str, Path] | None:
    """What is wrong with a `labelSelector`, and where in it."""
    for key, value in (selector.get("matchLabels") or {}).items():
        if not _KEY.fullmatch(key):
            return f"{key!r} is no key of a label", ("matchLabels", key)
        if not _VALUE.fullmatch(str(value)):
            return f"{value!r} is no value of a label", ("matchLabels", key)
    for index, each in enumerate(selector.get("matchExpressions") or ()):
        path: Path = ("matchExpressions", index)
        operator, values = each.get("operator", ""), each.get("values") or ()
        if operator not in _OPERATORS:
            return f"there is no operator {operator!r}; there are {', '.join(_OPERATORS)}", (*path, "operator")
        if bool(values) != _OPERATORS[operator]:
            return f"{operator} takes {'values' if _OPERATORS[operator] else 'no values'}", path
        if not _KEY.fullmatch(each.get("key", "")):
            return f"{each.get('key', '')!r} is no key of a label", (*path, "key")
    return None


def condition_problem(text: str) -> str:
    """What is wrong with a text such as `status.phase == Succeeded,count > 2`; "" where it can be read.

    It is Kubernetes' text form of label selectors, in which Argo reads the conditions of `resource` templates.

    >>> condition_problem("status.phase in (A, B),!x"), condition_problem("a ==== b")
    ('', "'==' stands where a value belongs")
    """
    tokens: list[tuple[str, str]] = []
    position = 0
    while text[position:].strip():
        match = _TOKEN.match(text, position)
        if match is None:
            return f"{text[position:].strip()[:1]!r} can't stand there"
        tokens.append(("sign", match["sign"]) if match["sign"] else ("word", match["word"]))
        position = match.end()
    while tokens:
        problem = _requirement(tokens)
        if problem:
            return problem
        if tokens:
            if tokens.pop(0) != ("sign", ","):
                return "a comma belongs between two conditions"
            if not tokens:
                return "a condition is missing behind the comma"
    return ""


def _requirement(tokens: list[tuple[str, str]]) -> str:
    negated = tokens[0] == ("sign", "!")
    if negated:
        tokens.pop(0)
    if not tokens or tokens[0][0] != "word":
        return f"{tokens[0][1]!r} stands where a name belongs" if tokens else "a name is missing"
    key = tokens.pop(0)[1]
    if not _KEY.fullmatch(key):
        return f"{key!r} can't be the name of a value"
    if negated or not tokens or tokens[0] == ("sign", ","):
        return ""
    sort, sign = tokens.pop(0)
    if sort == "word" and sign in ("in", "notin"):
        return _set(tokens)
    if sort != "sign" or sign not in ("=", "==", "!=", ">", "<"):
        return f"{sign!r} stands where a comparison belongs"
    if not tokens or tokens[0] == ("sign", ","):
        return "" if sign not in (">", "<") else f"a number is missing behind {sign}"
    sort, value = tokens.pop(0)
    if sort != "word":
        return f"{value!r} stands where a value belongs"
    if not _VALUE.fullmatch(value):
        return f"{value!r} can't be compared with"
    if sign in (">", "<") and not re.fullmatch(r"-?\d+", value):
        return f"{sign} compares whole numbers, not {value!r}"
    return ""


def _set(tokens: list[tuple[str, str]]) -> str:
    if not tokens or tokens.pop(0) != ("sign", "("):
        return "a list in parentheses is missing"
    while tokens:
        sort, text = tokens.pop(0)
        if (sort, text) == ("sign", ")"):
            return ""
        if sort == "sign" and text != ",":
            return f"{text!r} can't stand in a list"
    return "the list isn't closed"
