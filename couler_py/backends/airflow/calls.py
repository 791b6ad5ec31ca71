"""What a task becomes: a step, a group of tasks, a loop, or one of these for each item of a list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET

from couler_py.backends.airflow import expressions
from couler_py.backends.airflow.emission import Emission, is_group
from couler_py.backends.airflow.leaf import display, step_constant, waits_only
from couler_py.backends.airflow.plain import plain_pod
from couler_py.backends.airflow.policies import retry_condition, seconds
from couler_py.backends.airflow.scope import Node, Scope
from couler_py.backends.airflow.source import Assign, Statement, Within
from couler_py.backends.airflow.stores import location
from couler_py.backends.airflow.types import asked_of
from couler_py.ir.expr import Expr, Literal
from couler_py.ir.model import Each, Graph, Loop, Resource, Sequence, Suspend, Task, Template
from couler_py.ir.types import Type
from couler_py.passes.check.texts import texts_in
from couler_py.printer.layout import Doc, call, keyword
from couler_py.printer.literal import literal, quoted
from couler_py.printer.names import Names

if TYPE_CHECKING:
    from couler_py.printer.layout import Named

UNROLLED = 50
"""Most turns of a loop over a graph: each is a group of tasks of its own."""
MOST_MAPPED = 1024
"""Most items of a mapped task or group: Airflow's setting `max_map_length`, as it is by default."""
BATCH = 100
"""Items to a task, where there may be more than Airflow maps."""
UNROLLED_ITEMS = 100
"""Most items of a fan-out whose groups hold fan-outs themselves: each is written out."""


