"""Parameters and artifacts: of inputs, outputs and arguments."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

from couler_py.backends.argo.native.references import ArtifactReference
from couler_py.backends.argo.native.values import Null, as_text, plain
from couler_py.dsl.problems import fail

if TYPE_CHECKING:
    from couler_py.backends.argo import words

JSON = dict[str, Any]


class Parameter(dict[str, Any]):
    """A parameter in Argo's words, as `argo.parameter` makes it."""


class Artifact(dict[str, Any]):
    """An artifact in Argo's words, as `argo.artifact` makes it."""


Member: TypeAlias = str | Parameter | Artifact
"""An input or output: a parameter's name, or what `argo.parameter` or `argo.artifact` made."""


def parameter(name: str, value: Any = None, **fields: Unpack[words.ParameterFields]) -> Parameter:
    """A parameter of inputs, outputs or arguments. A value that isn't text is written as its JSON text.

    >>> parameter("os", "linux", enum=["linux", "windows"])["value"]
    'linux'
    """
    found = Parameter(name=name)
    if value is not None:
        found["value"] = as_text(value, f"the parameter {name}")
    for key, given in fields.items():
        if given is not None:
            found[key] = as_text(given, f"the default of {name}") if key == "default" else plain(given, key)
    return found


def artifact(
    name: str, path: str | None = None, *, from_: str | None = None, **fields: Unpack[words.ArtifactFields]
) -> Artifact:
    """An artifact of inputs, outputs or arguments. `from_` is Argo's `from`, which is a word of Python.

    >>> artifact("model", "/tmp/model", s3={"key": "models/latest"})["s3"]
    {'key': 'models/latest'}
    """
    found = Artifact(name=name)
    for key, given in {"path": path, "from": from_, **fields}.items():
        if given is not None:
            found[key] = plain(given, key)
    return found


def members(given: Any, place: str) -> Any:
    """Inputs, outputs or arguments as Argo has them, from a list of members or from Argo's own form."""
    if isinstance(given, Mapping | Null):
        return plain(given, place)
    if not isinstance(given, Sequence) or isinstance(given, str):
        fail("CLR191", f"{place} is {given!r}", help=f'write a list, as {place}=["message"], or Argo\'s own form')
    parameters: list[Any] = []
    artifacts: list[Any] = []
    for each in given:
        if isinstance(each, str):
            parameters.append({"name": plain(each)})
        elif isinstance(each, Artifact):
            artifacts.append(plain(each, place))
        elif isinstance(each, Parameter):
            parameters.append(plain(each, place))
        else:
            fail(
                "CLR191",
                f"{place} holds {each!r}",
                help=f"list {_listed(place, each)}; or write Argo's own form: "
                '{"parameters": [...], "artifacts": [...]}',
            )
    return {key: listed for key, listed in (("parameters", parameters), ("artifacts", artifacts)) if listed}


def _listed(place: str, given: Any) -> str:
    """What a list of members holds: for arguments by name, as {"last": "D"}, in their own words."""
    if place == "arguments" and isinstance(given, Mapping) and "name" not in given and given:
        return ", ".join(f"argo.parameter({json.dumps(name)}, {value!r})" for name, value in given.items())
    return "names, argo.parameter(...) and argo.artifact(...)"


def input_names(template: JSON) -> frozenset[str]:
    """The names of a template's inputs, as far as it says them as Argo does."""
    inputs = template.get("inputs")
    listed = [inputs.get(kind) or [] for kind in ("parameters", "artifacts")] if isinstance(inputs, dict) else []
    members = [each for one in listed if isinstance(one, list) for each in one if isinstance(each, dict)]
    return frozenset(each["name"] for each in members if isinstance(each.get("name"), str))


def arguments(
    own: Any, parameters: Mapping[str, Any] | None, artifacts: Mapping[str, Any] | None, named: Mapping[str, Any]
) -> JSON | None:
    """The arguments of a call: Argo's own form, then values by name. An artifact of a task is passed as an artifact."""
    found = None if own is None else members(own, "arguments")
    values = {**(parameters or {}), **named}
    files = dict(artifacts or {})
    if twice := (parameters or {}).keys() & named.keys():
        fail("CLR193", f"the argument {min(twice)!r} is given twice")
    for name in [name for name, value in values.items() if isinstance(value, ArtifactReference)]:
        if name in files:
            fail("CLR193", f"the argument {name!r} is given twice")
        files[name] = values.pop(name)
    if not values and not files:
        return found
    found = found or {}
    for kind, more in (("parameters", _values(values)), ("artifacts", _files(files))):
        listed = found.setdefault(kind, [])
        taken = {each.get("name") for each in listed if isinstance(each, dict)}
        for each in more:
            if each["name"] in taken:
                fail("CLR193", f"the argument {each['name']!r} is given twice")
            listed.append(each)
        if not listed:
            del found[kind]
    return found


def _values(given: Mapping[str, Any]) -> list[JSON]:
    return [{"name": name, "value": as_text(value, f"the argument {name}")} for name, value in given.items()]


def _files(given: Mapping[str, Any]) -> list[JSON]:
    found = []
    for name, value in given.items():
        if isinstance(value, str):
            found.append({"name": name, "from": plain(value)})
        elif isinstance(value, Mapping):
            found.append({"name": name} | plain(value, f"the artifact {name}"))
        else:
            fail(
                "CLR191", f"the artifact {name!r} is {value!r}", help='give a.artifact("x"), or {"s3": {"key": "..."}}'
            )
    return found
