"""Fan-outs in batches: which can be, what becomes of items and readers, and what is said of it."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from couler_py.ir import expr as e
from couler_py.ir.model import Argument, Each, Function, Graph, OutputParameter, Outputs, Sequence, Task, Workflow
from couler_py.ir.types import INT, ListOf
from couler_py.passes.check import check
from couler_py.passes.parallel import ParallelOptionError, apply
from couler_py.passes.situation import Situation
from tests.unit.passes.parallel.test_chains import step

THREE = Situation(options={"batch_fanouts": "3"})


def flow(each: Each, x: e.Expr = e.Item(), *more: Task, result: e.Expr | None = None, **options: Any) -> Workflow:
    task = Task("m", "work", (Argument("x", x), Argument("y", e.Literal(7))), each=each, **options)
    value = e.TaskOutput("m", "result") if result is None else result
    out = Outputs((OutputParameter("result", ListOf(INT), value=value),))
    main = replace(step("main"), body=Graph((task, *more)), inputs=step("x").inputs, outputs=out)
    return Workflow("flow", "main", (replace(main, inputs=type(main.inputs)()), step("work")))


def each(*items: Any, **more: Any) -> Each:
    return Each(e.Literal(list(items)), **more)


def tasks(workflow: Workflow, situation: Situation = THREE) -> tuple[Task, ...]:
    made = apply(workflow, situation).workflow
    assert not [finding for finding in check(made) if finding.severity == "error"]
    body = made.templates[0].body
    assert isinstance(body, Graph)
    return body.tasks


def names(workflow: Workflow) -> list[str]:
    return [task.name for task in tasks(workflow)]


def test_items_go_in_batches_and_one_task_puts_the_lists_together() -> None:
    [batches, flat] = tasks(flow(each(1, 2, 3, 4, 5)))
    assert (batches.name, batches.call, flat.name, flat.call) == ("m-batches", "work-batch", "m", "work-flat")
    assert batches.each == Each(e.Literal([{"x": [1, 2, 3]}, {"x": [4, 5]}]), max_items=2)
    assert batches.arguments == (Argument("x", e.Access(e.Item(), e.Literal("x"))), Argument("y", e.Literal(7)))
    assert flat.arguments == (Argument("result", e.TaskOutput("m-batches", "result")),)


def test_the_step_of_a_batch_takes_and_gives_lists() -> None:
    made = apply(flow(each(1, 2, 3, 4)), THREE).workflow
    batch = next(template for template in made.templates if template.name == "work-batch")
    assert isinstance(batch.body, Function)
    assert batch.body.over == ("x",)
    assert [parameter.type for parameter in batch.inputs.parameters] == [ListOf(INT), INT]
    assert [output.type for output in batch.outputs.parameters] == [ListOf(INT)]


def test_members_of_items_are_taken_before() -> None:
    items = each({"a": 1}, {"a": 2}, {"a": 3}, {"a": 4})
    [batches, _] = tasks(flow(items, e.Access(e.Item(), e.Literal("a"))))
    assert batches.each is not None
    assert batches.each.items == e.Literal([{"x": [1, 2, 3]}, {"x": [4]}])


def test_numbers_that_are_counted_are_items_too() -> None:
    [batches, _] = tasks(flow(Each(Sequence(start=e.Literal(5), count=e.Literal(4)))))
    assert batches.each is not None
    assert batches.each.items == e.Literal([{"x": [5, 6, 7]}, {"x": [8]}])


@pytest.mark.parametrize(
    "workflow",
    [
        flow(each(1, 2, 3)),
        flow(each(1, 2, 3, 4, tolerate=1)),
        flow(each(1, 2, 3, 4), e.Literal(1)),
        flow(each(1, 2, 3, 4), result=e.TaskItems("m")),
    ],
    ids=["few", "tolerant", "of no item", "read by its items"],
)
def test_others_stay_as_they_are(workflow: Workflow) -> None:
    assert names(workflow) == ["m"]


def test_nothing_changes_unless_it_is_asked_for() -> None:
    workflow = flow(each(*range(100)))
    assert apply(workflow, Situation()).workflow == workflow


def test_it_says_what_it_did_and_what_that_saves() -> None:
    [note] = apply(flow(each(*range(100))), THREE).notes
    assert (note.place, note.what, note.saves) == ("m", "34 batches of 3 items", "66 starts")


@pytest.mark.parametrize("size", [3, 40])
def test_doing_it_again_changes_nothing(size: int) -> None:
    given = Situation(options={"batch_fanouts": size, "merge_chains": "all"})
    once = apply(flow(each(*range(100))), given).workflow
    assert apply(once, given).workflow == once


@pytest.mark.parametrize("given", ["many", "1", -5])
def test_what_is_no_number_of_items_is_refused(given: object) -> None:
    with pytest.raises(ParallelOptionError, match="is not a number of items from 2 on"):
        apply(flow(each(1)), Situation(options={"batch_fanouts": given}))
