"""Workflows as functions: the one of a run, and those that it calls like steps."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from couler_py.ir import expr as x
from couler_py.ir.model import Graph, Handler, InputArtifact, Loop, Parameter, Template, Workflow
from couler_py.ir.names import legal_name
from couler_py.printer import settings
from couler_py.printer.annotations import Annotations
from couler_py.printer.calls import outputs_of, positional
from couler_py.printer.expressions import Expressions, Scope
from couler_py.printer.graphs import Around, GraphText, placed
from couler_py.printer.layout import (
    INDENT,
    WIDTH,
    Doc,
    Group,
    Named,
    body,
    broken,
    call,
    definition,
    keyword,
    statement,
)
from couler_py.printer.literal import literal, quoted
from couler_py.printer.names import Names, is_identifier
from couler_py.printer.options import UnsayableError
from couler_py.printer.structs import construct


class Writer:
    """Writes the workflow functions of one module."""

    def __init__(
        self,
        workflow: Workflow,
        around: Around,
        types: Annotations,
        names: Names,
        hoist: Callable[[str, str], Doc],
    ):
        self.workflow = workflow
        self.hoist = hoist
        self.around = around
        self.types = types
        self.names = names
        self.variable = names.free(workflow.name, f"{workflow.name}_workflow")
        self._within = _reading_parameters(workflow)

    def functions(self, flows: list[Template]) -> tuple[list[str], frozenset[str]]:
        """The functions of workflows that others call, callees first; and the names of those that can't be written."""
        found: list[str] = []
        blamed: set[str] = set()
        self._inner: list[Template] = []
        for template in reversed(flows):
            if template.name in self._within:
                self._inner.append(template)
                continue
            try:
                found.append(self._function(template, {}))
            except UnsayableError as reason:
                blamed.add(reason.about or template.name)
        return found, frozenset(blamed)

    def entry(self, template: Template) -> tuple[str, str, frozenset[str]]:
        """The variable and the function of the workflow of a run, and the names of what can't be written."""
        try:
            return self.variable, self._entry(template), frozenset()
        except UnsayableError as reason:
            return self.variable, "", frozenset({reason.about or template.name})

    def _entry(self, template: Template) -> str:
        workflow = self.workflow
        if template.inputs.parameters:
            raise UnsayableError("inputs of the entrypoint")
        if workflow.display and legal_name("ir", "workflow", workflow.display) != workflow.name:
            raise UnsayableError("a name that no text gives")
        found: dict[str, Doc] = {}
        if workflow.display or workflow.name != self.variable:
            found["name"] = quoted(workflow.display or workflow.name)
        if workflow.entrypoint != (workflow.display or workflow.name):
            found["entrypoint"] = quoted(workflow.entrypoint)
        found |= settings.of_workflow(workflow) | settings.of_entry(template)
        storage = {one.name: one.storage for one in workflow.artifacts}
        if set(storage) != {one.name for one in template.inputs.artifacts} or None in storage.values():
            raise UnsayableError("files of the run")
        parameters = [self._parameter(one) for one in workflow.parameters]
        for artifact in template.inputs.artifacts:
            if artifact != InputArtifact(artifact.name, optional=artifact.optional):
                raise UnsayableError("files of the run")
            annotation = self.types.file(artifact.optional)
            parameters.append(_with_default(artifact.name, annotation, construct(storage[artifact.name])))
        names = self.names.inner()
        own = {one.name: names.take(one.name) for one in workflow.parameters}
        files: dict[str, Doc] = {one.name: names.take(one.name) for one in template.inputs.artifacts}
        outside: dict[str, Doc] = dict(own)
        inner = [self._function(one, outside, INDENT) for one in self._inner]
        scope = Scope(files=files, parameters=outside)
        text = _EntryText(template, self.around, scope, names, workflow.handlers)
        blocks = [*inner, *text.lines()]
        return self._def(self.variable, found, workflow.description, _ordered(parameters), "", blocks)

    def _function(self, template: Template, outside: dict[str, Doc], margin: int = 0) -> str:
        variable = self.around.callees[template.name].variable
        found: dict[str, Doc] = {}
        if template.name != variable:
            found["name"] = quoted(template.name)
        found |= settings.of_graph(template)
        parameters = [self._parameter(one) for one in template.inputs.parameters]
        for artifact in template.inputs.artifacts:
            parameters.append(self._artifact(artifact))
        names = self.names.inner()
        for name in outside:
            names.take(name)
        inputs: dict[str, Doc] = {one.name: names.take(one.name) for one in template.inputs.parameters}
        files: dict[str, Doc] = {one.name: names.take(one.name) for one in template.inputs.artifacts}
        text = GraphText(template, self.around, Scope(inputs, files, outside), names, margin + INDENT)
        returns = self._returns(template)
        return self._def(variable, found, template.description, _ordered(parameters), returns, text.lines(), margin)

    def _returns(self, template: Template) -> str:
        outputs = template.outputs
        if outputs_of(template) != ("result",):
            return ""
        if outputs.artifacts:
            return f" -> {self.types.file(False)}"
        return f" -> {self.types.of(outputs.parameters[0].type)}"

    def _def(
        self,
        variable: str,
        found: dict[str, Doc],
        description: str,
        parameters: list[Doc],
        returns: str,
        blocks: list[str],
        margin: int = 0,
    ) -> str:
        shown = settings.docstring(description)
        if description and shown is None:
            found = {**found, "description": quoted(description)}
        given = tuple(keyword(name, value) for name, value in found.items())
        head = (
            "@" + broken(Group("couler.workflow(", given, ")", call=True), 0, 1, 0, WIDTH - margin)
            if given
            else "@couler.workflow"
        )
        first = definition(f"def {variable}(", parameters, f"{returns}:", margin)
        doc = f"    {shown}\n" if shown else ""
        if shown and blocks[0].startswith(("def ", "@")):
            doc += "\n"
        return f"{head}\n{first}\n{doc}{body(blocks)}"

    def _parameter(self, one: Parameter) -> Doc:
        if not is_identifier(one.name) or one.value_from is not None or not one.portable:
            raise UnsayableError("a parameter")
        annotation = self.types.described(self.types.of(one.type), one.description)
        if one.default is msgspec.UNSET:
            return f"{one.name}: {annotation}"
        text = one.default
        default = self.hoist(one.name, text) if isinstance(text, str) and "\n" in text else literal(text)
        return _with_default(one.name, annotation, default)

    def _artifact(self, one: InputArtifact) -> Doc:
        plain = InputArtifact(one.name, optional=one.optional, description=one.description)
        if not is_identifier(one.name) or one != plain:
            raise UnsayableError("a file")
        annotation = self.types.described(self.types.file(one.optional), one.description)
        return _with_default(one.name, annotation, "None") if one.optional else f"{one.name}: {annotation}"


