"""The tasks of a graph as statements of a function: calls, and what is wrapped around them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec

from couler_py.ir import expr as x
from couler_py.ir.graph import expressions
from couler_py.ir.model import Graph, Loop, Task, Template
from couler_py.printer import fanouts, loops
from couler_py.printer.calls import Callee, Counted, Form, form_of, outputs_of, whole
from couler_py.printer.expressions import Expressions, Result, Scope, member, task_of
from couler_py.printer.layout import INDENT, Doc, Group, Named, body, call, keyword, statement
from couler_py.printer.literal import quoted
from couler_py.printer.names import Names, is_identifier
from couler_py.printer.nesting import Printed, statements
from couler_py.printer.options import UnsayableError
from couler_py.printer.structs import construct

OTHERWISE = "-otherwise"
"""What the DSL puts behind the name of a condition for its second branch."""


class Around(msgspec.Struct, frozen=True):
    """What graphs of one workflow share: its templates, how each is called, and which graphs are written in place."""

    templates: dict[str, Template]
    callees: dict[str, Callee]
    inline: frozenset[str]
    publish: dict[str, list[tuple[str, str]]]
    direct: frozenset[str] = frozenset()

    def form(self, template: Template) -> Form:
        """How the outputs of a call of a template are reached."""
        return form_of(template, self.templates, self.direct)


class Reads(msgspec.Struct):
    """How often each task of a graph is read, and two together as the first of both; and whom others wait for."""

    each: Counter[str]
    together: Counter[tuple[str, ...]]
    waited: set[str]


class GraphText:
    """Writes one graph. `names` are those of the function that it becomes; its body stands at column `margin`."""

    entry = False  # whether it is the graph of the run

    def __init__(self, template: Template, around: Around, scope: Scope, names: Names, margin: int):
        assert isinstance(template.body, Graph)
        self.template = template
        self.graph = template.body
        self.around = around
        self.margin = margin
        self.scope = scope
        self.names = names
        self.expressions = Expressions(scope)
        _check(self.graph)
        self.given = Counted([self.base(task) for task in self.graph.tasks], self.graph.tasks).given
        self._wanted = _wanted(self.graph)
        self._reads = _reads(template)

    def lines(self) -> list[str]:
        """The statements of the function's body."""
        printed: list[Printed] = []
        skip: set[str] = set()
        for number, task in enumerate(self.graph.tasks):
            if task.name in skip:
                continue
            follower = self.graph.tasks[number + 1] if number + 1 < len(self.graph.tasks) else None
            if follower is not None and self._are_branches(task, follower):
                skip.add(follower.name)
                printed.append(self._branches(task, follower))
            else:
                printed.append(self._task(task))
        published = self._publish() if self.entry else []
        back = self._return()
        return list(statements(printed, [*published, *self.at_end()], back, self.margin))

    def at_end(self) -> list[str]:
        """What stands between the tasks and what is returned."""
        return []

    # ---- one task

    def _task(self, task: Task) -> Printed:
        doc, before = self._conditional(task)
        result = self._result(task)
        doc = self._ordered(task, doc)
        printed = Printed(doc, result, before)
        self.scope.tasks[task.name] = result
        for output, name in self._published(task):
            value = member(result, output)
            assert value is not None
            printed.after.append(statement("", call("couler.publish", quoted(name), value.doc), self.margin))
        return printed

    def _published(self, task: Task) -> list[tuple[str, str]]:
        return self.around.publish.get(str(task.call), []) if isinstance(task.call, str) else []

    def _conditional(self, task: Task) -> tuple[Doc, list[str]]:
        """A task with its condition."""
        if task.when is None:
            doc, before, _ = self.call_of(task)
            return doc, before
        doc, before, function = self.call_of(task, branch=task.each is None)
        name = self.frame_name(task, function) if task.each is None else None
        named = [] if name is None else [keyword("name", quoted(name))]
        return call("couler.when", self._condition(task.when), _thunk(doc, function), *named), before

    def _condition(self, when: x.Expr) -> Doc:
        """A condition; one that is known now stays one of the run."""
        return construct(when) if isinstance(when, x.Literal) else self.expressions.doc(when)

    def _are_branches(self, task: Task, follower: Task) -> bool:
        """Whether two tasks are the two sides of one condition, and what reads them takes whichever ran."""
        if task.when is None or follower.when != x.Not(task.when):
            return False
        if any(one.after or one.each is not None or self._published(one) for one in (task, follower)):
            return False
        both = (task.name, follower.name)
        if self._reads_one(both) or not self._named_alike(task, follower):
            return False
        forms = {(self._form(one), outputs_of(self.called(one))) for one in (task, follower)}
        return len(forms) == 1 or not self._reads_any(both)

    def _reads_one(self, both: tuple[str, str]) -> bool:
        """Whether something reads one of two tasks otherwise than as the first of both."""
        together = self._reads.together[both]
        return any(self._reads.each[name] != together or name in self._reads.waited for name in both)

    def _reads_any(self, both: tuple[str, str]) -> bool:
        return any(self._reads.each[name] for name in both)

    def _branches(self, task: Task, follower: Task) -> Printed:
        assert task.when is not None
        condition = self._condition(task.when)
        one, before, function = self.call_of(task, branch=True)
        other, more, otherwise = self.call_of(follower, branch=True)
        result = self._result(task, follower)
        given = self.frame_name(task, function), self.frame_name(follower, otherwise)
        wanted = given[0] or (given[1].removesuffix(OTHERWISE) if given[1] else None)
        name = [] if wanted is None else [keyword("name", quoted(wanted))]
        doc = call(
            "couler.when",
            condition,
            _thunk(one, function),
            keyword("otherwise", _thunk(other, otherwise)),
            *name,
        )
        self.scope.pairs[(task.name, follower.name)] = result
        return Printed(doc, result, [*before, *more])

    def _named_alike(self, task: Task, follower: Task) -> bool:
        """Whether one name says what both branches are called, where they are graphs."""
        one, other = (self._own_name(each) for each in (task, follower))
        if one is None or other is None:
            return True
        if one == "" or other == "":
            return one == other
        return other == one + OTHERWISE

    def _own_name(self, task: Task) -> str | None:
        """The name that a branch has to be given; "" where its function's is that, None where it is no graph."""
        if not self.is_in_place(task):
            return None
        template = self.called(task)
        free = is_identifier(template.name) and template.name not in self.names
        return "" if free and task.name not in self.given else template.name

    def _result(self, task: Task, other: Task | None = None) -> Result:
        template = self.called(task)
        form = self._form(task)
        wanted = [*self._wanted.get(task.name, []), *(self._wanted.get(other.name, []) if other else [])]
        if form != "one":
            wanted = []
        own = task.name if task.name in self.given else template.name
        variable = self.names.free(*wanted[:1], own, f"{own}_result")
        return Result(variable, form, outputs_of(template))

    def _ordered(self, task: Task, doc: Doc) -> Doc:
        """A task with the edges that a person wrote."""
        groups: list[tuple[str, list[str]]] = []
        for edge in task.after:
            if edge.task not in self.scope.tasks:
                raise UnsayableError("an edge to a later task")
            producer = task_of(self.scope.tasks[edge.task])
            if not groups or groups[-1][0] != edge.kind:
                groups.append((edge.kind, []))
            groups[-1][1].append(producer)
        for kind, producers in groups:
            named: list[Doc] = [] if kind == "order" else [keyword("kind", quoted(kind))]
            doc = call("couler.after", doc, *producers, *named)
        return doc

    # ---- the call itself

    def call_of(self, task: Task, branch: bool = False) -> tuple[Doc, list[str], str | None]:
        """The call of a task, what has to stand before it, and the function that makes it where that is enough."""
        if task.each is not None:
            doc, before = fanouts.fan_out(self, task)
            return doc, before, None
        template = self.called(task)
        if self.is_loop(template):
            doc, before = loops.loop(self, task, template, self.expressions)
            return doc, before, None
        if self.is_in_place(task):
            if not branch:
                raise UnsayableError("a graph in place that is no branch")
            function, before = self.in_place(task, template, ())
            return f"{function}()", before, function
        doc, plain = self.plain_call(task, self.expressions)
        return doc, [], plain

    def plain_call(self, task: Task, expressions: Expressions) -> tuple[Doc, str | None]:
        callee = self.callee(task)
        given = dict(arguments(task, expressions))
        function = callee.variable
        if task.name in self.given:
            function = f"{function}.named({quoted(self.given[task.name])})"
        return call(function, *placed(given, callee.places)), None if given else function

    # ---- graphs that are written where they are called

    def in_place(self, task: Task, template: Template, parameters: tuple[str, ...]) -> tuple[str, list[str]]:
        """A function with the tasks of a graph; its inputs are `parameters`, and what it reads around it."""
        function = self.names.free(template.name.removesuffix("-body"))
        names = self.names.inner()
        inputs: dict[str, Doc] = {}
        files: dict[str, Doc] = {}
        for name in parameters:
            if name in names and not is_identifier(name):
                raise UnsayableError("a parameter that is no name")
        own = [names.take(name) for name in parameters]
        for argument in task.arguments:
            if argument.name not in parameters:
                inputs[argument.name] = self.expressions.doc(argument.value)
        for file in task.artifacts:
            if file.name not in parameters and file.value is not None:
                files[file.name] = self.expressions.doc(file.value)
        for name in own:
            target = files if any(one.name == name for one in template.inputs.artifacts) else inputs
            target[name] = name
        scope = Scope(inputs, files, self.scope.parameters)
        lines = GraphText(template, self.around, scope, names, self.margin + INDENT).lines()
        return function, [f"def {function}({', '.join(own)}):\n{body(lines)}"]

    def frame_name(self, task: Task, function: str | None) -> str | None:
        """The name that has to be given to a graph that a function makes; None where the function has it."""
        if not self.is_in_place(task):
            return None
        template = self.called(task)
        if function == template.name and task.name not in self.given:
            return None
        if task.name != template.name or task.display:
            raise UnsayableError("the name of a graph in place")
        return template.name

    # ---- what a graph gives

    def _publish(self) -> list[str]:
        """Values of the graph that have a name in the run."""
        return [
            statement("", call("couler.publish", quoted(global_name), self.expressions.doc(value)), self.margin)
            for _, value, global_name in self._outputs()
            if global_name and value is not None
        ]

    def _outputs(self) -> list[tuple[str, x.Expr | None, str]]:
        """The outputs of the graph: name, value, and the name that it has in the run."""
        outputs = self.template.outputs
        return [
            *((one.name, one.value, one.global_name) for one in outputs.parameters),
            *((one.name, one.value, one.global_name) for one in outputs.artifacts),
        ]

    def _return(self) -> Doc | None:
        outputs = self._outputs()
        given = [(name, value) for name, value, global_name in outputs if not global_name]
        if not self.entry and len(given) < len(outputs):
            raise UnsayableError("a published output of a graph inside")
        if not given:
            return None
        task = whole(self.template, self.around.templates)
        if task is not None and task in self.scope.tasks:
            result = self.scope.tasks[task]
            result.used = True
            return result.variable
        docs: list[tuple[str, Doc]] = []
        for name, value in given:
            if value is None:
                raise UnsayableError("an output without a value")
            docs.append((name, self.expressions.doc(value)))
        if [name for name, _ in docs] == ["result"]:
            return docs[0][1]
        return Group("{", tuple(Named((quoted(name), ": "), doc) for name, doc in docs), "}")

    # ---- what is called

    def called(self, task: Task) -> Template:
        found = self.around.templates.get(task.call) if isinstance(task.call, str) else None
        if found is None:
            raise UnsayableError("a template from elsewhere")
        return found

    def _form(self, task: Task) -> Form:
        return self.around.form(self.called(task))

    def callee(self, task: Task) -> Callee:
        found = self.around.callees.get(str(task.call))
        if found is None:
            raise UnsayableError("a template that has no call")
        return found

    def is_in_place(self, task: Task) -> bool:
        return isinstance(task.call, str) and task.call in self.around.inline

    def base(self, task: Task) -> str:
        template = self.called(task)
        return loops.base(task, template, self.around.templates) if self.is_loop(template) else template.name

    def is_loop(self, template: Template) -> bool:
        return isinstance(template.body, Loop) and template.name not in self.around.direct


