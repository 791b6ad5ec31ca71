"""A task's arguments as the inputs of the template that it calls."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from msgspec import UNSET

from couler_py.backends.local.artifacts import remote
from couler_py.backends.local.artifacts.keys import found, key_of
from couler_py.backends.local.artifacts.transfer import fetch
from couler_py.backends.local.context import Call, Context
from couler_py.backends.local.imported import words
from couler_py.backends.local.imported.scope import ImportedScope
from couler_py.backends.local.scope import Scope, TaskFailure, plain
from couler_py.backends.local.scope import bind as bind_value
from couler_py.ir import wire
from couler_py.ir.evaluate import AbsentError, EvaluationError
from couler_py.ir.expr import Literal, Text
from couler_py.ir.model import Argument, ArtifactArgument, Inline, InputArtifact, Parameter, Task, Template
from couler_py.ir.storage import Storage
from couler_py.store import artifacts, runs
from couler_py.store.records import ArtifactRef, Result, TaskRecord


def template_of(context: Context, task: Task) -> Template:
    """The template that a task calls."""
    if isinstance(task.call, Inline):
        return task.call.template
    if isinstance(task.call, str):
        return context.templates[task.call]
    raise TaskFailure(f"{task.call.kind} {task.call.name!r} is installed on a cluster, and not here")


async def bind(context: Context, scope: Scope, task: Task, template: Template) -> Call:
    """The call of a task, as yet without its place."""
    return await bind_call(context, scope, template, task.arguments, task.artifacts)


async def bind_call(
    context: Context,
    scope: Scope,
    template: Template,
    arguments: Iterable[Argument],
    files: Iterable[ArtifactArgument],
) -> Call:
    """A call with these arguments. Raises `TaskFailure` for one that has no value, is missing or of a wrong type."""
    given = {argument.name: argument for argument in arguments}
    parameters = {
        parameter.name: _parameter(context, scope, template, parameter, given.get(parameter.name))
        for parameter in template.inputs.parameters
    }
    if context.imported:
        parameters = again(context, Call(template, "", parameters))
    named = {artifact.name: artifact for artifact in files}
    refs: dict[str, ArtifactRef] = {}
    for wanted in template.inputs.artifacts:
        argument = named.get(wanted.name)
        ref = None
        if argument is not None and argument.value is not None:
            ref = _artifact(scope, wanted.name, argument, wanted.optional or argument.optional)
            if ref is not None and argument.extra is not None:
                await remote.listed(context, [ref])
                ref = sub_path(context, scope, ref, argument)
        elif argument is not None and argument.storage is not None:
            ref = await _stored(context, argument.storage, scope, wanted, argument.optional)
        elif wanted.storage is not None:
            inside = context.scope(Call(template, "", parameters))
            ref = await _stored(context, wanted.storage, inside, wanted, False)
        if ref is not None:
            refs[wanted.name] = ref
        elif not (wanted.optional or (argument is not None and argument.optional)):
            raise TaskFailure(f"the input artifact {wanted.name!r} of {template.name} was not given")
    return Call(template, "", parameters, refs, scope.item)


def sub_path(context: Context, scope: Scope, ref: ArtifactRef, argument: ArtifactArgument) -> ArtifactRef | None:
    """What an imported argument's `subPath` names in an artifact. Raises `TaskFailure`."""
    assert argument.extra is not None
    texts = {each.pointer: each.text for each in argument.extra.texts}
    path = scope.text(texts.get("/subPath", argument.extra.value.get("subPath", "")))
    if not path:
        return ref
    inside = artifacts.member(context.home, ref, path)
    if inside is None and not argument.optional:
        raise TaskFailure(f"there is no {path!r} in the artifact {argument.name!r}")
    return inside


async def _stored(
    context: Context, storage: Storage, scope: Scope, wanted: InputArtifact, optional: bool
) -> ArtifactRef | None:
    """What lies in a store. Raises `TaskFailure`."""
    key = key_of(storage, scope)
    if key is not None:
        await remote.listed(context, context.keyed.values())
        return found(context, key, optional or wanted.optional)
    return await asyncio.to_thread(fetch, context, storage, scope, wanted.archive)


def again(context: Context, made: Call) -> dict[str, Any]:
    """The parameters of a call as its template finds them: Argo reads the tags in what it is given, too."""
    later = {name: value for name, value in made.parameters.items() if isinstance(value, Text)}
    made.parameters = {name: value for name, value in made.parameters.items() if name not in later}
    inside = context.scope(made)
    assert isinstance(inside, ImportedScope)
    inside.parameters = {name: inside.again(words.said(value)) for name, value in made.parameters.items()}
    return inside.parameters | {name: inside.text(value) for name, value in later.items()}


def _artifact(scope: Scope, name: str, argument: ArtifactArgument, optional: bool) -> ArtifactRef | None:
    assert argument.value is not None
    try:
        found = scope.value(argument.value)
    except AbsentError as error:
        if optional:
            return None
        raise TaskFailure(f"the input artifact {name!r} is absent: {error}") from None
    except EvaluationError as error:
        raise TaskFailure(f"the input artifact {name!r} has no value: {error}") from None
    if found is not None and not isinstance(found, ArtifactRef):
        raise TaskFailure(f"the input artifact {name!r} was given a value, not a file")
    return found


def _parameter(
    context: Context, scope: Scope, template: Template, parameter: Parameter, argument: Argument | None
) -> Any:
    if argument is not None and not (argument.extra is not None and argument.value == Literal(None)):
        try:
            return bind_value(parameter, scope.value(argument.value))
        except AbsentError as error:
            # An imported input falls back on its default, as Argo has it; ours never does.
            if parameter.portable or parameter.default is UNSET:
                raise TaskFailure(f"the input {parameter.name!r} has no value: {error}") from None
        except EvaluationError as error:
            raise TaskFailure(f"the input {parameter.name!r} has no value: {error}") from None
    return default(context, scope, parameter, f"the input {parameter.name!r} of {template.name}")


def default(context: Context, scope: Scope, parameter: Parameter, what: str) -> Any:
    """The value of a parameter that nobody gave. Raises `TaskFailure` where it has none."""
    if context.imported and (own := own_text(parameter)) is not None:
        return own
    reference = parameter.value_from
    if reference is not None:
        data = context.options.config_maps.get(scope.text(reference.name), {})
        key = scope.text(reference.key)
        if key in data:
            return wire.decode(plain(parameter.type), data[key])
    if parameter.default is UNSET:
        raise TaskFailure(f"{what} was not given")
    return wire.restore(plain(parameter.type), parameter.default)


def own_text(parameter: Parameter) -> Text | None:
    """The value that an imported input has by itself, where that is a text with tags; its template's are in them."""
    texts = () if parameter.extra is None else parameter.extra.texts
    return next((each.text for each in texts if each.pointer in ("/value", "/default")), None)


def note(context: Context, path: str, task: Task, result: Result) -> None:
    """Record a task that ended without running."""
    name = task.call if isinstance(task.call, str) else task.name
    now = runs.now()
    record = TaskRecord(path, "task", name, result.state, result.message, result=result, finished=now)
    if result.state == "Failed":
        record.started = now
        context.failures.append(
            {"displayName": path, "templateName": name, "phase": "Failed", "message": result.message}
        )
    context.journal.task(record)
