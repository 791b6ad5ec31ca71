"""All sources of settings as one: `load`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import msgspec

from couler_py.ir.model import Source
from couler_py.settings import environment, layers
from couler_py.settings.layers import Kind, Layer, with_paths
from couler_py.settings.model import Settings
from couler_py.settings.policies import stacked
from couler_py.settings.policy import PolicySource
from couler_py.settings.problems import SettingsError, near, refused, shown
from couler_py.settings.projects import root_of, user_file

_profile: ContextVar[str | None] = ContextVar("couler_profile", default=None)


@contextmanager
def using(profile: str | None) -> Iterator[None]:
    """Choose a profile for every `load` inside that isn't given one; None leaves the choice as it is.

    >>> with using("prod"):
    ...     pass
    """
    if profile is None:
        yield
        return
    token = _profile.set(profile)
    try:
        yield
    finally:
        _profile.reset(token)


def load(
    folder: str | os.PathLike[str] | None = None,
    *,
    profile: str | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Settings:
    """What holds for work in a folder (by default the working folder), with the profile of that name.

    Without `profile` it is the one of the command line, else `COULER_PROFILE`, else the `profile` of the files.
    Raises `SettingsError`, with the place, for what can't be read, unknown keys and profiles, and wrong values.

    >>> load(environ={"COULER_NAMESPACE": "team-a"}).namespace
    'team-a'
    """
    place = Path(folder or ".").absolute()
    root = root_of(place)
    files = _files(root, environ)
    name = _chosen(profile, environ, files)
    merged = _Merged()
    for layer in (*files, *_profiles(files, name)):
        _take_in(merged, layer, root)
    for variable, layer in environment.layers(environ, Path.cwd()):
        _take_in(merged, layer, root, variable)
    for path in filter(None, environ.get("COULER_POLICY", "").split(os.pathsep)):
        merged.policies += stacked(str(Path(path).expanduser().absolute()), "COULER_POLICY")
    found = msgspec.convert(merged.keys, Settings)
    return msgspec.structs.replace(
        found, profile=name, policies=tuple(merged.policies), origins=merged.origins, root=str(root or "")
    )


class _Merged:
    def __init__(self) -> None:
        self.keys: dict[str, Any] = {}
        self.origins: dict[str, str] = {}
        self.policies: list[PolicySource] = []

    def add(self, keys: dict[str, Any], layer: Layer, origin: str) -> None:
        _merge(self.keys, keys, (), lambda path: self._say(path, layer, origin))

    def _say(self, path: tuple[str, ...], layer: Layer, origin: str) -> None:
        self.origins[".".join(path)] = origin or str(layer.place(path))


def _merge(target: dict[str, Any], keys: dict[str, Any], path: tuple[str, ...], say: Any) -> None:
    for key, value in keys.items():
        here = (*path, key)
        if isinstance(value, dict):
            _merge(target.setdefault(key, {}), value, here, say)
        else:
            target[key] = value
            say(here)


def _files(root: Path | None, environ: Mapping[str, str]) -> list[Layer]:
    places: list[tuple[Path, Kind, tuple[str, ...]]] = [(user_file(environ), "user", ())]
    if root is not None:
        places += [(root / "pyproject.toml", "project", ("tool", "couler")), (root / "couler.toml", "project", ())]
    found = []
    for path, kind, inside in places:
        try:
            facts = path.stat()
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as problem:
            raise refused(f"{shown(path)} can't be read: {problem.strerror}", Source(shown(path), 1)) from None
        found.append(layers.read(path, kind, inside, (facts.st_mtime_ns, facts.st_size)))
    return found


def _chosen(profile: str | None, environ: Mapping[str, str], files: list[Layer]) -> str:
    name = profile if profile is not None else _profile.get()
    origin: Source | None = None
    if name is None:
        name = environ.get("COULER_PROFILE") or None
    for layer in reversed(files):
        if name is None and layer.keys.get("profile"):
            name, origin = layer.keys["profile"], layer.place(("profile",))
    if not name:
        return ""
    known = list(dict.fromkeys(each for layer in files for each in layer.keys.get("profiles", {})))
    if name not in known:
        help_ = near(name, known) if known else "no file of settings here has profiles: write [profiles.NAME]"
        raise refused(f"there is no profile {name!r}", origin, help_)
    return name


def _profiles(files: list[Layer], name: str) -> list[Layer]:
    return [
        msgspec.structs.replace(layer, keys=layer.keys["profiles"][name], inside=(*layer.inside, "profiles", name))
        for layer in files
        if name in layer.keys.get("profiles", {})
    ]


def _take_in(merged: _Merged, layer: Layer, root: Path | None, origin: str = "") -> None:
    keys = with_paths(layer, lambda key, value: _path(layer, key, value, root))
    keys.pop("profile", None)
    keys.pop("profiles", None)
    policy = keys.pop("policy", None)
    if policy is not None:
        place = origin or str(layer.place(("policy",)))
        for each in policy if isinstance(policy, list) else [policy]:
            merged.policies += stacked(each, place, layer)
    merged.add(keys, layer, origin)


def _path(layer: Layer, key: str, value: str, root: Path | None) -> str:
    """A path made absolute from its file. What a project's file has written to must lie inside the project."""
    if "://" in value:
        return value
    base = layer.file.parent
    path = Path(os.path.normpath(base / Path(value).expanduser()))
    if layer.kind == "project" and key.startswith("events.") and root is not None:
        real = path.resolve()
        if not real.is_relative_to(root.resolve()):
            raise refused(
                f"{key}: {value!r} leads outside the project",
                layer.place(tuple(key.split("."))),
                "name a file inside it; the user's own file may name any",
            )
    return str(path)


__all__ = ["SettingsError", "load", "using"]
