"""One IR template as Argo templates."""

from __future__ import annotations

from typing import Any

from couler_py.backends.argo.emission import Emission
from couler_py.backends.argo.emit.graph import GraphWriter
from couler_py.backends.argo.emit.include import include_artifacts
from couler_py.backends.argo.emit.leaf import LeafWriter
from couler_py.backends.argo.emit.loop import loop_fields
from couler_py.backends.argo.emit.policy import policies
from couler_py.backends.argo.emit.scope import TemplateScope
from couler_py.backends.argo.program import Variant
from couler_py.ir.model import Graph, Loop, Template

JSON = dict[str, Any]
DISPLAY = "couler.dev/name"


def template_data(emission: Emission, template: Template, variant: Variant = "") -> JSON:
    """The template as Argo has it. What it needs besides is added to the emission."""
    name = emission.program.template_name(template.name, variant)
    found: JSON = {"name": name}
    if isinstance(template.body, Graph):
        writer = GraphWriter(emission, template, variant)
        scope: TemplateScope = writer.scope
        fields = writer.write()
    elif isinstance(template.body, Loop):
        scope = TemplateScope(emission.program, template)
        fields = loop_fields(emission, template, scope, name)
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
        metadata = policy.pop("metadata", {})
        found["metadata"] = metadata | {"annotations": metadata.get("annotations", {}) | {DISPLAY: display}}
    return found | policy | fields
