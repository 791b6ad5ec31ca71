"""What is known of the values of expressions when a file is written."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from couler_py.ir.model import OutputParameter
from couler_py.ir.types import ANY, FLOAT, Choice, DictOf, ListOf, Record, Scalar, Type, UnionOf

PYTHON = {"str": "str", "int": "int", "float": "float", "bool": "bool", "none": "type(None)"}


def form_of(type_: Type) -> str:
    """The Python type that an output is checked for when it is read from text; `object` is any."""
    match type_:
        case Scalar(name="datetime"):
            return "object"  # travels as JSON text, as everything does that isn't exactly a string
        case Scalar(name=name):
            return PYTHON.get(name, "object")
        case ListOf():
            return "list"
        case DictOf() | Record():
            return "dict"
        case _:
            return "object"


def may_be_float(type_: Type) -> bool:
    """Whether a value can be a float, which JSON has no word for if it isn't finite."""
    match type_:
        case UnionOf(options=options):
            return any(may_be_float(option) for option in options)
        case _:
            return type_ == FLOAT


def member_type(type_: Type, key: Any) -> Type:
    """The type of a member."""
    match type_:
        case ListOf(item=item):
            return item
        case DictOf(value=value):
            return value
        case Record(fields=fields):
            return next((field.type for field in fields if field.name == key), ANY)
        case _:
            return ANY


def schema_of(type_: Type) -> dict[str, Any]:
    """The JSON schema of a parameter."""
    match type_:
        case Scalar(name=name):
            return dict(_SCALARS.get(name, {}))
        case Choice(values=values):
            return {"enum": list(values)}
        case ListOf(item=item):
            inner = schema_of(item)
            return {"type": "array"} | ({"items": inner} if inner else {})
        case DictOf(value=value):
            inner = schema_of(value)
            return {"type": "object"} | ({"additionalProperties": inner} if inner else {})
        case Record(fields=fields):
            required = [field.name for field in fields if field.required]
            return {
                "type": "object",
                "properties": {field.name: schema_of(field.type) for field in fields},
            } | ({"required": required} if required else {})
        case UnionOf(options=options):
            return {"anyOf": [schema_of(option) for option in options]}


def asked_of(output: OutputParameter) -> dict[str, Any]:
    """The JSON schema of a value that a person is asked for.

    Airflow looks at it before anybody is asked, so what has no default may also be null then.
    """
    schema = schema_of(output.type)
    if output.default is not UNSET:
        return {"default": output.default} | schema
    if "type" in schema:
        types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        return schema | {"type": [*types, "null"]}
    if "enum" in schema:
        return schema | {"enum": [*schema["enum"], None]}
    return schema | ({"anyOf": [*schema["anyOf"], {"type": "null"}]} if "anyOf" in schema else {})


_SCALARS: dict[str, dict[str, Any]] = {
    "str": {"type": "string"},
    "int": {"type": "integer"},
    "float": {"type": ["number", "string"]},
    "bool": {"type": "boolean"},
    "none": {"type": "null"},
    "datetime": {"type": "string", "format": "date-time"},
}
