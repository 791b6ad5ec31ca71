"""Objects of Argo's and structs of the IR, field by field: one table reads and writes them.

A field whose value the IR's own field can't hold is not read: it stands whole, in Argo's words, in the struct's
`extra`, as do fields that the IR has no word for. What is written the way it was meant, but not the way it was spelled
(a default that was written out, a number in quotes), is a `Native` of the document.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from couler_py.backends.argo.document.templated import templated, untemplated
from couler_py.backends.argo.document.texts import UNSAID, Root, Unsaid, text, word, written
from couler_py.ir.templated import Templated

S = TypeVar("S", bound=msgspec.Struct)
JSON = dict[str, Any]
Read = Callable[[Any, Root], Any]
Write = Callable[[Any, Root], Any]


class Field(NamedTuple):
    """A field of Argo's object and the struct's attribute that holds it. `default` is what isn't written."""

    key: str
    attribute: str
    read: Read
    write: Write
    default: Any = None


def as_it_is(value: Any, root: Root) -> Any:
    """The value itself."""
    return value


def flag(value: Any, root: Root) -> Any:
    """A boolean."""
    return value if type(value) is bool else UNSAID


def whole(value: Any, root: Root) -> Any:
    """An integer."""
    return value if type(value) is int else UNSAID


def one_of(*words: str) -> Read:
    """One of the words that the IR knows."""
    return lambda value, root: value if type(value) is str and value in words else UNSAID


def strings(read: Callable[[Any, Root], Any] = text) -> Read:
    """A list of strings."""

    def all_of(value: Any, root: Root) -> Any:
        found = tuple(read(each, root) for each in value) if isinstance(value, list) else (UNSAID,)
        return UNSAID if UNSAID in found else found

    return all_of


def written_strings(value: Any, root: Root) -> list[str]:
    """The strings of a list of texts."""
    return [written(each, root) for each in value]


def pairs(value: Any, root: Root) -> Any:
    """An object of strings, in its order."""
    if not isinstance(value, dict):
        return UNSAID
    found = tuple((key, text(each, root)) for key, each in value.items())
    return UNSAID if any(isinstance(each, Unsaid) for _, each in found) else found


def written_pairs(value: Any, root: Root) -> JSON:
    """The object again."""
    return {key: written(each, root) for key, each in value}


def text_field(key: str, attribute: str) -> Field:
    """A string with tags."""
    return Field(key, attribute, text, written, "")


def word_field(key: str, attribute: str) -> Field:
    """A string without."""
    return Field(key, attribute, word, as_it_is, "")


def flag_field(key: str, attribute: str) -> Field:
    """A boolean that is false where it isn't said."""
    return Field(key, attribute, flag, as_it_is, False)


def whole_field(key: str, attribute: str) -> Field:
    """An integer."""
    return Field(key, attribute, whole, as_it_is, None)


class Table(Generic[S]):
    """All fields of one kind of object, in the order in which they are written."""

    def __init__(self, struct: type[S], *fields: Field) -> None:
        self.struct = struct
        self.fields = fields
        self.by_key = {field.key: field for field in fields}

    def taken(self, data: JSON, root: Root) -> tuple[dict[str, Any], JSON]:
        """The struct's attributes that an object says, and the fields that are left. Nulls say nothing."""
        attributes: dict[str, Any] = {}
        rest: JSON = {}
        for key, value in data.items():
            if value is None:
                continue
            field = self.by_key.get(key)
            if field is None:
                rest[key] = value
                continue
            found = field.read(value, root)
            if found is UNSAID:
                rest[key] = value
            else:
                attributes[field.attribute] = found
        return attributes, rest

    def read(self, data: JSON, root: Root, **required: Any) -> S:
        """The struct of an object. `required` are attributes without default, for an object that doesn't say them."""
        attributes, rest = self.taken(data, root)
        return self.struct(**(required | attributes), **extra(rest, root))

    def write(self, given: Any, root: Root) -> JSON:
        """The object again, without what stands in `extra`."""
        found: JSON = {}
        for field in self.fields:
            value = getattr(given, field.attribute)
            if value is field.default or value == field.default:
                continue
            found[field.key] = field.write(value, root)
        return found

    def write_all(self, given: Any, root: Root) -> JSON:
        """The object again, with what stands in `extra`."""
        return with_extra(self.write(given, root), given.extra, root)


def extra(rest: JSON, root: Root) -> dict[str, Any]:
    """The attribute `extra` for the fields that are left, if any are."""
    return {"extra": templated(rest, root)} if rest else {}


def with_extra(found: JSON, given: Templated | None, root: Root) -> JSON:
    """An object with its further fields where a person would look for them."""
    if given is not None:
        found |= untemplated(given, root)
    return found
