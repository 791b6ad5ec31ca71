"""Settings from the environment: `COULER_` and the key, in capitals, with `_` between tables (`COULER_CACHE_BUDGET`).

Texts are taken as they are. Lists are written as in TOML or with commas between (paths with the system's own
separator), tables as in TOML or as `a=1,b=2`, all else as in TOML.
"""

from __future__ import annotations

import functools
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import inspect

from couler_py.settings.layers import PATHS, Layer, check
from couler_py.settings.model import Keys
from couler_py.settings.problems import refused

NOT_SET = ("include",)
"""Keys without a variable: COULER_INCLUDE is what a step finds its included files by."""


@functools.cache
def variables() -> dict[str, tuple[str, ...]]:
    """The key of each variable that is read."""
    found: dict[str, tuple[str, ...]] = {}
    _collect(inspect.type_info(Keys), (), found)
    return found


def _collect(info: inspect.Type, path: tuple[str, ...], found: dict[str, tuple[str, ...]]) -> None:
    assert isinstance(info, inspect.StructType)
    for field in info.fields:
        key = (*path, field.encode_name)
        if ".".join(key) in NOT_SET:
            continue
        if isinstance(field.type, inspect.StructType):
            _collect(field.type, key, found)
        else:
            found["COULER_" + "_".join(key).upper()] = key


def variable_of(dotted: str) -> str:
    """The variable that sets a key, as it is named.

    >>> variable_of("cache.budget")
    'COULER_CACHE_BUDGET'
    """
    return "COULER_" + dotted.replace(".", "_").upper()


def layers(environ: Mapping[str, str], folder: Path) -> list[tuple[str, Layer]]:
    """One layer for each variable that is set, with its name. Raises `SettingsError`."""
    found = []
    for name, key in variables().items():
        raw = environ.get(name)
        if not raw:
            continue
        keys: Any = _value(name, key, raw)
        for part in reversed(key):
            keys = {part: keys}
        layer = Layer("environment", keys, folder / name)
        try:
            check(layer)
        except type(_error(name)) as problem:
            raise _error(f"{name}: {problem.diagnostics[0].message}") from None
        found.append((name, layer))
    return found


def _value(name: str, key: tuple[str, ...], raw: str) -> Any:
    info = _type_of(key)
    kinds = info.types if isinstance(info, inspect.UnionType) else (info,)
    if any(isinstance(kind, inspect.StrType | inspect.LiteralType) for kind in kinds):
        return raw
    if any(isinstance(kind, inspect.VarTupleType) for kind in kinds) and not raw.startswith("["):
        separator = os.pathsep if ".".join(key) in PATHS else ","
        return [part.strip() for part in raw.split(separator) if part.strip()]
    if any(isinstance(kind, inspect.DictType) for kind in kinds) and not raw.startswith("{"):
        pairs = [part.partition("=") for part in raw.split(",") if part.strip()]
        if not all(equals for _, equals, _ in pairs):
            raise _error(f"{name} is not a table: write it as a=1,b=2 or as in TOML")
        return {key.strip(): value.strip() for key, _, value in pairs}
    try:
        return tomllib.loads(f"value = {raw}")["value"]
    except tomllib.TOMLDecodeError as problem:
        raise _error(f"{name} is {raw!r}, which TOML doesn't take as a value: {problem}") from None


def _type_of(key: tuple[str, ...]) -> inspect.Type:
    info: inspect.Type = inspect.type_info(Keys)
    for part in key:
        assert isinstance(info, inspect.StructType)
        info = next(field.type for field in info.fields if field.encode_name == part)
    return info


def _error(message: str) -> Any:
    return refused(message, None)
