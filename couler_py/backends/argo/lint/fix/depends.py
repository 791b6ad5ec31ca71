"""`dependencies` in a graph whose other tasks have `depends`, which Argo refuses, as `depends` of the same meaning."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from couler_py.backends.argo.lint.context import At, Context, calls
from couler_py.backends.argo.lint.fix.edits import Edit, last_index, without_entry
from couler_py.backends.argo.lint.places import Node
from couler_py.backends.argo.lint.reading import Read
from couler_py.backends.argo.lint.structure import checked

JSON = dict[str, Any]


def depends(document: Read) -> Iterator[Edit]:
    """The edits of a document's mixed graphs; a graph where one of them can't be made is left alone."""
    context = Context(checked(document.data, "4", "minimal")[1])
    for template in context.all_templates:
        tasks = list(calls(template)) if "dag" in template.data else []
        if _mixed([task.data for task in tasks]):
            yield from _edits(document, template, tasks)


def _mixed(tasks: list[JSON]) -> bool:
    return any(task.get("depends") for task in tasks) and any(task.get("dependencies") for task in tasks)


def _edits(document: Read, template: At, tasks: list[At]) -> list[Edit]:
    by_name = {str(task.data.get("name")): task.data for task in tasks}
    needed = {name for task in tasks for name in task.data.get("dependencies", ())}
    in_text = " ".join(str(task.data.get("depends", "")) for task in tasks)
    in_text += " " + str(template.data["dag"].get("target", ""))
    edits: list[Edit] = []
    for task in tasks:
        node = document.node(task.path)
        if node is None:
            return []
        if task.data.get("dependencies"):
            if "depends" in task.data or any(name not in by_name for name in task.data["dependencies"]):
                return []
            made = _depends(document, node, [_result(name, by_name[name]) for name in task.data["dependencies"]])
            if made is None:
                return []
            edits.append(made)
        if "continueOn" in task.data:
            name = str(task.data.get("name"))
            # What it says of a task that nothing depends on, `depends` can't say.
            if name not in needed or re.search(rf"(?<![-\w]){re.escape(name)}(?![-\w])", in_text):
                return []
            taken = without_entry(document.section.places, node, "continueOn")
            if taken is None:
                return []
            edits += taken
    group = min(edit.start for edit in edits) + 1
    return [Edit(edit.start, edit.end, edit.text, group) for edit in edits]


def _result(name: str, task: JSON) -> str:
    """What a dependency waits for; alone, `name` means Succeeded, Skipped or Daemoned, as `dependencies` does."""
    go_on = task.get("continueOn", {})
    more = [word for field, word in (("error", "Errored"), ("failed", "Failed")) if go_on.get(field) is True]
    if not more:
        return name
    return "(" + " || ".join(f"{name}.{word}" for word in ("Succeeded", "Skipped", "Daemoned", *more)) + ")"


def _depends(document: Read, task: Node, results: list[str]) -> Edit | None:
    text, value, (start, _) = document.section.text, task.children["dependencies"], task.keys["dependencies"]
    end = last_index(value) + 1
    if (
        not value.plain
        or end <= start
        or "#" in text[start:end]
        or not all(each.plain for each in value.children.values())
    ):
        return None
    return Edit(start, end, f"depends: {' && '.join(results)}")
