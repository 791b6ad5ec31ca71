"""Secrets on this machine: where their values are looked for, and how they are kept.

The first of these that has a value gives it:

1. the environment, `COULER_SECRET_<NAME>_<KEY>`: in capitals, `_` for all that is no letter or digit. An empty one
   counts as missing.
2. mounted folders, `DIR/NAME/KEY` (the setting `secrets.mounted`), as Kubernetes mounts a Secret. As it stands.
3. the keyring of the desktop (the setting `secrets.keyring`)
4. a file of mode 0600 below `COULER_HOME`

No value is ever in a record, a log, a cache key or a command line.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote, unquote

import msgspec

from couler_py.ir.diagnostics import CoulerError
from couler_py.settings import SecretSettings, load
from couler_py.store import keyrings
from couler_py.store.home import Home


class SecretNotFoundError(CoulerError):
    """A secret, or a key of one, that this machine doesn't have."""


class SecretError(CoulerError):
    """A secret that can't be read or kept as it is; the message says why, and what to do."""


class Kept(msgspec.Struct, frozen=True):
    """A secret without its values: its name, its keys, and where they are."""

    name: str
    keys: tuple[str, ...]
    place: str


def variable_of(name: str, key: str) -> str:
    """The variable that a key of a secret is looked for in.

    >>> variable_of("s3-store", "access.key")
    'COULER_SECRET_S3_STORE_ACCESS_KEY'
    """
    return f"COULER_SECRET_{_capitals(name)}_{_capitals(key)}"


def _capitals(text: str) -> str:
    return re.sub("[^A-Z0-9]", "_", text.upper())


def read_key(home: Home, name: str, key: str) -> str:
    """One value. Raises `SecretNotFoundError`, which says where it can be set, and `SecretError`."""
    if value := os.environ.get(variable_of(name, key)):
        return value
    places = load().secrets
    value = _mounted_key(places, name, key)
    if value is None and places.keyring:
        value = keyrings.get(name, key)
    if value is not None:
        return value
    try:
        return _of_file(home, name)[key]
    except KeyError:
        known = sorted(_read(home, name, places))
    has = (
        f"the secret {name!r} has no key {key!r}; it has {', '.join(known)}"
        if known
        else f"there is no secret {name!r}"
    )
    raise SecretNotFoundError(f"{has}: {_way_out(home, name, key)}")


def read_secret(home: Home, name: str) -> dict[str, str]:
    """All keys of a secret, each from the first place that has it. Raises as `read_key`.

    The environment changes values of keys that are known from elsewhere. Only where nothing else has the secret, its
    keys are what follows `COULER_SECRET_<NAME>_` in the names of variables, as it stands there.
    """
    found = _read(home, name, load().secrets)
    for key in found:
        found[key] = os.environ.get(variable_of(name, key)) or found[key]
    if not found:
        start = variable_of(name, "")
        found = {each[len(start) :]: value for each, value in os.environ.items() if each.startswith(start) and value}
        found.pop("", None)
    if not found:
        raise SecretNotFoundError(f"there is no secret {name!r}: {_way_out(home, name, 'KEY')}")
    return found


def _way_out(home: Home, name: str, key: str) -> str:
    return f"`couler secrets set {name} {key}` keeps it in {home.path}, or set {variable_of(name, key)}"


def _read(home: Home, name: str, places: SecretSettings) -> dict[str, str]:
    found = _of_file(home, name)
    if places.keyring:
        found |= {key: value for key in keyrings.keys(name) if (value := keyrings.get(name, key)) is not None}
    for folder in reversed(places.mounted):
        for key in _mounted_keys(folder, name):
            value = _mounted_key(places, name, key)
            if value is not None:
                found[key] = value
    return found


# ---- mounted folders


