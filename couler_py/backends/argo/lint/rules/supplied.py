"""Each call supplies what its template needs, and nothing that the template doesn't take."""

from __future__ import annotations

from collections.abc import Iterator

from couler_py.backends.argo.lint.context import JSON
from couler_py.backends.argo.lint.finding import Finding, Path
from couler_py.backends.argo.lint.rules.flow import Flow, Template, named
from couler_py.backends.argo.lint.rules.references import nearest
from couler_py.backends.argo.lint.rules.values import as_text, has_location


def inputs_supplied(flow: Flow) -> Iterator[Finding]:
    """Steps, tasks and hooks give every input that has no value of its own."""
    for template in flow.all_templates:
        for call in template.calls:
            if call.target is not None:
                yield from _missing(call.target, call.data.get("arguments", {}), call.path, call.where, flow)
            handler = flow.by_name.get(call.data.get("onExit", ""))
            if handler is not None and "exit" not in call.data.get("hooks", {}) and not flow.is_library:
                given, where = flow.spec.get("arguments", {}), f"the exit handler of {call.where}"
                yield from _missing(handler, given, (*call.path, "onExit"), where, flow)
    for path, name, hook, of in flow.hooks:
        target = flow.called(hook)
        given = hook.get("arguments", {})
        if of is None and name == "exit" and not given:
            given = flow.spec.get("arguments", {})
        if target is not None:
            owner = "the workflow" if of is None else of.where
            yield from _missing(target, given, path, f"the hook {name!r} of {owner}", flow)


def entrypoint_supplied(flow: Flow) -> Iterator[Finding]:
    """The entrypoint and the exit handler take their inputs from the arguments of the workflow."""
    if flow.is_library or flow.refers:
        return
    for key in ("entrypoint", "onExit"):
        target = flow.by_name.get(flow.spec.get(key, ""))
        if target is None:
            continue
        what = "the entrypoint" if key == "entrypoint" else "the exit handler"
        yield from _missing(target, _of_workflow(flow), (*flow.path, key), what, flow, of_workflow=True)


def _of_workflow(flow: Flow) -> JSON:
    """The arguments of the workflow; those of a cron workflow without values are findings by themselves."""
    arguments: JSON = flow.spec.get("arguments", {})
    path = (*flow.path, "arguments", "parameters")
    parameters = [
        {**each, "value": ""} if flow.kind == "CronWorkflow" or flow.is_written((*path, index, "value")) else each
        for index, each in enumerate(arguments.get("parameters", ()))
    ]
    return {**arguments, "parameters": parameters}


def _missing(
    target: Template, arguments: JSON, path: Path, where: str, flow: Flow, *, of_workflow: bool = False
) -> Iterator[Finding]:
    parameters = named(arguments.get("parameters"))
    for name, declared in target.parameters.items():
        given = parameters.get(name)
        if given is None:
            supplied = _has_own_value(declared) or _is_written(target, name, flow)
        else:
            supplied = "value" in given or (given.get("valueFrom") or {}).get("configMapKeyRef") is not None
        if not supplied and (given is None or of_workflow):
            yield Finding(
                "CLR453",
                f"{where} doesn't supply the input {name!r} of {_words(target)}"
                if given is None
                else f"the input {name!r} of {_words(target)}, {where}, needs a value",
                path,
                why="the input has no value or default of its own"
                if given is None
                else "an argument of the workflow without a value takes the input's own default away",
                help="give a parameter of this name" if given is None else f"give the argument {name!r} a value",
                related=_declared(target, "parameters", name),
            )
    artifacts = named(arguments.get("artifacts"))
    for name, declared in target.artifacts.items():
        lies_somewhere = has_location(declared) or "git" in declared or "hdfs" in declared
        if name not in artifacts and declared.get("optional") is not True and not lies_somewhere:
            yield Finding(
                "CLR453",
                f"{where} doesn't supply the artifact {name!r} of {_words(target)}",
                path,
                why="the input isn't optional and has no location of its own",
                help="give an artifact of this name, or make the input `optional: true`",
                related=_declared(target, "artifacts", name),
            )


def _is_written(target: Template, name: str, flow: Flow) -> bool:
    """Whether the input has a value of a wrong type, which is a finding by itself."""
    ((_, declared),) = _declared(target, "parameters", name) or (("", ()),)
    return bool(declared) and any(flow.is_written((*declared, key)) for key in ("value", "default"))


def _has_own_value(parameter: JSON) -> bool:
    if "value" in parameter or "default" in parameter:
        return True
    return (parameter.get("valueFrom") or {}).get("configMapKeyRef") is not None


def _words(target: Template) -> str:
    return f"the template {target.name!r}" if target.name else "its inline template"


def _declared(target: Template, what: str, name: str) -> tuple[tuple[str, Path], ...]:
    if target.foreign:
        return ()
    items = target.data["inputs"][what]
    index = next(i for i, each in enumerate(items) if each.get("name", "") == name)
    return (("the input", (*target.path, "inputs", what, index)),)


def nothing_else(flow: Flow) -> Iterator[Finding]:
    """An argument that the template doesn't take is a misspelt one, or a leftover."""
    for template in flow.all_templates:
        for call in template.calls:
            if call.target is not None:
                yield from _extra(call.target, call.data.get("arguments", {}), (*call.path, "arguments"), call.where)
    for path, name, hook, of in flow.hooks:
        target = flow.called(hook)
        if target is not None:
            owner = "the workflow" if of is None else of.where
            where = f"the hook {name!r} of {owner}"
            yield from _extra(target, hook.get("arguments", {}), (*path, "arguments"), where)


def _extra(target: Template, arguments: JSON, path: Path, where: str) -> Iterator[Finding]:
    for what, declared in (("parameters", target.parameters), ("artifacts", target.artifacts)):
        for index, each in enumerate(arguments.get(what, ())):
            name = each.get("name", "")
            if name and name not in declared:
                yield Finding(
                    "CLR454",
                    f"{_words(target)} has no input {what[:-1]} {name!r}, which {where} gives",
                    (*path, what, index, "name"),
                    severity="warning",
                    why="nothing reads it",
                    help=nearest(name, declared) or "take it out",
                )
            elif what == "parameters" and declared.get(name, {}).get("enum") and "value" in each:
                yield from _outside_enum(declared[name], each, (*path, what, index), where)


def _outside_enum(declared: JSON, argument: JSON, path: Path, where: str) -> Iterator[Finding]:
    value, allowed = as_text(argument["value"]), [as_text(each) for each in declared["enum"]]
    if "{{" not in value and value not in allowed:
        yield Finding(
            "CLR452",
            f"{where} gives {value!r} for {declared.get('name', '')!r}, whose `enum` doesn't have it",
            (*path, "value"),
            severity="warning",
            why=f"the template means {', '.join(map(repr, allowed[:8]))}; and Argo doesn't check it there",
            help=nearest(value, allowed),
        )
