"""Secrets in the keyring of the desktop or the system, through the library `keyring` (the extra of that name).

Each value is an entry of the service "couler", with NAME/KEY as its user, both quoted as in a URL. Keyrings can't list
what they have, so one more entry, `index`, holds the names and keys.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import quote

import msgspec

from couler_py.ir.diagnostics import CoulerError

SERVICE = "couler"
INDEX = "index"
Value = TypeVar("Value")


class KeyringError(CoulerError):
    """The keyring isn't there, is locked, or refuses."""


def get(name: str, key: str) -> str | None:
    """A value; None where the keyring has none. Raises `KeyringError`."""
    found: str | None = _asked(lambda keyring: keyring.get_password(SERVICE, _user(name, key)))
    return found


def set_(name: str, key: str, value: str) -> None:
    """Keep a value. Raises `KeyringError`."""
    _asked(lambda keyring: keyring.set_password(SERVICE, _user(name, key), value))
    known = index()
    _save({**known, name: tuple(sorted({*known.get(name, ()), key}))})


def delete(name: str, key: str | None = None) -> tuple[str, ...]:
    """Forget a secret, or one key of it, and give the keys that were forgotten. Raises `KeyringError`."""
    known = index()
    gone = tuple(each for each in known.get(name, ()) if key in (None, each))
    for each in gone:
        user = _user(name, each)
        _asked(lambda keyring, user=user: keyring.delete_password(SERVICE, user))  # type: ignore[misc]
    rest = tuple(each for each in known.get(name, ()) if each not in gone)
    _save({**{other: keys for other, keys in known.items() if other != name}, **({name: rest} if rest else {})})
    return gone


def keys(name: str) -> tuple[str, ...]:
    """The keys of a secret. Raises `KeyringError`."""
    return index().get(name, ())


def index() -> dict[str, tuple[str, ...]]:
    """The names of all secrets with their keys. Raises `KeyringError`."""
    text = _asked(lambda keyring: keyring.get_password(SERVICE, INDEX))
    return msgspec.json.decode(text, type=dict[str, tuple[str, ...]]) if text else {}


def _save(known: dict[str, tuple[str, ...]]) -> None:
    text = msgspec.json.encode(known).decode()
    _asked(lambda keyring: keyring.set_password(SERVICE, INDEX, text))


def _user(name: str, key: str) -> str:
    return f"{quote(name, safe='')}/{quote(key, safe='')}"


def _asked(question: Callable[[Any], Value]) -> Value:
    try:
        import keyring
        import keyring.errors
    except ImportError:
        raise KeyringError("a keyring needs the library keyring: pip install 'couler-py[keyring]'") from None
    try:
        return question(keyring)
    except keyring.errors.KeyringError as problem:
        reason = str(problem).partition("\n")[0] or type(problem).__name__
        raise KeyringError(f"the keyring doesn't give or take secrets: {reason}") from None
