"""What a template does, where that is no graph: each kind of body, read and written."""

from __future__ import annotations

from typing import Any

from couler_py.backends.argo.document.containers import (
    CONTAINER,
    SCRIPT,
    container,
    each_of,
    read_mounts,
    script,
    secret,
    written_mounts,
    written_secret,
)
from couler_py.backends.argo.document.durations import duration, seconds, written_duration, written_seconds
from couler_py.backends.argo.document.lens import (
    JSON,
    Field,
    Table,
    as_it_is,
    extra,
    flag_field,
    one_of,
    strings,
    text_field,
    with_extra,
    word_field,
    written_strings,
)
from couler_py.backends.argo.document.templated import templated, untemplated
from couler_py.backends.argo.document.texts import UNSAID, Root, text, word, written
from couler_py.ir.model import Body, ContainerSet, Data, Http, Plugin, Resource, Script, Suspend
from couler_py.ir.pod import Container
from couler_py.ir.storage import SecretRef
from couler_py.ir.templated import Templated

NOTHING = Plugin(Templated(None))
"""The body of a template whose own the IR has no word for: it then stands in the `extra` of the template's pod."""

_ACTIONS = ("get", "create", "apply", "delete", "replace", "patch")

# ---- objects of Kubernetes


def _manifest(given: Any, root: Root) -> Any:
    """The manifest as the text that it is: tags stand anywhere in it, so it has no structure before it is filled in."""
    return templated(given, root) if type(given) is str else UNSAID


_RESOURCE = Table(
    Resource,
    Field("action", "action", one_of(*_ACTIONS), as_it_is),
    word_field("successCondition", "success_condition"),
    word_field("failureCondition", "failure_condition"),
    word_field("mergeStrategy", "merge_strategy"),
    flag_field("setOwnerReference", "set_owner_reference"),
    Field("flags", "flags", strings(), written_strings, ()),
    Field("manifest", "manifest", _manifest, untemplated, Templated(None)),
)


def _resource(data: JSON, root: Root) -> Any:
    if data.get("action") not in _ACTIONS:
        return UNSAID
    return _RESOURCE.read(data, root, manifest=Templated(None))


# ---- waiting, requests, data


def _suspend(data: JSON, root: Root) -> Any:
    length = duration(data["duration"], root) if data.get("duration") is not None else None
    return UNSAID if length is UNSAID or data.keys() - {"duration"} else Suspend(length)


def _header(given: JSON, root: Root) -> Any:
    """A header; its value may be a key of a secret."""
    name, source = word(given.get("name"), root), given.get("valueFrom")
    value: Any = UNSAID
    if given.keys() == {"name", "value"}:
        value = text(given["value"], root)
    elif given.keys() == {"name", "valueFrom"} and isinstance(source, dict) and source.keys() == {"secretKeyRef"}:
        value = secret(source["secretKeyRef"], root)
    return UNSAID if UNSAID in (name, value) else (name, value)


def _written_header(name: str, value: Any, root: Root) -> JSON:
    if isinstance(value, SecretRef):
        return {"name": name, "valueFrom": {"secretKeyRef": written_secret(value, root)}}
    return {"name": name, "value": written(value, root)}


_HTTP = Table(
    Http,
    text_field("url", "url"),
    Field("method", "method", word, as_it_is, "GET"),
    Field(
        "headers",
        "headers",
        each_of(_header),
        lambda value, root: [_written_header(name, each, root) for name, each in value],
        (),
    ),
    text_field("body", "body"),
    Field("timeoutSeconds", "timeout", seconds, written_seconds),
    word_field("successCondition", "success_condition"),
    flag_field("insecureSkipVerify", "insecure"),
)


def _data(data: JSON, root: Root) -> Any:
    source, transformation = data.get("source"), data.get("transformation")
    steps = each_of(_transformation)(transformation, root)
    if data.keys() != {"source", "transformation"} or not isinstance(source, dict) or steps is UNSAID:
        return UNSAID
    return Data(templated(source, root), steps)


def _transformation(given: JSON, root: Root) -> Any:
    return word(given.get("expression"), root) if given.keys() == {"expression"} else UNSAID


# ---- several containers

_SET = Table(ContainerSet, Field("volumeMounts", "mounts", read_mounts, written_mounts, ()))


def _container_set(data: JSON, root: Root) -> Any:
    attributes, rest = _SET.taken(data, root)
    given = rest.pop("containers", None)
    if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
        return UNSAID
    waits, own = [], []
    for each in given:
        names = strings(word)(each.get("dependencies"), root)
        if names is UNSAID or not names:
            own.append(container(each, root))
        else:
            waits.append((str(each.get("name", "")), names))
            own.append(container({key: value for key, value in each.items() if key != "dependencies"}, root))
    strategy = rest.get("retryStrategy")
    if isinstance(strategy, dict) and strategy.keys() == {"retries"} and type(strategy["retries"]) is int:
        attributes["retry"] = strategy["retries"]
        del rest["retryStrategy"]
    return ContainerSet(tuple(own), tuple(waits), **attributes, **extra(rest, root))


def _written_set(given: ContainerSet, root: Root) -> JSON:
    waits = dict(given.dependencies)
    found: JSON = {"containers": []}
    for each in given.containers:
        one = CONTAINER.write_all(each, root)
        if each.name in waits:
            one |= {"dependencies": list(waits[each.name])}
        found["containers"].append(one)
    found |= _SET.write(given, root)
    if given.retry:
        found |= {"retryStrategy": {"retries": given.retry}}
    return with_extra(found, given.extra, root)


# ---- all of them

_READ: dict[str, Any] = {
    "container": container,
    "script": script,
    "resource": _resource,
    "http": lambda data, root: _HTTP.read(data, root, url=""),
    "suspend": _suspend,
    "data": _data,
    "containerSet": _container_set,
    "plugin": lambda data, root: Plugin(templated(data, root)),
}


def body(rest: JSON, root: Root) -> Body:
    """The body of a template, taken out of its remaining fields; `NOTHING` where the IR can't say it."""
    for key in _READ:
        data = rest.get(key)
        if isinstance(data, dict) and (found := _READ[key](data, root)) is not UNSAID:
            del rest[key]
            return found  # type: ignore[no-any-return]
    return NOTHING


def written_body(given: Body, root: Root) -> JSON:
    """The body again, under the name of its kind."""
    match given:
        case Container():
            return {"container": CONTAINER.write_all(given, root)}
        case Script():
            return {"script": SCRIPT.write_all(given, root)}
        case Resource():
            return {"resource": _RESOURCE.write_all(given, root)}
        case Http():
            return {"http": _HTTP.write_all(given, root)}
        case Suspend():
            return {"suspend": {} if given.duration is None else {"duration": written_duration(given.duration, root)}}
        case Data():
            steps = [{"expression": each} for each in given.transformation]
            return {"data": {"source": untemplated(given.source, root), "transformation": steps}}
        case ContainerSet():
            return {"containerSet": _written_set(given, root)}
        case Plugin() if given.value.value is not None:
            return {"plugin": untemplated(given.value, root)}
        case _:
            return {}
