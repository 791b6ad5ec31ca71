"""The ConfigMaps that steps may refer to here: those of the settings, and of `config.toml` in the home."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from couler_py.ir.diagnostics import CoulerError
from couler_py.settings import load
from couler_py.store.home import Home


class ConfigError(CoulerError):
    """A configuration file that can't be read."""


def config_maps(home: Home, folder: Path | None = None) -> dict[str, dict[str, str]]:
    """`[local.config_maps.NAME]` of the settings and of the home's `config.toml`, which wins.

    Raises `SettingsError` and `ConfigError`.
    """
    found = load(folder).local.config_maps
    own = home.path / "config.toml"
    return found | _tables(own, "local", "config_maps") if own.exists() else found


def _tables(path: Path, *keys: str) -> dict[str, dict[str, str]]:
    try:
        data: Any = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path} can't be read: {error}") from None
    for key in keys:
        data = data.get(key, {})
    for name, table in data.items():
        if not isinstance(table, dict) or not all(isinstance(value, str) for value in table.values()):
            raise ConfigError(f"{path}: [{'.'.join(keys)}.{name}] must hold strings")
    return dict(data)
