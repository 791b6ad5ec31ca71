"""Values for the parameters of a run, put into its document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from couler_py.backends.argo.emit.document import PARAMETERS
from couler_py.backends.argo.status import with_parameters
from couler_py.backends.base import OptionError
from couler_py.backends.rest.request import JSON
from couler_py.ir import wire


def with_values(workflow: JSON, given: Mapping[str, Any]) -> JSON:
    """The document with these values: encoded by their types where couler emitted it, else as Argo's own command does.

    A run of a stored template may be given parameters that only that template names.

    Raises `ValueError` for a parameter that the document doesn't have.
    """
    if not given:
        return workflow
    spec = workflow["spec"]
    if workflow.get("kind") == "CronWorkflow":
        inner = with_values({"metadata": workflow["metadata"], "spec": spec["workflowSpec"]}, given)
        return workflow | {"spec": spec | {"workflowSpec": inner["spec"]}}
    if PARAMETERS in (workflow["metadata"].get("annotations") or {}):
        return with_parameters(workflow, given)
    arguments = spec.get("arguments") or {}
    known = arguments.get("parameters") or []
    names = [each["name"] for each in known]
    unknown = [name for name in given if name not in names]
    if unknown and "workflowTemplateRef" not in spec:
        listing = ", ".join(names) or "none"
        raise ValueError(f"the workflow has no parameter {unknown[0]!r}; its parameters are {listing}")
    values = {name: value if isinstance(value, str) else wire.to_json(value) for name, value in given.items()}
    for each in known:
        if each["name"] in values and each.get("enum") and values[each["name"]] not in each["enum"]:
            raise OptionError(f"argo: the parameter {each['name']!r} is one of {', '.join(map(str, each['enum']))}")
    return with_texts(workflow, values)


def with_texts(workflow: JSON, values: Mapping[str, str]) -> JSON:
    """The document of a run with these texts as values of its parameters, in their places; others are added."""
    if not values:
        return workflow
    spec = workflow["spec"]
    arguments = spec.get("arguments") or {}
    known = arguments.get("parameters") or []
    names = [each["name"] for each in known]
    parameters = [
        {key: item for key, item in each.items() if key != "valueFrom"} | {"value": values[each["name"]]}
        if each["name"] in values
        else each
        for each in known
    ]
    parameters += [{"name": name, "value": value} for name, value in values.items() if name not in names]
    return workflow | {"spec": spec | {"arguments": arguments | {"parameters": parameters}}}


def typed(workflow: JSON, given: Mapping[str, str]) -> dict[str, str]:
    """Values for a run that there is, from texts as they are typed: as they stand in its document.

    Raises as `with_values` does.
    """
    changed = with_values(workflow, as_values(workflow, given))["spec"].get("arguments") or {}
    return {each["name"]: each["value"] for each in changed.get("parameters") or [] if each["name"] in given}


def as_values(workflow: JSON, given: Mapping[str, str]) -> dict[str, Any]:
    """Texts as they are typed, read as JSON where couler emitted the document and the parameter is no plain string."""
    types = msgspec.json.decode((workflow["metadata"].get("annotations") or {}).get(PARAMETERS, "{}"))
    return {name: _of_json(text) if name in types else text for name, text in given.items()}


def _of_json(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text
