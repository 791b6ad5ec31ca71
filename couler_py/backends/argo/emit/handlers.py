"""What runs when a run has ended."""

from __future__ import annotations

from typing import Any

from couler_py.backends.argo.emission import Emission
from couler_py.backends.argo.emit.arguments import argument, no_files, report
from couler_py.backends.argo.emit.expressions import UnprovenError, condition
from couler_py.backends.argo.emit.scope import TemplateScope
from couler_py.backends.argo.emit.storage import storage
from couler_py.backends.argo.emit.text import render
from couler_py.ir.model import ArtifactArgument, Handler, Suspend, Template

JSON = dict[str, Any]
WHEN = {"success": "workflow.status == 'Succeeded'", "failure": "workflow.status != 'Succeeded'"}


class HandlerScope(TemplateScope):
    """The scope of exit handlers: parameters and facts of the run, and published outputs, which may be absent."""

    def __init__(self, emission: Emission):
        super().__init__(emission.program, Template("handlers", Suspend()))


def exit_handler(emission: Emission) -> JSON:
    """The `onExit` of a workflow: all its handlers side by side, each under its condition.

    They are `steps`: of a run that is stopped, Argo calls a `dag` Failed before what is in it has begun.
    """
    from couler_py.backends.argo.emit.graph import targets

    scope = HandlerScope(emission)
    tasks = []
    for handler in emission.workflow.handlers:
        task: JSON = {"name": emission.program.hook_name(handler.name)}
        try:
            if parts := _conditions(handler, scope):
                task["when"] = "{{= " + " && ".join(parts) + " }}"
            task["template"] = emission.program.template_name(handler.call)
            callee = emission.program.templates.get(handler.call)
            known = targets(emission, callee)
            parameters = [
                {
                    "name": emission.program.field(callee, each.name),
                    "value": argument(each.value, *known[each.name], scope),
                }
                for each in handler.arguments
            ]
        except UnprovenError as error:
            report(emission, error, f"the handler {handler.name!r}", handler.name, handler.source)
            continue
        arguments: JSON = {"parameters": parameters} if parameters else {}
        if files := [_file(emission, handler, each, scope) for each in handler.artifacts]:
            arguments["artifacts"] = files
        if arguments:
            task["arguments"] = arguments
        tasks.append(task)
    name = emission.program.new_name("exit-handlers")
    emission.add(name, "handlers", {"steps": [tasks]})
    return {"onExit": name}


def _file(emission: Emission, handler: Handler, given: ArtifactArgument, scope: TemplateScope) -> JSON:
    if given.storage is None:
        no_files(emission, f"the handler {handler.name!r}", handler.source)
        return {}
    rendered = render(emission, scope.template, scope)
    found = storage(emission, given.storage, rendered, handler.name, handler.source)
    name = emission.program.field(emission.program.templates.get(handler.call), given.name)
    return {"name": name} | found | ({"optional": True} if given.optional else {})


def _conditions(handler: Handler, scope: TemplateScope) -> list[str]:
    found = [WHEN[handler.on]] if handler.on in WHEN else []
    if handler.when is not None:
        text = condition(handler.when, scope)
        found.append(f"({text})" if found and " || " in text else text)
    return found
