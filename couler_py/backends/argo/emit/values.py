"""Values on their way between tasks: in which form a text stands for one, and how one form becomes another.

On Argo every value is a string. Five forms occur:

- "wire": encoded by `ir.wire` (what our steps and graphs write and read), marks included;
- "plain": what a container wrote: a string as it is, anything else as JSON text;
- "json": JSON text of the value, whatever its type (items of a fan-out);
- "gathered": what Argo gathers from a fan-out, a JSON list of strings that hold a JSON string of JSON text each;
- "value": a value of the expression language itself.

Each function gives an expression (without its tag) for the form in its name.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from couler_py.ir.types import ANY, BOOL, FLOAT, INT, NONE, STR, ListOf, Type
from couler_py.ir.wire import BASE64_MARK, JSON_MARK

Form: TypeAlias = Literal["wire", "plain", "json", "gathered", "value"]
SIMPLE = (INT, FLOAT, BOOL, NONE)

_JSON, _BASE64 = len(JSON_MARK), len(BASE64_MARK)
_OPEN = "'\\u007b\\u007b', '\\u007b\\\\u007b'"


class Value(msgspec.Struct, frozen=True):
    """An expression whose value stands, in some form, for a value of an IR type.

    `tag` is the plain reference ("tasks.a.outputs.parameters.x") where the expression is nothing else. `marks` are
    those of `ir.wire` that a string may begin with.
    """

    text: str
    form: Form
    type: Type
    tag: str = ""
    marks: tuple[str, ...] = (JSON_MARK, BASE64_MARK)


def quoted_json(expression: str) -> str:
    """JSON text of a value of the expression language, never with two opening braces in it."""
    return f"replace(toJson({expression}), {_OPEN})"


def safe_json(expression: str) -> str:
    """JSON text with every pair of opening braces escaped: in JSON they only occur inside strings."""
    return f"replace({expression}, {_OPEN})"


def elements(value: Value, *, dropping: bool) -> str:
    """A list's elements as a list of JSON texts."""
    if value.form == "gathered":
        kept = f"filter(fromJSON({value.text}), # != 'null')" if dropping else f"fromJSON({value.text})"
        return f"map({kept}, fromJSON(#))"
    return f"map({to_value(value)}, {quoted_json('#')})"


def to_json(value: Value) -> str:
    """JSON text."""
    x = value.text
    if value.form == "json":
        return x
    if value.form == "gathered":
        return f"'[' + join({elements(value, dropping=True)}, ',') + ']'"
    if value.form == "value":
        return quoted_json(x)
    if value.type != STR:
        return x if value.form == "wire" or value.type in SIMPLE else safe_json(x)
    if value.form == "plain":
        return quoted_json(x)
    decoded = quoted_json(f"fromBase64({x}[{_BASE64}:])")
    return _by_mark(value, f"{x}[{_JSON}:]", decoded, quoted_json(x))


def to_wire(value: Value, target: Type) -> str:
    """The encoded text, for a reader of ours whose input has the type `target`."""
    x = value.text
    if target == STR:
        if value.type == STR and value.form == "wire":
            return x
        if value.type == STR and value.form == "plain":
            return f"'{BASE64_MARK}' + toBase64({x})"
        return f"'{JSON_MARK}' + {_grouped(to_json(value))}"
    return to_json(value)


def to_value(value: Value) -> str:
    """A value of the expression language."""
    x = value.text
    if value.form == "value":
        return x
    if value.form == "gathered":
        return f"map(filter(fromJSON({x}), # != 'null'), fromJSON(fromJSON(#)))"
    if value.type == INT:
        return f"asInt(trim({x}))"
    if value.type == FLOAT:
        # The numbers that JSON can't say travel as JSON strings.
        return f"asFloat(trim({x}, '\\u0022 \\n'))"
    if value.type == STR and value.form == "plain":
        return x
    if value.type == STR and value.form == "wire":
        return _by_mark(value, f"fromJSON({x}[{_JSON}:])", f"fromBase64({x}[{_BASE64}:])", x)
    return f"fromJSON({x})"


def _by_mark(value: Value, json: str, base64: str, raw: str) -> str:
    """One of three, by the mark that a string begins with; only marks that can be there are asked for."""
    found = ""
    for mark, text in ((JSON_MARK, json), (BASE64_MARK, base64)):
        if mark in value.marks:
            found += f"{value.text} startsWith '{mark}' ? {text} : "
    return f"({found}{raw})" if found else raw


def to_text(value: Value) -> str:
    """The value as it stands in a longer text: a string as it is, everything else as JSON text."""
    x = value.text
    if value.type == STR:
        return to_value(value)
    if value.type in SIMPLE or isinstance(value.type, ListOf):
        return to_json(value)
    if value.form == "value":
        return f"(type({x}) == 'string' ? {x} : {quoted_json(x)})"
    return f"(type(fromJSON({x})) == 'string' ? fromJSON({x}) : {x})"


def to_plain(value: Value, target: Type) -> str:
    """The text for a container's input of the type `target`: a string as it is, anything else as JSON text."""
    if target == STR:
        if value.type == STR and value.form in ("wire", "plain"):
            return value.text  # the analysis of what containers read keeps marks away
        if value.type in (STR, ANY):
            return to_text(value)
        return f"fromJSON({to_json(value)})"
    return to_json(value)


def _grouped(expression: str) -> str:
    return f"({expression})" if " ? " in expression and not expression.startswith("(") else expression
