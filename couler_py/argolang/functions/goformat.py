"""How Go writes values: `%v`, quoted texts, and JSON."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from typing import Any

from couler_py.argolang.functions.gotime import Moment
from couler_py.argolang.functions.semver import Version
from couler_py.argolang.functions.spans import duration_text
from couler_py.argolang.problems import EvaluationProblem
from couler_py.argolang.values import AnyMap, Duration, Function, NoList

_DEPTH = 200


def formatted(value: Any, depth: int = 0) -> str:
    """A value as Go's `%v` writes it, which is what `string(x)` gives.

    >>> formatted(1.0), formatted([1, "a b"]), formatted({"k": None}), formatted(None)
    ('1', '[1 a b]', 'map[k:<nil>]', '<nil>')
    """
    if depth > _DEPTH:
        raise EvaluationProblem(f"a value nested deeper than {_DEPTH} levels")
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Duration):
        return duration_text(value)
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return float_text(value)
    if isinstance(value, list):
        return "[" + " ".join(formatted(each, depth + 1) for each in value) + "]"
    if isinstance(value, dict):
        pairs = sorted(value.items(), key=lambda pair: (str(type(pair[0])), pair[0]))
        return "map[" + " ".join(f"{formatted(k, depth + 1)}:{formatted(v, depth + 1)}" for k, v in pairs) + "]"
    if isinstance(value, Moment | Version):
        return value.text()
    if isinstance(value, Function):
        raise EvaluationProblem(f"the function {value.name} has no text")
    return str(int(value)) if isinstance(value, int) else str(value)


def float_text(number: float, most: int = 6, least: int = -5) -> str:
    """The shortest text of a double, with an exponent from 1e`most` on and up to 1e`least`."""
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "+Inf" if number > 0 else "-Inf"
    if number == 0:
        return "-0" if math.copysign(1, number) < 0 else "0"
    sign = "-" if number < 0 else ""
    digits, exponent = _shortest(abs(number))
    if exponent <= least or exponent >= most:
        fraction = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{fraction}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"
    if exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{digits}"
    whole = digits[: exponent + 1].ljust(exponent + 1, "0")
    rest = digits[exponent + 1 :]
    return f"{sign}{whole}{'.' + rest if rest else ''}"


def _shortest(number: float) -> tuple[str, int]:
    """The fewest digits that mean this double, and the power of ten of the first."""
    mantissa, _, exponent = repr(number).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    shift = len(whole) - 1 if whole.strip("0") else -(len(fraction) - len(fraction.lstrip("0"))) - 1
    return digits.rstrip("0") or "0", shift + int(exponent or 0)


# ---- JSON


def to_json(value: Any, *, indent: bool = False, html: bool = True) -> str:
    """A value as Go's encoding/json writes it: keys sorted, `<`, `>` and `&` escaped where `html` says so.

    Raises EvaluationProblem for what JSON can't hold.

    >>> to_json({"b": [1, 2.0, 1e21], "a": "<"})
    '{"a":"\\\\u003c","b":[1,2,1e+21]}'
    """
    return "".join(_json(value, html, "\n" if indent else None, 0))


def _json(value: Any, html: bool, line: str | None, depth: int) -> list[str]:
    if depth > _DEPTH:
        raise EvaluationProblem(f"a value nested deeper than {_DEPTH} levels")
    if value is None or isinstance(value, NoList):
        return ["null"]
    if isinstance(value, bool):
        return ["true" if value else "false"]
    if isinstance(value, str):
        return [json_string(value, html=html)]
    if isinstance(value, int):
        return [str(int(value))]
    if isinstance(value, float):
        return [_json_number(value)]
    if isinstance(value, Moment):
        return [json_string(value.rfc3339(), html=html)]
    if isinstance(value, Version):
        return [json_string(value.text(), html=html)]
    inner = None if line is None else line + "  "
    if isinstance(value, list):
        return _bracketed("[", [_json(each, html, inner, depth + 1) for each in value], "]", line)
    if isinstance(value, dict) and not isinstance(value, AnyMap):
        colon = ":" if line is None else ": "
        items = [
            [json_string(key, html=html), colon, *_json(value[key], html, inner, depth + 1)] for key in sorted(value)
        ]
        return _bracketed("{", items, "}", line)
    raise EvaluationProblem(f"{_named(value)} can't be written as JSON")


def _named(value: Any) -> str:
    if isinstance(value, Function):
        return f"the function {value.name}"
    return "an object whose keys needn't be texts" if isinstance(value, AnyMap) else f"a {type(value).__name__}"


def _bracketed(opening: str, items: list[list[str]], closing: str, line: str | None) -> list[str]:
    if not items:
        return [opening + closing]
    found = [opening]
    for number, item in enumerate(items):
        found += ["," if number else "", "" if line is None else line + "  ", *item]
    return [*found, "" if line is None else line, closing]


def _json_number(number: float) -> str:
    if not math.isfinite(number):
        raise EvaluationProblem(f"{float_text(number)} can't be written as JSON")
    text = float_text(number, 21, -7)
    return re.sub(r"e-0(\d)$", r"e-\1", text)


_HTML = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})
_LINES = str.maketrans({"\u2028": "\\u2028", "\u2029": "\\u2029"})


def json_string(text: str, *, html: bool = True) -> str:
    """A text as a string of JSON; bytes that aren't UTF-8 are replaced."""
    found = json.dumps(whole(text), ensure_ascii=False).translate(_LINES)
    return found.translate(_HTML) if html else found


def whole(text: str) -> str:
    """A text with a replacement for each byte that isn't UTF-8."""
    return text if text.isascii() else re.sub("[\ud800-\udfff]", "\ufffd", text)


# ---- quoted texts


_NAMED = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v"}
_UNPRINTED = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"))


def go_quoted(text: str) -> str:
    """A text in quotes as Go writes it (`%q`): not JSON where it holds characters that can't be printed.

    >>> print(go_quoted('a"b\\x00'))
    "a\\"b\\x00"
    """
    return '"' + "".join(map(_quoted_character, text)) + '"'


def _quoted_character(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character in _NAMED:
        return _NAMED[character]
    code = ord(character)
    if code < 0x80:
        return character if 0x20 <= code < 0x7F else f"\\x{code:02x}"
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    if unicodedata.category(character) not in _UNPRINTED:
        return character
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
