"""The templates of a workflow that a DAG becomes: tasks that do the same share one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from couler_py.backends.airflow.importing import facts, policies
from couler_py.backends.airflow.importing.made import Made
from couler_py.backends.airflow.importing.sources import renamed
from couler_py.ir.model import Function, Source, Suspend, Template
from couler_py.printer.names import Names, identifier


class Templates:
    """Templates by their names, in the order in which they came. `pools` are the sizes of pools."""

    def __init__(self, pools: Mapping[str, int]):
        self.names = Names()
        self._pools = pools
        self._known: dict[str, Template] = {}
        self._same: dict[bytes, str] = {}

    def __iter__(self) -> Iterator[Template]:
        return iter(self._known.values())

    def add(self, template: Template) -> None:
        """Keep a template under its name."""
        self._known[template.name] = template

    def of(self, task: facts.Task, made: Made, source: Source) -> str:
        """The name of the template of a task: that of another one where both do the same."""
        doc = (task.policies.get("doc_md") or task.policies.get("doc") or "").strip()
        template = Template(
            "",
            made.body,
            made.inputs,
            made.outputs,
            retry=policies.retry(task),
            timeout=policies.timeout(task),
            locks=policies.locks(task, self._pools),
            pod=made.pod,
            description=made.description or doc,
        )
        if isinstance(template.body, Suspend):
            template = Template("", template.body, description=template.description)
        key = msgspec.json.encode(template)
        if key not in self._same:
            name = self.names.free(made.name or identifier(task.id.replace(".", "_")))
            self._same[key] = name
            body = renamed(template.body, name) if isinstance(template.body, Function) else template.body
            self._known[name] = msgspec.structs.replace(template, name=name, body=body, source=source)
        return self._same[key]

    def share_future(self) -> None:
        """All functions stand in one module: where one needs `from __future__ import annotations`, all have it."""
        bodies = {name: each.body for name, each in self._known.items()}
        future = {each for body in bodies.values() if isinstance(body, Function) for each in body.future}
        for name, body in bodies.items():
            if isinstance(body, Function):
                changed = msgspec.structs.replace(body, future=tuple(sorted(future)))
                self._known[name] = msgspec.structs.replace(self._known[name], body=changed)