class Caller:
    """Writes the calls of one graph."""

    def __init__(self, emission: Emission, scope: Scope, names: Names):
        self.emission = emission
        self.scope = scope
        self.names = names

    def takes_rule(self, task: Task) -> bool:
        """Whether a task is one task on Airflow too, which can have a trigger rule of its own."""
        return task.each is None and (
            not is_group(self.emission.callee(task)) or self._repeats(self.emission.callee(task))
        )

    def task(self, task: Task, task_id: str, rule: str) -> tuple[Node, list[Statement]]:
        """What the file knows the task by, and the statements that make it."""
        template = self.emission.callee(task)
        if task.each is not None:
            return self._fan_out(task, task.each, template, task_id)
        variable = self.names.free(task_id.lower())
        more = self._when(task)
        if rule:
            more.append(keyword("trigger_rule", f"TriggerRule.{rule}"))
        inputs = self.inputs(task, template)
        outputs = output_types(template)
        if isinstance(template.body, Suspend) and not (waits_only(template) and not more):
            return Node(variable, "task", outputs), [Assign(variable, self._suspend(template, task_id, more))]
        made: Doc
        if is_group(template) and not self._repeats(template):
            made = call(self._function(template), *inputs, *more)
            return Node(variable, "group", outputs), [Within(task_id, (Assign(variable, made),))]
        if waits_only(template):
            made = call("EmptyOperator", keyword("task_id", quoted(task_id)))
            return Node(variable, "task", outputs), [Assign(variable, made)]
        if self._repeats(template):
            inner = self.emission.templates[loop_body(template)]
            made = self._step(task_id, inner, inputs, self._turns(template) + more)
            return Node(variable, "task", outputs), [Assign(variable, made)]
        rule_only = [each for each in more if each.before == ("trigger_rule=",)]
        made = plain_pod(self.emission, task, template, task_id, [*rule_only]) or self._step(
            task_id, template, inputs, more
        )
        return Node(variable, "task", outputs), [Assign(variable, made)]

    # ---- inputs

    def inputs(self, task: Task, template: Template, item: str = "") -> list[Doc]:
        """The inputs of a call: a dict, or a function that reads it in the worker; nothing where there are none."""
        given: dict[str, Doc] = {}
        constant = True
        if is_group(template):
            optional = [each for each in template.inputs.parameters if each.default is not UNSET]
            given |= {each.name: literal(each.default) for each in optional}
        for argument in task.arguments:
            given[argument.name] = expressions.value(argument.value, self.scope)
            constant = constant and isinstance(argument.value, Literal)
        for artifact in task.artifacts:
            if artifact.value is not None:
                given[artifact.name] = expressions.value(artifact.value, self.scope)
                constant = constant and isinstance(artifact.value, Literal)
            elif artifact.storage is not None:
                name = task.display or task.name
                place = location(self.emission, artifact.storage, self.scope, name, task.source)
                given[artifact.name] = place or "None"
                constant = constant and not texts_in(artifact.storage)
        if item:
            return [expressions.late(display(given), item)]
        if not given:
            return []
        return [display(given) if constant else expressions.late(display(given))]

    def _step(self, task_id: str, template: Template, inputs: list[Doc], more: list[Named]) -> Doc:
        if waits_only(template):
            return call("do_nothing", quoted(task_id), *more)
        return call(
            step_function(template),
            quoted(task_id),
            step_constant(self.emission, template),
            *inputs,
            *more,
            *self._again(template),
        )

    def _when(self, task: Task) -> list[Named]:
        if task.when is None:
            return []
        return [keyword("when", expressions.late(expressions.condition(task.when, self.scope)))]

    def _again(self, template: Template) -> list[Named]:
        again = retry_condition(template)
        return [] if again is None else [keyword("again", again)]

    # ---- suspends, loops

    def _suspend(self, template: Template, task_id: str, more: list[Named]) -> Doc:
        body = template.body
        assert isinstance(body, Suspend)
        if body.duration == 0:
            return call("do_nothing", quoted(task_id), *more)
        if body.duration is not None:
            return call("pause", quoted(task_id), seconds(body.duration), *more)
        about = template.description or f"{self.emission.workflow.name}: {template.display or template.name}"
        asked = display({each.name: literal(asked_of(each)) for each in template.outputs.parameters})
        return call("approval", quoted(task_id), quoted(about), asked, *more)

    def _repeats(self, template: Template) -> bool:
        """Whether a loop is one task that runs its step again and again."""
        body = template.body
        if not isinstance(body, Loop):
            return False
        inner = self.emission.templates[body.body]
        return (
            not is_group(inner)
            and not isinstance(inner.body, Resource)
            and inner.retry is None
            and (waits_only(inner) or not isinstance(inner.body, Suspend))
        )

    def _turns(self, template: Template) -> list[Named]:
        """How one task runs a step again and again."""
        return [keyword("turns", call("turns", *loop_parts(self.emission, template, self.scope)))]

    def _function(self, template: Template) -> str:
        from couler_py.backends.airflow.groups import group_function

        return group_function(self.emission, template)

    # ---- fan-outs

    def _fan_out(self, task: Task, each: Each, template: Template, task_id: str) -> tuple[Node, list[Statement]]:
        variable = self.names.free(task_id.lower())
        node = Node(variable, "fan_out", output_types(template))
        more = self._when(task)
        if holds_fan_outs(self.emission, template):
            made = self._written_out(task, each, template, more)
        else:
            if isinstance(template.body, Suspend):
                # An operator of Airflow's own, which can't read an item: the group around it does.
                from couler_py.backends.airflow.groups import around_step

                template = around_step(self.emission, template)
            inputs = self.inputs(task, template, item="item")
            if is_group(template) and not self._repeats(template):
                bound = [] if each.parallel is None else [keyword("parallel", str(each.parallel))]
                each_call = call("group_of_each", self._function(template), *inputs, *bound)
            else:
                extra = self._turns(template) if self._repeats(template) else self._again(template)
                if each.max_items > MOST_MAPPED:
                    extra.append(keyword("batch", "True"))
                if each.parallel is not None:
                    extra.append(keyword("max_active_tis_per_dagrun", str(each.parallel)))
                inner = self.emission.templates[loop_body(template)] if self._repeats(template) else template
                each_call = call(
                    f"{step_function(inner)}_of_each", step_constant(self.emission, inner), *inputs, *extra
                )
            most = [] if each.max_items == 1000 else [keyword("most", str(each.max_items))]
            batch = [keyword("batch", str(BATCH))] if each.max_items > MOST_MAPPED else []
            made = call("fan_out", self._items(each), each_call, *more, *most, *self._tolerate(each), *batch)
        return node, [Within(task_id, (Assign(variable, made),))]

    def _written_out(self, task: Task, each: Each, template: Template, more: list[Named]) -> Doc:
        items = each.items
        if not isinstance(items, Literal) or not isinstance(items.value, list) or len(items.value) > UNROLLED_ITEMS:
            self.emission.problem(
                "CLR503",
                f"the fan-out {task.display or task.name!r} runs a graph with another fan-out inside, over a list that "
                "only the run knows",
                step=task.display or task.name,
                source=task.source,
                why="Airflow refuses a mapped task inside a mapped group",
                help="let one step make the list of all pairs and fan out over that, or do the inner part in one step",
            )
            return "None"
        inputs = self.inputs(task, template, item="item")
        return call(
            "groups_of_items", literal(items.value), self._function(template), *inputs, *more, *self._tolerate(each)
        )

    def _tolerate(self, each: Each) -> list[Named]:
        return [keyword("tolerate", str(each.tolerate))] if each.tolerate else []

    def _items(self, each: Each) -> Doc:
        items = each.items
        if isinstance(items, Literal):
            return literal(items.value)
        if not isinstance(items, Sequence):
            return expressions.late(expressions.value(items, self.scope))
        parts: list[Doc] = [] if items.start is None else [expressions.value(items.start, self.scope)]
        for name, part in (("count", items.count), ("end", items.end)):
            if part is not None:
                parts.append(keyword(name, expressions.value(part, self.scope)))
        if items.form:
            parts.append(keyword("form", quoted(items.form)))
        return expressions.late(call("numbers_from", *parts))


