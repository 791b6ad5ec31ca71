"""What a template says that it takes and gives: types, defaults, and where each output comes from."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from couler_py.ir.model import (
    ContainerSet,
    Function,
    Graph,
    Loop,
    OutputParameter,
    Parameter,
    Resource,
    Script,
    Suspend,
    Template,
)
from couler_py.ir.pod import Container
from couler_py.ir.storage import Git, RawData
from couler_py.ir.types import describe, mismatch
from couler_py.passes.check.findings import Findings, Place, related
from couler_py.passes.check.literals import check_literal
from couler_py.passes.check.scope import Scope
from couler_py.passes.check.typing import infer, unfit
from couler_py.passes.check.values import Artifact

_SOURCES: dict[type, frozenset[str]] = {
    Container: frozenset({"path", "stdout"}),
    Script: frozenset({"path", "stdout"}),
    ContainerSet: frozenset({"path", "stdout"}),
    Function: frozenset({"value"}),
    Graph: frozenset({"value"}),
    Loop: frozenset({"value"}),
    Resource: frozenset({"json_path", "jq_filter"}),
    Suspend: frozenset({"supplied"}),
}


def check_parameter(parameter: Parameter, what: str, findings: Findings, place: Place) -> None:
    """The default and the listed values of one parameter."""
    name = f"{what} {parameter.name}"
    if parameter.enum is not None and not parameter.enum:
        findings.error("CLR218", f"{name} lists no value that it may have", place)
    if parameter.default is msgspec.UNSET or not check_literal(
        parameter.default, f"the default of {name}", findings, place
    ):
        return
    reason = mismatch(parameter.type, parameter.default) if parameter.portable else None
    if reason is not None:
        findings.error("CLR212", f"the default of {name}, {describe(parameter.type)}, is wrong: {reason}", place)
    elif parameter.enum and parameter.default not in parameter.enum:
        findings.error("CLR212", f"the default of {name} is none of {', '.join(parameter.enum)}", place)


def check_inputs(template: Template, findings: Findings, place: Place) -> None:
    """The inputs of a template."""
    for parameter in template.inputs.parameters:
        if parameter.default is not msgspec.UNSET or parameter.enum is not None:
            check_parameter(parameter, "the parameter", findings, place)
    if isinstance(template.body, Function):
        names = [parameter.name for parameter in template.inputs.parameters]
        for name in (*names, *(artifact.name for artifact in template.inputs.artifacts)):
            if not name.isidentifier():
                message = f"{name!r} can't be an argument of the function {template.body.name}"
                findings.error("CLR203", message, place)
    elif isinstance(template.body, Container | Script | ContainerSet):
        for artifact in template.inputs.artifacts:
            if not artifact.path:
                findings.error("CLR296", f"the file {artifact.name} has no path to be put at", place)
    artifacts = template.inputs.artifacts
    if len(artifacts) > 1:
        _check_paths("input", ((artifact.name, artifact.path) for artifact in artifacts), findings, place)


def check_outputs(template: Template, scope: Scope) -> None:
    """The outputs of a template; `scope` is what their expressions see."""
    findings, place = scope.findings, scope.place
    for output in template.outputs.parameters:
        _check_source(output, template, findings, place)
        scope.what = f"the output {output.name}"
        if output.default is not msgspec.UNSET:
            check_literal(output.default, f"the default of {scope.what}", findings, place)
            reason = mismatch(output.type, output.default)
            if reason is not None:
                findings.error("CLR212", f"the default of {scope.what} is wrong: {reason}", place)
        if output.value is not None:
            no = unfit(output.value, output.type, scope)
            if no is not None:
                message = f"{scope.what} is {describe(output.type)}: {no.reason}"
                findings.error(no.code, message, place, related=related(no.maker))
    inner = isinstance(template.body, Graph | Loop)
    for artifact in template.outputs.artifacts:
        scope.what = f"the output file {artifact.name}"
        if isinstance(artifact.storage, Git | RawData):
            findings.error("CLR297", f"{scope.what} can't be stored there: it is a source, not a place", place)
        if artifact.value is not None:
            if not isinstance(infer(artifact.value, scope), Artifact):
                findings.error("CLR215", f"{scope.what} is taken from a value, not from a file", place)
        elif inner:
            findings.error("CLR245", f"{scope.what} doesn't say which step leaves it", place)
        elif not artifact.path and isinstance(template.body, Container | Script):
            findings.error("CLR296", f"{scope.what} has no path to be read from", place)
    if isinstance(template.body, Function):
        _check_returned(template, template.body, findings, place)
    # Two values may be read from one file, as text and as a number, say; a file is one output only.
    values = {output.path: output.name for output in reversed(template.outputs.parameters)}
    paths = [(name, path) for path, name in values.items()]
    paths += [(artifact.name, artifact.path) for artifact in template.outputs.artifacts]
    _check_paths("output", paths, findings, place)


def _check_source(output: OutputParameter, template: Template, findings: Findings, place: Place) -> None:
    sources = [
        name for name in ("path", "stdout", "value", "json_path", "jq_filter", "supplied") if getattr(output, name)
    ]
    allowed = _SOURCES.get(type(template.body))
    if allowed is None:
        return
    kind = type(template.body).__name__.lower()
    if len(sources) > 1:
        findings.error("CLR245", f"the output {output.name} has two sources: {' and '.join(sources)}", place)
    elif not sources and not isinstance(template.body, Function):
        wanted = " or ".join(sorted(allowed))
        findings.error("CLR245", f"the output {output.name} of a {kind} needs {wanted}", place)
    elif sources and sources[0] not in allowed:
        findings.error("CLR245", f"the output {output.name} of a {kind} can't come from {sources[0]}", place)


def _check_returned(template: Template, function: Function, findings: Findings, place: Place) -> None:
    outputs = template.outputs
    returned = [output.name for output in outputs.parameters if output.value is None]
    returned += [artifact.name for artifact in outputs.artifacts if artifact.value is None]
    wrong = {"none": bool(returned), "one": len(returned) != 1, "fields": not returned}[function.returns]
    if wrong:
        findings.error(
            "CLR246",
            f"{function.name} returns {function.returns!r}, and has the outputs {', '.join(returned) or 'none'}",
            place,
        )


def _check_paths(what: str, paths: Iterable[tuple[str, str]], findings: Findings, place: Place) -> None:
    seen: dict[str, str] = {}
    for name, path in paths:
        if path and path in seen:
            findings.error("CLR292", f"the {what}s {seen[path]} and {name} have the same path {path}", place)
        seen.setdefault(path, name)
