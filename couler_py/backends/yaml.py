"""YAML in and out, for every engine whose documents are YAML.

Writing is ours: plain JSON data becomes text that YAML 1.1 and YAML 1.2 readers (PyYAML, ruamel.yaml, Go's yaml
packages) understand alike. A string stands without quotes only where all of them read that same string; text of
several lines is a ``|`` block; text with double quotes or backslashes stands in single quotes where it holds none
itself; everything else is a JSON string, which is YAML too.

Reading stands in ``yaml_reader.py``; its functions are offered here as well.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from itertools import product
from typing import Any

from couler_py.backends.yaml_reader import JSON, YamlError, load, load_all

__all__ = ["JSON", "MAX_INDENTATIONS", "YamlError", "dump", "dump_all", "load", "load_all"]

MAX_INDENTATIONS = 128
"""``dump`` refuses data nested deeper than this: Kubernetes objects need about 20, a cycle has no end."""


# Words that some reader takes for null, a boolean or a number, in every mix of capitals.
_WORDS = frozenset(
    "".join(letters)
    for word in ("y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf")
    for letters in product(*((letter, letter.upper()) for letter in word))
)

# A plain scalar starts with a letter, a path or a command-line flag, or with a number followed by a unit (not one of
# the letters of exponents and of hexadecimal, octal and binary numbers). Inside, ": " would end a key and " #" would
# start a comment. Dates, versions and times stay outside: they are numbers or timestamps to some readers.
_BODY = r"[\w\-+*/.,;!?%@&|<>=~^$()\[\]{}'\"`\\#]"
_PLAIN = re.compile(
    rf"(?:[^\W\d]|[/$(]|--?[A-Za-z]|\.\.?/|[0-9][0-9.]*+[AC-DF-NP-WYZac-df-np-wyz])"
    rf"{_BODY}*+(?:(?::++| ++(?!\#)){_BODY}++)*+"
).fullmatch

# Not printable in YAML (1.1 or 1.2), line breaks of YAML 1.1 only, or invisible controls of text direction that would
# show a reviewer something else than what runs.
_HIDDEN = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff"
_ESCAPED = re.compile(f"[{_HIDDEN}]")

# Nor can a block begin with a tab, and readers disagree about one whose first lines hold only spaces.
_NOT_IN_A_BLOCK = re.compile(rf"[{_HIDDEN}]|\A(?:[\n ]*\t|\n* +\n)")

_json_string = json.JSONEncoder(ensure_ascii=False).encode

_PATH_STEPS = 20  # an error names at most so many steps of a path

_SIMPLE_KEY_LENGTH = 1000  # "key: value" on one line is allowed for up to 1,024 characters


class _UnwritableError(Exception):
    """A value that isn't JSON data; every collection around it adds its step of the path."""

    def __init__(self, problem: str) -> None:
        self.problem = problem
        self.steps: list[object] = []


class _Output:
    """The lines written so far, with the text of the keys and short strings that were met before."""

    __slots__ = ("append", "keys", "lines", "strings")

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.append = self.lines.append
        self.keys: dict[str, str] = {}
        self.strings: dict[str, str] = {}


def dump(document: JSON) -> str:
    """Write one document as YAML: block style, keys in their order, no folded lines, always the same bytes.

    >>> print(dump({"name": "train", "args": ["-c", "1e3"], "on": None}), end="")
    name: train
    args:
    - -c
    - "1e3"
    "on": null

    Raises ``ValueError``, naming the place, for what JSON can't hold: NaN and infinities, lone surrogates, keys that
    aren't strings, values of other types (subclasses too), nesting deeper than ``MAX_INDENTATIONS``.
    """
    out = _Output()
    try:
        if type(document) is dict and document:
            _mapping(document, "", "", out)
        elif type(document) is list and document:
            _sequence(document, "", "", out)
        elif type(document) is str:  # never a block: at the root, readers count its indentation differently
            out.append(document if _PLAIN(document) and document not in _WORDS else _quoted(document))
        else:
            out.append(_leaf(document))
    except _UnwritableError as error:
        raise ValueError(f"{_path(error.steps)}: {error.problem}") from None
    return "\n".join(out.lines) + "\n"


def dump_all(documents: Iterable[JSON]) -> str:
    """Write documents as one YAML stream, separated by ``---``. Raises as ``dump``, naming the document by number."""
    texts = []
    for number, document in enumerate(documents, 1):
        try:
            texts.append(dump(document))
        except ValueError as error:
            raise ValueError(f"document {number}: {error}") from None
    return "---\n".join(texts)


