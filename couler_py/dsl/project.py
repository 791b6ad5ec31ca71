"""The user's project around a file: its root, and what `[tool.couler]` of its pyproject.toml says.

    [tool.couler]
    include = ["mypkg", "conf/*.yaml"]                # for every step
    index_url = "https://pypi.example.com/simple"     # where packages= come from
    extra_index_urls = []
    constraints = ["constraints.txt"]                 # files of versions that `couler lock` keeps to
    find_links = ["/wheels"]                          # folders or pages of wheels where steps run
    offline = false                                   # only find_links, no index

The root is the nearest folder upwards with a pyproject.toml or a .git.
"""

from __future__ import annotations

import functools
import tomllib
from pathlib import Path
from typing import Any

import msgspec

from couler_py.dsl.errors import DefinitionError
from couler_py.dsl.sources import shown
from couler_py.ir.diagnostics import error
from couler_py.ir.model import Source


class Project(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table `[tool.couler]`."""

    include: tuple[str, ...] = ()
    index_url: str = ""
    extra_index_urls: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    find_links: tuple[str, ...] = ()
    offline: bool = False


def folder_of(filename: str) -> Path:
    """The folder of a source file; the working folder for a notebook cell."""
    return Path.cwd() if shown(filename).startswith("<") else Path(filename).resolve().parent


def root_of(folder: Path) -> Path | None:
    """The nearest folder upwards with a pyproject.toml or a .git; None where there is none."""
    for candidate in (folder, *folder.parents):
        if (candidate / "pyproject.toml").is_file() or (candidate / ".git").exists():
            return candidate
    return None


def project_of(filename: str) -> tuple[Path, Project]:
    """The project root around a source file and its configuration. Raises `DefinitionError` for a bad table."""
    folder = folder_of(filename)
    root = root_of(folder)
    if root is None:
        return folder, Project()
    path = root / "pyproject.toml"
    return root, _read(path, path.stat().st_mtime_ns) if path.is_file() else Project()


@functools.lru_cache(maxsize=64)
def _read(path: Path, changed: int) -> Project:
    where = Source(shown(str(path)), 1)
    try:
        document: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        return msgspec.convert(document.get("tool", {}).get("couler", {}), Project)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as problem:
        raise DefinitionError(
            [
                error(
                    "CLR133",
                    f"[tool.couler] can't be read: {problem}",
                    source=where,
                    help="see `couler explain CLR133`",
                )
            ]
        ) from problem
