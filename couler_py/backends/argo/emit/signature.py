"""The inputs of templates and the parameters of runs."""

from __future__ import annotations

import re
from typing import Any

from msgspec import UNSET

from couler_py.backends.argo.emission import Emission, named
from couler_py.backends.argo.emit.arguments import literal_text, plain_literal, report
from couler_py.backends.argo.emit.expressions import UnprovenError
from couler_py.backends.argo.emit.literals import member, tag
from couler_py.backends.argo.emit.scope import TemplateScope
from couler_py.backends.argo.emit.storage import storage
from couler_py.backends.argo.emit.text import render
from couler_py.backends.argo.program import KEY, Variant
from couler_py.ir.model import Function, Graph, Loop, Parameter, Template
from couler_py.ir.types import Choice
from couler_py.kubernetes import plain as plain_text
from couler_py.kubernetes.containers import config_map_key

JSON = dict[str, Any]
_BRACE = re.compile(r"\{(?=\{)")
INPUTS = "/tmp/couler/inputs"  # noqa: S108 - inside the step's own container


def inputs(emission: Emission, template: Template, scope: TemplateScope, variant: Variant = "") -> JSON:
    """The `inputs` of a template; empty where it has none."""
    given = template.inputs
    found: JSON = {}
    ours = isinstance(template.body, Function | Graph | Loop)
    if given.parameters:
        found["parameters"] = [
            parameter(
                emission,
                each,
                scope.input_name(each.name),
                not ours or (template.name, each.name) in emission.program.plain_inputs,
                template.display or template.name,
                key="default",
            )
            for each in given.parameters
        ]
    if "keyed" in variant:
        keys = [{"name": KEY + name} for name in sorted(emission.program.keyed[template.name])]
        found["parameters"] = [*found.get("parameters", []), *keys]
    if given.artifacts:
        found["artifacts"] = [_artifact(emission, template, each, scope) for each in given.artifacts]
    return found


def parameter(emission: Emission, given: Parameter, name: str, plain: bool, owner: str, key: str) -> JSON:
    """A parameter; its default value stands under `key`."""
    found: JSON = {"name": name}
    if given.value_from is not None:
        found["valueFrom"] = {"configMapKeyRef": config_map_key(given.value_from, plain_text)}
    if given.default is not UNSET:
        try:
            text = (plain_literal if plain else literal_text)(given.default, given.type)
        except UnprovenError as error:
            report(emission, error, f"the default of {given.name!r}", owner, None)
            text = ""
        if given.value_from is None:
            found[key] = text
        else:
            found["valueFrom"]["default"] = text
    if given.enum is not None:
        found["enum"] = [literal_text(value, given.type) for value in given.enum]
    elif isinstance(given.type, Choice) and key == "value":
        found["enum"] = [literal_text(value, given.type) for value in given.type.values]
    if given.description:
        found["description"] = _BRACE.sub("{ ", given.description)
    return found


def _artifact(emission: Emission, template: Template, given: Any, scope: TemplateScope) -> JSON:
    found: JSON = {"name": scope.input_name(given.name)}
    if isinstance(template.body, Function):
        found["path"] = given.path or f"{INPUTS}/{given.name}"
    elif given.path:
        found["path"] = given.path
    if given.optional:
        found["optional"] = True
    if given.mode is not None:
        found["mode"] = given.mode
    if given.archive:
        found["archive"] = archive(given.archive)
    if given.storage is not None:
        found |= storage(emission, given.storage, render(emission, template, scope), *named(template))
    return found


def archive(kind: str) -> JSON:
    """How an artifact is packed."""
    return {kind: {}}


def keyed(emission: Emission, template: Template, variant: Variant, name: str) -> JSON:
    """Where an output artifact of a keyed template goes: unpacked, so that a folder of them can be read as one."""
    if "keyed" not in variant or name not in emission.program.keyed[template.name]:
        return {}
    kind = emission.options.repository
    field = "blob" if kind == "azure" else "path" if kind == "hdfs" else "key"
    return {"archive": {"none": {}}, kind: {field: tag(member("inputs.parameters", KEY + name))}}
