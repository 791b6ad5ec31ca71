"""Reads YAML as JSON data, by the rules of Kubernetes.

What ``kubectl`` and ``argo`` see in a file (they use ``sigs.k8s.io/yaml``) is what ``load`` sees: timestamps stay
strings, ``yes``, ``on`` and ``y`` are booleans, keys are strings. The parser is PyYAML's, in C where it has libyaml.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any, TypeAlias

JSON: TypeAlias = "None | bool | int | float | str | list[JSON] | dict[str, JSON]"
"""What JSON can hold, as Python data."""

MAX_DEPTH = 256
"""``load`` refuses collections nested deeper than this: Kubernetes objects need about 20."""

MAX_ALIAS_NODES = 1_000_000
"""``load`` refuses documents whose aliases repeat more values than this (the "billion laughs" attack)."""

MAX_CHARACTERS = 32 * 1024 * 1024
"""``load`` refuses longer texts before they are parsed: a Kubernetes object has 1.5 MiB at most, a file a few."""


class YamlError(ValueError):
    """Text that ``load`` can't read as JSON data. ``line`` and ``column`` count from 1."""

    def __init__(self, problem: str, line: int, column: int) -> None:
        super().__init__(f"line {line}, column {column}: {problem}")
        self.problem = problem
        self.line = line
        self.column = column


# The plain scalars that sigs.k8s.io/yaml (go.yaml.in/yaml/v2, resolve.go) reads as null and booleans.
_PLAIN_VALUES: dict[str, None | bool] = {
    spelling: value
    for words, value in (
        (("", "~", "null"), None),
        (("y", "yes", "true", "on"), True),
        (("n", "no", "false", "off"), False),
    )
    for word in words
    for spelling in (word, word.capitalize(), word.upper())
}

# Its numbers, underscores taken away: Go's integers with a base prefix or a leading zero, and decimal floats.
_INTEGER = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[oO]?([0-7]+)|0[bB]([01]+)|(0|[1-9][0-9]*))").fullmatch
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?").fullmatch
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)").fullmatch

# Not printable: no YAML reader accepts these, whatever stands around them.
_UNREADABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")

_TAG = "tag:yaml.org,2002:"


def load(text: str) -> JSON:
    """Read the one document of a YAML text as JSON data; an empty text is ``None``.

    Reads as Kubernetes does (``sigs.k8s.io/yaml``, strict): timestamps are strings, ``yes``, ``on`` and ``y`` are
    booleans, ``010`` is 8, keys are strings, merge keys work. Integers keep all their digits.

    Raises ``YamlError`` (a ``ValueError``) with line and column for broken YAML, a key that stands twice, null,
    float or complex keys, infinities and NaN, tags outside JSON, nesting deeper than ``MAX_DEPTH``, aliases that
    repeat more than ``MAX_ALIAS_NODES`` values, a text longer than ``MAX_CHARACTERS``, and a second document.
    """
    documents = Reader(text).documents()
    first = next(documents, None)
    if first is None:
        return None
    second = next(documents, None)
    if second is not None:
        raise YamlError("a second document starts here, where one was expected", *second[1])
    return first[0]


def load_all(text: str) -> list[JSON]:
    """Read every document of a YAML text, as ``load`` does; an empty document is ``None``."""
    return [document for document, _ in Reader(text).documents()]


