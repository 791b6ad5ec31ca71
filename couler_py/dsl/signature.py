"""The signature of a Python step as typed inputs and outputs of a template."""

from __future__ import annotations

import inspect
import pathlib
from types import FunctionType
from typing import Any, Literal, TypeAlias

import msgspec

from couler_py.dsl.annotations import ArtifactType, Scope, class_scope, description, hint, resolve, result_fields
from couler_py.dsl.conversions import ValueMismatchError, to_wire
from couler_py.dsl.errors import DefinitionError
from couler_py.ir.diagnostics import error
from couler_py.ir.model import (
    InputArtifact,
    Inputs,
    OutputArtifact,
    OutputParameter,
    Outputs,
    Parameter,
)
from couler_py.ir.storage import LocalPath, Storage
from couler_py.ir.types import ANY

Returns: TypeAlias = Literal["none", "one", "fields"]

RESULT = "result"
"""The name of the output of a step that returns one thing."""


def inputs(function: FunctionType, scope: Scope) -> Inputs:
    """The inputs of a function: values as parameters, files as artifacts.

    Raises `DefinitionError` for parameters that a call can't name, types that can't travel, and
    defaults of another type.
    """
    parameters: list[Parameter] = []
    artifacts: list[InputArtifact] = []
    for name, parameter in inspect.signature(function).parameters.items():
        inner = msgspec.structs.replace(scope, what=f"parameter {name!r}")
        _check_kind(parameter, inner)
        annotation = Any if parameter.annotation is parameter.empty else parameter.annotation
        found = hint(annotation, inner)
        text = description(annotation, inner)
        if isinstance(found, ArtifactType):
            artifacts.append(_artifact(name, found, parameter.default, text, inner))
        else:
            default = msgspec.UNSET
            if parameter.default is not parameter.empty:
                try:
                    default = to_wire(found, parameter.default)
                except ValueMismatchError as problem:
                    raise _wrong("CLR102", f"the default of {name!r} doesn't fit: {problem}", scope) from problem
            parameters.append(Parameter(name, found, default, description=text))
    return Inputs(tuple(parameters), tuple(artifacts))


def outputs(function: FunctionType, scope: Scope, *, returns_value: bool) -> tuple[Returns, Outputs]:
    """What a function returns, as outputs; `returns_value` tells where there is no annotation."""
    annotation = function.__annotations__.get("return", inspect.Parameter.empty)
    inner = msgspec.structs.replace(scope, what="the result")
    if annotation is inspect.Parameter.empty:
        return ("one", Outputs((OutputParameter(RESULT, ANY),))) if returns_value else ("none", Outputs())
    resolved = resolve(annotation, inner)
    if resolved is None or resolved is type(None):
        return "none", Outputs()
    fields = result_fields(resolved, inner)
    if fields is None:
        return "one", _outputs([(RESULT, resolved)], inner)
    return "fields", _outputs(fields, class_scope(resolved, inner))


def _outputs(fields: Any, scope: Scope) -> Outputs:
    parameters: list[OutputParameter] = []
    artifacts: list[OutputArtifact] = []
    for name, annotation in fields:
        inner = scope if name == RESULT else msgspec.structs.replace(scope, what=f"the result, field {name!r}")
        found = hint(annotation, inner)
        text = description(annotation, inner)
        if isinstance(found, ArtifactType):
            if found.many:
                raise _wrong(
                    "CLR100",
                    f"{inner.what} is a list of files",
                    scope,
                    help="write the files into one folder and return its `Path`",
                )
            artifacts.append(OutputArtifact(name, optional=found.optional, description=text))
        else:
            parameters.append(OutputParameter(name, found, description=text))
    return Outputs(tuple(parameters), tuple(artifacts))


def _artifact(name: str, found: ArtifactType, default: Any, text: str, scope: Scope) -> InputArtifact:
    if default is inspect.Parameter.empty or default is None:
        if default is None and not found.optional:
            raise _wrong("CLR102", f"the default of {name!r} is None", scope, help="annotate it `Path | None`")
        return InputArtifact(name, optional=found.optional, description=text)
    if isinstance(default, pathlib.PurePath):
        return InputArtifact(name, storage=LocalPath(str(default)), optional=found.optional, description=text)
    if isinstance(default, Storage):
        return InputArtifact(name, storage=default, optional=found.optional, description=text)
    raise _wrong("CLR102", f"the default of {name!r} is {default!r}, not a Path", scope)


def _check_kind(parameter: inspect.Parameter, scope: Scope) -> None:
    if parameter.kind is parameter.VAR_POSITIONAL:
        _refuse_kind(f"*{parameter.name}", "take a list", scope)
    if parameter.kind is parameter.VAR_KEYWORD:
        _refuse_kind(f"**{parameter.name}", "take a dict", scope)
    if parameter.kind is parameter.POSITIONAL_ONLY:
        _refuse_kind(f"{parameter.name}, /", "take away the `/`", scope)


def _refuse_kind(shown: str, way_out: str, scope: Scope) -> None:
    raise _wrong(
        "CLR112",
        f"a step can't have the parameter {shown}",
        scope,
        why="each input of a step has a name and a type, known when the workflow is built",
        help=way_out,
    )


def _wrong(code: str, message: str, scope: Scope, **details: Any) -> DefinitionError:
    return DefinitionError([error(code, message, source=scope.source, step=scope.step, **details)])
