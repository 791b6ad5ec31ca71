"""Texts made of values and values of texts: numbers, JSON, base64, parts, cases."""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Callable
from typing import Any

from couler_py.argolang.arithmetic import LONGEST
from couler_py.argolang.functions.goformat import whole as whole_text
from couler_py.argolang.problems import EvaluationProblem
from couler_py.argolang.values import NoList, Strings, from_bytes, in_bytes, is_number, kind, truncated

_FLOAT = re.compile(r"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|inf|infinity|nan)", re.IGNORECASE)


def as_int(value: Any) -> int:
    """`int(x)` and Argo's `asInt`: of a number, or of a text that is a whole number."""
    if isinstance(value, str):
        if not re.fullmatch(r"[+-]?[0-9]+", value) or not -(2**63) <= int(value) < 2**63:
            raise EvaluationProblem(f"{value!r} is no whole number")
        return int(value)
    if isinstance(value, float):
        return truncated(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return int(value)
    raise EvaluationProblem(f"a {kind(value)} is no whole number")


def as_float(value: Any) -> float:
    """`float(x)` and Argo's `asFloat`."""
    if isinstance(value, str):
        if not _FLOAT.fullmatch(value) or (math.isinf(float(value)) and "inf" not in value.lower()):
            raise EvaluationProblem(f"{value!r} is no number")
        return float(value)
    if is_number(value):
        return float(value)
    raise EvaluationProblem(f"a {kind(value)} is no number")


def cased(text: str, change: Callable[[str], str]) -> str:
    """A text in upper or lower case, character by character, so that none becomes several."""
    return "".join(new if len(new := change(each)) == 1 else each for each in text)


def cut(text: str, separator: str, count: int = -1, *, keep: bool = False) -> list[Any]:
    """A text in parts, at most `count` of them where it isn't negative; without separator, its characters."""
    if count == 0:
        return NoList()
    most = count - 1 if count > 0 else -1
    if separator == "":
        parts = list(text) if most < 0 or len(text) <= count else [*text[:most], text[most:]]
    else:
        parts = text.split(separator, most)
    if keep and separator:
        parts = [part + separator for part in parts[:-1]] + parts[-1:]
    return Strings(parts)


def exchanged(text: str, old: str, new: str, count: int = -1) -> str:
    """A text with `new` for `old`, at most `count` times; raises EvaluationProblem where it gets too long."""
    if (len(text) + 1) * (len(new) + 1) > LONGEST and text.count(old) * len(new) > LONGEST:
        raise EvaluationProblem(f"a text of more than {LONGEST:,} characters")
    return text.replace(old, new, count)


def repeated(text: str, count: int) -> str:
    """A text several times over."""
    if count < 0:
        raise EvaluationProblem(f"a text can't be repeated {count} times")
    if count > 10**6 or len(text) * count > LONGEST:
        raise EvaluationProblem("a text that is repeated too often")
    return text * count


def from_json(text: str) -> Any:
    """The value of a text of JSON; every number is a double. Raises EvaluationProblem."""

    def refused(word: str) -> Any:
        raise ValueError(f"{word} isn't JSON")

    def number(word: str) -> float:
        value = float(word)
        if math.isinf(value):
            raise ValueError(f"{word} is too large")
        return value

    try:
        value = json.loads(text, parse_int=number, parse_float=number, parse_constant=refused)
    except (ValueError, RecursionError) as problem:
        raise EvaluationProblem(f"{_short(text)!r} isn't JSON: {problem}") from problem
    return _without_halves(value) if "\\u" in text else value


def _without_halves(value: Any) -> Any:
    """A value whose texts have no half of a pair of surrogates."""
    if isinstance(value, str):
        return whole_text(value)
    if isinstance(value, list):
        return [_without_halves(each) for each in value]
    if isinstance(value, dict):
        return {_without_halves(key): _without_halves(each) for key, each in value.items()}
    return value


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."


def encoded(text: str) -> str:
    """Base64 of a text."""
    return base64.b64encode(in_bytes(text)).decode()


def decoded(text: str) -> str:
    """The text of base64. Raises EvaluationProblem."""
    try:
        return from_bytes(base64.b64decode(text.replace("\r", "").replace("\n", "").encode(), validate=True))
    except (binascii.Error, ValueError) as problem:
        raise EvaluationProblem(f"{_short(text)!r} isn't base64") from problem
