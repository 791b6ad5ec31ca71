"""Secrets on this machine: one file of mode 0600 each, outside the run store, never in a record or a log."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from urllib.parse import quote

from couler_py.ir.diagnostics import CoulerError
from couler_py.store.home import Home


class SecretNotFoundError(CoulerError):
    """A secret, or a key of one, that this machine doesn't have."""


def write_secret(home: Home, name: str, data: Mapping[str, str]) -> None:
    """Keep a secret's keys and values, replacing the one of that name."""
    folder = home.path / "secrets"
    folder.mkdir(mode=0o700, exist_ok=True)
    target = folder / _file_name(name)
    temporary = target.with_suffix(f".{os.getpid()}.tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(dict(data), file)
    temporary.rename(target)


def read_secret(home: Home, name: str) -> dict[str, str]:
    """All keys of a secret. Raises `SecretNotFoundError`."""
    path = home.path / "secrets" / _file_name(name)
    if not path.exists():
        raise SecretNotFoundError(
            f"there is no secret {name!r} in {home.path}: couler.create_secret({{...}}, name={name!r}) makes it"
        )
    data: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
    return data


def read_key(home: Home, name: str, key: str) -> str:
    """One value. Raises `SecretNotFoundError`."""
    data = read_secret(home, name)
    if key not in data:
        raise SecretNotFoundError(f"the secret {name!r} has no key {key!r}; it has {', '.join(sorted(data)) or 'none'}")
    return data[key]


def _file_name(name: str) -> str:
    return quote(name, safe="") + ".json"
