"""Graphs as `dag` templates (imported ones also as `steps`)."""

from __future__ import annotations

from typing import Any

from couler_py.backends.argo.emission import Emission
from couler_py.backends.argo.emit import edges as edge_rules
from couler_py.backends.argo.emit.arguments import argument, report
from couler_py.backends.argo.emit.artifacts import artifact_arguments
from couler_py.backends.argo.emit.expressions import UnprovenError, condition
from couler_py.backends.argo.emit.fanout import fan_out
from couler_py.backends.argo.emit.hooks import hooks
from couler_py.backends.argo.emit.literals import member, string, tag
from couler_py.backends.argo.emit.outputs import graph_outputs
from couler_py.backends.argo.emit.own_words import add_own_words, in_argos_words
from couler_py.backends.argo.emit.scope import GraphScope
from couler_py.backends.argo.emit.signature import inputs
from couler_py.backends.argo.emit.text import render
from couler_py.backends.argo.program import KEY, Variant, task_names
from couler_py.backends.argo.schema.checking import task_schema
from couler_py.ir.graph import Shape
from couler_py.ir.meaning import Edge
from couler_py.ir.model import External, Function, Graph, Loop, Task, Template
from couler_py.ir.names import legal_name
from couler_py.kubernetes import templated

JSON = dict[str, Any]


