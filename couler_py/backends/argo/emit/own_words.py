"""What a person adds in Argo's own words (`argo=`), merged into what is emitted for the rest."""

from __future__ import annotations

from typing import Any

from couler_py.backends.argo.emission import Emission
from couler_py.backends.argo.schema.checking import check
from couler_py.backends.argo.vocabulary import BODIES, MERGE_KEYS
from couler_py.dsl.problems import RecordingError
from couler_py.ir.model import Source
from couler_py.kubernetes import Render

JSON = dict[str, Any]


class _ClashError(Exception):
    """Two values for one field."""

    def __init__(self, path: str, emitted: Any, given: Any):
        self.path, self.emitted, self.given = path, emitted, given


def add_own_words(
    emission: Emission,
    emitted: JSON,
    given: JSON,
    schema: JSON,
    *,
    step: str,
    source: Source | None,
    strict: bool = True,
) -> JSON:
    """What is emitted with what `argo=` says besides.

    Objects are merged field by field, lists of objects by their names: a new name comes last. Equal values are one.
    What says otherwise than the step does (CLR194), and, where it is `strict`, what Argo's schema doesn't know
    (CLR190, CLR191), is noted; then the emitted value stands.
    """
    if strict:
        try:
            check(given, schema, "")
        except RecordingError as error:
            for each in error.diagnostics:
                emission.problem(each.code, f"argo=: {each.message}", step=step, source=source, help=each.help)
            return emitted
    try:
        _one_body(emitted, given)
        merged: JSON = _merged(emitted, given, "")
        return merged
    except _ClashError as clash:
        wrong = f"argo= says {clash.path} is {_shown(clash.given)}, and it is {_shown(clash.emitted)}"
        if clash.path in BODIES:
            wrong = f"argo= gives the template a {clash.path}, and it is a {clash.emitted}"
        emission.problem(
            "CLR194",
            wrong,
            step=step,
            source=source,
            why="the other comes from the options in our own words, or from what the step is",
            help="say it once",
        )
        return emitted


def in_argos_words(rendered: Render) -> Render:
    """For strings that a person wrote for Argo: plain ones stay as they are, tags included."""
    return lambda text: text if isinstance(text, str) else rendered(text)


def _one_body(emitted: JSON, given: JSON) -> None:
    """Refuse a second body beside that of a template: a Python step is a `script`."""
    own = next((body for body in BODIES if body in emitted), None)
    for body in BODIES:
        if own is not None and body in given and body != own:
            raise _ClashError(body, own, given[body])


def _merged(one: Any, other: Any, path: str) -> Any:
    if isinstance(one, dict) and isinstance(other, dict):
        found = dict(one)
        for key, value in other.items():
            inside = f"{path}.{key}" if path else key
            found[key] = _merged(found[key], value, inside) if key in found else value
        return found
    if one == other and type(one) is type(other):
        return one
    key = MERGE_KEYS.get(path.rpartition(".")[2], "name")
    if _named(one, key) and _named(other, key):
        return _by_name(one, other, key, path)
    raise _ClashError(path, one, other)


def _by_name(one: list[JSON], other: list[JSON], key: str, path: str) -> list[JSON]:
    found = {each[key]: each for each in one}
    for each in other:
        name = each[key]
        found[name] = _merged(found[name], each, f"{path}[{name}]") if name in found else each
    return list(found.values())


def _named(given: Any, key: str) -> bool:
    return isinstance(given, list) and all(isinstance(each, dict) and key in each for each in given)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
