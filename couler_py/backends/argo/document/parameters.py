"""Parameters: of a run, of a template, out of a template, and what is given to them.

A value keeps its JSON type: `5` and `"5"` are the same text to Argo, and different documents.
"""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from couler_py.backends.argo.document.containers import config_map, written_config_map
from couler_py.backends.argo.document.lens import JSON, Field, Table, extra, strings, with_extra, word_field
from couler_py.backends.argo.document.texts import UNSAID, Root, value, word, written_value
from couler_py.ir.expr import Literal, Raw, Text
from couler_py.ir.model import Argument, OutputParameter, Parameter


def _scalar(given: Any, root: Root) -> Any:
    """A value without expressions in it, of any JSON type."""
    return word(given, root) if type(given) is str else given if type(given) in (int, float, bool) else UNSAID


def _table(key: str) -> Table[Parameter]:
    return Table(
        Parameter,
        word_field("name", "name"),
        Field(key, "default", _scalar, lambda given, root: given, UNSET),
        Field("enum", "enum", strings(word), lambda given, root: list(given), None),
        word_field("description", "description"),
    )


_INPUT, _OF_RUN = _table("default"), _table("value")


def parameter(data: JSON, root: Root, *, of_run: bool = False) -> Parameter:
    """An input parameter of a template, or a parameter of a run: there the given value is the default."""
    attributes, rest = (_OF_RUN if of_run else _INPUT).taken(data, root)
    if not of_run and "default" not in data and (given := _scalar(rest.get("value"), root)) is not UNSAID:
        attributes["default"] = (
            given  # a value that is written in the template itself is what holds without an argument
        )
        del rest["value"]
    source = rest.get("valueFrom")
    if isinstance(source, dict) and source.keys() == {"configMapKeyRef"}:
        ref = config_map(source["configMapKeyRef"], root)
        if ref is not UNSAID:
            attributes["value_from"] = ref
            del rest["valueFrom"]
    return Parameter(**({"name": ""} | attributes), portable=False, **extra(rest, root))


def written_parameter(given: Parameter, root: Root, *, of_run: bool = False) -> JSON:
    """The parameter again."""
    found = (_OF_RUN if of_run else _INPUT).write(given, root)
    if given.value_from is not None:
        found |= {"valueFrom": {"configMapKeyRef": written_config_map(given.value_from, root)}}
    return with_extra(found, given.extra, root)


_OUTPUT = Table(
    OutputParameter,
    word_field("name", "name"),
    word_field("globalName", "global_name"),
    word_field("description", "description"),
)
_WORDS = {"path": "path", "jsonPath": "json_path", "jqFilter": "jq_filter"}


def output_parameter(data: JSON, root: Root) -> OutputParameter:
    """An output parameter, from the one source that it has."""
    attributes, rest = _OUTPUT.taken(data, root)
    source = rest.get("valueFrom")
    if isinstance(source, dict) and (said := _source(source, root)) is not None:
        attributes |= said
        del rest["valueFrom"]
    return OutputParameter(**({"name": ""} | attributes), **extra(rest, root))


def _source(given: JSON, root: Root) -> JSON | None:
    """The attributes that a `valueFrom` says; None where the IR can't say all of it."""
    found: JSON = {}
    for key, each in given.items():
        said: Any = UNSAID
        if key == "default":
            said, attribute = _scalar(each, root), "default"
        elif key in _WORDS:
            said, attribute = word(each, root) or UNSAID, _WORDS[key]
        elif key == "supplied":
            said, attribute = True if each == {} else UNSAID, "supplied"
        elif key == "expression":
            said, attribute = Raw("argo", each) if isinstance(word(each, root), str) else UNSAID, "value"
        elif key == "parameter" and type(each) is str:
            said, attribute = value(each, root), "value"
            if isinstance(said, Raw):  # bare, it is an `expression`
                said = Text((said,))
        if said is UNSAID or attribute in found:
            return None
        found[attribute] = said
    return found if len(found.keys() - {"default"}) <= 1 else None


def written_output(given: OutputParameter, root: Root) -> JSON:
    """The output parameter again."""
    source: JSON = {}
    for key, attribute in _WORDS.items():
        if said := getattr(given, attribute):
            source[key] = said
    if given.supplied:
        source["supplied"] = {}
    if isinstance(given.value, Raw) and given.value.engine == "argo":
        source["expression"] = given.value.text
    elif given.value is not None:
        source["parameter"] = written_value(given.value, root)
    if given.default is not UNSET:
        source["default"] = given.default
    found = _OUTPUT.write(given, root)
    if source:
        found |= {"valueFrom": source}
    return with_extra(found, given.extra, root)


_ARGUMENT = Table(Argument, word_field("name", "name"), Field("value", "value", value, written_value, Literal(None)))


def argument(data: JSON, root: Root) -> Argument:
    """What a task or a hook gives to a parameter."""
    return _ARGUMENT.read(data, root, name="", value=Literal(None))


def written_argument(given: Argument, root: Root) -> JSON:
    """The argument again."""
    return _ARGUMENT.write_all(given, root)
