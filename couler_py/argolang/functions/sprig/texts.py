"""`sprig`: texts cut, joined, quoted, filled up."""

from __future__ import annotations

from typing import Any

from couler_py.argolang.arithmetic import LONGEST
from couler_py.argolang.functions.conversions import as_int, cased, cut, exchanged, repeated
from couler_py.argolang.functions.goformat import formatted, go_quoted
from couler_py.argolang.functions.tables import table
from couler_py.argolang.problems import EvaluationProblem
from couler_py.argolang.tokens import SPACES
from couler_py.argolang.values import StringMap, Strings, from_bytes, in_bytes


def texts_of(value: Any) -> Strings:
    """A value as a list of texts, without what is nil."""
    if value is None:
        return Strings()
    if isinstance(value, list):
        return Strings(formatted(each) for each in value if each is not None)
    return Strings([formatted(value)])


def _trunc(count: int, text: str) -> str:
    data = in_bytes(text)
    if count < 0 < len(data) + count:
        return from_bytes(data[count:])
    return from_bytes(data[:count]) if count >= 0 else text


def _substr(start: int, end: int, text: str) -> str:
    data = in_bytes(text)
    if start < 0:
        return from_bytes(_part(data, 0, end))
    return from_bytes(_part(data, start, len(data) if end < 0 or end > len(data) else end))


def _part(data: bytes, start: int, end: int) -> bytes:
    if not 0 <= start <= end <= len(data):
        raise EvaluationProblem(f"{start} to {end} is out of range: there are {len(data)} bytes")
    return data[start:end]


def _abbreviated(width: int, text: str, offset: int = 0) -> str:
    data = in_bytes(text)
    if len(data) <= width:
        return text
    offset = min(offset, len(data))
    if len(data) - offset < width - 3:
        offset = len(data) - (width - 3)
    if offset <= 4:
        return from_bytes(data[: width - 3]) + "..."
    if width < 7:
        return ""
    if offset + width - 3 < len(data):
        rest, left = data[offset:], width - 3
        return "..." + (from_bytes(rest) if len(rest) <= left else from_bytes(rest[: max(left - 3, 0)]) + "...")
    return "..." + from_bytes(data[len(data) - (width - 3) :])


def _abbrevboth(left: int, right: int, text: str) -> str:
    if right < 4 or (left > 0 and right < 7):
        return text
    return _abbreviated(right, text, left)


def _indent(spaces: int, text: str) -> str:
    pad = repeated(" ", spaces)
    if len(pad) * (text.count("\n") + 1) > LONGEST:
        raise EvaluationProblem(f"a text of more than {LONGEST:,} characters")
    return pad + text.replace("\n", "\n" + pad)


def numbered(parts: list[Any]) -> StringMap:
    """Parts by their names `_0`, `_1` and so on."""
    return StringMap((f"_{number}", part) for number, part in enumerate(parts))


def _atoi(text: str) -> int:
    try:
        return as_int(text)
    except EvaluationProblem:
        return 0


TEXTS = table(
    hello=("", lambda: "Hello!"),
    trim=("string", lambda text: text.strip(SPACES)),
    upper=("string", lambda text: cased(text, str.upper)),
    lower=("string", lambda text: cased(text, str.lower)),
    trunc=("int string", _trunc),
    substr=("int int string", _substr),
    abbrev=("int string", lambda width, text: text if width < 4 else _abbreviated(width, text)),
    abbrevboth=("int int string", _abbrevboth),
    repeat=("int string", lambda count, text: repeated(text, count)),
    trimall=("string string", lambda cutset, text: text.strip(cutset)),
    trimAll=("string string", lambda cutset, text: text.strip(cutset)),
    trimSuffix=("string string", lambda part, text: text.removesuffix(part)),
    trimPrefix=("string string", lambda part, text: text.removeprefix(part)),
    contains=("string string", lambda part, text: part in text),
    hasPrefix=("string string", lambda part, text: text.startswith(part)),
    hasSuffix=("string string", lambda part, text: text.endswith(part)),
    quote=("any*", lambda *values: " ".join(go_quoted(formatted(each)) for each in values if each is not None)),
    squote=("any*", lambda *values: " ".join(f"'{formatted(each)}'" for each in values if each is not None)),
    cat=("any*", lambda *values: " ".join(formatted(each) for each in values if each is not None)),
    indent=("int string", _indent),
    nindent=("int string", lambda spaces, text: "\n" + _indent(spaces, text)),
    replace=("string string string", lambda old, new, text: exchanged(text, old, new)),
    plural=("string string int", lambda one, many, count: one if count == 1 else many),
    toString=("any", formatted),
    atoi=("string", _atoi),
    split=("string string", lambda separator, text: numbered(cut(text, separator))),
    splitn=("string int string", lambda separator, count, text: numbered(cut(text, separator, count))),
    splitList=("string string", lambda separator, text: cut(text, separator)),
    toStrings=("any", texts_of),
    join=("string any", lambda separator, values: separator.join(texts_of(values))),
)
