"""Where the templates and tasks of a document stand in its text, for what is said about them later."""

from __future__ import annotations

from typing import Any

import msgspec

from couler_py.backends.argo.lint.places import Places
from couler_py.backends.argo.paths import Path
from couler_py.ir.model import Document, Graph, Source, Task, Template


class Sources:
    """The places of one document of a file: `number` is its place among them, `data` what was read."""

    def __init__(self, places: Places, file: str, number: int, data: dict[str, Any]) -> None:
        self.places, self.file, self.number = places, file, number
        self.spec: Path = ("spec", "workflowSpec") if data["kind"] == "CronWorkflow" else ("spec",)
        for step in self.spec:
            data = data.get(step) or {}
        self.templates: list[dict[str, Any]] = data.get("templates") or []

    def placed(self, document: Document) -> Document:
        """The document with the places of its templates, and of the tasks of these."""
        indices = {each.get("name"): index for index, each in enumerate(self.templates)}
        workflow = document.workflow
        templates = tuple(
            self._template(each, indices[each.name]) if each.name in indices else each for each in workflow.templates
        )
        workflow = msgspec.structs.replace(workflow, templates=templates, source=self._source(self.spec))
        return msgspec.structs.replace(document, workflow=workflow)

    def _template(self, template: Template, index: int) -> Template:
        path = (*self.spec, "templates", index)
        body = template.body
        if isinstance(body, Graph):
            paths = _tasks(self.templates[index])
            tasks = tuple(self._task(task, (*path, *paths.get(task.name, ()))) for task in body.tasks)
            body = msgspec.structs.replace(body, tasks=tasks)
        return msgspec.structs.replace(template, body=body, source=self._source(path))

    def _task(self, task: Task, path: Path) -> Task:
        return msgspec.structs.replace(task, source=self._source(path))

    def _source(self, path: Path) -> Source:
        place = self.places.find(self.number, path)
        return Source(self.file, place.line, place.column)


def _tasks(template: dict[str, Any]) -> dict[str, Path]:
    """The paths of the tasks of a template, from it, by name."""
    found: dict[str, Path] = {}
    for index, task in enumerate((template.get("dag") or {}).get("tasks") or []):
        found[task.get("name", "")] = ("dag", "tasks", index)
    for group, steps in enumerate(template.get("steps") or []):
        for index, step in enumerate(steps if isinstance(steps, list) else []):
            found[step.get("name", "")] = ("steps", group, index)
    return found
