"""What this machine is told in files: `config.toml` in the home, and `[tool.couler]` of the project around."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from couler_py.ir.diagnostics import CoulerError
from couler_py.store.home import Home


class ConfigError(CoulerError):
    """A configuration file that can't be read."""


def config_maps(home: Home, folder: Path | None = None) -> dict[str, dict[str, str]]:
    """The ConfigMaps that steps may refer to here: `[local.config_maps.NAME]`, the home's before the project's."""
    project = _project(folder or Path.cwd())
    found = {} if project is None else _tables(project, "tool", "couler", "local", "config_maps")
    own = home.path / "config.toml"
    if own.exists():
        found = found | _tables(own, "local", "config_maps")
    return found


def _project(folder: Path) -> Path | None:
    for around in (folder, *folder.parents):
        if (around / "pyproject.toml").is_file():
            return around / "pyproject.toml"
    return None


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
