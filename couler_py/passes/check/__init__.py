"""What is wrong with a workflow, on any engine, found without running it.

`check` reports everything at once, in the order of the program, in time linear in tasks and edges.
What only one engine can't do is that engine's own to say.
"""

from __future__ import annotations

import msgspec

from couler_py.ir.diagnostics import Diagnostic
from couler_py.ir.model import Document, Function, Graph, Loop, Template, Workflow
from couler_py.passes.check.calls import check_endless, check_entrypoint, check_unreachable
from couler_py.passes.check.edges import check_watched
from couler_py.passes.check.facts import Facts, Signature
from couler_py.passes.check.findings import Findings, Place
from couler_py.passes.check.graphs import check_graph, inline_templates
from couler_py.passes.check.loops import check_loop
from couler_py.passes.check.names import check_names, check_names_of
from couler_py.passes.check.outputs import check_inputs, check_outputs
from couler_py.passes.check.packages import check_imports
from couler_py.passes.check.pods import check_pod, check_volumes
from couler_py.passes.check.policies import check_limits, check_policies
from couler_py.passes.check.presence import check_presence
from couler_py.passes.check.scope import ALWAYS_KNOWN, IN_HANDLERS, IN_STEPS, Scope
from couler_py.passes.check.starting import check_handlers, check_schedule, check_start
from couler_py.passes.check.texts import texts, texts_in
from couler_py.passes.check.typing import check_text

__all__ = ["check"]


def check(model: Workflow | Document) -> list[Diagnostic]:
    """Everything that is wrong with a workflow: errors, warnings and notes, in the order of the program.

    A document that only holds templates for others (a WorkflowTemplate without entrypoint) is checked
    without asking where a run would start. Of a workflow in Argo's own words, which has Argo's meaning, only what keeps
    it from being written is reported.

    >>> from couler_py import ir
    >>> [d.code for d in check(ir.Workflow("w", "main", (ir.Template("wait", ir.Suspend()),)))]
    ['CLR201']
    """
    workflow = model.workflow if isinstance(model, Document) else model
    library = isinstance(model, Document) and not workflow.entrypoint
    findings = Findings()
    if workflow.dialect == "argo":  # what is right there is Argo's to say, and its linter's
        _check_encodable(workflow, findings)
        return findings.all()
    facts = Facts(workflow)
    check_names(facts, findings)
    if not library:
        check_entrypoint(facts, findings)
        check_start(facts, findings)
    check_schedule(facts, findings)
    check_limits(workflow, findings)
    check_volumes(workflow, findings)
    _check_workflow_texts(facts, findings)
    for template in workflow.templates:
        _check_template(template, facts, findings)
    check_handlers(facts, findings)
    if facts.sound:
        check_endless(facts, findings)
        for template in workflow.templates:
            if isinstance(template.body, Graph):
                check_presence(template, template.body, facts, findings)
                check_watched(template, template.body, facts, findings)
    if not library and workflow.entrypoint in facts.templates:
        check_unreachable(facts, findings)
    _check_encodable(workflow, findings)
    return findings.all()


def _check_template(template: Template, facts: Facts, findings: Findings) -> None:
    place = Place(template.name, template.source)
    in_handler = template.name in facts.only_in_handlers
    check_names_of(template, findings)
    if template.inputs.parameters or template.inputs.artifacts:
        check_inputs(template, findings, place)
    own = Signature.of(template) if template.name not in facts.templates else facts.signature_of(template.name)
    scope = Scope(facts, findings, place, "", own)
    _check_body(template, scope, IN_HANDLERS if in_handler else ALWAYS_KNOWN)
    check_pod(template, facts.workflow, findings, place)
    check_imports(template, facts.workflow, findings, place)
    inside = Scope(facts, findings, place, "a text of the template", own, run=IN_STEPS, paths=True)
    if in_handler:
        inside.run |= IN_HANDLERS
    for text in texts(template):
        check_text(text, inside)
    check_policies(template, Scope(facts, findings, place, "", own))
    for inline in inline_templates(template):
        _check_template(inline, facts, findings)


def _check_body(template: Template, scope: Scope, run: frozenset[str]) -> None:
    body = template.body
    scope.run = run
    if isinstance(body, Graph):
        scope.tasks = check_graph(template, body, scope.facts, scope.findings, run)
    elif isinstance(body, Loop):
        check_loop(template, body, scope)
    elif isinstance(body, Function):
        scope.own = _returned(template)
        scope.inputs = None
    if template.outputs.parameters or template.outputs.artifacts or isinstance(body, Function):
        check_outputs(template, scope)


def _returned(template: Template) -> Signature:
    """What a function itself returns: the outputs that aren't decisions over others."""
    parameters = tuple(output for output in template.outputs.parameters if output.value is None)
    return Signature.of(
        msgspec.structs.replace(template, outputs=msgspec.structs.replace(template.outputs, parameters=parameters))
    )


def _check_workflow_texts(facts: Facts, findings: Findings) -> None:
    workflow = facts.workflow
    scope = Scope(facts, findings, Place(workflow.name, workflow.source), "a text of the workflow")
    for part in (workflow.pod, workflow.volumes, workflow.locks, workflow.artifacts):
        for text in texts_in(part):
            check_text(text, scope)


def _check_encodable(workflow: Workflow, findings: Findings) -> None:
    """Text that isn't Unicode, anywhere: no file could hold it."""
    try:
        msgspec.json.encode(workflow)
    except UnicodeEncodeError as error:
        if not any(found.code == "CLR228" for found in findings.all()):
            place = Place(workflow.name, workflow.source)
            findings.error("CLR228", f"a text of the workflow is not Unicode: {error.reason}", place)
    except (OverflowError, TypeError, RecursionError, ValueError) as error:
        if not any(found.code in ("CLR228", "CLR276") for found in findings.all()):
            place = Place(workflow.name, workflow.source)
            findings.error("CLR228", f"the workflow can't be written as JSON: {error}", place)