def placed(given: dict[str, Doc], places: tuple[str, ...]) -> list[Doc]:
    """Arguments as people write them: by place where they are few and none is left out, else by name."""
    ordered = tuple(name for name in places if name in given)
    if len(given) <= 3 and places[: len(given)] == ordered and len(ordered) == len(given):
        return [given[name] for name in ordered]
    known = [keyword(name, given[name]) for name in given if is_identifier(name)]
    odd = tuple(Named((quoted(name), ": "), doc) for name, doc in given.items() if not is_identifier(name))
    return [*known, *([Named(("**",), Group("{", odd, "}"))] if odd else [])]


def arguments(task: Task, printer: Expressions) -> Iterator[tuple[str, Doc]]:
    for argument in task.arguments:
        yield argument.name, printer.doc(argument.value)
    for file in task.artifacts:
        if file.storage is not None:
            if file.value is not None:
                raise UnsayableError("a file from two places")
            yield file.name, construct(file.storage)
        elif file.value is not None:
            yield file.name, printer.doc(file.value)
        else:
            raise UnsayableError("a file from nowhere")


def _thunk(doc: Doc, function: str | None) -> Doc:
    return function if function is not None else Named(("lambda: ",), doc)


def _reads(template: Template) -> Reads:
    assert isinstance(template.body, Graph)
    found = Reads(Counter(), Counter(), {edge.task for task in template.body.tasks for edge in task.after})
    for expr in expressions(template):
        for node in x.walk(expr):
            if isinstance(node, x.TaskOutput | x.TaskArtifact | x.TaskStatus | x.TaskItems):
                found.each[node.task] += 1
            elif isinstance(node, x.First):
                options = [one for one in node.options if isinstance(one, x.TaskOutput | x.TaskArtifact)]
                if len(options) == len(node.options) and len({one.name for one in options}) == 1:
                    found.together[tuple(one.task for one in options)] += 1
    return found


def _wanted(graph: Graph) -> dict[str, list[str]]:
    """By task, the names of the inputs that its value is given to whole: good names for variables."""
    found: dict[str, list[str]] = {}
    for task in graph.tasks:
        given = [(argument.name, argument.value) for argument in task.arguments]
        given += [(file.name, file.value) for file in task.artifacts if file.value is not None]
        for name, value in given:
            options = value.options if isinstance(value, x.First) else (value,)
            for option in options:
                if isinstance(option, x.TaskOutput | x.TaskArtifact) and is_identifier(name):
                    found.setdefault(option.task, []).append(name)
    return found


def _check(graph: Graph) -> None:
    """Raise `UnsayableError` for what only imported graphs have."""
    if graph.form != "dag" or graph.groups or graph.targets:
        raise UnsayableError("groups of steps")
    for task in graph.tasks:
        if task.depends is not None or task.hooks or task.continue_on:
            raise UnsayableError("edges of an imported task")
        if len({argument.name for argument in task.arguments}) < len(task.arguments):
            raise UnsayableError("an argument that comes twice")
    earlier: set[str] = set()
    for task in graph.tasks:
        if any(edge.task not in earlier for edge in task.after):
            raise UnsayableError("an edge to a later task")
        earlier.add(task.name)
