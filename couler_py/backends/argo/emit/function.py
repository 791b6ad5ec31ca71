"""Python steps: the runner in an environment variable, the user's source as the script."""

from __future__ import annotations

from typing import Any

from couler_py import runner
from couler_py.backends.argo.emission import Emission
from couler_py.backends.argo.emit.caching import cached_place
from couler_py.backends.argo.emit.include import include_fields
from couler_py.backends.argo.emit.literals import member, tag
from couler_py.backends.argo.emit.scope import ABSENT, TemplateScope
from couler_py.backends.argo.emit.signature import keyed
from couler_py.backends.argo.emit.text import EMPTY, needs_empty
from couler_py.backends.argo.program import Variant
from couler_py.ir.expr import Run
from couler_py.ir.model import Function, Template
from couler_py.kubernetes import Render, container_fields
from couler_py.runner.step import variable_of

JSON = dict[str, Any]
OUTPUTS = "/tmp/couler/outputs"  # noqa: S108 - inside the step's own container
FACTS = ("id", "name", "namespace", "scheduled_time", "start", "attempt")
SOURCE = "couler.dev/source."


def function_fields(emission: Emission, template: Template, variant: Variant, render: Render, command: Render) -> JSON:
    """The `script` of a Python step, with the volumes that bring the user's own modules."""
    body = template.body
    assert isinstance(body, Function)
    source = runner.source(template)
    if any("{{" in piece.text for piece in body.pieces):
        name = emission.program.template_name(template.name, variant)
        # Metadata isn't filled in by Argo, so here the source stays readable.
        emission.annotations[SOURCE + name[:50].rstrip("-")] = "\n".join(piece.text for piece in body.pieces)
    fields = container_fields(body, render, command)
    env = own_env(emission, template, variant, render)
    extra, volumes = include_fields(emission, template)
    env += extra
    own = [{"name": EMPTY, "value": ""}] if needs_empty(fields) else []  # first: Kubernetes looks only backwards
    fields["env"] = own + env + fields.get("env", [])
    if volumes:
        fields["volumeMounts"] = [mount for mount, _ in volumes] + fields.get("volumeMounts", [])
    # The source before what surrounds it: it is what a reader of the document looks for.
    script: JSON = {"image": render(body.image), "command": list(body.command), "source": source} | fields
    found: JSON = {"script": script}
    if volumes:
        found["volumes"] = [volume for _, volume in volumes]
    return found


def own_env(emission: Emission, template: Template, variant: Variant, render: Render) -> list[JSON]:
    """The variables through which the runner hears of its inputs and what is asked of it."""
    body = template.body
    assert isinstance(body, Function)
    program = emission.program
    found: list[JSON] = [{"name": "COULER_RUNNER", "value": emission.runner()}]
    for parameter in template.inputs.parameters:
        text = member("inputs.parameters", program.field(template, parameter.name))
        found.append({"name": variable_of(parameter.name), "value": tag(f"toBase64({text})")})
    if "item" in variant:
        found.append({"name": "COULER_FORM", "value": "item"})
    plain = [each.name for each in template.outputs.parameters if (template.name, each.name) in program.plain_outputs]
    if plain:
        found.append({"name": "COULER_PLAIN", "value": ",".join(plain)})
    if exact := emission.exact_outputs.get(template.name):
        found.append({"name": "COULER_EXACT", "value": ",".join(exact)})
    if body.packages:
        found.append({"name": "COULER_INSTALL", "value": "1"})
    if body.include or any("run_info" in piece.text for piece in body.pieces):
        from couler_py.ir.expr import Text

        for fact in FACTS:
            if fact != "attempt" or template.retry is not None:
                value = render(Text((Run(fact),)))  # type: ignore[arg-type]
                found.append({"name": f"COULER_RUN_{fact.upper()}", "value": value})
    return found


def function_outputs(emission: Emission, template: Template, variant: Variant, scope: TemplateScope) -> JSON:
    """The files that the runner leaves, as outputs."""
    program = emission.program
    found: JSON = {}
    parameters = []
    for output in template.outputs.parameters:
        name = program.field(template, output.name)
        entry: JSON = {"name": name, "valueFrom": {"path": f"{OUTPUTS}/{output.name}"}}
        if output.global_name:
            entry["globalName"] = program.published_name(output.global_name)
            entry["valueFrom"]["default"] = ABSENT
        parameters.append(entry)
    artifacts = []
    for left in template.outputs.artifacts:
        entry = {"name": program.field(template, left.name), "path": left.path or f"{OUTPUTS}/{left.name}"}
        if left.optional:
            entry["optional"] = True
        if left.archive:
            entry["archive"] = {left.archive: {}}
        if left.global_name:
            entry["globalName"] = program.published_name(left.global_name)
        place = cached_place(emission, template, scope, left.name)
        artifacts.append(entry | place | keyed(emission, template, variant, left.name))
    body = template.body
    assert isinstance(body, Function)
    if any("log_metric" in piece.text for piece in body.pieces):
        artifacts.append({"name": "couler-metrics", "path": f"{OUTPUTS}/metrics.jsonl", "optional": True})
    if parameters:
        found["parameters"] = parameters
    if artifacts:
        found["artifacts"] = artifacts
    return found
