"""What emission must know of a whole workflow before it writes a word: names, forms, and who reads what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias

from couler_py.backends.argo.emit.values import Form
from couler_py.ir.expr import Expr, Item, TaskArtifact, TaskItems, TaskOutput, walk
from couler_py.ir.graph import Shape, templates_by_name
from couler_py.ir.meaning import value_expressions
from couler_py.ir.model import Function, Graph, Inline, Loop, Parameter, Task, Template, Workflow
from couler_py.ir.names import Namer, legal, legal_name
from couler_py.ir.possible import Possibilities
from couler_py.ir.types import ANY, ListOf, Type
from couler_py.passes.flows import ALL_MARKS, PlaceKind, flows, possible_marks, read_as_text

Variant: TypeAlias = Literal["", "item", "keyed", "item-keyed"]
"""How a template writes its outputs.

"item": parameters as an item of a fan-out. "keyed": artifacts where its caller says, by an input for each.
"""
KEY = "couler-key-"
"""Begins the name of the input that says where a keyed artifact goes."""


class Program:
    """A workflow and what was found out about it; every question is answered in constant time."""

    def __init__(self, workflow: Workflow, shapes: Mapping[str, Shape] | None = None):
        self.workflow = workflow
        self.templates: dict[str, Template] = templates_by_name(workflow)
        self.possibilities = Possibilities(workflow, shapes)
        self.parameters: dict[str, Parameter] = {parameter.name: parameter for parameter in workflow.parameters}
        self._namer = Namer("argo", "template")
        self._namer.keep(self.templates)
        self._fields: dict[str, dict[str, str]] = {}
        self._output_types: dict[str, dict[str, Type]] = {}
        self.variants: dict[str, set[Variant]] = {}
        self.gathered: dict[tuple[str, str], set[str]] = {}
        self.items_read: set[tuple[str, str]] = set()
        self.gathered_artifacts: dict[tuple[str, str], set[str]] = {}
        self.gathered_of: dict[str, set[str]] = {}
        self.keyed: dict[str, set[str]] = {}
        self.key_sources: dict[str, dict[str, dict[str, str]]] = {}
        self._legal: dict[str, bool] = {}
        self._run_names: dict[str, str] | None = None
        self._published_names: dict[str, str] | None = None
        self.published: dict[str, tuple[Type, Form]] = {
            output.global_name: (output.type, "plain" if self.writes_plain(template) else "wire")
            for template in workflow.templates
            for output in template.outputs.parameters
            if output.global_name
        }
        self.printed: set[tuple[str, str]] = {
            (template.name, output.name)
            for template in workflow.templates
            for output in template.outputs.parameters
            if output.stdout
        }
        self.roots = {workflow.entrypoint, *(handler.call for handler in workflow.handlers)}
        self._made: set[str] = set()
        self._scan()
        handed_on = flows(self.templates, workflow.handlers)
        plain = read_as_text(self.templates, handed_on)
        self.plain_inputs = {(template, name) for kind, template, name in plain if kind == "input"}
        self.plain_outputs = {(template, name) for kind, template, name in plain if kind == "output"}
        self._marks = possible_marks(self.templates, handed_on, plain, self.roots)

    # ---- names

    def template_name(self, name: str, variant: Variant = "") -> str:
        """The name of a template on Argo. Its first variant has the plain name."""
        variants = self.variants.get(name, {""})
        if variant and variant != min(variants):
            return self._namer.name(f"{name}-{variant}")
        return self._namer.name(name)

    def new_name(self, wish: str) -> str:
        """A name for a template that emission adds."""
        found, count = wish, 1
        while found in self.templates or found in self._made:
            count += 1
            found = f"{wish}-{count}"
        self._made.add(found)
        return self._namer.name(found)

    def legal_parameter(self, name: str) -> bool:
        """Whether a name of a parameter or artifact stands on Argo as it is; remembered, for it is asked so often."""
        known = self._legal.get(name)
        if known is None:
            known = self._legal[name] = legal("argo", "parameter", name)
        return known

    def field(self, template: Template | None, name: str) -> str:
        """The name of an input or output of a template. Both share one set of names, so that they stay apart."""
        if self.legal_parameter(name) or template is None:
            return name
        fields = self._fields.get(template.name)
        if fields is None:
            fields = self._fields[template.name] = field_names(template)
        return fields[name]

    def run_parameter_name(self, name: str) -> str:
        """The name of a parameter of the run."""
        if self._run_names is None:
            self._run_names = legal_names(self.parameters)
        return self._run_names[name]

    def published_name(self, name: str) -> str:
        """The name under which an output is published to exit handlers."""
        if self.legal_parameter(name):
            return name
        if self._published_names is None:
            self._published_names = legal_names(self.published)
        return self._published_names[name]

    def hook_name(self, name: str) -> str:
        """The name of a hook or handler."""
        return name if legal("argo", "task", name) else legal_name("argo", "task", name)

    # ---- what templates have

    def output_type(self, template: str, output: str) -> Type:
        """The type of an output parameter."""
        types = self._output_types.get(template)
        if types is None:
            known = self.templates.get(template)
            types = {} if known is None else {each.name: each.type for each in known.outputs.parameters}
            self._output_types[template] = types
        return types.get(output, ANY)

    def callee(self, task: Task) -> Template | None:
        """The template of this workflow that a task calls."""
        if isinstance(task.call, str):
            return self.templates.get(task.call)
        return task.call.template if isinstance(task.call, Inline) else None

    def writes_plain(self, template: Template | None) -> bool:
        """Whether what its outputs hold was written by a program that knows nothing of `ir.wire`."""
        return template is None or not isinstance(template.body, Function | Graph | Loop)

    def marks(self, kind: PlaceKind, template: str, name: str) -> tuple[str, ...]:
        """The marks of `ir.wire` that a string input or output may begin with."""
        return self._marks.get((kind, template, name), ALL_MARKS)

    # ---- one pass over all tasks

    def _scan(self) -> None:
        for root in self.roots:
            self.variants.setdefault(root, set()).add("")
        for template in self.workflow.templates:
            body = template.body
            if isinstance(body, Loop):
                self.variants.setdefault(body.body, set()).add("")
            elif isinstance(body, Graph):
                self._scan_graph(template, body)
        mapped = {
            (template.name, task.name): task.call
            for template in self.workflow.templates
            if isinstance(template.body, Graph)
            for task in template.body.tasks
            if task.each is not None
        }
        for place, names in self.gathered.items():
            call = mapped[place]
            if isinstance(call, str):
                self.gathered_of.setdefault(call, set()).update(names)
        for place, names in self.gathered_artifacts.items():
            call = mapped[place]
            if isinstance(call, str):
                self._key(call, names)
        for template in self.workflow.templates:
            if isinstance(template.body, Graph):
                self._add_variants(template, template.body)
        for name in self.templates:
            self.variants.setdefault(name, {""})

    def _key(self, name: str, wanted: set[str]) -> None:
        """Note that artifacts of a template are to go where its caller says, and whose inside it those are."""
        known = self.keyed.setdefault(name, set())
        new = wanted - known
        known |= new
        template = self.templates.get(name)
        if template is None or not new:
            return
        body = template.body
        outputs = {each.name: each.value for each in template.outputs.artifacts}
        if isinstance(body, Loop):
            self._key(body.body, {getattr(outputs[each], "name", each) for each in new if each in outputs})
            self.variants.setdefault(body.body, set()).add("keyed")
        if not isinstance(body, Graph):
            return
        tasks = {task.name: task for task in body.tasks}
        for outer in sorted(new):
            for node in walk(outputs.get(outer)):
                if not isinstance(node, TaskArtifact):
                    continue
                task = tasks.get(node.task)
                if task is None or task.each is not None or not isinstance(task.call, str):
                    continue
                self.key_sources.setdefault(name, {}).setdefault(task.name, {})[node.name] = outer
                self.variants.setdefault(task.call, set()).add("keyed")
                self._key(task.call, {node.name})

    def _add_variants(self, template: Template, graph: Graph) -> None:
        for task in graph.tasks:
            if task.each is not None and isinstance(task.call, str):
                self.variants.setdefault(task.call, set()).add(self.item_variant(template.name, task))

    def _scan_graph(self, template: Template, graph: Graph) -> None:
        mapped: set[str] = set()
        called: set[str] = set()
        for task in graph.tasks:
            if task.each is not None:
                mapped.add(task.name)
            elif isinstance(task.call, str):
                called.add(task.call)
            for hook in task.hooks:
                called.add(hook.call)
        for name in called:
            self.variants.setdefault(name, set()).add("")
        if not mapped:
            return
        self._readers(template, graph, mapped)

    def _readers(self, template: Template, graph: Graph, mapped: set[str]) -> None:
        for expr in graph_expressions(template, graph):
            for node in walk(expr):
                if isinstance(node, TaskOutput) and node.task in mapped:
                    self.gathered.setdefault((template.name, node.task), set()).add(node.name)
                elif isinstance(node, TaskArtifact) and node.task in mapped:
                    self.gathered_artifacts.setdefault((template.name, node.task), set()).add(node.name)
                elif isinstance(node, TaskItems):
                    self.items_read.add((template.name, node.task))

    def item_variant(self, graph: str, task: Task) -> Variant:
        """In which form the template of a fan-out is called: as an item where its outputs are gathered."""
        template = self.callee(task)
        if template is None:
            return ""
        keyed = (graph, task.name) in self.gathered_artifacts and isinstance(task.call, str)
        # Where a result may be absent, the item says so even to nobody: such an item counts as skipped.
        item = isinstance(template.body, Function | Graph) and (
            bool(self.gathered.get((graph, task.name)))
            or (isinstance(template.body, Graph) and self.may_lack_outputs(template))
        )
        if item:
            return "item-keyed" if keyed else "item"
        return "keyed" if keyed else ""

    def may_lack_outputs(self, template: Template) -> bool:
        """Whether a graph can succeed without one of its outputs."""
        presence = self.possibilities.presence(template)
        values = [output.value for output in template.outputs.parameters]
        return any(value is not None and presence.absent_source(value) is not None for value in values)


def legal_names(names: Iterable[str]) -> dict[str, str]:
    """Names of parameters or artifacts that Argo accepts, legal ones verbatim."""
    namer = Namer("argo", "parameter")
    names = list(names)
    namer.keep(names)
    return {name: namer.name(name) for name in names}


def field_names(template: Template) -> dict[str, str]:
    """The names of all inputs and outputs of a template on Argo."""
    inputs, outputs = template.inputs, template.outputs
    groups = (inputs.parameters, inputs.artifacts, outputs.parameters, outputs.artifacts)
    return legal_names(dict.fromkeys(each.name for group in groups for each in group))


def task_names(graph: Graph) -> dict[str, str]:
    """The names of a graph's tasks on Argo, legal ones verbatim."""
    namer = Namer("argo", "task")
    names = [task.name for task in graph.tasks]
    namer.keep(names)
    return {name: namer.name(name) for name in names}


def graph_expressions(template: Template, graph: Graph) -> Iterable[Expr]:
    """Every expression that reads a task of the graph, but for hooks."""
    for task in graph.tasks:
        if task.arguments or task.artifacts or task.when is not None or task.each is not None:
            yield from value_expressions(task)
    yield from (output.value for output in template.outputs.parameters if output.value is not None)
    yield from (output.value for output in template.outputs.artifacts if output.value is not None)


def item_type(type_: Type) -> Type:
    """The type of a list's elements."""
    return type_.item if isinstance(type_, ListOf) else ANY


def has_item(expr: Expr) -> bool:
    """Whether an expression depends on the item of a fan-out."""
    return any(isinstance(node, Item) for node in walk(expr))
