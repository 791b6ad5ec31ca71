"""What holds of `check` for any workflow."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

import msgspec
import pytest
from hypothesis import given

from couler_py.ir import Graph, Template, Workflow, from_json, to_json
from couler_py.ir.codes import explanations
from couler_py.ir.expr import TaskOutput
from couler_py.ir.model import After, OutputParameter, Outputs
from couler_py.ir.pod import Container
from couler_py.ir.types import INT
from couler_py.passes.check import check
from tests.strategies import podless_workflows, random_ir, workflows
from tests.unit.passes.check.workflows import MAKE, flow, main, number, task, workflow
from tests.unit.passes.check.workflows import given as argument


@given(workflows())
def test_generated_workflows_are_valid(workflow: Workflow) -> None:
    assert [one.render() for one in check(workflow) if one.severity == "error"] == []


@given(podless_workflows())
def test_generated_podless_workflows_are_valid(workflow: Workflow) -> None:
    assert [one.render() for one in check(workflow) if one.severity == "error"] == []


def test_workflows_by_seed_are_valid_and_the_same_each_time() -> None:
    for seed in range(200):
        workflow = random_ir(seed)
        assert workflow == random_ir(seed)
        assert [one.render() for one in check(workflow) if one.severity == "error"] == []


@given(workflows())
def test_a_workflow_read_from_json_gets_the_same_findings(workflow: Workflow) -> None:
    assert check(from_json(to_json(workflow))) == check(workflow)


@given(workflows())
def test_a_mutilated_workflow_is_reported_never_a_crash(workflow: Workflow) -> None:
    """Without its first template, or with another's name on it, a workflow is wrong, and `check` says so."""
    first, *rest = workflow.templates
    for templates in (tuple(rest), (msgspec.structs.replace(first, name="another"), *rest), (first, first, *rest)):
        broken = msgspec.structs.replace(workflow, templates=templates)
        findings = check(broken)
        assert any(one.severity == "error" for one in findings)
        assert {one.code for one in findings} <= explanations().keys()


def chain(size: int) -> Workflow:
    """Each task reads the one before; one template."""
    tasks = [task(f"t{i}", "use", argument("x", TaskOutput(f"t{i - 1}", "result") if i else 1)) for i in range(size)]
    return flow(*tasks)


def wide(size: int) -> Workflow:
    """One task that all others read and one that waits for them all."""
    tasks = [task(f"t{i}", "use", argument("x", number("first"))) for i in range(size)]
    last = task("last", "wait", after=tuple(After(one.name) for one in tasks))
    return flow(task("first", "make"), *tasks, last)


def distinct(size: int) -> Workflow:
    """Each task calls a template of its own."""
    templates = [Template(f"w{i}", Container("alpine", ("echo", str(i)))) for i in range(size)]
    return workflow(main(*(task(f"t{i}", f"w{i}") for i in range(size))), *templates)


def nested(size: int) -> Workflow:
    """Graphs in graphs, a few deep, each with an output."""
    out = Outputs((OutputParameter("number", INT, value=number("t1")),))
    inner = [
        Template(f"g{i}", Graph((task("t1", "make" if i % 5 == 4 else f"g{i + 1}"),)), outputs=out) for i in range(size)
    ]
    return workflow(main(*(task(f"t{i}", f"g{i}") for i in range(0, size, 5))), *inner, MAKE)


def calls_of(run: Callable[[], object]) -> int:
    """How many Python functions and built-in functions are called meanwhile."""
    count = 0

    def counting(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(counting)
    try:
        run()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("shape", [chain, wide, distinct, nested])
def test_twice_the_tasks_take_twice_the_work(shape: Callable[[int], Workflow]) -> None:
    small, middle, large = (calls_of(lambda w=shape(size): check(w)) for size in (100, 300, 500))
    assert check(shape(10)) == []
    assert abs((large - middle) / (middle - small) - 1) < 0.02