class GraphWriter:
    """Writes one graph template."""

    def __init__(self, emission: Emission, template: Template, variant: Variant):
        assert isinstance(template.body, Graph)
        self.emission = emission
        self.program = emission.program
        self.template = template
        self.graph: Graph = template.body
        self.variant: Variant = variant
        self.shape: Shape = emission.shapes[template.name]
        self.names = task_names(self.graph)
        self.possible = self.program.possibilities.of_graph(template)
        self.scope = GraphScope(self.program, template, self.possible, self.names)
        self._targets: dict[str, dict[str, tuple[Any, bool]]] = {}
        self.extra: list[JSON] = []
        self.added: dict[tuple[object, ...], str] = {}
        """The names of added tasks, by what they are for."""
        self.waits: list[str] = []
        """Added tasks that the task being written reads."""

    def write(self) -> JSON:
        """The template, without what all templates have (policies, description)."""
        found: JSON = {}
        if given := inputs(self.emission, self.template, self.scope, self.variant):
            found["inputs"] = given
        tasks = [self.task(task) for task in self.graph.tasks]
        if produced := graph_outputs(self):
            found["outputs"] = produced
        if self.graph.form == "steps":
            by_name = dict(zip(self.names, tasks, strict=True))
            if self.extra:
                self.emission.problem(
                    "CLR402",
                    "an output or a file of this graph needs a task of its own on Argo, and it is written in steps",
                    step=self.template.display or self.template.name,
                    source=self.template.source,
                    help="write the graph by its dependencies",
                )
            found["steps"] = [[by_name[name] for name in group] for group in self.graph.groups]
            return found
        if closing := self.outcome():
            self.extra.append(closing)
        dag: JSON = {"failFast": True} if self.graph.fail_fast else {"failFast": False}
        if self.graph.targets:
            dag["target"] = " ".join(self.names[name] for name in self.graph.targets)
        dag["tasks"] = tasks + self.extra
        found["dag"] = dag
        return found

    # ---- one task

    def task(self, task: Task) -> JSON:
        edges = self.shape.edges[task.name]
        found: JSON = {"name": self.names[task.name]}
        if self.graph.form == "dag":
            depends = self._depends(task, edges)
            if depends:
                found["depends"] = depends
        if edges or task.when is not None:
            self._add_when(task, edges, found)
        self.waits = []
        found |= fan_out(self, task) if task.each is not None else self.call(task)
        if self.waits:
            given = found.get("depends", "")
            if task.depends is not None:
                given = f"({given})"
            found["depends"] = " && ".join(filter(None, [given, *dict.fromkeys(self.waits)]))
        if task.hooks:
            found["hooks"] = hooks(self.emission, task.hooks, self.scope, f"the hooks of {task.name}", task.source)
        if task.continue_on:
            found["continueOn"] = dict.fromkeys(task.continue_on, True)
        if task.extra is None:
            return found
        given = templated(task.extra, in_argos_words(render(self.emission, self.template, self.scope)))
        step = task.display or task.name
        schema = task_schema(self.graph.form)
        return add_own_words(self.emission, found, given, schema, step=step, source=task.source)

    def _depends(self, task: Task, edges: tuple[Edge, ...]) -> str:
        if task.depends is not None:
            return edge_rules.imported(task.depends, self.names)
        if len(edges) == 1 and len(edges[0].tasks) == 1 and edges[0].kind in ("order", "value"):
            return self.names[edges[0].tasks[0]]
        return edge_rules.depends(edges, self.names) if edges else ""

    def _add_when(self, task: Task, edges: tuple[Edge, ...], found: JSON) -> None:
        parts = []
        if task.depends is None and edges:
            parts = edge_rules.skips(edges, self.names, self.possible, self.scope.root)
        if task.when is not None:
            try:
                text = condition(task.when, self.scope)
            except UnprovenError as error:
                report(self.emission, error, "this condition", task.display or task.name, task.source)
                return
            parts.append(f"({text})" if parts and (" || " in text or " ? " in text or " ?? " in text) else text)
        if parts:
            found["when"] = "{{= " + " && ".join(parts) + " }}"

    def call(self, task: Task) -> JSON:
        """Which template a task calls, and with what."""
        if isinstance(task.call, External):
            ref = {"name": task.call.name, "template": task.call.template}
            if task.call.kind == "ClusterWorkflowTemplate":
                ref = {"name": ref["name"], "template": ref["template"], "clusterScope": True}  # type: ignore[dict-item]
            found: JSON = {"templateRef": ref}
        elif isinstance(task.call, str):
            found = {"template": self.program.template_name(task.call, "keyed" if self.keys(task) else "")}
        else:
            from couler_py.backends.argo.emit.template import template_data

            found = {
                "inline": {
                    key: value
                    for key, value in template_data(self.emission, task.call.template).items()
                    if key != "name"
                }
            }
        if task.arguments or task.artifacts:
            given = self.arguments(task)
            if given:
                found["arguments"] = given
        if keys := self.keys(task):
            found.setdefault("arguments", {}).setdefault("parameters", []).extend(keys)
        return found

    def keys(self, task: Task) -> list[JSON]:
        """Where the artifacts of a task go, in a graph that is itself told where its own go."""
        if "keyed" not in self.variant or task.each is not None or not isinstance(task.call, str):
            return []
        sources = self.program.key_sources.get(self.template.name, {}).get(task.name)
        if sources is None:
            return []
        found = []
        for name in sorted(self.program.keyed[task.call]):
            # What nobody asked for goes beside what somebody did.
            outer = sources.get(name, next(iter(sources.values())))
            text = member("inputs.parameters", KEY + outer) + ("" if name in sources else f" + {string('/' + name)}")
            found.append({"name": KEY + name, "value": tag(text)})
        return found

    def arguments(self, task: Task) -> JSON:
        found: JSON = {}
        if task.arguments:
            found["parameters"] = [
                {"name": self._input_name(task, each.name), "value": self.value(task, each.name, each.value)}
                for each in task.arguments
            ]
        if task.artifacts:
            found["artifacts"] = artifact_arguments(self, task)
        return found

    def _input_name(self, task: Task, name: str) -> str:
        return name if self.program.legal_parameter(name) else self.program.field(self.program.callee(task), name)

    def value(self, task: Task, name: str, expr: Any) -> str:
        """The text of one argument; a finding and an empty text where it can't be said."""
        target, plain = self.target(task, name)
        try:
            return argument(expr, target, plain, self.scope)
        except UnprovenError as error:
            report(self.emission, error, f"the argument {name!r}", task.display or task.name, task.source)
            return ""

    def target(self, task: Task, name: str) -> tuple[Any, bool]:
        """The type of the input that an argument is for, and whether a container reads it."""
        callee = self.program.callee(task)
        key = callee.name if callee is not None else ""
        known = self._targets.get(key)
        if known is None:
            known = self._targets[key] = targets(self.emission, callee)
        found = known.get(name)
        if found is None:
            from couler_py.ir.types import STR

            return STR, True
        return found

    def helper(self, wish: str) -> str:
        """A name for a task that emission adds to the graph."""
        wish = legal_name("argo", "task", wish)
        taken = {*self.names.values(), *(task["name"] for task in self.extra)}
        found, count = wish, 1
        while found in taken:
            count += 1
            found = f"{wish}-{count}"
        return found

    # ---- how the graph ends

    def outcome(self) -> JSON | None:
        """A last task that inherits the failure of tasks which only `always` edges leave, or None if there are none.

        Argo judges a graph by its own leaves, where such a task isn't one.
        """
        judged = [
            name
            for name in self.shape.leaves_of_outcome()
            if self.shape.consumers[name] and (self.possible[name].failed or self.possible[name].blocked)
        ]
        if not judged or self.graph.targets:
            return None
        name = self.helper("outcome")
        depends = " && ".join(self.names[task] for task in judged)
        return {"name": name, "depends": depends, "when": "false", "template": self.emission.no_op()}


def targets(emission: Emission, callee: Template | None) -> dict[str, tuple[Any, bool]]:
    """By name, the type of each input parameter, and whether a string given to it must travel as it is."""
    if callee is None:
        return {}
    plain_inputs = emission.program.plain_inputs
    ours = isinstance(callee.body, Function | Graph | Loop)
    return {
        parameter.name: (parameter.type, not ours or (callee.name, parameter.name) in plain_inputs)
        for parameter in callee.inputs.parameters
    }
