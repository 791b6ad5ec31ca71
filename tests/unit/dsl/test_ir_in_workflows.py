"""What the verbs have no words for is said by the IR, and names are the user's to give."""

from __future__ import annotations

import pytest

import couler_py as couler
from couler_py import ir
from couler_py.ir import expr as x
from couler_py.ir.model import DependsOn, Loop, OutputParameter, Outputs


@couler.step
def double(n: int) -> int:
    return 2 * n


SLEEP = ir.Template("sleep", ir.Suspend(1.0))


def test_a_template_of_the_ir_is_a_step() -> None:
    sleep = couler.template(SLEEP)

    @couler.workflow
    def main():
        couler.after(double(1), sleep())

    built = couler.build(main)
    assert [task.call for task in built.templates[0].body.tasks] == ["double", "sleep"]
    assert built.templates[2].body == ir.Suspend(1.0)


def test_a_graph_of_the_ir_brings_what_it_calls() -> None:
    tasks = (ir.Task("first", "sleep"), ir.Task("second", "sleep", depends=DependsOn("first", "Succeeded")))
    twice = couler.template(ir.Template("twice", ir.Graph(tasks)), uses=[couler.template(SLEEP)])

    @couler.workflow
    def main():
        twice()

    assert [template.name for template in couler.build(main).templates] == ["main", "twice", "sleep"]


def test_a_loop_of_the_ir_brings_a_python_step() -> None:
    outputs = Outputs((OutputParameter("n", double.template().outputs.parameters[0].type, value=x.Own("result")),))
    loop = ir.Template("loop", Loop("double", x.Literal(True)), double.template().inputs, outputs)
    again = couler.template(loop, uses=[double])

    @couler.workflow
    def main():
        return double(again(1))

    assert [template.name for template in couler.build(main).templates] == ["main", "loop", "double"]


def test_the_call_of_a_workflow_can_be_named() -> None:
    @couler.workflow
    def inner(n: int) -> int:
        return double(n)

    @couler.workflow
    def main():
        return inner.named("second")(inner(1))

    built = couler.build(main)
    assert [(task.name, task.call) for task in built.templates[0].body.tasks] == [
        ("inner", "inner"),
        ("second", "inner"),
    ]


def test_the_graph_of_a_run_can_have_a_name_of_its_own() -> None:
    @couler.workflow(entrypoint="start")
    def main():
        double(1)

    with couler.Workflow("other", entrypoint="begin") as other:
        double(1)

    assert (couler.build(main).name, couler.build(main).entrypoint) == ("main", "start")
    assert (couler.build(other).name, couler.build(other).entrypoint) == ("other", "begin")


def test_an_entrypoint_that_is_no_name_is_refused() -> None:
    with pytest.raises(couler.DiagnosticError, match="can't name a graph"):

        @couler.workflow(entrypoint="two words")
        def main():
            double(1)


def test_an_input_may_be_called_self() -> None:
    from couler_py.ir.model import Inputs, Parameter
    from couler_py.ir.pod import Container

    say = couler.template(ir.Template("say", Container("alpine:3.20"), Inputs((Parameter("self"),))))

    @couler.workflow
    def main():
        say(self="x")

    assert couler.build(main).templates[0].body.tasks[0].arguments[0].name == "self"
