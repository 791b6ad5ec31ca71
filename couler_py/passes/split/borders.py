"""What goes over the borders of parts: states, values and files by name, and the tasks that stand for others.

In the part that reads, a *stand-in* of the same name takes the place of a task of another part: it ends as the task did
and gives what the task gave, so that all who wait for it are written as ever.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping

import msgspec

from couler_py.ir.expr import (
    Access,
    Compare,
    Expr,
    Input,
    InputArtifact,
    Literal,
    OrElse,
    Record,
    TaskArtifact,
    TaskOutput,
    TaskStatus,
)
from couler_py.ir.interface import InputArtifact as ArtifactInput
from couler_py.ir.model import (
    Argument,
    ArtifactArgument,
    Graph,
    Inputs,
    OutputArtifact,
    OutputParameter,
    Outputs,
    Parameter,
    Suspend,
    Task,
    Template,
)
from couler_py.ir.names import take_name
from couler_py.ir.possible import Possible
from couler_py.ir.types import STR, Type
from couler_py.passes.split.uses import Uses, output_type, zero


class Made:
    """The templates that splitting adds, by name; `helpers` are those whose tasks are nobody's."""

    def __init__(self, templates: Iterable[str]):
        self.templates: dict[str, Template] = {}
        self._taken = set(templates)
        self._known: dict[str, str] = {}
        self.nothing = self.helper("nothing", lambda name: Template(name, Suspend(duration=0)))

    @property
    def helpers(self) -> tuple[str, ...]:
        """The names of the templates that are made once, however often they are asked for."""
        return tuple(self._known.values())

    def name(self, wish: str) -> str:
        """A name that no template has."""
        return take_name(wish, self._taken)

    def helper(self, wish: str, make: Callable[[str], Template]) -> str:
        """The name of a template that is made the first time it is asked for."""
        if wish not in self._known:
            name = self._known[wish] = self.name(wish)
            self.templates[name] = make(name)
        return self._known[wish]

    def stand_in(self, types: Mapping[str, Type], files: tuple[str, ...]) -> str:
        """The template of a stand-in that gives values of these types and some files, and ends as it is told."""
        key = msgspec.json.encode([list(types.items()), files])
        wish = f"stand-in-{hashlib.sha256(key).hexdigest()[:8]}"
        return self.helper(
            wish,
            lambda name: Template(
                name,
                Graph((Task("given", self.nothing, when=_succeeded(Input("state"))),)),
                Inputs(
                    (Parameter("state"), *(Parameter(_given(each), type_) for each, type_ in types.items())),
                    tuple(ArtifactInput(each, optional=True) for each in files),
                ),
                Outputs(
                    tuple(OutputParameter(each, type_, value=Input(_given(each))) for each, type_ in types.items()),
                    tuple(OutputArtifact(each, value=InputArtifact(each), optional=True) for each in files),
                ),
            ),
        )


class Borders:
    """What the parts of a graph take and give; `home` is the part of each task, `given` what goes out of it."""

    def __init__(
        self,
        template: Template,
        templates: Mapping[str, Template],
        home: Mapping[str, str],
        given: Uses,
        possible: Mapping[str, Possible],
        made: Made,
    ):
        assert isinstance(template.body, Graph)
        self.template = template
        self.templates = templates
        self.tasks = {task.name: task for task in template.body.tasks}
        self.home = home
        self.given = given
        self.possible = possible
        self.made = made

    def told(self, name: str) -> tuple[list[OutputParameter], list[OutputArtifact]]:
        """The outputs of a part about one task: how it ended, its values and its files; none that nobody reads."""
        if name not in self.given.outputs:
            return [], []
        task = self.tasks[name]
        found = [OutputParameter(slot(name), STR, value=TaskStatus(name))]
        for each in self.given.outputs[name]:
            type_ = output_type(task, each, self.templates)
            value = OrElse(TaskOutput(name, each), Literal(zero(type_)))
            found.append(OutputParameter(slot(name, each), type_, value=value))
        files = [
            OutputArtifact(slot(name, each), value=TaskArtifact(name, each), optional=True)
            for each in self.given.files.get(name, ())
        ]
        return found, files

    def inputs(
        self, outside: Mapping[str, Mapping[str, None]], uses: Uses
    ) -> tuple[list[Parameter], list[ArtifactInput]]:
        """What a part takes: the states and values of tasks of other parts, and what the whole graph takes."""
        known = {each.name: each for each in self.template.inputs.parameters}
        files = {each.name: each for each in self.template.inputs.artifacts}
        parameters = [msgspec.structs.replace(known[name]) for name in uses.inputs if name in known]
        artifacts = [files[name] for name in uses.artifacts if name in files]
        for name, names in outside.items():
            parameters.append(Parameter(slot(name)))
            task = self.tasks[name]
            parameters += [Parameter(slot(name, each), output_type(task, each, self.templates)) for each in names]
            artifacts += [ArtifactInput(slot(name, each), optional=True) for each in uses.files.get(name, ())]
        return parameters, artifacts

    def call(self, name: str, template: str, outside: Mapping[str, Mapping[str, None]], uses: Uses) -> Task:
        """The task that runs a part, or the results, with what it takes from others."""
        known = {each.name for each in self.template.inputs.parameters}
        arguments = [Argument(each, Input(each)) for each in uses.inputs if each in known]
        artifacts = [ArtifactArgument(each, InputArtifact(each)) for each in uses.artifacts]
        for producer, names in outside.items():
            home = self.home[producer]
            arguments += [
                Argument(slot, TaskOutput(home, slot))
                for slot in (slot(producer), *(slot(producer, each) for each in names))
            ]
            artifacts += [
                ArtifactArgument(slot(producer, each), TaskArtifact(home, slot(producer, each)), optional=True)
                for each in uses.files.get(producer, ())
            ]
        return Task(name, template, tuple(arguments), tuple(artifacts))

    def stand_ins(
        self, outside: Mapping[str, Mapping[str, None]], files: Mapping[str, Mapping[str, None]]
    ) -> list[Task]:
        """The tasks that end as those of other parts did, and give what they gave."""
        return [self.stand_in(name, names, files.get(name, {})) for name, names in outside.items()]

    def stand_in(self, name: str, outputs: Iterable[str], files: Iterable[str]) -> Task:
        task, state = self.tasks[name], Input(slot(name))
        types = {each: output_type(task, each, self.templates) for each in outputs}
        when = Compare("!=", state, Literal("Skipped")) if self.possible[name].skipped else None
        return Task(
            name,
            self.made.stand_in(types, tuple(files)),
            (ended(state), *(Argument(_given(each), Input(slot(name, each))) for each in types)),
            tuple(ArtifactArgument(each, InputArtifact(slot(name, each)), optional=True) for each in files),
            when=when,
            display=task.display,
            source=task.source,
        )


def slot(task: str, output: str | None = None) -> str:
    """The name under which a task's state, or one of its values, goes over a border."""
    return f"{task}--{output}" if output is not None else f"{task}--state"


def ended(state: Expr) -> Argument:
    """What tells a stand-in how to end."""
    return Argument("state", state)


def _succeeded(state: Expr) -> Expr:
    """True for the state Succeeded; of any other it has no value, and who reads it fails."""
    return Access(Record(("Succeeded",), (Literal(True),)), state)


def _given(output: str) -> str:
    return f"given-{output}"
