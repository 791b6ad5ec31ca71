"""A whole module: imports, constants, classes, steps, workflows, in the order that Python needs."""

from __future__ import annotations

from collections import Counter

import msgspec

from couler_py.ir import expr as x
from couler_py.ir.model import Function, Graph, Loop, Task, Template, Workflow
from couler_py.ir.types import Choice, Record, Type
from couler_py.printer.annotations import IMPORTS, Annotations
from couler_py.printer.calls import Callee, positional
from couler_py.printer.functions import Module, Step, import_lines, published, unpublished
from couler_py.printer.graphs import Around
from couler_py.printer.layout import Doc, Group, call, items, keyword, statement
from couler_py.printer.leaves import leaf
from couler_py.printer.names import identifier, is_identifier
from couler_py.printer.pieces import Reader, UnreadableError
from couler_py.printer.structs import construct
from couler_py.printer.workflows import Writer


class Plan(msgspec.Struct, frozen=True):
    """What isn't written in the shortest way: graphs as functions of their own, and templates as the IR says them."""

    apart: frozenset[str] = frozenset()
    explicit: frozenset[str] = frozenset()


class Draft(msgspec.Struct, frozen=True):
    """A module as text, and what a proof of it needs: the same without a person's source, and what stands for that.

    `head` is what steps need, `definitions` are those of steps that aren't Python functions (template, variable,
    statement), `probe` is the rest. `variable` is the workflow's. `blamed` are templates that could not be written
    as planned; then there is no text.
    """

    text: str = ""
    head: str = ""
    definitions: tuple[tuple[str, str, str], ...] = ()
    probe: str = ""
    variable: str = ""
    steps: tuple[tuple[Step, Template], ...] = ()
    blamed: frozenset[str] = frozenset()


def draft(workflow: Workflow, plan: Plan) -> Draft:
    """The module of a workflow by a plan."""
    return _Drafting(workflow, plan).draft()


