"""What the checks ask about a workflow again and again, worked out once."""

from __future__ import annotations

import functools

import msgspec

from couler_py.ir.graph import Shape, reachable, recursive
from couler_py.ir.model import External, Graph, Inline, InputArtifact, Loop, Parameter, Source, Task, Template, Workflow
from couler_py.ir.possible import Possibilities
from couler_py.ir.types import Type


class Signature(msgspec.Struct, frozen=True):
    """What a template takes and gives, by name."""

    name: str
    source: Source | None
    parameters: dict[str, Parameter]
    artifacts: dict[str, InputArtifact]
    outputs: dict[str, Type]
    output_artifacts: frozenset[str]
    required: tuple[str, ...]
    required_artifacts: tuple[str, ...]

    @classmethod
    def of(cls, template: Template) -> Signature:
        """The signature of a template; of two things with one name, the first counts."""
        inputs, outputs = template.inputs, template.outputs
        return cls(
            template.name,
            template.source,
            {parameter.name: parameter for parameter in reversed(inputs.parameters)},
            {artifact.name: artifact for artifact in reversed(inputs.artifacts)},
            {output.name: output.type for output in reversed(outputs.parameters)},
            frozenset([output.name for output in outputs.artifacts]),
            tuple([p.name for p in inputs.parameters if p.default is msgspec.UNSET and p.value_from is None]),
            tuple([a.name for a in inputs.artifacts if not a.optional and a.storage is None]),
        )


class Facts:
    """The templates, parameters and reachability of a workflow.

    The check of edges fills `shapes`, and clears `sound` where edges lead nowhere or in a circle.
    """

    def __init__(self, workflow: Workflow):
        self.workflow = workflow
        self.templates: dict[str, Template] = {}
        for template in workflow.templates:
            self.templates.setdefault(template.name, template)
        self.parameters = {parameter.name: parameter for parameter in workflow.parameters}
        self.shapes: dict[str, Shape] = {}
        self.sound = True
        self._signatures: dict[str, Signature] = {}

    @functools.cached_property
    def calling_themselves(self) -> frozenset[str]:
        """The templates that call themselves, directly or through others."""
        return recursive(self.workflow)

    @functools.cached_property
    def possibilities(self) -> Possibilities:
        """What can become of each task. To be asked only where all graphs are sound."""
        return Possibilities(self.workflow, self.shapes)

    @functools.cached_property
    def reachable(self) -> tuple[str, ...]:
        """The templates that a run can call."""
        return reachable(self.workflow)

    @functools.cached_property
    def only_in_handlers(self) -> frozenset[str]:
        """The templates that only handlers call: there, the status of the run is known."""
        if not self.workflow.handlers:
            return frozenset()
        inside = set(reachable(self.workflow, [self.workflow.entrypoint]))
        return frozenset(name for name in self.reachable if name not in inside)

    @functools.cached_property
    def published(self) -> dict[str, Type]:
        """The types of the values that steps publish to handlers, by name."""
        outputs = [output for template in self.workflow.templates for output in template.outputs.parameters]
        return {output.global_name: output.type for output in outputs if output.global_name}

    @functools.cached_property
    def only_mapped(self) -> frozenset[str]:
        """The templates that nothing but fan-outs call: their items may end without outputs."""
        mapped: set[str] = set()
        plain = {self.workflow.entrypoint, *(handler.call for handler in self.workflow.handlers)}
        for template in self.workflow.templates:
            _calls(template, mapped, plain)
        return frozenset(mapped - plain)

    def signature_of(self, name: str) -> Signature | None:
        """The signature of a template of this workflow, or None where there is no such template."""
        known = self._signatures.get(name)
        if known is None:
            template = self.templates.get(name)
            if template is None:
                return None
            known = self._signatures[name] = Signature.of(template)
        return known

    def signature_of_call(self, task: Task) -> Signature | None:
        """The signature of what a task calls, or None where it isn't known here."""
        if isinstance(task.call, str):
            return self.signature_of(task.call)
        if isinstance(task.call, Inline):
            return Signature.of(task.call.template)
        return None


def _calls(template: Template, mapped: set[str], plain: set[str]) -> None:
    body = template.body
    if isinstance(body, Loop):
        plain.add(body.body)
    elif isinstance(body, Graph):
        for task in body.tasks:
            if isinstance(task.call, str):
                (plain if task.each is None else mapped).add(task.call)
            elif not isinstance(task.call, External):
                _calls(task.call.template, mapped, plain)
            for hook in task.hooks:
                plain.add(hook.call)
