"""The work in progress of one compilation: what is known, what was written, what was found wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

import msgspec

from couler_py.backends.argo.emit.literals import failing
from couler_py.backends.argo.options import Options
from couler_py.backends.argo.program import Program
from couler_py.backends.argo.support import TABLE
from couler_py.backends.features import FEATURES
from couler_py.backends.findings import Findings
from couler_py.ir.graph import Shape, shape
from couler_py.ir.model import Graph, Source, Template, Workflow
from couler_py.ir.names import legal_name
from couler_py.ir.types import Type
from couler_py.runner import runner_text

Role: TypeAlias = Literal["helper", "nothing", "fan-out", "tolerant", "item", "loop", "handlers", "module"]
ROLE = "couler.dev/role"
"""The annotation of a template that tells what it is for: see `couler_py.backends.argo.status`."""

PASS = "couler-pass"  # noqa: S105 - the name of the template that does nothing
RUNNER = "couler-runner"
"""The annotation of a run that holds the runner. Without a dot, so that expressions can name it."""
FOLDER = "/couler/include"  # where archives are mounted in a step's container


class Emission(Findings):
    """Collects templates, further documents and findings while a workflow is emitted."""

    def __init__(
        self, workflow: Workflow, options: Options, modules: frozenset[str], exact_outputs: Mapping[str, list[str]]
    ):
        super().__init__()
        self.options = options
        self.exact_outputs = exact_outputs
        self.modules = modules
        self.shapes: dict[str, Shape] = {
            template.name: shape(template.body) for template in workflow.templates if isinstance(template.body, Graph)
        }
        self.program = Program(workflow, self.shapes)
        self.templates: list[dict[str, object]] = []
        self.documents: list[dict[str, object]] = []
        self.annotations: dict[str, str] = {}
        self.run_annotations: dict[str, str] = {}
        self.blobs: dict[str, bytes] = {}
        self.includes_by_key = False
        self.loops: dict[str, Template] = {}
        self._semaphores: dict[str, int] = {}
        self._shared: dict[str, str] = {}
        self._types: dict[Type, object] = {}

    @property
    def workflow(self) -> Workflow:
        return self.program.workflow

    def unsupported(self, feature: str, step: str, source: Source | None) -> None:
        """Note the use of a feature that the support table says Argo never has, as the caller chose to hear of it."""
        row = next(row for row in TABLE if row.feature == feature)
        self.problem(
            "CLR401",
            f"Argo has nothing for {FEATURES[feature]}",
            severity="warning" if self.options.on_unsupported == "warn" else "error",
            step=step,
            source=source,
            why=row.by,
            help='on_unsupported="warn" compiles the rest; the step then fails when it is run',
        )

    def add(self, name: str, role: Role, template: Mapping[str, object]) -> None:
        """Add a template that no IR template is, marked with what it is for, so that `status` can tell."""
        self.templates.append({"name": name, "metadata": {"annotations": {ROLE: role}}, **template})

    def shared(self, key: str, role: Role, template: Mapping[str, object]) -> str:
        """The name of a template that emission needs, added the first time it is asked for."""
        known = self._shared.get(key)
        if known is None:
            known = self._shared[key] = self.program.new_name(key)
            self.add(known, role, template)
        return known

    def no_op(self) -> str:
        """The template that succeeds at once and costs no pod.

        The CRD refuses empty `steps`, so it is one step of itself that never runs.
        """
        known = self._shared.get(PASS)
        if known is None:
            known = self._shared[PASS] = self.program.new_name(PASS)
            self.add(known, "helper", nothing(known))
        return known

    def runner(self) -> str:
        """The runner's text as the value of a variable: once in the workflow, at its end, out of a reader's way.

        A template that other workflows call by reference must hold it itself.
        """
        if self.options.kind in ("WorkflowTemplate", "ClusterWorkflowTemplate"):
            return runner_text()
        self.run_annotations[RUNNER] = runner_text()
        return "{{=workflow.annotations['" + RUNNER + "']}}"

    def metadata(self, name: str) -> dict[str, object]:
        """The metadata of a further document, in the namespace of the main one."""
        found: dict[str, object] = {"name": name}
        return found | ({"namespace": self.options.namespace} if self.options.namespace else {})

    def semaphores(self, key: str, limit: int) -> str:
        """The ConfigMap that holds the limits of this workflow's semaphores, with this one in it."""
        self._semaphores[key] = limit
        return legal_name("argo", "workflow", f"{self.workflow.name}-semaphores")

    def semaphore_documents(self) -> list[dict[str, object]]:
        """The ConfigMap with the limits of semaphores, where there are any."""
        if not self._semaphores:
            return []
        name = legal_name("argo", "workflow", f"{self.workflow.name}-semaphores")
        data = {key: str(limit) for key, limit in sorted(self._semaphores.items())}
        return [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": self.metadata(name), "data": data}]

    def builtin_type(self, type_: Type) -> object:
        """A type in the JSON form that `ir.wire` reads."""
        known = self._types.get(type_)
        if known is None:
            known = self._types[type_] = msgspec.to_builtins(type_)
        return known


def nothing(name: str) -> dict[str, object]:
    """The body of a template of that name that succeeds at once without a pod."""
    return {"steps": [[{"name": "never", "template": name, "when": "false"}]]}


def refusing(name: str, message: str) -> dict[str, object]:
    """The body of a template of that name that fails at once without a pod, with the message."""
    return {"steps": [[{"name": "never", "template": name, "when": "{{= " + failing(message) + " }}"}]]}


def place(template: Template) -> dict[str, object]:
    """Where a finding about a template stands."""
    return {"step": template.display or template.name, "source": template.source}


def named(template: Template) -> tuple[str, Source | None]:
    """What a finding about a template names: the step and where it was written."""
    return template.display or template.name, template.source