def _mounted_key(places: SecretSettings, name: str, key: str) -> str | None:
    if not (_component(name) and _component(key)):
        return None
    for folder in places.mounted:
        path = Path(folder) / name / key
        try:
            return path.read_bytes().decode("utf-8")
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            continue
        except UnicodeDecodeError:
            raise SecretError(f"{path} isn't UTF-8 text: keep it as base64") from None
        except OSError as problem:
            raise SecretError(f"{path} can't be read: {problem.strerror}") from None
    return None


def _mounted_keys(folder: str, name: str) -> list[str]:
    if not _component(name):
        return []
    with contextlib.suppress(OSError):
        return sorted(each.name for each in (Path(folder) / name).iterdir() if each.is_file() and _component(each.name))
    return []


def _component(text: str) -> bool:
    # Kubernetes keeps what it swaps in a mounted folder under names that begin with two dots.
    return bool(text) and not text.startswith("..") and text != "." and "/" not in text and "\0" not in text


# ---- files


def write_secret(home: Home, name: str, data: Mapping[str, str]) -> None:
    """Keep a secret's keys and values in its file, replacing the one of that name."""
    with _alone(home):
        _write(home, name, data)


def set_key(home: Home, name: str, key: str, value: str) -> None:
    """Keep one value, beside the others of its secret."""
    with _alone(home):
        _write(home, name, {**_of_file(home, name), key: value})


def delete(home: Home, name: str, key: str | None = None) -> None:
    """Forget a secret's file, or one key in it. Raises `SecretNotFoundError`."""
    with _alone(home):
        data = _of_file(home, name)
        if not data or (key is not None and key not in data):
            what = f"the secret {name!r}" if key is None else f"the key {key!r} of the secret {name!r}"
            raise SecretNotFoundError(f"{what} is not in {home.path}: `couler secrets list` shows what is")
        rest = {each: value for each, value in data.items() if each != key} if key is not None else {}
        if rest:
            _write(home, name, rest)
        else:
            _path(home, name).unlink()


def listed(home: Home) -> list[Kept]:
    """The secrets that this machine has, without their values. Those of the environment can't be told from others."""
    found = []
    folder = home.path / "secrets"
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        name = unquote(path.name.removesuffix(".json"))
        found.append(Kept(name, tuple(sorted(_of_file(home, name))), str(folder)))
    places = load().secrets
    if places.keyring:
        found += [Kept(name, keys, "keyring") for name, keys in sorted(keyrings.index().items())]
    for mounted in places.mounted:
        names = sorted(each.name for each in Path(mounted).iterdir()) if Path(mounted).is_dir() else []
        for name in names:
            if keys := tuple(_mounted_keys(mounted, name)):
                found.append(Kept(name, keys, mounted))
    return found


def _path(home: Home, name: str) -> Path:
    return home.path / "secrets" / (quote(name, safe="") + ".json")


@contextlib.contextmanager
def _alone(home: Home) -> Iterator[None]:
    folder = home.path / "secrets"
    folder.mkdir(mode=0o700, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _write(home: Home, name: str, data: Mapping[str, str]) -> None:
    target = _path(home, name)
    temporary = target.with_suffix(f".{os.getpid()}.tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(dict(data), file)
            file.flush()
            os.fsync(file.fileno())
        temporary.rename(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _of_file(home: Home, name: str) -> dict[str, str]:
    path = _path(home, name)
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return {}
    except OSError as problem:
        raise SecretError(f"the secret {name!r} can't be read: {problem.strerror}") from None
    with os.fdopen(handle, encoding="utf-8") as file:
        facts = os.fstat(file.fileno())
        if facts.st_uid != os.geteuid() or stat.S_IMODE(facts.st_mode) & 0o077:
            raise SecretError(
                f"{path} belongs to another user, or others may read it: delete it, and `couler secrets set` it anew"
            )
        try:
            data: dict[str, str] = msgspec.json.decode(file.read(), type=dict[str, str])
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise SecretError(f"{path} is damaged: delete it, and `couler secrets set` it anew") from None
    return data
