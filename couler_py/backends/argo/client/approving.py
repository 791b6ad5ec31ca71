"""Letting waiting nodes of a run go on by changing its object, as Argo's own command does where it has no server."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from couler_py.backends.argo.status import unpacked
from couler_py.backends.base import NotOffered
from couler_py.backends.rest.request import JSON


def approved(workflow: JSON, nodes: Mapping[str, Mapping[str, str]]) -> JSON:
    """The run with these nodes succeeded: by id, with these outputs; for others that it has, their defaults.

    Raises `NotOffered` where a node has no such output, or one has neither a value nor a default, and where the nodes
    are in a database that only the Argo server reads.
    """
    if workflow.get("status", {}).get("offloadNodeStatusVersion"):
        raise NotOffered("the nodes of this run are in a database that only the Argo server reads: name it by --server")
    packed = "compressedNodes" in workflow.get("status", {})
    status = dict(unpacked(workflow)["status"])
    found = dict(status["nodes"])
    for identity, given in nodes.items():
        node = found[identity]
        if node.get("phase") != "Running":
            continue  # somebody else was faster
        expected = node.get("outputs", {}).get("parameters") or []
        if unknown := sorted(set(given) - {each["name"] for each in expected}):
            names = ", ".join(each["name"] for each in expected) or "none"
            raise NotOffered(f"what waits has no output {unknown[0]!r}; its outputs are {names}")
        parameters = [_supplied(each, given) for each in expected]
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        found[identity] = node | {"phase": "Succeeded", "finishedAt": now}
        if parameters:
            found[identity] |= {"outputs": node["outputs"] | {"parameters": parameters}}
        status = _published(status, parameters)
    status["nodes"] = found
    if packed:
        status["compressedNodes"] = base64.b64encode(gzip.compress(msgspec.json.encode(status.pop("nodes")))).decode()
    return workflow | {"status": status}


def all_done(workflow: JSON, nodes: Mapping[str, Any]) -> bool:
    """Whether none of these nodes waits any longer."""
    found = unpacked(workflow).get("status", {}).get("nodes", {})
    return all(found.get(each, {}).get("phase") != "Running" for each in nodes)


def _supplied(parameter: JSON, given: Mapping[str, str]) -> JSON:
    name, source = parameter["name"], parameter.get("valueFrom") or {}
    if "supplied" not in source:
        return parameter
    if name in given:
        value = given[name]
    elif "default" in source:
        value = source["default"]
    else:
        raise NotOffered(f"what waits needs a value for its output {name!r}: `couler resume RUN --output {name}=VALUE`")
    return {key: item for key, item in parameter.items() if key != "valueFrom"} | {"value": value}


def _published(status: JSON, parameters: list[JSON]) -> JSON:
    """The status with the outputs that have a global name among those of the run."""
    named = {each["globalName"]: each.get("value") for each in parameters if each.get("globalName")}
    if not named:
        return status
    outputs = status.get("outputs") or {}
    kept = [each for each in outputs.get("parameters") or [] if each["name"] not in named]
    added = [{"name": name, "value": value} for name, value in named.items()]
    return status | {"outputs": outputs | {"parameters": [*kept, *added]}}
