"""`sprig`: JSON, base 64 and 32, sums, paths, addresses."""

from __future__ import annotations

import base64
import binascii
import hashlib
import posixpath
import re
import zlib
from typing import Any, NoReturn
from urllib.parse import quote, unquote, urlsplit

from couler_py.argolang.functions.conversions import encoded, from_json
from couler_py.argolang.functions.goformat import formatted, to_json
from couler_py.argolang.functions.tables import Table, table
from couler_py.argolang.problems import EvaluationProblem
from couler_py.argolang.values import from_bytes, in_bytes


def _lenient_json(text: str) -> Any:
    try:
        return from_json(text)
    except EvaluationProblem:
        return None


def _lenient_to_json(value: Any, *, indent: bool = False) -> str:
    try:
        return to_json(value, indent=indent)
    except EvaluationProblem:
        return ""


def _b64dec(text: str) -> str:
    """The text of base64, or what Go says of it."""
    plain = text.replace("\r", "").replace("\n", "")
    try:
        return from_bytes(base64.b64decode(plain.encode(), validate=True))
    except (binascii.Error, ValueError):
        return f"illegal base64 data at input byte {_bad(plain, _BASE64)}"


def _b32dec(text: str) -> str:
    plain = text.replace("\r", "").replace("\n", "")
    try:
        return from_bytes(base64.b32decode(plain.encode()))
    except (binascii.Error, ValueError):
        return f"illegal base32 data at input byte {_bad(plain, _BASE32)}"


_BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_BASE64 = _BASE32[:26] + _BASE32[:26].lower() + "0123456789+/"


def _bad(text: str, alphabet: str) -> int:
    """The place of the first character that is wrong, or of the last group, which isn't whole."""
    group = 4 if alphabet == _BASE64 else 8
    return next((place for place, each in enumerate(text) if each not in alphabet), len(text) // group * group)


# ---- paths


def _clean(path: str) -> str:
    cleaned = posixpath.normpath(path) if path else "."
    return cleaned[1:] if cleaned.startswith("//") else cleaned


def _base(path: str) -> str:
    if not path:
        return "."
    return posixpath.basename(path.rstrip("/")) or "/"


def _dir(path: str) -> str:
    return _clean(path[: path.rfind("/") + 1])


def _ext(path: str) -> str:
    name = path[path.rfind("/") + 1 :]
    return name[name.rfind(".") :] if "." in name else ""


# ---- addresses


def _url_parse(text: str) -> dict[str, str]:
    try:
        if re.search(r"%(?![0-9A-Fa-f]{2})", text):
            raise ValueError("an escape that isn't whole")
        parts = urlsplit(text)
        host, name, _ = parts.netloc.rpartition("@")[2], parts.hostname or "", parts.port
    except ValueError as problem:
        raise EvaluationProblem(f"{text!r} is no address: {problem}") from problem
    opaque = bool(parts.scheme) and not parts.netloc and not parts.path.startswith("/")
    return {
        "scheme": parts.scheme,
        "host": host,
        "hostname": host.rpartition(":")[0].strip("[]") if host.rpartition(":")[2].isdigit() and name else host,
        "path": "" if opaque else unquote(parts.path),
        "query": parts.query,
        "opaque": parts.path if opaque else "",
        "fragment": unquote(parts.fragment),
        "userinfo": parts.netloc.rpartition("@")[0],
    }


def _url_join(parts: dict[str, Any]) -> str:
    said = {key: formatted(value) for key, value in parts.items()}
    get = said.get
    text = f"{get('scheme')}:" if get("scheme") else ""
    if get("opaque"):
        text += said["opaque"]
    else:
        path = quote(get("path", ""), safe="/$&+,:;=@!*'()~-._")
        if get("scheme") or get("host") or get("userinfo"):
            if get("host") or path or get("userinfo"):
                text += "//" if get("host") or get("userinfo") else ""
            text += f"{get('userinfo')}@" if get("userinfo") else ""
            text += get("host", "")
        text += ("/" if path and not path.startswith("/") and get("host") else "") + path
    text += f"?{get('query')}" if get("query") else ""
    return text + (f"#{quote(said['fragment'], safe=_FRAGMENT)}" if get("fragment") else "")


_FRAGMENT = "/$&+,:;=@!*'()~-._?"


def _fail(message: str) -> NoReturn:
    raise EvaluationProblem(message)


ENCODING: Table = table(
    fromJson=("string", _lenient_json),
    mustFromJson=("string", from_json),
    toJson=("any", _lenient_to_json),
    mustToJson=("any", to_json),
    toPrettyJson=("any", lambda value: _lenient_to_json(value, indent=True)),
    mustToPrettyJson=("any", lambda value: to_json(value, indent=True)),
    toRawJson=("any", lambda value: to_json(value, html=False)),
    mustToRawJson=("any", lambda value: to_json(value, html=False)),
    b64enc=("string", encoded),
    b64dec=("string", _b64dec),
    b32enc=("string", lambda text: base64.b32encode(in_bytes(text)).decode()),
    b32dec=("string", _b32dec),
    sha1sum=("string", lambda text: hashlib.sha1(in_bytes(text), usedforsecurity=False).hexdigest()),
    sha256sum=("string", lambda text: hashlib.sha256(in_bytes(text)).hexdigest()),
    sha512sum=("string", lambda text: hashlib.sha512(in_bytes(text)).hexdigest()),
    adler32sum=("string", lambda text: str(zlib.adler32(in_bytes(text)))),
    base=("string", _base),
    dir=("string", _dir),
    clean=("string", _clean),
    ext=("string", _ext),
    isAbs=("string", lambda path: path.startswith("/")),
    osBase=("string", _base),
    osDir=("string", _dir),
    osClean=("string", _clean),
    osExt=("string", _ext),
    osIsAbs=("string", lambda path: path.startswith("/")),
    urlParse=("string", _url_parse),
    urlJoin=("map", _url_join),
    fail=("string", _fail),
)