def step_function(template: Template) -> str:
    """The function of the file that makes a step of a template."""
    return "resource" if isinstance(template.body, Resource) else "step"


def loop_body(template: Template) -> str:
    """The name of the template that a loop repeats."""
    assert isinstance(template.body, Loop)
    return template.body.body


def loop_parts(emission: Emission, template: Template, scope: Scope) -> list[Doc]:
    """Until when a loop goes on, what it carries, how often at most, and what it gives."""
    body = template.body
    assert isinstance(body, Loop)
    inner = emission.templates[body.body]
    inside = Scope(own="last", own_types=output_types(inner), parameters=scope.parameters)
    until = expressions.late(expressions.condition(body.until, inside), "last")
    carry = literal({each.input: each.output for each in body.carry})
    outputs = {name: expressions.value(value, inside) for name, value in output_values(template).items()}
    gives = expressions.late(display(outputs), "last")
    return [until, carry, str(body.max_iterations), gives]


def output_types(template: Template) -> dict[str, Type]:
    """The types of a template's outputs by name."""
    return {each.name: each.type for each in template.outputs.parameters}


def output_values(template: Template) -> dict[str, Expr]:
    """What the outputs of a graph or loop are, values and files alike."""
    found = {each.name: each.value for each in template.outputs.parameters if each.value is not None}
    return found | {each.name: each.value for each in template.outputs.artifacts if each.value is not None}


def holds_fan_outs(emission: Emission, template: Template) -> bool:
    """Whether a run of the template runs a fan-out."""
    waiting, seen = [template], set()
    while waiting:
        each = waiting.pop()
        if each.name in seen:
            continue
        seen.add(each.name)
        if isinstance(each.body, Loop):
            waiting.append(emission.templates[each.body.body])
        elif isinstance(each.body, Graph):
            if any(task.each is not None for task in each.body.tasks):
                return True
            waiting += [emission.templates[task.call] for task in each.body.tasks if isinstance(task.call, str)]
    return False
