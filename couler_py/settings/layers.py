"""One source of settings: its keys as they are written, and where each stands."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import inspect

from couler_py.ir.model import Source
from couler_py.settings import lines
from couler_py.settings.model import File
from couler_py.settings.problems import near, refused, shown
from couler_py.settings.reading import UnreadableError, toml
from couler_py.settings.sizes import size_of

Kind: TypeAlias = Literal["user", "project", "environment"]

PATHS = (
    "events.files",
    "events.prometheus",
    "events.openlineage.file",
    "secrets.mounted",
    "policy",
    "artifacts",
    "airflow.dags_folder",
    "airflow.certificate_authority",
)
"""Keys whose relative paths count from the file that they stand in."""

OWN = ("secrets",)
"""Tables that only the user's own file and the environment can hold."""

SIZES = ("cache.budget", "logs.limit")


class Layer(msgspec.Struct, frozen=True):
    """Some keys of one source. `inside` are the tables around them in its file (`tool.couler`, `profiles.prod`)."""

    kind: Kind
    keys: dict[str, Any]
    file: Path
    text: str = ""
    inside: tuple[str, ...] = ()

    def place(self, path: lines.Path) -> Source:
        """Where a key stands."""
        return Source(shown(self.file), lines.line_of(self.text, (*self.inside, *path)))


@functools.lru_cache(maxsize=64)
def read(path: Path, kind: Kind, inside: tuple[str, ...], stamp: tuple[int, int]) -> Layer:
    """The settings of a file, checked. Raises `SettingsError`. `stamp` tells its versions apart."""
    try:
        text, found = toml(path)
        data: Any = found
    except UnicodeDecodeError:
        raise refused(f"{shown(path)} isn't UTF-8, which TOML is", Source(shown(path), 1)) from None
    except (UnreadableError, OSError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else problem
        raise refused(f"{shown(path)} can't be read: {reason}", Source(shown(path), 1)) from None
    except tomllib.TOMLDecodeError as problem:
        raise refused(f"{shown(path)} can't be read: {problem}", _place_of(path, str(problem))) from None
    for key in inside:
        data = data.get(key, {}) if isinstance(data, dict) else data
    layer = Layer(kind, data, path, text, inside)
    check(layer)
    return layer


def _place_of(path: Path, message: str) -> Source:
    line = message.rpartition("(at line ")[2].partition(",")[0]
    return Source(shown(path), int(line) if line.isdecimal() else 1)


def check(layer: Layer, type_: type = File) -> None:
    """Raises `SettingsError` for unknown keys, values of wrong types, and what the source mustn't say."""
    for path, known in _unknown(inspect.type_info(type_), layer.keys, ()):
        name = ".".join(map(str, path))
        raise refused(f"there is no key {name!r}", layer.place(path), near(str(path[-1]), known))
    try:
        msgspec.convert(layer.keys, type_)
    except msgspec.ValidationError as problem:
        message, _, where = str(problem).partition(" - at `$")
        path = lines_path(where.rstrip("`"))
        name = ".".join(map(str, path)) or "the table"
        raise refused(f"{name}: {message[:1].lower()}{message[1:]}", layer.place(path)) from None
    for prefix, keys in _tables(layer.keys):
        _check_table(layer, prefix, keys)


def lines_path(where: str) -> lines.Path:
    """The path of a key as msgspec writes it (".events.webhooks[0].url"); it ends where a name isn't said."""
    found: list[str | int] = []
    for part in where.replace("[", ".[").split(".")[1:]:
        if not part.startswith("["):
            found.append(part)
        elif part[1:-1].isdecimal():
            found.append(int(part[1:-1]))
        else:
            break
    return tuple(found)


def _tables(keys: dict[str, Any]) -> Iterator[tuple[lines.Path, dict[str, Any]]]:
    yield (), keys
    for name, profile in keys.get("profiles", {}).items():
        yield ("profiles", name), profile


def _check_table(layer: Layer, prefix: lines.Path, keys: dict[str, Any]) -> None:
    if layer.kind == "project":
        for own in OWN:
            if own in keys:
                raise refused(
                    f"[{own}] can't stand in a project's file: whoever hands over a project would choose the keys that "
                    "this machine reads",
                    layer.place((*prefix, own)),
                    "write it into the user's own file, ~/.config/couler/couler.toml, or set COULER_SECRETS_MOUNTED",
                )
    for dotted in SIZES:
        text = value_at(keys, tuple(dotted.split(".")))
        if isinstance(text, str) and text:
            try:
                size_of(text)
            except ValueError as problem:
                raise refused(f"{dotted}: {problem}", layer.place((*prefix, *dotted.split(".")))) from None


def _unknown(info: inspect.Type, data: Any, path: lines.Path) -> Iterator[tuple[lines.Path, list[str]]]:
    """Keys of the data that the type doesn't have, each with those that it has."""
    if isinstance(info, inspect.UnionType):
        for each in info.types:
            yield from _unknown(each, data, path)
    elif isinstance(info, inspect.StructType) and isinstance(data, dict):
        fields = {field.encode_name: field.type for field in info.fields}
        for key, value in data.items():
            if key not in fields:
                yield (*path, key), list(fields)
            else:
                yield from _unknown(fields[key], value, (*path, key))
    elif isinstance(info, inspect.DictType) and isinstance(data, dict):
        for key, value in data.items():
            yield from _unknown(info.value_type, value, (*path, key))
    elif isinstance(info, inspect.VarTupleType) and isinstance(data, list):
        for at, value in enumerate(data):
            yield from _unknown(info.item_type, value, (*path, at))


def value_at(keys: Any, path: tuple[str, ...]) -> Any:
    """The value of a key; None where it isn't set."""
    for key in path:
        keys = keys.get(key) if isinstance(keys, dict) else None
    return keys


def with_paths(layer: Layer, convert: Callable[[str, str], str]) -> dict[str, Any]:
    """The keys of a layer with each path in them, given by its key's name, made what `convert` makes of it."""
    keys: dict[str, Any] = msgspec.to_builtins(layer.keys)
    for dotted in PATHS:
        *around, name = dotted.split(".")
        table = value_at(keys, tuple(around)) if around else keys
        value = table.get(name) if isinstance(table, dict) else None
        if isinstance(value, str) and value:
            table[name] = convert(dotted, value)
        elif isinstance(value, list):
            table[name] = [convert(dotted, each) for each in value]
    return keys
