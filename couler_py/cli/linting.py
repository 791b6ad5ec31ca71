"""Files of Argo YAML as they are typed: files, folders, `-`; their findings, and their mending."""

from __future__ import annotations

import difflib
import importlib.util
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

import typer

from couler_py.cli import exits
from couler_py.cli.console import console
from couler_py.cli.errors import UsageError
from couler_py.cli.findings import Lines, show
from couler_py.ir.diagnostics import Diagnostic
from couler_py.settings import load as load_settings

if TYPE_CHECKING:
    from couler_py.backends.argo.lint.context import Engine
    from couler_py.cli.load import Loaded

STDIN = "<stdin>"
_SUFFIXES = (".yaml", ".yml")


def is_yaml(typed: str) -> bool:
    """Whether what is typed is Argo's: YAML, a folder, `-`, or a JSON file of a Kubernetes object (no IR file)."""
    path = Path(typed)
    if typed == "-" or path.suffix in _SUFFIXES or path.is_dir():
        return True
    return path.suffix == ".json" and path.is_file() and _is_object(path)


def read_all(typed: Iterable[str]) -> dict[str, str]:
    """The texts by their names, each once; of a folder all YAML files in it, at any depth, by name.

    Raises UsageError for what isn't there, isn't text, or holds no YAML.
    """
    texts: dict[str, str] = {}
    for name in typed:
        if name == "-":
            texts[STDIN] = sys.stdin.read()
            continue
        for path in _files(Path(name)):
            texts.setdefault(str(path), _text(path))
    return texts


class Linted(NamedTuple):
    """The findings of texts by file and place, the lines they are about, and the files that hold no document."""

    findings: list[Diagnostic]
    lines: Lines
    empty: tuple[str, ...]


def linted(texts: Mapping[str, str], engine: str, templates: Iterable[str]) -> Linted:
    """What the linter says of all texts.

    References find the templates of all texts, and those of the files `templates`.
    """
    from couler_py.backends.argo.lint.frame import known_templates, located
    from couler_py.backends.argo.lint.reading import read

    version = _version(engine)
    readings = {file: read(text) for file, text in texts.items()}
    beside = [data for text in read_all(templates).values() for data in read(text).data]
    known = known_templates([*beside, *(data for reading in readings.values() for data in reading.data)])
    found = [each for file, reading in readings.items() for each in located(reading, file, known, version)]
    ends = {each.diagnostic.source: each.end for each in found if each.diagnostic.source and each.end}
    empty = tuple(file for file, reading in readings.items() if not (reading.documents or reading.broken))
    return Linted([*(each.diagnostic for each in found), *by_policy(texts)], Lines(texts, ends), empty)


def by_policy(texts: Mapping[str, str]) -> list[Diagnostic]:
    """What the policies of each file's project don't allow of the YAML in it."""
    from couler_py.backends.argo.policy import of_texts

    found = []
    for file, text in texts.items():
        path = Path(file)
        found += of_texts({file: text}, load_settings(path.parent if path.is_file() else None).policies)
    return found


def refused(loaded: Loaded, engine: str = "argo@4") -> tuple[list[Diagnostic], Lines]:
    """What Argo would refuse of a workflow in its own words (errors alone), and the lines that is about.

    Nothing is said of other workflows, of those that are written unchecked, and where the extra `argo` is missing.
    """
    if importlib.util.find_spec("jsonschema_rs") is None:
        return [], Lines()
    if loaded.written is not None:
        found, lines = list(loaded.written.lint()) if loaded.written.recording.checked else [], Lines()
    elif loaded.imported and loaded.file is not None and loaded.file.suffix in _SUFFIXES:
        found, lines, _ = linted(read_all([str(loaded.file)]), engine, [])
    else:
        return [], Lines()
    return [finding for finding in found if finding.severity == "error"], lines


def refuse(loaded: Loaded) -> None:
    """End with what Argo would refuse of a workflow in its own words: it would fail later, or mean something else."""
    found, lines = refused(loaded)
    if found:
        show(found, console(stderr=True), lines)
        raise typer.Exit(exits.USAGE)


def fixed(texts: Mapping[str, str], *, write: bool) -> dict[str, str]:
    """The texts, mended. Files that change are written, or, without `write`, shown as a diff; stdin goes to stdout."""
    from couler_py.backends.argo.lint.fix import fix

    after: dict[str, str] = {}
    for name, text in texts.items():
        after[name] = new = fix(text)
        if write and name == STDIN:
            sys.stdout.write(new)
        elif new != text and write:
            _replace(Path(name), new)
            console(stderr=True).print(f"fixed {name}")
        elif new != text:
            sys.stdout.writelines(_diff(name, text, new))
    return after if write else dict(texts)


def _diff(name: str, old: str, new: str) -> Iterable[str]:
    lines = difflib.unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True), name, name)
    return (line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _replace(path: Path, text: str) -> None:
    """Write a file whole or not at all, with the permissions it has; a link stays one."""
    path = path.resolve()
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        os.chmod(name, path.stat().st_mode)  # noqa: PTH101 (a name, not a path)
        os.replace(name, path)  # noqa: PTH105
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _version(engine: str) -> Engine:
    name, at, version = engine.partition("@")
    if name != "argo" or (at and version not in ("4", "3.5")):
        raise UsageError(f"--engine {engine!r}: YAML is linted for argo@4 or argo@3.5")
    return cast("Engine", version or "4")


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = sorted(each for each in path.rglob("*") if each.suffix in _SUFFIXES and each.is_file())
    if not found:
        raise UsageError(f"there is no YAML file in {path}")
    return found


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        raise UsageError(f"there is no file {str(path)!r}", "CLR702") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} isn't UTF-8 text: {error.reason} at byte {error.start}") from None


def _is_object(path: Path) -> bool:
    try:
        data = json.loads(path.read_bytes())
    except ValueError:
        return False
    return isinstance(data, dict) and "apiVersion" in data
