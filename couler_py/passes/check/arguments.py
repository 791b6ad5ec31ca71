"""What a call gives against what the template takes: all that is required, nothing unknown, of the right types."""

from __future__ import annotations

from collections.abc import Iterable

from couler_py.ir import expr as x
from couler_py.ir.model import Argument, ArtifactArgument
from couler_py.ir.types import describe
from couler_py.passes.check.facts import Signature
from couler_py.passes.check.findings import related
from couler_py.passes.check.references import suggest
from couler_py.passes.check.scope import Scope
from couler_py.passes.check.typing import infer, unfit
from couler_py.passes.check.values import Artifact


def check_arguments(
    target: Signature | None, arguments: tuple[Argument, ...], artifacts: tuple[ArtifactArgument, ...], scope: Scope
) -> None:
    """All arguments of one call. With `target` None (not known here), only the expressions themselves."""
    before = scope.what
    if target is None:
        for argument in arguments:
            scope.what = f"the argument {argument.name}"
            infer(argument.value, scope)
        for artifact in artifacts:
            if artifact.value is not None:
                scope.what = f"the file {artifact.name}"
                infer(artifact.value, scope)
    else:
        _check_parameters(target, arguments, scope)
        if artifacts or target.required_artifacts:
            _check_artifacts(target, artifacts, scope)
    scope.what = before


def _check_parameters(target: Signature, arguments: tuple[Argument, ...], scope: Scope) -> None:
    parameters = target.parameters
    for argument in arguments:
        name = argument.name
        scope.what = f"the argument {name}"
        parameter = parameters.get(name)
        if parameter is None:
            _report_unknown(target, name, name in target.artifacts, parameters, scope)
            infer(argument.value, scope)
            continue
        no = unfit(argument.value, parameter.type, scope)
        if no is not None:
            scope.findings.error(
                no.code,
                f"the argument {name} of {target.name} takes {describe(parameter.type)}: {no.reason}",
                scope.place,
                related=related(no.maker, (f"the parameter {name} of {target.name}", target.source)),
            )
        elif parameter.enum and isinstance(argument.value, x.Literal) and argument.value.value not in parameter.enum:
            message = f"the argument {name} of {target.name} must be one of {', '.join(parameter.enum)}"
            scope.findings.error("CLR212", message, scope.place)
    if len(arguments) != len(parameters) or target.required:
        _check_given(target, [argument.name for argument in arguments], target.required, "argument", scope)


def _check_artifacts(target: Signature, arguments: tuple[ArtifactArgument, ...], scope: Scope) -> None:
    for argument in arguments:
        name = argument.name
        scope.what = f"the file {name}"
        found = target.artifacts.get(name)
        if found is None:
            _report_unknown(target, name, name in target.parameters, target.artifacts, scope)
        if argument.value is None:
            if argument.storage is None and not argument.optional:
                scope.findings.error("CLR211", f"the file {name} is given neither a value nor a place", scope.place)
            continue
        if not isinstance(infer(argument.value, scope), Artifact):
            if not _refers_outside(argument.value, scope):
                message = f"{target.name} takes a file as {name}, and gets a value"
                scope.findings.error("CLR215", message, scope.place, related=related((f"{target.name}", target.source)))
        elif found is not None and not found.optional and _or_none(argument.value):
            message = f"the file {name} can be absent here, and {target.name} can't do without it"
            help_ = f"make {name} optional in {target.name}: `{name}: Path | None`"
            scope.findings.error("CLR216", message, scope.place, help=help_)
    _check_given(target, [argument.name for argument in arguments], target.required_artifacts, "file", scope)


def _or_none(expr: x.Expr) -> bool:
    return isinstance(expr, x.OrElse) and expr.default == x.Literal(None)


def _refers_outside(expr: x.Expr, scope: Scope) -> bool:
    """Whether the type of an expression isn't known here: an external template's, or a reference already reported."""
    if isinstance(expr, x.Raw):
        return True
    if not isinstance(expr, x.TaskOutput | x.TaskArtifact | x.InputArtifact | x.First | x.OrElse):
        return False
    called = scope.tasks.get(expr.task) if isinstance(expr, x.TaskOutput) and scope.tasks is not None else None
    return not isinstance(expr, x.TaskOutput) or called is None or expr.name not in _outputs(called.signature)


def _outputs(signature: Signature | None) -> Iterable[str]:
    return () if signature is None else signature.outputs


def _report_unknown(target: Signature, name: str, other_kind: bool, known: Iterable[str], scope: Scope) -> None:
    if other_kind:
        message = f"{target.name} takes {name} the other way: values are arguments, files are artifacts"
        scope.findings.error("CLR215", message, scope.place)
    else:
        scope.findings.error(
            "CLR210",
            f"{target.name} takes no {name}",
            scope.place,
            help=suggest(name, known),
            related=related((target.name, target.source)),
        )


def _check_given(target: Signature, given: list[str], required: tuple[str, ...], what: str, scope: Scope) -> None:
    names = set(given)
    if len(names) < len(given):
        twice = next(name for name in given if given.count(name) > 1)
        scope.findings.error("CLR214", f"the {what} {twice} is given twice", scope.place)
    for name in required:
        if name not in names:
            scope.findings.error(
                "CLR211",
                f"{target.name} needs the {what} {name}, and it isn't given",
                scope.place,
                related=related((target.name, target.source)),
            )
