"""Which steps do more than turn inputs into outputs, so that when they run matters to others."""

from __future__ import annotations

from couler_py.ir.graph import templates_by_name
from couler_py.ir.model import (
    ContainerSet,
    Data,
    DistributedJob,
    External,
    Function,
    Graph,
    Inline,
    Loop,
    Script,
    Suspend,
    Task,
    Template,
    Workflow,
)
from couler_py.ir.pod import Container


class Effects:
    """Asked of each task why its place in the order matters; "" where nothing says so.

    Of a step with a program it is what `effects=` declares, a volume that it shares, or a place in storage that it
    reads or writes by name. Whatever speaks to a cluster or a server, waits, or isn't known, always counts.
    """

    def __init__(self, workflow: Workflow):
        self._templates = templates_by_name(workflow)
        self._known: dict[str, str] = {}

    def of_task(self, task: Task) -> str:
        """Why the order of a task matters."""
        if task.hooks:
            return "it has hooks"
        if any(artifact.storage is not None for artifact in task.artifacts):
            return "it reads a place in storage"
        call = task.call
        if isinstance(call, External):
            return f"nothing is known of {call.name}/{call.template}"
        if isinstance(call, Inline):
            return self._of(call.template)
        return self._of_named(call)

    def of_template(self, name: str) -> str:
        """Likewise of a template, whoever calls it."""
        return self._of_named(name)

    def _of_named(self, name: str) -> str:
        if name not in self._known:
            self._known[name] = ""  # one that calls itself has the effects of the rest
            found = self._templates.get(name)
            self._known[name] = self._of(found) if found is not None else f"nothing is known of {name}"
        return self._known[name]

    def _of(self, template: Template) -> str:
        if template.effects:
            return f"it declares effects ({', '.join(template.effects)})"
        if template.daemon:
            return "it serves others while they run"
        if any(each.storage is not None for each in template.inputs.artifacts):
            return "it reads a place in storage"
        if any(each.storage is not None for each in template.outputs.artifacts):
            return "it writes a place in storage"
        body = template.body
        match body:
            case Graph():
                return next(filter(None, map(self.of_task, body.tasks)), "")
            case Loop():
                return self._of_named(body.body)
            case Container() | Script() | Function():
                return "it shares a volume" if body.mounts else ""
            case DistributedJob():
                return "it shares a volume" if any(each.mounts for each in body.containers) else ""
            case ContainerSet():
                shares = body.mounts or any(each.mounts for each in body.containers)
                return "it shares a volume" if shares else ""
            case Suspend(duration=0) | Data():
                return ""
            case Suspend():
                return "it waits"
        return "it speaks to a cluster or a server"
