"""Hooks of a task's life."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from couler_py.backends.argo.emission import Emission
from couler_py.backends.argo.emit.arguments import argument, no_files, report
from couler_py.backends.argo.emit.expressions import UnprovenError, condition
from couler_py.ir.model import Hook, Source

if TYPE_CHECKING:
    from couler_py.backends.argo.emit.scope import GraphScope

JSON = dict[str, Any]


def hooks(
    emission: Emission, given: tuple[Hook, ...], scope: GraphScope, what: str, source: Source | None
) -> dict[str, JSON]:
    """The `hooks` of a task. One without a condition runs at the task's end, which Argo calls `exit`."""
    from couler_py.backends.argo.emit.graph import targets

    found: dict[str, JSON] = {}
    for hook in given:
        name = emission.program.hook_name(hook.name) if hook.when is not None else "exit"
        if name in found:
            emission.problem(
                "CLR404",
                f"{what} name {name!r} twice",
                source=source,
                why="Argo runs one template at a task's end, and one for each name",
                help="put both into one graph, and call that",
            )
        entry: JSON = {"template": emission.program.template_name(hook.call)}
        callee = emission.program.templates.get(hook.call)
        known = targets(emission, callee)
        if hook.artifacts:
            no_files(emission, f"the hook {hook.name!r}", source)
        try:
            if hook.when is not None:
                entry["expression"] = condition(hook.when, scope)
            parameters = [
                {
                    "name": emission.program.field(callee, each.name),
                    "value": argument(each.value, *known[each.name], scope),
                }
                for each in hook.arguments
            ]
        except UnprovenError as error:
            report(emission, error, what, hook.name, source)
            continue
        if parameters:
            entry["arguments"] = {"parameters": parameters}
        found[name] = entry
    return found