class Reader:
    """Builds JSON data from the events of PyYAML's parser: no tree of nodes between, and limits hold as it reads."""

    def __init__(self, text: str) -> None:
        import yaml  # late: writing needs no PyYAML

        self.yaml = yaml
        if len(text) > MAX_CHARACTERS:
            raise YamlError(f"a text of {len(text):,} characters; at most {MAX_CHARACTERS:,} are read", 1, 1)
        unreadable = _UNREADABLE.search(text)
        if unreadable:
            start = unreadable.start()
            line = text.count("\n", 0, start) + 1
            column = start - text.rfind("\n", 0, start)
            raise YamlError(f"the character U+{ord(unreadable[0]):04X} can't stand in YAML; escape it", line, column)
        self.events: Iterator[Any] = yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        self.anchors: dict[str, JSON] = {}
        self.open_anchors: set[str] = set()
        self.alias_nodes = 0
        self.earlier: Any = None  # where a key that stands twice stood first

    def documents(self) -> Iterator[tuple[JSON, tuple[int, int]]]:
        """Every document with the line and column where it starts."""
        try:
            for event in self.events:
                if isinstance(event, self.yaml.DocumentStartEvent):
                    self.anchors.clear()
                    yield self.value(next(self.events), 0), _position(event)
        except self.yaml.MarkedYAMLError as error:
            problem = ", ".join(part for part in (error.context, error.problem) if part)
            mark = error.problem_mark or error.context_mark
            raise YamlError(problem, *((mark.line + 1, mark.column + 1) if mark else (1, 1))) from None

    def value(self, event: Any, depth: int) -> JSON:
        """The value that starts with this event; takes the events up to its end."""
        events = self.yaml
        kind = type(event)
        if kind is events.ScalarEvent:
            scalar = self.scalar(event)
            if event.anchor:
                self.anchors[event.anchor] = scalar
            return scalar
        if kind is events.AliasEvent:
            return self.alias(event, depth)
        if depth >= MAX_DEPTH:
            raise YamlError(f"nested deeper than {MAX_DEPTH} collections", *_position(event))
        if event.anchor:
            self.open_anchors.add(event.anchor)
        collection = self.sequence(event, depth) if kind is events.SequenceStartEvent else self.mapping(event, depth)
        if event.anchor:
            self.open_anchors.discard(event.anchor)
            self.anchors[event.anchor] = collection
        return collection

    def sequence(self, start: Any, depth: int) -> list[JSON]:
        if start.tag not in (None, "!", _TAG + "seq"):
            raise _foreign_tag(start)
        items = []
        for event in self.events:
            if type(event) is self.yaml.SequenceEndEvent:
                break
            items.append(self.value(event, depth + 1))
        return items

    def mapping(self, start: Any, depth: int) -> dict[str, JSON]:
        if start.tag not in (None, "!", _TAG + "map"):
            raise _foreign_tag(start)
        own: dict[str, JSON] = {}
        lines: dict[str, Any] = {}
        merged: dict[str, JSON] = {}
        for event in self.events:
            if type(event) is self.yaml.MappingEndEvent:
                break
            if type(event) is self.yaml.ScalarEvent and event.value == "<<" and event.implicit[0]:
                source = next(self.events)
                self.merge(merged, self.value(source, depth + 1), source)
                continue
            key = self.key(event, depth)
            if key in own:
                self.earlier = lines[key]
                self.repeated(key, event)
            lines[key] = event.start_mark
            own[key] = self.value(next(self.events), depth + 1)
        return merged | own if merged else own

    def repeated(self, key: str, event: Any) -> None:
        """Refuse a key that stands in its mapping already; a reader that goes on has the last value."""
        first = self.earlier.line + 1
        raise YamlError(f"the key {key!r} stands twice in this mapping, first on line {first}", *_position(event))

    def merge(self, merged: dict[str, JSON], source: JSON, event: Any) -> None:
        """Take what ``<<`` names: the first source that has a key gives its value, the mapping's own keys win."""
        for mapping in source if isinstance(source, list) else [source]:
            if not isinstance(mapping, dict):
                raise YamlError("'<<' merges mappings or lists of mappings", *_position(event))
            for key, value in mapping.items():
                merged.setdefault(key, value)

    def key(self, event: Any, depth: int) -> str:
        """A key as a string: JSON has no others, and Kubernetes turns integers and booleans into theirs."""
        key = self.value(event, depth + 1)
        if isinstance(key, str):
            return key
        if isinstance(key, bool):
            return "true" if key else "false"
        if isinstance(key, int):
            return str(key)
        kind = "null" if key is None else "number" if isinstance(key, float) else "collection"
        raise YamlError(f"a {kind} can't be a key; write it in quotes", *_position(event))

    def alias(self, event: Any, depth: int) -> JSON:
        name = event.anchor
        if name in self.open_anchors:
            raise YamlError(f"*{name} stands inside &{name} itself", *_position(event))
        if name not in self.anchors:
            raise YamlError(f"*{name} has no &{name} before it", *_position(event))
        return self.copy(self.anchors[name], event, depth)

    def copy(self, value: JSON, event: Any, depth: int) -> JSON:
        """A copy for an alias, so that no two places of a document share a list or mapping."""
        self.alias_nodes += 1
        if self.alias_nodes > MAX_ALIAS_NODES:
            raise YamlError(f"the aliases repeat more than {MAX_ALIAS_NODES:,} values", *_position(event))
        if not isinstance(value, list | dict):
            return value
        if depth >= MAX_DEPTH:
            raise YamlError(f"nested deeper than {MAX_DEPTH} collections", *_position(event))
        if isinstance(value, list):
            return [self.copy(item, event, depth + 1) for item in value]
        return {key: self.copy(item, event, depth + 1) for key, item in value.items()}

    def scalar(self, event: Any) -> JSON:
        text: str = event.value
        tag = event.tag
        if tag is None:
            return _plain_value(event) if event.implicit[0] else text
        if tag in ("!", _TAG + "str", _TAG + "timestamp"):
            return text
        value = _plain_value(event)
        if tag == _TAG + "float" and type(value) is int:
            return float(value)
        expected = {_TAG + "null": type(None), _TAG + "bool": bool, _TAG + "int": int, _TAG + "float": float}.get(tag)
        if expected is None:
            raise _foreign_tag(event)
        if type(value) is not expected:
            raise YamlError(f"its tag says {tag.removeprefix(_TAG)}, but {text!r} is none", *_position(event))
        return value


def _plain_value(event: Any) -> JSON:
    """What a scalar without quotes means to ``sigs.k8s.io/yaml``."""
    text: str = event.value
    if text in _PLAIN_VALUES:
        return _PLAIN_VALUES[text]
    if text[0] not in "+-.0123456789":
        return text
    if _NOT_FINITE(text):
        raise YamlError(f"{text} is not a number in JSON; write it in quotes", *_position(event))
    number = text if text[0] == "." else text.replace("_", "")
    integer = _INTEGER(number)
    if integer:
        sign, hexadecimal, octal, binary, decimal = integer.groups()
        digits, base = (
            (hexadecimal, 16) if hexadecimal else (octal, 8) if octal else (binary, 2) if binary else (decimal, 10)
        )
        try:
            return int(sign + digits, base)
        except ValueError as error:  # Python's limit on the digits of an integer
            raise YamlError(f"an integer too long to read: {error}", *_position(event)) from None
    if _FLOAT(number):
        value = float(number)
        return value if math.isfinite(value) else text
    return text


def _foreign_tag(event: Any) -> YamlError:
    return YamlError(f"the tag {event.tag!r} has no meaning in JSON; take it away", *_position(event))


def _position(event: Any) -> tuple[int, int]:
    return event.start_mark.line + 1, event.start_mark.column + 1
