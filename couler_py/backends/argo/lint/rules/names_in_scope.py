"""Which names a tag can use where it stands: of the workflow, of a template, of the calls before.

Source: workflow/validate/validate.go of Argo Workflows 4.0.7, and what its controller does where that is stricter.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from functools import cached_property

from couler_py.backends.argo.lint.context import JSON
from couler_py.backends.argo.lint.rules.depends import in_order
from couler_py.backends.argo.lint.rules.flow import LEAVES, Call, Flow, Template
from couler_py.backends.argo.vocabulary import PODS

ALWAYS = frozenset(
    f"workflow.{each}"
    for each in (
        "name",
        "namespace",
        "mainEntrypoint",
        "serviceAccountName",
        "uid",
        "status",
        "annotations",
        "annotations.json",
        "labels",
        "labels.json",
    )
)
LATER = ("workflow.creationTimestamp", "workflow.scheduledTime", "workflow.duration")
"""Beginnings of names that the check lets stand: the controller knows them when it runs."""
TIMES = frozenset("%AaBbCcDdEeFfGgHhIijkLlMmNnOoPpQqrRSsTtUuVvWwXxYyZz") | {"RFC3339"}
OURS = "workflows.argoproj.io/"
"""Labels and annotations with this beginning are written by Argo itself."""


class WorkflowNames:
    """The names that begin with `workflow.`, in one document."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow

    def has(self, name: str, template: Template, call: Call | None) -> bool:
        """Whether a tag of this name can be filled in, in a template or in one of its calls."""
        if name in self._fixed or name.startswith(LATER):
            return True
        if name.startswith("workflow.parameters"):
            return self._flow.is_library or (self._flow.refers and self._flow.referred is None)
        if name == "workflow.failures":
            return self._handles_exit and id(template) not in self._main
        if name.startswith("workflow.outputs."):
            return self._global_outputs.has(name, template, call)
        return (
            name.startswith(("workflow.labels.", "workflow.annotations."))
            and self._flow.refers
            and self._flow.referred is None
        )

    @cached_property
    def known(self) -> list[str]:
        """The names that could be meant by a misspelt one."""
        return sorted(self._fixed) + list(LATER) + [f"workflow.outputs.{name}" for name in self._global_outputs.names]

    @cached_property
    def _fixed(self) -> frozenset[str]:
        flow = self._flow
        found = set(ALWAYS)
        if flow.parameters:
            found |= {"workflow.parameters", "workflow.parameters.json"}
            found |= {f"workflow.parameters.{name}" for name in flow.parameters}
        if flow.spec.get("priority") is not None:
            found.add("workflow.priority")
        for what, fields in (("labels", ("labels", "labelsFrom")), ("annotations", ("annotations",))):
            for source in self._metadata(what):
                for field in fields:
                    found |= {f"workflow.{what}.{key}" for key in source.get(field) or ()}
        return frozenset(found)

    def _metadata(self, what: str) -> Iterable[JSON]:
        flow = self._flow
        if flow.kind == "CronWorkflow":
            yield {"labels": {f"{OURS}cron-workflow": ""}, "annotations": {f"{OURS}scheduled-time": ""}}
            yield flow.context.document.get("spec", {}).get("workflowMetadata", {})
        else:
            yield flow.context.document.get("metadata", {})
        yield flow.spec.get("workflowMetadata", {})
        yield (flow.referred or {}).get("workflowMetadata", {})

    @cached_property
    def _handles_exit(self) -> bool:
        return bool(self._flow.spec.get("onExit") or (self._flow.referred or {}).get("onExit"))

    @cached_property
    def _main(self) -> frozenset[int]:
        return self._flow.reached(self._flow.entry) if self._flow.entry is not None else frozenset()

    @cached_property
    def _global_outputs(self) -> GlobalOutputs:
        return GlobalOutputs(self._flow)


class GlobalOutputs:
    """Outputs with a `globalName`: from when on they are known, in the order in which Argo checks templates."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._clock = 0
        self._since: dict[str, int] = {}
        self._template_at: dict[int, int] = {}
        self._call_at: dict[int, int] = {}
        self._any: dict[int, set[str]] = {}
        self._computed_artifacts = False
        for start in self._starts():
            self._run(start)

    @property
    def names(self) -> list[str]:
        """The global names, as `parameters.x`."""
        return [name.removeprefix("workflow.outputs.") for name in self._since]

    def has(self, name: str, template: Template, call: Call | None) -> bool:
        """Whether the output is known when this template, or this call of it, is checked."""
        sort = name.split(".")[2] if name.count(".") >= 2 else ""
        if sort in self._any.get(id(template), ()):
            return True
        if self._computed_artifacts and sort == "artifacts" and id(template) not in self._main_ids:
            return True
        at = self._call_at.get(id(call)) if call is not None else self._template_at.get(id(template))
        return name in self._since and self._since[name] <= (self._clock if at is None else at)

    def _starts(self) -> Iterable[Template]:
        flow = self._flow
        if flow.entry is not None:
            yield flow.entry
        self._main_ids = frozenset(self._template_at)
        handler = flow.by_name.get(flow.spec.get("onExit", ""))
        if handler is not None:
            self._computed_artifacts = any(
                "{{" in each.get("globalName", "")
                for template in flow.templates
                for each in template.output_artifacts.values()
            )
            yield handler
        yield from flow.templates

    def _run(self, start: Template) -> None:
        stack = [self._visit(start)]
        while stack:
            inner = next(stack[-1], None)
            if inner is None:
                stack.pop()
            else:
                stack.append(self._visit(inner))

    def _visit(self, template: Template) -> Generator[Template, None, None]:
        if id(template) in self._template_at:
            return
        self._template_at[id(template)] = self._clock
        if template.type == "steps":
            for call in template.calls:
                if call.target is not None:
                    yield call.target
                self._call_at[id(call)] = self._clock
                self._add(call, template)
        else:
            for name in in_order({name: call.data for name, call in template.by_name.items()}):
                call = template.by_name[name]
                if call.target is not None:
                    yield call.target
                self._add(call, template)
            for call in template.calls:
                self._call_at[id(call)] = self._clock
        # What stands in its outputs is checked last.
        if template.calls:
            self._template_at[id(template)] = self._clock

    def _add(self, call: Call, owner: Template) -> None:
        if call.target is None:
            return
        for sort, items in (("parameters", call.target.output_parameters), ("artifacts", call.target.output_artifacts)):
            for each in items.values():
                name = each.get("globalName")
                if name and "{{" in name:
                    self._any.setdefault(id(owner), set()).add(sort)
                elif name:
                    self._clock += 1
                    self._since.setdefault(f"workflow.outputs.{sort}.{name}", self._clock)


def of_template(template: Template) -> frozenset[str]:
    """The names that a template gives to what stands in it: its inputs, and the name of its pod."""
    found = {f"inputs.parameters.{name}" for name in template.parameters}
    if template.parameters:
        found.add("inputs.parameters")
    for name in template.artifacts:
        found.add(f"inputs.artifacts.{name}")
        if template.type in LEAVES:
            found.add(f"inputs.artifacts.{name}.path")
    if template.type in PODS:
        found.add("pod.name")
    return frozenset(found)
