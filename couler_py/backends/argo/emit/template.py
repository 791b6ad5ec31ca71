"""One IR template as Argo templates."""

from __future__ import annotations

from typing import Any

import msgspec

from couler_py.backends.argo.emission import ROLE, Emission, named, nothing
from couler_py.backends.argo.emit.braces import check_braces
from couler_py.backends.argo.emit.graph import GraphWriter
from couler_py.backends.argo.emit.include import include_artifacts
from couler_py.backends.argo.emit.leaf import LeafWriter
from couler_py.backends.argo.emit.loop import loop_fields
from couler_py.backends.argo.emit.own_words import add_own_words, in_argos_words
from couler_py.backends.argo.emit.policy import policies
from couler_py.backends.argo.emit.scope import TemplateScope
from couler_py.backends.argo.emit.signature import inputs
from couler_py.backends.argo.emit.text import render
from couler_py.backends.argo.program import Variant
from couler_py.backends.argo.schema.checking import template_schema
from couler_py.ir.model import Graph, Loop, Suspend, Template
from couler_py.kubernetes import templated

JSON = dict[str, Any]
DISPLAY = "couler.dev/name"
PRINTED = "couler.dev/printed"
TASKS = "couler.dev/tasks"
"""The annotation of a graph whose tasks have names that Argo doesn't take: their names there, and ours."""


def template_data(emission: Emission, template: Template, variant: Variant = "") -> JSON:
    """The template as Argo has it. What it needs besides is added to the emission."""
    name = emission.program.template_name(template.name, variant)
    check_braces(emission, template)
    found: JSON = {"name": name}
    if isinstance(template.body, Graph):
        writer = GraphWriter(emission, template, variant)
        scope: TemplateScope = writer.scope
        fields = writer.write()
    elif isinstance(template.body, Loop):
        scope = TemplateScope(emission.program, template)
        fields = loop_fields(emission, template, scope, name, variant)
    elif isinstance(template.body, Suspend) and template.body.duration == 0 and not template.outputs.parameters:
        # Nothing to wait for: Argo would look again a second later.
        scope = TemplateScope(emission.program, template)
        fields = nothing(emission.no_op())
        found["metadata"] = {"annotations": {ROLE: "nothing"}}
        if given := inputs(emission, template, scope, variant):
            fields["inputs"] = given
    else:
        leaf = LeafWriter(emission, template, variant)
        scope, fields = leaf.scope, leaf.write()
        if archives := include_artifacts(emission, template):
            fields.setdefault("inputs", {}).setdefault("artifacts", []).extend(archives)
    policy = policies(emission, template, scope)
    if "volumes" in policy and "volumes" in fields:
        policy["volumes"] = fields.pop("volumes") + policy["volumes"]
    display = template.display or (template.name if template.name != name else "")
    if display and "{{" not in display:
        annotate(policy, DISPLAY, display)
    if isinstance(template.body, Graph):
        renamed = {known: given for given, known in writer.names.items() if given != known}
        if writer.scope.captured:
            annotate(policy, PRINTED, " ".join(sorted(writer.scope.captured)))
        if renamed:
            annotate(policy, TASKS, msgspec.json.encode(renamed).decode())
    if isinstance(template.body, Loop):
        annotate(policy, ROLE, "loop")
    if template.name in emission.modules:
        annotate(policy, ROLE, "module")
    made = found | policy | fields
    if template.pod.extra is None:
        return made
    given = templated(template.pod.extra, in_argos_words(render(emission, template, scope)))
    step, source = named(template)
    return add_own_words(emission, made, given, template_schema(), step=step, source=source)


def annotate(fields: JSON, key: str, text: str) -> None:
    """Add an annotation to a template."""
    fields.setdefault("metadata", {}).setdefault("annotations", {})[key] = text