class _EntryText(GraphText):
    """The graph of a run, with the handlers of its end."""

    entry = True

    def __init__(self, template: Template, around: Around, scope: Scope, names: Names, handlers: tuple[Handler, ...]):
        super().__init__(template, around, scope, names, INDENT)
        self.handlers = handlers

    def at_end(self) -> list[str]:
        """The handlers."""
        found: list[str] = []
        taken: set[str] = set()
        for handler in self.handlers:
            natural, number = f"on-{handler.on}", 1
            while natural in taken:
                number += 1
                natural = f"on-{handler.on}-{number}"
            taken.add(handler.name)
            function, before = self._handler(handler)
            plain = handler.name == natural and (not before or function == handler.call)
            name = [] if plain else [keyword("name", quoted(handler.name))]
            found += before
            found.append(statement("", call(f"couler.on_{handler.on}", function, *name), INDENT))
        return found

    def _handler(self, handler: Handler) -> tuple[Doc, list[str]]:
        template = self.around.templates.get(handler.call)
        if template is None:
            raise UnsayableError("a template from elsewhere")
        expressions = Expressions(Scope(parameters=self.scope.parameters))
        if isinstance(template.body, Graph | Loop):
            if handler.arguments or handler.artifacts or handler.when is not None:
                raise UnsayableError("a handler that is a graph")
            if not isinstance(template.body, Graph) or template.name not in self.around.inline:
                raise UnsayableError("a handler that is a graph")
            function = self.names.free(template.name)
            if function != template.name and handler.name != template.name:
                raise UnsayableError("the name of a handler")
            scope = Scope(parameters=self.scope.parameters)
            lines = GraphText(template, self.around, scope, self.names.inner(), 2 * INDENT).lines()
            return function, [f"def {function}():\n{body(lines)}"]
        given: dict[str, Doc] = {one.name: expressions.doc(one.value) for one in handler.arguments}
        for file in handler.artifacts:
            if file.storage is None:
                raise UnsayableError("a file of a handler")
            given[file.name] = construct(file.storage)
        callee = self.around.callees[handler.call]
        doc = call(callee.variable, *placed(given, callee.places))
        thunk: Doc = Named(("lambda: ",), doc) if given else callee.variable
        if handler.when is not None:
            thunk = Named(("lambda: ",), call("couler.when", expressions.doc(handler.when), thunk))
        return thunk, []


def _with_default(name: str, annotation: str, default: Doc) -> Doc:
    return Named((f"{name}: {annotation} = ",), default)


def _ordered(parameters: list[Doc]) -> list[Doc]:
    """The parameters; those behind one with a default that have none can be given by name only."""
    place = positional([isinstance(parameter, Named) for parameter in parameters])
    return parameters if place == len(parameters) else [*parameters[:place], "*", *parameters[place:]]


def _reading_parameters(workflow: Workflow) -> frozenset[str]:
    """The graphs that read a parameter of the run, themselves or in one that they call: they stand in its function."""
    from couler_py.ir.graph import called, expressions

    graphs = {one.name: one for one in workflow.templates}
    found = {
        one.name
        for one in workflow.templates
        if any(isinstance(node, x.WorkflowParameter) for expr in expressions(one) for node in x.walk(expr))
    }
    changed = True
    while changed:
        more = {name for name, one in graphs.items() if name not in found and found & set(called(one))}
        changed = bool(more)
        found |= more
    return frozenset(found)