class _Drafting:
    def __init__(self, workflow: Workflow, plan: Plan):
        self.workflow = workflow
        self.plan = plan
        self.templates = {template.name: template for template in workflow.templates}
        self.module = Module()
        self.volumes = frozenset(
            [volume.name for volume in workflow.volumes] + [claim.name for claim in workflow.volume_claims]
        )
        self.whole = workflow.entrypoint in plan.explicit
        self.uses = _uses(workflow)
        self.publish = {} if self.whole else self._published()
        self.leaves = [one for one in workflow.templates if not isinstance(one.body, Graph | Loop)]
        self.steps: dict[str, Step] = {}
        self.sources: dict[str, list[str]] = {}
        self.definitions: dict[str, str] = {}
        self.aliases: list[str] = []
        self.parameters: set[str] | None = None
        self.callees: dict[str, Callee] = {}
        self.known: dict[Type, str] = {}

    def draft(self) -> Draft:
        self._functions()
        self.types = Annotations(self.module.names, self.known, self.module.imported)
        self._leaves()
        if self.whole:
            return self._explicit()
        self._aliases()
        blamed = self._explicit_graphs()
        inline = _inline(self.workflow, self.plan)
        flows = [one for one in self._graphs() if one.name not in inline and one.name not in self.callees]
        for one in flows:
            if all(map(is_identifier, _parameters(one))):
                self.callees[one.name] = Callee(self._variable(one.name), _by_place(one))
            else:
                blamed |= {one.name}
        entry = self.templates.get(self.workflow.entrypoint)
        if blamed or entry is None or not isinstance(entry.body, Graph):
            return Draft(blamed=blamed or frozenset({self.workflow.entrypoint}))
        direct = frozenset(one.name for one in self.workflow.templates if isinstance(one.body, Graph | Loop))
        around = Around(self.templates, self.callees, inline, self.publish, direct & self.plan.explicit)
        writer = Writer(self.workflow, around, self.types, self.module.names, self.module.hoist)
        texts, blamed = writer.functions([one for one in flows if one.name in self.callees])
        variable, main, more = writer.entry(entry)
        blamed |= more
        if blamed:
            return Draft(blamed=blamed)
        return self._draft([*texts, main], variable)

    # ---- steps

    def _published(self) -> dict[str, list[tuple[str, str]]]:
        """By template, the outputs that are published where it is called: once, in the graph of the run."""
        entry = self.templates.get(self.workflow.entrypoint)
        if entry is None or not isinstance(entry.body, Graph):
            return {}
        once = {task.call for task in entry.body.tasks if task.each is None and isinstance(task.call, str)}
        return {
            one.name: found
            for one in self.workflow.templates
            if not isinstance(one.body, Graph | Loop)
            and one.name in once
            and self.uses[one.name] == 1
            and (found := published(one))
        }

    def _said(self, template: Template) -> Template:
        return unpublished(template) if template.name in self.publish else template

    def _functions(self) -> None:
        include = {archive.digest: archive.paths for archive in self.workflow.includes}
        for template in self.leaves:
            said = self._said(template)
            if not isinstance(template.body, Function) or template.name in self.plan.explicit:
                continue
            if template.name not in self.publish and published(template):
                continue
            step = self.module.step(said, include, self.volumes)
            if step is not None:
                self.steps[template.name] = step
                self.callees[template.name] = Callee(step.variable, step.source.places)
        self.module.steps(step.source.own.name for step in self.steps.values() if not step.nested)
        for step in self.steps.values():
            self._classes(step)

    def _classes(self, step: Step) -> None:
        reader = Reader(step.source.needed)
        for piece in step.source.needed.values():
            if piece.kind == "class" and piece not in step.around:
                try:
                    found = reader.type_of_class(piece.name)
                except UnreadableError:
                    continue
                if isinstance(found, Choice | Record):
                    self.known.setdefault(found, piece.name)

    def _aliases(self) -> None:
        """Give steps a second name where a workflow that calls them has a parameter of their first."""
        for caller in self.workflow.templates:
            parameters = set(_parameters(caller))
            if caller.name == self.workflow.entrypoint:
                parameters |= {one.name for one in self.workflow.parameters}
            for name in self._called_within(caller):
                step, callee = self.steps.get(name), self.callees.get(name)
                if step is not None and callee is not None and callee.variable in parameters:
                    alias = self.module.names.free(f"{step.variable}_step")
                    self.aliases.append(f"{alias} = {step.variable}")
                    self.callees[name] = Callee(alias, callee.places)

    def _called_within(self, template: Template) -> set[str]:
        """The steps that a graph calls, itself or in a graph inside."""
        found: set[str] = set()
        waiting = [template.name]
        while waiting:
            name = waiting.pop()
            if name not in found and name in self.templates:
                found.add(name)
                waiting.extend(_called(self.templates[name]))
        return found

    def _leaves(self) -> None:
        for template in self.leaves:
            if template.name in self.steps:
                continue
            variable = self._variable(template.name)
            said = self._said(template)
            doc = None
            if template.name not in self.plan.explicit and not isinstance(template.body, Function):
                doc = leaf(said, self.types, self.volumes, self.module.hoist)
            if doc is None:
                doc = call("couler.template", construct(msgspec.structs.replace(said, source=None)))
            self.definitions[template.name] = statement(f"{variable} = ", doc)
            self.callees[template.name] = Callee(variable, _parameters(said))

    def _variable(self, name: str) -> str:
        """A name for a step that no parameter hides."""
        if self.parameters is None:
            graphs = [one for one in self.workflow.templates if isinstance(one.body, Graph)]
            self.parameters = {name for one in graphs for name in _parameters(one)}
            self.parameters |= {one.name for one in self.workflow.parameters}
        if identifier(name) in self.parameters:
            return self.module.names.free(f"{name}_step")
        return self.module.names.free(name)

    # ---- graphs

    def _graphs(self) -> list[Template]:
        return [
            one
            for one in self.workflow.templates
            if isinstance(one.body, Graph) and one.name != self.workflow.entrypoint
        ]

    def _explicit_graphs(self) -> frozenset[str]:
        """Define graphs and loops that are written as the IR says them, those that others call first."""
        waiting = [one for one in self.workflow.templates if one.name in self.plan.explicit]
        waiting = [one for one in waiting if isinstance(one.body, Graph | Loop)]
        while waiting:
            ready = [one for one in waiting if all(name in self.callees for name in _called(one) if name != one.name)]
            if not ready:
                # What they call must be explicit too; graphs that call each other have no order.
                called = {name for one in waiting for name in _called(one)} - set(self.callees)
                missing = called - {one.name for one in waiting}
                return frozenset(missing or {self.workflow.entrypoint})
            for one in ready:
                waiting.remove(one)
                variable = self._variable(one.name)
                used = [self.callees[name].variable for name in dict.fromkeys(_called(one)) if name != one.name]
                bare = construct(msgspec.structs.replace(one, source=None))
                doc = call("couler.template", bare, *([keyword("uses", items(used))] if used else []))
                self.definitions[one.name] = statement(f"{variable} = ", doc)
                self.callees[one.name] = Callee(variable, _parameters(one))
        return frozenset()

    def _explicit(self) -> Draft:
        """The whole workflow as the IR says it, but for the definitions of its steps."""
        docs: list[Doc] = []
        for template in self.workflow.templates:
            callee = self.callees.get(template.name)
            if callee is not None:
                docs.append(f"{callee.variable}.template()")
            else:
                docs.append(construct(msgspec.structs.replace(template, source=None)))
        bare = msgspec.structs.replace(self.workflow, templates=(), source=None)
        doc = construct(bare)
        assert isinstance(doc, Group)
        given = list(doc.items)
        given[2] = Group("(", tuple(docs), ")", lone="," if len(docs) == 1 else "")
        variable = self.module.names.free(self.workflow.name, "workflow")
        text = statement(f"{variable} = ", call("ir.Workflow", *given))
        return self._draft([text], variable)

    # ---- the text

    def _draft(self, workflows: list[str], variable: str) -> Draft:
        user: list[str] = []
        for template in self.leaves:
            step = self.steps.get(template.name)
            if step is not None:
                user.extend(self.module.text_of(step))
        constants = [f"{name} = {shown}" for name, shown in self.module.constants.items()]
        definitions = self.types.definitions
        simple = [*self.aliases, *self.definitions.values()]
        text = self._put(constants, [*user, *definitions], simple, workflows)
        stand_ins = [
            self.types.define(name, type_) for type_, name in self.known.items() if isinstance(type_, Choice | Record)
        ]
        head = "\n".join([*_OWN, *constants, *stand_ins, *definitions])
        named = tuple((name, self.callees[name].variable, source) for name, source in self.definitions.items())
        steps = tuple((step, self._said(self.templates[name])) for name, step in self.steps.items())
        return Draft(text, head, named, "\n".join([*self.aliases, *workflows]), variable, steps)

    def _put(self, constants: list[str], blocks: list[str], simple: list[str], last: list[str]) -> str:
        body = "\n".join([*constants, *blocks, *simple, *last])
        imports = dict.fromkeys(self.module.imports)
        if "ir." in body:
            imports["from couler_py import ir"] = None
        sections = ["\n".join(lines) for lines in import_lines(imports)]
        if self.module.future:
            sections.insert(0, f"from __future__ import {', '.join(self.module.future)}")
        parts = ["\n\n".join(sections)]
        if constants:
            parts.append("\n\n" + "\n".join(constants))
        for block in blocks:
            parts.append("\n\n\n" + block)
        if simple:
            parts.append("\n\n" + ("\n" if blocks else "") + "\n".join(simple))
        for block in last:
            parts.append("\n\n\n" + block if block.startswith(("@", "def ")) else "\n\n" + block)
        return "".join(parts) + "\n"