def _mapping(mapping: dict[str, Any], lead: str, pad: str, out: _Output) -> None:
    """Append a mapping that isn't empty: its first line after ``lead``, the others after ``pad``."""
    append, keys, strings = out.append, out.keys, out.strings
    inner = pad + "  "
    if len(inner) > 2 * MAX_INDENTATIONS:
        raise _too_deep()
    try:
        for key, value in mapping.items():
            head = keys.get(key) or _key(key, pad, out)
            kind = type(value)
            if kind is str:  # scalars without a call: most of every document
                text = strings.get(value)
                if text is None:
                    if _PLAIN(value) and value not in _WORDS:
                        strings[value] = text = value
                    else:
                        text = _quoted_or_block(value, pad, out)
                append(f"{lead}{head} {text}")
            elif kind is dict and value:
                append(lead + head)
                _mapping(value, inner, inner, out)
            elif kind is list and value:
                append(lead + head)
                _sequence(value, pad, pad, out)
            else:
                append(f"{lead}{head} {_leaf(value)}")
            lead = pad
    except _UnwritableError as error:
        error.steps.append(key)
        raise


def _sequence(sequence: list[Any], lead: str, pad: str, out: _Output) -> None:
    """Append a list that isn't empty: its first line after ``lead``, the others after ``pad``."""
    append, strings = out.append, out.strings
    inner = pad + "  "
    if len(inner) > 2 * MAX_INDENTATIONS:
        raise _too_deep()
    item_lead = lead + "- "
    next_lead = pad + "- "
    try:
        for value in sequence:
            kind = type(value)
            if kind is str:
                text = strings.get(value)
                if text is None:
                    if _PLAIN(value) and value not in _WORDS:
                        strings[value] = text = value
                    else:
                        text = _quoted_or_block(value, pad, out)
                append(item_lead + text)
            elif kind is dict and value:
                _mapping(value, item_lead, inner, out)
            elif kind is list and value:
                _sequence(value, item_lead, inner, out)
            else:
                append(item_lead + _leaf(value))
            item_lead = next_lead
    except _UnwritableError as error:
        error.steps.append(next(index for index, item in enumerate(sequence) if item is value))
        raise


def _key(key: object, pad: str, out: _Output) -> str:
    """The text of a key with its colon; a very long one takes two lines and a question mark."""
    if type(key) is not str:
        raise _UnwritableError(f"a key must be a string, not {key!r} ({type(key).__name__})")
    text = key if _PLAIN(key) and key not in _WORDS else _quoted(key)
    if len(text) > _SIMPLE_KEY_LENGTH:
        return f"? {text}\n{pad}:"
    out.keys[key] = text = text + ":"
    return text


def _leaf(value: object) -> str:
    """The text of a scalar that isn't a string, or of an empty collection."""
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    kind = type(value)
    if kind is int:
        try:
            return str(value)
        except ValueError as error:  # Python's limit on the digits of an integer
            raise _UnwritableError(f"an integer too long to write: {error}") from None
    if type(value) is float:
        return _float(value)
    if kind is dict:
        return "{}"
    if kind is list:
        return "[]"
    raise _UnwritableError(
        f"a {kind.__name__} isn't JSON data; convert it to dict, list, str, int, float, bool or None"
    )


def _float(value: float) -> str:
    if not math.isfinite(value):
        raise _UnwritableError(f"{value} is not a number in JSON; write it as a string, or leave it out")
    text = repr(value)
    # YAML 1.1 wants a dot in a number with an exponent.
    return text if "." in text else text.replace("e", ".0e")


def _quoted_or_block(text: str, pad: str, out: _Output) -> str:
    """Text that can't be plain, inside a collection indented by ``pad``: a block if a block can hold it exactly."""
    if "\n" in text and not _NOT_IN_A_BLOCK.search(text) and text.rstrip("\n")[-1:] not in ("", " ", "\t"):
        # Where the text itself begins with a space or an empty line, the header says how far it is indented.
        indicator = "2" if text[0] in " \n" else ""
        chomping = "+" if text.endswith("\n\n") else "" if text.endswith("\n") else "-"
        inner = pad + "  "
        lines = [inner + line if line else "" for line in text.removesuffix("\n").split("\n")]
        return f"|{indicator}{chomping}\n" + "\n".join(lines)
    out.strings[text] = quoted = _quoted(text)
    return quoted


def _quoted(text: str) -> str:
    """A JSON string, with what YAML can't hold as it is escaped as well; in single quotes where that spares escapes."""
    if ('"' in text or "\\" in text) and "'" not in text and text.isprintable():
        return f"'{text}'"
    return _ESCAPED.sub(_escape, _json_string(text))


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if 0xD800 <= code <= 0xDFFF:
        raise _UnwritableError(f"half of a surrogate pair (U+{code:04X}) is not a character; encode bytes as base64")
    return f"\\u{code:04x}"


def _too_deep() -> _UnwritableError:
    return _UnwritableError(f"nested deeper than {MAX_INDENTATIONS} levels, or inside itself")


def _path(steps: list[object]) -> str:
    """The place of a value as Kubernetes writes it, ``spec.templates[0].name``, from its steps, innermost first."""
    text = ""
    for step in steps[: -_PATH_STEPS - 1 : -1]:
        if isinstance(step, str) and step.isidentifier():
            text += f".{step}" if text else step
        else:
            text += f"[{step if isinstance(step, int) else json.dumps(str(step))}]"
    if len(steps) > _PATH_STEPS:
        text += "..."
    return text or "document"
