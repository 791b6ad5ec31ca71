"""What the parts of emission share: the workflow, names, and what they have added to the file so far."""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from couler_py.backends.airflow.helpers import reserved
from couler_py.backends.airflow.options import Options, own
from couler_py.backends.airflow.source import Assign, Definition
from couler_py.backends.findings import Findings
from couler_py.ir.graph import templates_by_name
from couler_py.ir.model import Graph, Loop, Source, Task, Template, Workflow
from couler_py.ir.possible import Possibilities
from couler_py.ir.types import Type
from couler_py.passes.exact import exact_outputs
from couler_py.passes.flows import flows, read_as_text
from couler_py.passes.split.mark import helpers_of
from couler_py.printer.layout import Doc
from couler_py.printer.names import Names

JSON: TypeAlias = dict[str, Any]


class Emission(Findings):
    """One workflow on its way to a DAG file."""

    def __init__(self, workflow: Workflow, options: Options):
        super().__init__()
        self.workflow = workflow
        self.options = options
        self.own = own(workflow.engines.get("airflow"))
        self.templates = templates_by_name(workflow)
        self.possible = Possibilities(workflow)
        self.helpers = helpers_of(workflow)
        self.parameters: dict[str, Type] = {each.name: each.type for each in workflow.parameters}
        self.published: dict[str, tuple[tuple[str, str], ...]] = {}
        self.exact = exact_outputs(self.templates)
        self.plain = read_as_text(self.templates, flows(self.templates, workflow.handlers))
        self.names = Names(reserved(options.operators))
        self.constants: list[Assign] = []
        self.definitions: list[Definition] = []
        self.known: dict[str, str] = {}
        self.specs: dict[str, JSON] = {}
        self.pools: dict[str, int] = {}
        self.includes: dict[str, str] = {}

    def add(self, template: Template) -> None:
        """Add a template that emission needs. What can become of its tasks is found out anew."""
        self.templates[template.name] = template
        workflow = msgspec.structs.replace(self.workflow, templates=tuple(self.templates.values()))
        self.possible = Possibilities(workflow)

    def callee(self, task: Task) -> Template:
        """The template that a task calls."""
        assert isinstance(task.call, str)
        return self.templates[task.call]

    def constant(self, template: Template, value: Doc) -> str:
        """The name of a constant that says what a step is, added the first time it is asked for."""
        name = self.names.free(template.name.upper().replace("-", "_"))
        self.constants.append(Assign(name, value))
        return name


def report(emission: Emission, error: Exception, what: str, step: str, source: Source | None) -> None:
    """Note an expression that has no meaning on Airflow."""
    emission.problem("CLR502", f"{what}: {error}", step=step, source=source)


def is_group(template: Template) -> bool:
    """Whether a call of the template is a group of tasks on Airflow."""
    return isinstance(template.body, Graph | Loop)
