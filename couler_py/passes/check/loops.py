"""Loops: that body, carried values and end fit together."""

from __future__ import annotations

from couler_py.ir.model import Loop, Template
from couler_py.ir.types import accepts, describe
from couler_py.passes.check.calls import check_called
from couler_py.passes.check.facts import Signature
from couler_py.passes.check.findings import Findings, Place, related
from couler_py.passes.check.references import suggest
from couler_py.passes.check.scope import Scope
from couler_py.passes.check.typing import check_condition


def check_loop(template: Template, loop: Loop, scope: Scope) -> None:
    """Everything about one loop but its outputs."""
    facts, findings = scope.facts, scope.findings
    place = scope.place
    if loop.max_iterations < 1:
        findings.error("CLR263", f"max_iterations={loop.max_iterations}: the body runs at least once", place)
    check_called(loop.body, facts, findings, place)
    body = facts.signature_of(loop.body)
    if body is None:
        return
    scope.what = "the end of the loop"
    scope.own = body
    check_condition(loop.until, scope)
    seen: set[str] = set()
    for carry in loop.carry:
        if carry.input in seen:
            findings.error("CLR262", f"two values are carried to the input {carry.input}", place)
        seen.add(carry.input)
        _check_carry(carry.output, carry.input, body, findings, place)
    _check_given(template, body, findings, place)


def _check_carry(output: str, input_: str, body: Signature, findings: Findings, place: Place) -> None:
    see = related((f"the body {body.name}", body.source))
    given = body.outputs.get(output)
    asked = body.parameters.get(input_)
    if given is None and output not in body.output_artifacts:
        message = f"{output} is carried on, and {body.name} has no such output"
        findings.error("CLR261", message, place, help=suggest(output, body.outputs), related=see)
    elif asked is None and input_ not in body.artifacts:
        message = f"{output} is carried to {input_}, and {body.name} has no such input"
        findings.error("CLR261", message, place, help=suggest(input_, body.parameters), related=see)
    elif given is None and asked is None:
        return
    elif given is None or asked is None:
        findings.error("CLR262", f"{output} and {input_} are not both files or both values", place, related=see)
    elif not accepts(asked.type, given):
        message = f"{output} is {describe(given)}, and is carried to {input_}, which takes {describe(asked.type)}"
        findings.error("CLR262", message, place, related=see)


def _check_given(template: Template, body: Signature, findings: Findings, place: Place) -> None:
    """The first iteration gets the loop's own inputs, by name."""
    own = Signature.of(template)
    see = related((f"the body {body.name}", body.source))
    for name, parameter in body.parameters.items():
        found = own.parameters.get(name)
        if found is None:
            if name in body.required:
                message = f"the body needs {name}, and the loop has no input of that name to begin with"
                findings.error("CLR264", message, place, related=see)
        elif not accepts(parameter.type, found.type):
            message = (
                f"the loop's input {name} is {describe(found.type)}, and the body takes {describe(parameter.type)}"
            )
            findings.error("CLR213", message, place, related=see)
    for name in body.required_artifacts:
        if name not in own.artifacts:
            message = f"the body needs the file {name}, and the loop has no input of that name to begin with"
            findings.error("CLR264", message, place, related=see)
