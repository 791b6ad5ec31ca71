"""A document as its meaning sees it: templates with their inputs and outputs, calls with what they call."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from couler_py.backends.argo.lint.context import JSON, Context
from couler_py.backends.argo.lint.finding import Path
from couler_py.backends.argo.vocabulary import BODIES, LOOPS

LEAVES = frozenset({"container", "containerSet", "script", "resource", "data", "http", "plugin"})
GRAPHS = frozenset({"steps", "dag"})
TEMPLATE_KINDS = frozenset({"WorkflowTemplate", "ClusterWorkflowTemplate"})


def named(items: Any) -> dict[str, JSON]:
    """The items of a list by name; the first where two have the same."""
    found: dict[str, JSON] = {}
    for each in items or ():
        found.setdefault(each.get("name", ""), each)
    return found


class Call:
    """A step or task, or a hook of one, and the template that it calls.

    `group` is the place of its group in `steps` (0 in a `dag`). `target` is None where the template isn't in reach:
    undefined, named by a tag, or of a document that isn't known.
    """

    def __init__(self, owner: Template, path: Path, data: JSON, group: int, index: int) -> None:
        self.owner = owner
        self.path = path
        self.data = data
        self.group = group
        self.index = index
        self.name: str = data.get("name", "")
        self.target: Template | None = None

    @property
    def loops(self) -> bool:
        """Whether the call is made once for each item of something."""
        return any(self.data.get(key) for key in LOOPS)

    @property
    def gathers(self) -> bool:
        """Whether Argo's check lets others read the list of the outputs of all items; it doesn't for a sequence."""
        return bool(self.data.get("withItems") or self.data.get("withParam"))

    @property
    def where(self) -> str:
        """How messages name it."""
        return f"the {self.owner.word} {self.name!r}" if self.name else f"a {self.owner.word} without a name"


class Template:
    """A template; `foreign` where it stands in another document and its own mistakes aren't ours to report."""

    def __init__(self, path: Path, data: JSON, *, foreign: bool = False) -> None:
        self.path = path
        self.data = data
        self.foreign = foreign
        self.name: str = data.get("name", "")
        self.types = [each for each in BODIES if data.get(each) is not None]
        self.type = self.types[0] if self.types else ""
        self.calls = list(_calls(self))

    @property
    def where(self) -> str:
        """How messages name it."""
        return f"the template {self.name!r}" if self.name else "an inline template"

    @property
    def word(self) -> str:
        """What its calls are called."""
        return "step" if self.type == "steps" else "task"

    @cached_property
    def parameters(self) -> dict[str, JSON]:
        """Its input parameters by name."""
        return named(self.data.get("inputs", {}).get("parameters"))

    @cached_property
    def artifacts(self) -> dict[str, JSON]:
        """Its input artifacts by name."""
        return named(self.data.get("inputs", {}).get("artifacts"))

    @cached_property
    def output_parameters(self) -> dict[str, JSON]:
        """Its output parameters by name."""
        return named(self.data.get("outputs", {}).get("parameters"))

    @cached_property
    def output_artifacts(self) -> dict[str, JSON]:
        """Its output artifacts by name."""
        return named(self.data.get("outputs", {}).get("artifacts"))

    @cached_property
    def by_name(self) -> dict[str, Call]:
        """Its steps or tasks by name; the first where two have the same."""
        found: dict[str, Call] = {}
        for each in self.calls:
            found.setdefault(each.name, each)
        return found

    @property
    def has_result(self) -> bool:
        """Whether it has `outputs.result` and an exit code."""
        if self.type == "containerSet":
            return any(each.get("name") == "main" for each in self.data["containerSet"].get("containers", ()))
        return self.type in {"container", "script", "data", "http", "plugin"}

    @cached_property
    def offers(self) -> frozenset[str]:
        """What follows `steps.NAME.` of a step that calls it once."""
        found = {"id", "startedAt", "finishedAt", "hostNodeName"}
        if self.data.get("daemon") is True:
            found.add("ip")
        if self.has_result:
            found |= {"outputs.result", "exitCode"}
        found |= {f"outputs.parameters.{name}" for name in self.output_parameters}
        found |= {f"outputs.artifacts.{name}" for name in self.output_artifacts}
        return frozenset(found)


def _calls(owner: Template) -> Iterator[Call]:
    if owner.type == "dag":
        for index, task in enumerate(owner.data["dag"].get("tasks", ())):
            yield Call(owner, (*owner.path, "dag", "tasks", index), task, 0, index)
    elif owner.type == "steps":
        count = 0
        for group, steps in enumerate(owner.data["steps"]):
            for inner, step in enumerate(steps):
                yield Call(owner, (*owner.path, "steps", group, inner), step, group, count)
                count += 1


