"""Broken documents from valid ones: each kind of mistake knows where it fits, and where it should be found.

A kind is a generator over the places of a document at which its mistake can be made; `mutants` makes them. The kinds
stand in `mistakes_*.py`, named for what they break.
"""

from __future__ import annotations

import copy
import importlib
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

JSON = dict[str, Any]
Path = tuple[str | int, ...]
LEAVES = ("container", "containerSet", "script", "resource", "data", "http", "plugin")
MISSING = object()


class Change(NamedTuple):
    """Set the value at `path` (or, with MISSING, take it out); the mistake is to be found at `at`, by default there."""

    path: Path
    value: Any
    at: Path | None = None


class Mutant(NamedTuple):
    """A broken document; a finding belongs on the line of the key or of the value at `path`."""

    kind: str
    document: JSON
    path: Path


Kind = Callable[[JSON], Iterator[Change]]
KINDS: dict[str, Kind] = {}


def kind(function: Kind) -> Kind:
    """Register a kind of mistake under the name of its function."""
    KINDS[function.__name__] = function
    return function


def kinds() -> dict[str, Kind]:
    """All kinds by name."""
    for module in ("structure", "names", "values", "graphs", "tags", "settings"):
        importlib.import_module(f"tests.strategies.mistakes_{module}")
    return KINDS


def mutants(document: JSON, most: int = 2) -> Iterator[Mutant]:
    """The broken documents that come of one, at most so many of a kind; the same ones each time."""
    for name, function in kinds().items():
        changes = list(function(document))
        changes.sort(key=lambda change: zlib.crc32(repr((name, change.path, change.value)).encode()))
        for change in changes[:most]:
            yield Mutant(name, changed(document, change), change.at if change.at is not None else change.path)


def changed(document: JSON, change: Change) -> JSON:
    """A copy of the document with one change; lists take an item one behind their last."""
    made = copy.deepcopy(document)
    parent: Any = made
    for step in change.path[:-1]:
        parent = parent[step]
    last: Any = change.path[-1]
    if change.value is MISSING:
        del parent[last]
    elif isinstance(parent, list) and last == len(parent):
        parent.append(copy.deepcopy(change.value))
    else:
        parent[last] = copy.deepcopy(change.value)
    return made


# ---- places in a document


def spec_path(document: JSON) -> Path:
    """Where the workflow spec stands."""
    return ("spec", "workflowSpec") if document["kind"] == "CronWorkflow" else ("spec",)


def spec_of(document: JSON) -> JSON:
    """The workflow spec."""
    found: Any = document
    for key in spec_path(document):
        found = found[key]
    return found  # type: ignore[no-any-return]


def templates(document: JSON) -> Iterator[tuple[Path, JSON]]:
    """The templates of the spec with their paths."""
    for index, each in enumerate(spec_of(document).get("templates", ())):
        yield (*spec_path(document), "templates", index), each


def called_templates(document: JSON) -> Iterator[tuple[Path, JSON]]:
    """The templates that the entrypoint or a step or task of the document names: Argo surely reads these."""
    spec = spec_of(document)
    names = {spec.get("entrypoint")} | {call.get("template") for _, call in calls(document)}
    yield from ((path, each) for path, each in templates(document) if each.get("name") in names)


def calls(document: JSON) -> Iterator[tuple[Path, JSON]]:
    """The steps and tasks of all templates with their paths."""
    for path, template in templates(document):
        yield from calls_of(path, template)


def calls_of(path: Path, template: JSON) -> Iterator[tuple[Path, JSON]]:
    """The steps or tasks of one template with their paths."""
    for index, task in enumerate(template.get("dag", {}).get("tasks", ())):
        yield (*path, "dag", "tasks", index), task
    for index, group in enumerate(template.get("steps", ())):
        for inner, step in enumerate(group):
            yield (*path, "steps", index, inner), step


def tasks(document: JSON) -> Iterator[tuple[Path, JSON, list[JSON]]]:
    """The tasks of all graphs with their paths, each with all tasks of its graph."""
    for path, template in templates(document):
        everyone = template.get("dag", {}).get("tasks", ())
        for index, task in enumerate(everyone):
            yield (*path, "dag", "tasks", index), task, everyone


def graphs(document: JSON) -> Iterator[tuple[Path, JSON]]:
    """The templates that are `steps` or `dag`."""
    yield from ((path, each) for path, each in templates(document) if "steps" in each or "dag" in each)


def leaves(document: JSON) -> Iterator[tuple[Path, JSON]]:
    """The templates that run something by themselves."""
    yield from ((path, each) for path, each in templates(document) if any(what in each for what in LEAVES))


def items(template: JSON, path: Path, *keys: str) -> Iterator[tuple[Path, Any]]:
    """The items of a list inside a template, with their paths."""
    found: Any = template
    for key in keys:
        found = found.get(key, {}) if isinstance(found, dict) else {}
    for index, each in enumerate(found or ()):
        yield (*path, *keys, index), each


def misspelt(word: str) -> str:
    """A word with two letters exchanged, or one more where that changes nothing."""
    for index in range(len(word) - 1, 0, -1):
        if word[index] != word[index - 1] and word[index].isalpha() and word[index - 1].isalpha():
            return word[: index - 1] + word[index] + word[index - 1] + word[index + 1 :]
    return word + "x"


def broken(documents: Iterable[tuple[str, JSON]], of_each: int) -> list[tuple[str, Mutant]]:
    """Of every kind so many broken documents, spread over the given ones; each with the name of its original."""
    found: dict[str, list[tuple[str, Mutant]]] = {name: [] for name in kinds()}
    for name, document in documents:
        for mutant in mutants(document):
            found[mutant.kind].append((name, mutant))
    for several in found.values():
        several.sort(key=lambda each: zlib.crc32(repr((each[0], each[1].path)).encode()))
    return [each for several in found.values() for each in several[:of_each]]
