"""How values are written when they travel between steps.

This file is part of the runner that is copied into pods: it imports nothing but the standard
library, runs on Python 3.8, and knows types in their JSON form (see `couler_py.ir.types`).

A value whose type is exactly `str` travels raw, every other value as JSON text. Argo evaluates tags in
double braces in values again at every level of nesting, so JSON text writes the second of two opening
braces as `\\u007b`, and a raw string that can't travel as it is travels as `couler:json:` and its JSON
text. Argo also pastes values into JSON by Go's `strconv.Quote`, whose escapes for control characters
and for unprintable characters beyond U+FFFF are not JSON: such strings never travel raw either.
"""

from __future__ import annotations

import base64
import json
import math
import re
from typing import Any

JSON_MARK = "couler:json:"
BASE64_MARK = "couler:base64:"
ITEMS_MARK = "couler:items:"
MARKS = (JSON_MARK, BASE64_MARK, ITEMS_MARK)

# Most bytes of one encoded value: with its name and in base64 it must fit in Linux's 128 KiB for one string of the
# environment (MAX_ARG_STRLEN, linux/binfmts.h).
VALUE_LIMIT = 96000

OPEN = "{" * 2  # spelled so that no text of the runner holds it
RISKY = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
NON_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def encode(type_: dict[str, Any], value: Any) -> str:
    """The text that a value of the type travels as. Raises `ValueError` for what isn't JSON."""
    if _is_plain_string(type_):
        if not isinstance(value, str):
            raise ValueError(f"{value!r} is not a string")
        return value if travels_raw(value) else JSON_MARK + to_json(value)
    return to_json(value)


def travels_raw(text: str) -> bool:
    """Whether a string survives every engine as it is: no tag, no mark, no final newline (Argo cuts it), no risk."""
    if OPEN in text or text.endswith("\n") or text.startswith(MARKS):
        return False
    return not is_risky(text)


def is_risky(text: str) -> bool:
    """Whether a text holds characters that can't stand in it on every engine: they need a JSON escape."""
    if text.isascii():
        return RISKY.search(text) is not None
    return RISKY.search(text) is not None or any(char > "\uffff" and not char.isprintable() for char in text)


def to_json(value: Any) -> str:
    """Compact JSON text: non-finite floats as strings, and never two opening braces together."""
    text = json.dumps(finite(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    if is_risky(text):
        text = json.dumps(finite(value), ensure_ascii=True, separators=(",", ":"), allow_nan=False)
        text = text.replace("\x7f", "\\u007f")
    return text.replace(OPEN, "{\\u007b")


def finite(value: Any) -> Any:
    """The value with NaN and infinities as the strings "NaN", "Infinity" and "-Infinity"."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise ValueError(f"the key {key!r} of an object is not a string")
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    if value is None or isinstance(value, (str, int, float)):
        return value
    raise ValueError(f"{type(value).__name__} is not a JSON value")


def decode(type_: dict[str, Any], text: str) -> Any:
    """The value that a text stands for. Raises `ValueError` where the text is not one of the type's."""
    if text.startswith(BASE64_MARK):
        text = base64.b64decode(text[len(BASE64_MARK) :]).decode("utf-8")
        if _is_plain_string(type_):  # what a container wrote: if it looks like a mark, it is none
            return text
    if text.startswith(ITEMS_MARK):
        return _decode_items(type_, text[len(ITEMS_MARK) :])
    if text.startswith(JSON_MARK):
        return restore(type_, json.loads(text[len(JSON_MARK) :]))
    if _is_plain_string(type_):
        return text
    try:
        value = json.loads(text)
    except ValueError:
        if type_.get("type") == "scalar" and type_.get("name") == "any":
            return text
        shown = text if len(text) <= 60 else text[:57] + "..."
        raise ValueError(f"{shown!r} is not the JSON text of a value") from None
    return restore(type_, value)


def _decode_items(type_: dict[str, Any], text: str) -> list[Any]:
    # A list gathered from a fan-out: each element is the JSON text of its value, null where there is none.
    item = type_.get("item", {"type": "scalar", "name": "any"})
    return [restore(item, json.loads(element)) for element in json.loads(text) if element is not None]


def restore(type_: dict[str, Any], value: Any) -> Any:
    """A JSON value with the strings "NaN", "Infinity", "-Infinity" made floats where the type has floats."""
    kind = type_.get("type")
    if kind == "scalar":
        if type_["name"] == "float":
            if isinstance(value, str) and value in NON_FINITE:
                return NON_FINITE[value]
            if isinstance(value, int) and not isinstance(value, bool):
                return float(value)
        return value
    if kind == "list" and isinstance(value, list):
        return [restore(type_["item"], item) for item in value]
    if kind == "dict" and isinstance(value, dict):
        return {key: restore(type_["value"], item) for key, item in value.items()}
    if kind == "record" and isinstance(value, dict):
        fields = {field["name"]: field["type"] for field in type_["fields"]}
        return {key: restore(fields[key], item) if key in fields else item for key, item in value.items()}
    if kind == "union" and any(option == {"type": "scalar", "name": "float"} for option in type_["options"]):
        strings = any(_is_plain_string(option) for option in type_["options"])
        if isinstance(value, str) and value in NON_FINITE and not strings:
            return NON_FINITE[value]
    return value


def _is_plain_string(type_: dict[str, Any]) -> bool:
    return type_.get("type") == "scalar" and type_.get("name") == "str"


def as_text(value: Any) -> str:
    """A value as it stands inside a longer text: strings as they are, everything else as JSON text."""
    if isinstance(value, str):
        return value
    return json.dumps(finite(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