_OWN = (
    "import couler_py as couler",
    "from couler_py import ir",
    *(f"from {module} import {name}" for name, module in IMPORTS.items()),
)
"""What a proof imports: nothing of a person's."""


def _parameters(template: Template) -> tuple[str, ...]:
    """The inputs of a graph: the parameters of its function."""
    inputs = template.inputs
    return (*(one.name for one in inputs.parameters), *(one.name for one in inputs.artifacts))


def _by_place(template: Template) -> tuple[str, ...]:
    """Those that can be given without their names."""
    defaults = [one.default is not msgspec.UNSET for one in template.inputs.parameters]
    defaults += [one.optional for one in template.inputs.artifacts]
    return _parameters(template)[: positional(defaults)]


def _called(template: Template) -> list[str]:
    from couler_py.ir.graph import called

    return list(called(template))


def _uses(workflow: Workflow) -> Counter[str]:
    found: Counter[str] = Counter()
    for template in workflow.templates:
        found.update(_called(template))
    found.update(handler.call for handler in workflow.handlers)
    return found


def _inline(workflow: Workflow, plan: Plan) -> frozenset[str]:
    """The graphs that are written where they are called: bodies of loops, handlers, and what `map` and `when` made."""
    uses = _uses(workflow)
    graphs = {one.name: one for one in workflow.templates if isinstance(one.body, Graph)}
    loops = [one.body for one in workflow.templates if isinstance(one.body, Loop) and one.name not in plan.explicit]
    found = {body.body for body in loops} & set(graphs)
    found |= {handler.call for handler in workflow.handlers} & set(graphs)
    for template in workflow.templates:
        if isinstance(template.body, Graph):
            for task in template.body.tasks:
                graph = graphs.get(task.call) if isinstance(task.call, str) else None
                if graph is not None and uses[graph.name] == 1 and graph.name not in plan.apart:
                    found |= {graph.name} if _made_in_place(task, graph) else set()
    return frozenset(found - plan.explicit - {workflow.entrypoint})


_READ = (x.TaskOutput, x.TaskArtifact, x.TaskStatus, x.TaskItems, x.Input, x.InputArtifact)


def _made_in_place(task: Task, template: Template) -> bool:
    """Whether the DSL makes such a graph of a function that `map` or `when` got: its inputs are values around it."""
    bare = Template(template.name, template.body, template.inputs, template.outputs)
    if msgspec.structs.replace(template, source=None) != bare:
        return False
    if any(one.default is not msgspec.UNSET or one.description for one in template.inputs.parameters):
        return False
    if task.each is None and task.when is None:
        return False
    return all(_threaded(name, value) for name, value in _given(task))


def _given(task: Task) -> list[tuple[str, x.Expr]]:
    files = [(file.name, file.value or x.Literal(None)) for file in task.artifacts]
    return [(argument.name, argument.value) for argument in task.arguments] + files


def _threaded(name: str, value: x.Expr) -> bool:
    base = value.value if isinstance(value, x.Access) else value
    if isinstance(base, x.Item):
        return is_identifier(name)
    if not isinstance(value, _READ):
        return False
    if isinstance(value, x.TaskOutput | x.TaskArtifact):
        wanted = value.task if value.name == "result" else f"{value.task}-{value.name}"
    elif isinstance(value, x.TaskStatus | x.TaskItems):
        wanted = f"{value.task}-{'status' if isinstance(value, x.TaskStatus) else 'items'}"
    else:
        wanted = value.name
    return name == wanted or name.startswith(f"{wanted}-")
