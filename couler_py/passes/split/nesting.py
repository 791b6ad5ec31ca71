"""A split graph as IR: each part a graph of its own, in a graph that runs them, with the meaning of the whole.

A part waits for whole parts, while the tasks in it wait for tasks. So a part always Succeeds, and gives out how each
task ended that another part waits for, and its values, which a stand-in gives in the part that reads (`borders.py`). A
part also says whether its results, the tasks that nobody waits for in the whole graph, ended well. `results`, the last
graph, gives out the outputs of the workflow and fails where one of them didn't.

In a part three tasks that run nothing are behind the others: `good` waits for its results, `all` for everything, and
`absolve` is a handler of failures of `all`.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from couler_py.ir.expr import Input, TaskArtifact, TaskOutput, TaskStatus
from couler_py.ir.graph import shape, templates_by_name
from couler_py.ir.model import (
    After,
    Argument,
    Graph,
    Inputs,
    OutputArtifact,
    OutputParameter,
    Outputs,
    Parameter,
    Task,
    Template,
    Workflow,
)
from couler_py.ir.names import take_name
from couler_py.ir.possible import Possibilities, absolved
from couler_py.ir.types import STR
from couler_py.passes.split.borders import Borders, Made, ended
from couler_py.passes.split.mark import marked
from couler_py.passes.split.splitting import Splitting
from couler_py.passes.split.uses import Uses, joined, uses_in, uses_of

RESULTS = "results"


def nested(workflow: Workflow, splitting: Splitting) -> Workflow:
    """The workflow with its graph in parts, which means the same and says which they are."""
    return _Nester(workflow, splitting).workflow()


class _Nester:
    def __init__(self, workflow: Workflow, splitting: Splitting):
        self.whole = workflow
        self.splitting = splitting
        self.templates = templates_by_name(workflow)
        self.template = self.templates[workflow.entrypoint]
        assert isinstance(self.template.body, Graph)
        self.graph = self.template.body
        self.shape = shape(self.graph)
        self.tasks = {task.name: task for task in self.graph.tasks}
        possibilities = Possibilities(workflow, {self.template.name: self.shape})
        self.possible = possibilities.of_graph(self.template)
        self.forgiven = absolved(self.shape)
        self.judged = set(self.shape.leaves_of_outcome())
        self.home = {name: part.name for part in splitting.parts for name in part.tasks}
        self.part_uses = {
            part.name: joined(uses_of(self.tasks[name], self.shape) for name in part.tasks) for part in splitting.parts
        }
        values = [each.value for each in self.template.outputs.parameters]
        values += [each.value for each in self.template.outputs.artifacts]
        self.results = uses_in(value for value in values if value is not None)
        self.made = Made(self.templates)
        self.borders = Borders(self.template, self.templates, self.home, self._given(), self.possible, self.made)

    def _given(self) -> Uses:
        """What each task hands to other parts, and to the results."""
        outside = [self.results]
        for part, uses in self.part_uses.items():
            others = {name: names for name, names in uses.outputs.items() if self.home[name] != part}
            files = {name: names for name, names in uses.files.items() if name in others}
            outside.append(Uses(others, files, {}, {}))
        return joined(outside)

    def workflow(self) -> Workflow:
        calls = [self.part(number) for number in range(len(self.splitting.parts))]
        calls.append(self._results())
        outputs = self.template.outputs
        main = msgspec.structs.replace(
            self.template,
            body=msgspec.structs.replace(self.graph, tasks=tuple(calls)),
            outputs=Outputs(
                tuple(
                    msgspec.structs.replace(each, value=TaskOutput(RESULTS, each.name)) for each in outputs.parameters
                ),
                tuple(
                    msgspec.structs.replace(each, value=TaskArtifact(RESULTS, each.name)) for each in outputs.artifacts
                ),
            ),
        )
        others = [each for each in self.whole.templates if each.name != main.name]
        made = msgspec.structs.replace(self.whole, templates=(main, *self.made.templates.values(), *others))
        helpers = [*self.made.helpers, *(str(each.call) for each in calls if each.name == RESULTS)]
        return marked(made, (part.name for part in self.splitting.parts), helpers)

    # ---- a part

    def part(self, number: int) -> Task:
        """Make the template of a part; gives the task that calls it."""
        part = self.splitting.parts[number]
        uses = self.part_uses[part.name]
        outside = {name: names for name, names in uses.outputs.items() if self.home[name] != part.name}
        stand_ins = self.borders.stand_ins(outside, uses.files)
        inside = [self.tasks[name] for name in part.tasks]
        body = (*stand_ins, *inside)
        parameters, artifacts = self.borders.inputs(outside, uses)
        outputs: list[OutputParameter] = []
        files: list[OutputArtifact] = []
        for name in part.tasks:
            values, left = self.borders.told(name)
            outputs += values
            files += left
        names = {task.name for task in body}
        closing = self.closing(body, [name for name in part.tasks if name in self.judged], names)
        if len(closing) > 2:
            good = closing[0].name
            outputs.append(OutputParameter("good", STR, value=TaskStatus(good)))
        name = self.made.name(part.name)
        self.made.templates[name] = Template(
            name,
            Graph((*body, *closing)),
            Inputs(tuple(parameters), tuple(artifacts)),
            Outputs(tuple(outputs), tuple(files)),
            parallelism=self.template.parallelism,
            display=part.name if part.name != name else "",
            source=inside[0].source,
        )
        return self.borders.call(part.name, name, outside, uses)

    def closing(self, body: Sequence[Task], results: Sequence[str], names: set[str]) -> list[Task]:
        """The tasks behind all others of a part: `good` where a result can fail, `all` and `absolve`."""
        found = []
        waiting = [name for name in results if self._can_fail(name)]
        if waiting:
            found.append(Task(take_name("good", names), self.made.nothing, after=tuple(map(After, waiting))))
        last = shape(Graph((*body, *found))).leaves_of_outcome()
        everything = Task(take_name("all", names), self.made.nothing, after=tuple(map(After, last)))
        absolving = Task(take_name("absolve", names), self.made.nothing, after=(After(everything.name, "on_failure"),))
        return [*found, everything, absolving]

    def _can_fail(self, name: str) -> bool:
        return self.possible[name].failed or self.possible[name].blocked

    # ---- the results

    def _results(self) -> Task:
        """The last graph: the outputs of the workflow, and for each part with results a task that ends as they did."""
        uses = self.results
        stand_ins = self.borders.stand_ins(uses.outputs, uses.files)
        names = {task.name for task in stand_ins}
        forgiven = [task for task in stand_ins if task.name in self.forgiven and self._can_fail(task.name)]
        absolving = [
            Task(take_name(f"absolve-{task.name}", names), self.made.nothing, after=(After(task.name, "on_failure"),))
            for task in forgiven
        ]
        judging = [
            part.name
            for part in self.splitting.parts
            if any(name in self.judged and self._can_fail(name) for name in part.tasks)
        ]
        verdicts = [
            Task(take_name(f"outcome-of-{each}", names), self.made.stand_in({}, ()), (ended(Input(_good(each))),))
            for each in judging
        ]
        parameters, artifacts = self.borders.inputs(uses.outputs, uses)
        parameters += [Parameter(_good(each)) for each in judging]
        name = self.made.name(RESULTS)
        self.made.templates[name] = Template(
            name,
            Graph((*stand_ins, *absolving, *verdicts)),
            Inputs(tuple(parameters), tuple(artifacts)),
            self.template.outputs,
        )
        call = self.borders.call(RESULTS, name, uses.outputs, uses)
        extra = tuple(Argument(_good(each), TaskOutput(each, "good")) for each in judging)
        return msgspec.structs.replace(call, arguments=call.arguments + extra)


def _good(part: str) -> str:
    return f"{part}--good"
