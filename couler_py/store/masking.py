"""The forms in which a secret's value may show up in a text, so that all of them can be hidden.

Standard library only: what supervises steps loads this file. Hidden are the value itself and its lines, and the value
as base64 (also inside a longer encoded text), hexadecimal digits, quoted for a URL, and escaped as JSON, Python, a
shell, HTML and XML write it. What a program changes in any other way can't be known: encrypted, compressed, reversed,
cut in pieces, or printed with something between its characters.
"""

from __future__ import annotations

import base64
import html
import json
import shlex
import urllib.parse
from collections.abc import Iterable, Iterator

SHORTEST = 4
"""Bytes: a shorter value, line or form is shown, for hiding it would blot out ordinary text."""

MASK = "***"

WRAPPED = (76, 64)
"""Columns of lines of base64: those of `base64` and of MIME (RFC 2045), and of PEM (RFC 7468)."""


def forms(value: str) -> list[bytes]:
    """What to look for in a log, the longest first.

    >>> forms("abc")  # too short to be hidden
    []
    >>> b"c2VjcmV0" in forms("secret")
    True
    """
    found: dict[bytes, None] = {}
    for whole in dict.fromkeys((value, value.strip())):
        found.update(dict.fromkeys(_written(whole)))
        found.update(dict.fromkeys(_encoded(_bytes(whole))))
    for line in value.splitlines():
        for part in dict.fromkeys((line, line.strip())):
            found.update(dict.fromkeys(_written(part)))
    return sorted((form for form in found if len(form) >= SHORTEST), key=lambda form: (-len(form), form))


def mask(text: str, hidden: Iterable[bytes]) -> str:
    """A text with `***` for each of the forms in it.

    >>> mask("the token is secret!", forms("secret"))
    'the token is ***!'
    """
    data = _bytes(text)
    for form in sorted(hidden, key=len, reverse=True):
        data = data.replace(form, MASK.encode())
    return data.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    # As the environment of a process has it (PEP 383); what no environment could hold is no text of a step's either.
    return text.encode("utf-8", "surrogateescape" if _escaped(text) else "replace")


def _escaped(text: str) -> bool:
    return all(not 0xD800 <= ord(char) <= 0xDFFF or 0xDC80 <= ord(char) <= 0xDCFF for char in text)


def _written(text: str) -> Iterator[bytes]:
    """A text as it is, and as programs quote it. A short text has no forms: they would hide what it says anywhere."""
    raw = _bytes(text)
    if len(raw) < SHORTEST:
        return
    yield raw
    for quoted in (
        urllib.parse.quote_from_bytes(raw, safe=""),
        urllib.parse.quote_from_bytes(raw),
        urllib.parse.quote_from_bytes(
            raw, safe="~-._!*'();:@&=+$,/?[]"
        ),  # encodeURI of JavaScript, curl's and Go's paths
        urllib.parse.quote_plus(raw),
    ):
        yield quoted.encode()
        yield _lower_escapes(quoted).encode()
    for ascii_only in (True, False):
        escaped = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
        yield _bytes(escaped)
        yield _bytes(escaped.replace("/", "\\/"))
        yield _bytes(_as_go(escaped))
        yield _bytes(json.dumps(escaped, ensure_ascii=ascii_only)[1:-1])  # JSON inside JSON, as logs of JSON lines are
    yield _bytes(repr(text)[1:-1])
    yield repr(raw)[2:-1].encode()
    yield _bytes(shlex.quote(text)[1:-1] if shlex.quote(text) != text else text)
    yield _bytes(text.replace("'", "'\\''"))  # as `set -x` of bash and dash prints it
    yield _bytes(html.escape(text))
    yield _bytes(html.escape(text, quote=False))


def _lower_escapes(quoted: str) -> str:
    parts = quoted.split("%")
    return "%".join([parts[0], *(part[:2].lower() + part[2:] for part in parts[1:])])


def _as_go(escaped: str) -> str:
    # encoding/json of Go, and what is written in it (kubectl, Argo), escapes what HTML would read.
    return escaped.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _encoded(raw: bytes) -> Iterator[bytes]:
    """Some bytes as base64 and hexadecimal digits."""
    if len(raw) < SHORTEST:
        return
    yield raw.hex().encode()
    yield raw.hex().upper().encode()
    for encode in (base64.standard_b64encode, base64.urlsafe_b64encode):
        whole = encode(raw)
        yield whole
        yield whole.rstrip(b"=")
        for columns in WRAPPED:
            if len(whole) > columns:
                yield from (whole[at : at + columns] for at in range(0, len(whole), columns))
        for before in range(3):
            # Inside a longer text: of the characters, each 6 bits, those that no byte before or behind has a part in.
            inside = encode(b"\0" * before + raw)
            yield inside[-(-8 * before // 6) : 8 * (before + len(raw)) // 6]


__all__ = ["MASK", "SHORTEST", "forms", "mask"]
