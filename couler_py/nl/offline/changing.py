"""Parts of a workflow as they are after a change, and how words name them."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from couler_py.ir import expr as x
from couler_py.ir.model import Graph, Template
from couler_py.ir.pod import Resources
from couler_py.ir.policies import Backoff, Cache, RetryPolicy
from couler_py.ir.structs import nodes
from couler_py.nl import outline as o
from couler_py.nl.assemble import assemble
from couler_py.nl.offline import lexicon
from couler_py.nl.offline.settings import Said


def like(old: Any, number: int | float) -> int | float:
    """A number of the kind that stood there before."""
    return float(number) if isinstance(old, float) else number


def is_leaf(template: Template) -> bool:
    """Whether a template runs something itself."""
    return type(template.body).__name__ in ("Function", "Script", "Container")


def setting(template: Template, said: Said) -> Template:
    """A template with a setting."""
    value = said.value
    match said.what:
        case "retry":
            backoff = Backoff(value.wait, value.factor) if value.wait else None
            return msgspec.structs.replace(template, retry=RetryPolicy(value.limit, backoff) if value.limit else None)
        case "timeout":
            return msgspec.structs.replace(template, timeout=value)
        case "cache":
            return msgspec.structs.replace(template, cache=Cache())
        case "image":
            return msgspec.structs.replace(template, body=msgspec.structs.replace(template.body, image=value))
        case "resources":
            asked = assemble(o.Outline("asking", tasks=(o.Task("step_of", resources=value),)))
            new = next(each.body for each in asked.templates if each.name == "step_of").resources  # type: ignore[union-attr]
            body = msgspec.structs.replace(template.body, resources=_together(template.body.resources, new))  # type: ignore[union-attr]
            return msgspec.structs.replace(template, body=body)
        case _:
            return template


def _together(old: Resources, new: Resources) -> Resources:
    """What a step asked for, with what it asks for now in its place."""
    changed = {field: getattr(new, field) for field in new.__struct_fields__ if getattr(new, field)}
    return msgspec.structs.replace(old, **changed)


def speaks_of(words: str, name: str) -> bool:
    """Whether words name a step: all parts of its name, or its verb."""
    said = {stem(word) for word in re.findall(r"[a-z0-9]+", words)} | {
        found[1] for word in re.findall(r"[a-z]+", words) if (found := lexicon.verb(word)) is not None
    }
    parts = [part for part in re.split(r"[_-]", name.lower()) if part]
    stems = {stem(part) for part in parts} | set(parts)
    return bool(parts) and (bool({parts[0], stem(parts[0])} & said) or stems <= said)


def stem(word: str) -> str:
    """A word without its ending."""
    return re.sub(r"(?:ation|ing|ed|es|s|e)$", "", word)


def read_by(task: Any) -> set[str]:
    """The tasks whose results a task reads."""
    return {
        each.task
        for each in nodes(msgspec.structs.replace(task, after=()))
        if isinstance(each, x.TaskOutput | x.TaskArtifact | x.TaskStatus | x.TaskItems)
    }


def closure(templates: dict[str, Template], name: str) -> list[str]:
    """The names of a template and of all that it calls."""
    found = [name]
    for each in found:
        body = templates[each].body
        if isinstance(body, Graph):
            found += [str(task.call) for task in body.tasks if task.call not in found]
    return found


def with_names(template: Template, names: dict[str, str]) -> Template:
    """A template, and what it calls, under other names."""
    body = template.body
    if isinstance(body, Graph):
        tasks = tuple(msgspec.structs.replace(task, call=names.get(str(task.call), task.call)) for task in body.tasks)
        body = msgspec.structs.replace(body, tasks=tasks)
    return msgspec.structs.replace(template, name=names[template.name], body=body)
