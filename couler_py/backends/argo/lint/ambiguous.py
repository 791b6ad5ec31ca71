"""Scalars without quotes that readers of YAML 1.1 and 1.2 take for different values."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from couler_py.backends.yaml_reader import Reader, YamlError

_WORDS = frozenset(
    spelling for word in ("y", "n", "yes", "no", "on", "off") for spelling in (word, word.capitalize(), word.upper())
)
_OCTAL = re.compile(r"[-+]?0[0-9_]+").fullmatch
_BINARY = re.compile(r"[-+]?0[bB][01_]+").fullmatch
_UNDERSCORED = re.compile(r"[-+]?[0-9][0-9_]*_[0-9_]*(?:\.[0-9_]*)?").fullmatch
_SIXTIES = re.compile(r"[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?").fullmatch
_DATE = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}.*"
).fullmatch

# What may be such a scalar, by its first characters and what stands before them. Quick, and too generous.
_SUSPECTS = (
    re.compile(r"[yYnNoO](?<![^\s:,\[{?].)(?:[eE][sS]|[oO]|[nN]|[fF][fF])?(?=[\s,:\]}]|\Z)", re.DOTALL),
    re.compile(
        r"[0-9](?<![^\s\-:,\[{?+].)(?:[bB0-9_]*_|(?<=0)[0-9bB]|[0-9]*:[0-9]|[0-9]{3}-[0-9])",
        re.DOTALL,
    ),
    re.compile("<<"),
)


class Ambiguous(msgspec.Struct, frozen=True):
    """One such scalar: where it is written (as indices of the text), and what readers make of it."""

    document: int
    start: int
    end: int
    text: str
    meaning: str
    """What Kubernetes reads, and what others do."""
    value: str | None
    """How it is written so that all read what Kubernetes does; None for a key."""


def suspicious(text: str) -> bool:
    """Whether it is worth while to look for them; True for more than there are."""
    return any(pattern.search(text) for pattern in _SUSPECTS)


def ambiguous(text: str) -> Iterator[Ambiguous]:
    """Every such scalar of a YAML text, in its order, up to where it can't be parsed."""
    try:
        reader = Reader(text)
    except YamlError:
        return
    try:
        yield from _scalars(reader)
    except reader.yaml.MarkedYAMLError:
        return  # reading the data says what is wrong


def _scalars(reader: Reader) -> Iterator[Ambiguous]:
    yaml = reader.yaml
    document = -1
    keys_next: list[bool | None] = []
    """By depth: None in a list, in a mapping whether a key comes next."""
    for event in reader.events:
        kind = type(event)
        if kind is yaml.DocumentStartEvent:
            document += 1
        elif kind is yaml.ScalarEvent or kind is yaml.AliasEvent:
            if kind is yaml.ScalarEvent and event.implicit[0]:
                key = bool(keys_next and keys_next[-1])
                found = _meaning(event.value, key=key)
                if found is not None:
                    start, end = event.start_mark.index, event.end_mark.index
                    yield Ambiguous(document, start, end, event.value, found[0], None if key else found[1])
            _step(keys_next)
        elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
            _step(keys_next)
            keys_next.append(True if kind is yaml.MappingStartEvent else None)
        elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
            keys_next.pop()


def _step(keys_next: list[bool | None]) -> None:
    if keys_next and keys_next[-1] is not None:
        keys_next[-1] = not keys_next[-1]


def _meaning(text: str, *, key: bool) -> tuple[str, str] | None:
    """What readers make of a scalar, and how all read what Kubernetes does."""
    if key and text == "<<":
        return "Kubernetes merges what follows (YAML 1.1), others read a field of this name (YAML 1.2)", ""
    if text in _WORDS:
        value = "true" if text[0] in "yY" or text.lower() == "on" else "false"
        return f"Kubernetes reads {value} (YAML 1.1), others read text (YAML 1.2)", value
    if not text or text[0] not in "+-0123456789":
        return None
    if _OCTAL(text) and text.strip("+-") != "0":
        number = _number(text)
        return f"Kubernetes reads {number}, others read {text.lstrip('+-').lstrip('0_') or '0'} or text", number
    if _BINARY(text) or _UNDERSCORED(text):
        number = _number(text)
        return f"Kubernetes reads {number}, others read text", number
    if _SIXTIES(text):
        return "Kubernetes reads text, others read a number to the base of 60 (YAML 1.1)", f'"{text}"'
    if _DATE(text):
        return "Kubernetes reads text, others read a date (YAML 1.1)", f'"{text}"'
    return None


def _number(text: str) -> str:
    plain = text.replace("_", "")
    digits = plain.lstrip("+-").lower()
    sign = "-" if plain[0] == "-" else ""
    if digits.startswith("0b"):
        return sign + str(int(digits[2:] or "0", 2))
    if digits[0] == "0" and digits.isdecimal():
        return sign + (str(int(digits, 8)) if not set(digits) & set("89") else str(int(digits)))
    return sign + digits
