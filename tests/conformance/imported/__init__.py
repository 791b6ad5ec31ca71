"""What documents in Argo's words mean: small ones, and what Argo and the local engine must make of them.

They need no pods: `ok` succeeds, `bad` is Failed, `err` is Error, `say` gives back what it is given, `sayd` besides has
a default.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

import yaml

PARTS = """
- name: ok
  steps: [[{name: x, template: ok, when: "false"}]]
- name: err
  dag: {tasks: [{name: x, template: ok, when: "{{= fromJSON('x') }}"}]}
- name: bad
  steps: [[{name: x, template: err}]]
- name: say
  inputs: {parameters: [{name: v}]}
  steps: [[{name: x, template: ok, when: "false"}]]
  outputs: {parameters: [{name: o, valueFrom: {expression: inputs.parameters.v}}]}
- name: sayd
  inputs: {parameters: [{name: v, default: default}]}
  steps: [[{name: x, template: ok, when: "false"}]]
  outputs: {parameters: [{name: o, valueFrom: {expression: inputs.parameters.v}}]}
"""


@dataclass(frozen=True)
class Imported:
    """A document, and what a run of it must come to.

    `templates` is YAML, the entrypoint first; `tasks` are the states of its tasks ("Blocked" also for those that Argo
    never comes to), and `says` their outputs `o`. `outputs` are the entrypoint's.
    """

    name: str
    templates: str
    tasks: dict[str, str]
    status: str = "Succeeded"
    says: dict[str, str] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)
    spec: dict[str, Any] = field(default_factory=dict)

    @property
    def document(self) -> dict[str, Any]:
        templates = yaml.safe_load(self.templates)
        return {
            "apiVersion": "argoproj.io/v1alpha1",
            "kind": "Workflow",
            "metadata": {"generateName": "imported-"},
            "spec": {
                "entrypoint": templates[0]["name"],
                **copy.deepcopy(self.spec),
                "templates": [*templates, *yaml.safe_load(PARTS)],
            },
        }

    def __str__(self) -> str:
        return self.name


def dag(*tasks: str, more: str = "") -> str:
    """The YAML of an entrypoint that is a dag of tasks."""
    return "[{name: main, " + more + "dag: {tasks: [" + ", ".join(tasks) + "]}}]"


def steps(*groups: str, more: str = "") -> str:
    """The YAML of an entrypoint in groups of steps."""
    return "[{name: main, " + more + "steps: [" + ", ".join(f"[{group}]" for group in groups) + "]}]"


def said(name: str, value: str, template: str = "say", more: str = "") -> str:
    """A task that says a text."""
    return f"{{name: {name}, template: {template}, arguments: {{parameters: [{{name: v, value: {value}}}]}}{more}}}"


def given(text: str) -> str:
    """The entrypoint's output `r` from a text or an expression."""
    return f"outputs: {{parameters: [{{name: r, valueFrom: {text}}}]}}, "