class Flow:
    """One document: its templates with their calls, and where everything else stands."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.kind = context.kind
        self.spec = context.spec
        self.path = context.spec_path
        self.is_library = context.kind in TEMPLATE_KINDS
        reference = self.spec.get("workflowTemplateRef")
        self.refers = reference is not None
        self.referred: JSON | None = context.known.referenced(reference) if reference is not None else None
        self._foreign: dict[tuple[bool, str], dict[str, Template]] = {}
        self.templates: list[Template] = [Template(each.path, each.data) for each in context.templates]
        self.by_name: dict[str, Template] = {}
        for each in self.templates:
            self.by_name.setdefault(each.name, each)
        self.all_templates: list[Template] = list(self.templates)
        for each in self.all_templates:  # grows while it is read
            self._link(each, self.by_name)

    def _link(self, template: Template, by_name: dict[str, Template]) -> None:
        for call in template.calls:
            inline = call.data.get("inline")
            reference = call.data.get("templateRef")
            if inline is not None:
                call.target = Template((*call.path, "inline"), inline, foreign=template.foreign)
                if template.foreign:
                    self._link(call.target, by_name)
                else:
                    self.all_templates.append(call.target)
            elif reference is not None:
                call.target = self.foreign(reference)
            else:
                call.target = by_name.get(call.data.get("template", ""))

    def foreign(self, reference: JSON) -> Template | None:
        """The template that a `templateRef` names; None where its document isn't known, or doesn't have it."""
        key = (reference.get("clusterScope") is True, str(reference.get("name")))
        if key not in self._foreign:
            spec = self.context.known.referenced(reference)
            found = {
                each.name: each
                for each in (Template((), data, foreign=True) for data in (spec or {}).get("templates", ()))
            }
            self._foreign[key] = found
            for each in found.values():
                self._link(each, found)
        return self._foreign[key].get(str(reference.get("template")))

    def is_written(self, path: Path) -> bool:
        """Whether the document has something at a path, be it of a wrong type: that is a finding of its own."""
        found: Any = self.context.raw
        for step in path:
            try:
                found = found[step]
            except (KeyError, IndexError, TypeError):
                return False
        return True

    def called(self, holder: JSON) -> Template | None:
        """The template that something with `template` or `templateRef` calls, as a hook."""
        if holder.get("templateRef") is not None:
            return self.foreign(holder["templateRef"])
        return self.by_name.get(holder.get("template", ""))

    @cached_property
    def parameters(self) -> dict[str, JSON]:
        """The parameters of the workflow, those of the referenced WorkflowTemplate included."""
        own = named(self.spec.get("arguments", {}).get("parameters"))
        return {**named((self.referred or {}).get("arguments", {}).get("parameters")), **own}

    @cached_property
    def artifacts(self) -> dict[str, JSON]:
        """The artifacts of the workflow, those of the referenced WorkflowTemplate included."""
        own = named(self.spec.get("arguments", {}).get("artifacts"))
        return {**named((self.referred or {}).get("arguments", {}).get("artifacts")), **own}

    @property
    def entry(self) -> Template | None:
        """The template that runs first."""
        return self.by_name.get(self.spec.get("entrypoint", ""))

    @property
    def hooks(self) -> Iterator[tuple[Path, str, JSON, Call | None]]:
        """Every hook, of the workflow and of its calls: path, name, data and the call that it belongs to."""
        for name, hook in self.spec.get("hooks", {}).items():
            yield (*self.path, "hooks", name), name, hook, None
        for template in self.all_templates:
            for call in template.calls:
                for name, hook in call.data.get("hooks", {}).items():
                    yield (*call.path, "hooks", name), name, hook, call

    @cached_property
    def reachable(self) -> frozenset[int]:
        """The templates (by `id`) that a run can reach from its entrypoint, `onExit` and hooks."""
        starts = [self.spec.get("entrypoint", ""), self.spec.get("onExit", "")]
        starts += [hook.get("template", "") for hook in self.spec.get("hooks", {}).values()]
        return self.reached(*(self.by_name[each] for each in starts if each in self.by_name))

    def reached(self, *starts: Template) -> frozenset[int]:
        """The templates (by `id`) that calls lead to from these, with themselves."""
        seen: set[int] = set()
        waiting = list(starts)
        while waiting:
            template = waiting.pop()
            if id(template) in seen:
                continue
            seen.add(id(template))
            for call in template.calls:
                if call.target is not None:
                    waiting.append(call.target)
                waiting += (self.by_name[each] for each in (call.data.get("onExit", ""),) if each in self.by_name)
                for hook in call.data.get("hooks", {}).values():
                    if (inner := self.called(hook)) is not None:
                        waiting.append(inner)
        return frozenset(seen)
