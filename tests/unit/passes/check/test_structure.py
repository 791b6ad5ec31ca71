"""Names, calls, edges: what `check` says of each mistake, and where."""

from __future__ import annotations

import msgspec
import pytest

from couler_py.ir import Document, Graph, Suspend, Task, Template, Workflow
from couler_py.ir.expr import Compare, First, Input, Literal, Not, OrElse, TaskOutput, TaskStatus
from couler_py.ir.model import (
    After,
    Argument,
    DependsOn,
    Each,
    Handler,
    Hook,
    Inputs,
    Loop,
    OutputParameter,
    Outputs,
    Parameter,
    Source,
)
from couler_py.ir.pod import Templated, Volume
from couler_py.ir.types import BOOL, INT, STR
from couler_py.passes.check import check
from tests.unit.passes.check.workflows import (
    BOX,
    MAKE,
    USE,
    WAIT,
    flow,
    found,
    given,
    main,
    number,
    only,
    task,
    workflow,
)


def test_a_sound_workflow_has_no_findings() -> None:
    assert check(flow(task("t1", "make"), task("t2", "use", given("x", number("t1"))))) == []


def test_no_entrypoint() -> None:
    one = only(Workflow("w", "mian", (msgspec.structs.replace(WAIT, name="main"),)))
    assert (one.code, one.message) == ("CLR201", "the entrypoint 'mian' is no template of the workflow")
    assert one.help == "did you mean main?"


def test_a_document_of_templates_for_others_needs_no_entrypoint() -> None:
    library = Workflow("w", "", (WAIT,))
    assert found(library) == [("CLR201", "w", None)]
    assert check(Document("WorkflowTemplate", library)) == []


def test_two_templates_of_one_name() -> None:
    other = msgspec.structs.replace(WAIT, body=Suspend(duration=1), source=Source("flow.py", 7))
    one = only(workflow(main(task("t1", "wait")), WAIT, other))
    assert (one.code, one.step, one.source) == ("CLR202", "wait", Source("flow.py", 7))
    assert one.related == (("the first", Source("flow.py", 1)),)


@pytest.mark.parametrize("name", ["", "two words", "a/b", "..", "{{x}}", "new\nline", "a" * 251])
def test_illegal_names(name: str) -> None:
    assert [code for code, *_ in found(flow(Task(name, "wait")))] == ["CLR203"]


@pytest.mark.parametrize("name", ["a", "été", "1st", "a.b", "-x", "a" * 250])
def test_legal_names(name: str) -> None:
    assert found(flow(Task(name, "wait"))) == []


def test_an_input_of_a_function_is_a_python_name() -> None:
    bad = msgspec.structs.replace(USE, inputs=Inputs((Parameter("not-python", INT, default=1),)))
    assert found(workflow(main(task("t1", "use")), bad)) == [("CLR203", "use", 3)]


def test_two_tasks_of_one_name() -> None:
    one = only(flow(task("t1", "wait"), task("t1", "wait")))
    assert (one.code, one.step, one.related) == ("CLR204", "t1", (("the first", Source("flow.py", 11)),))


@pytest.mark.parametrize(
    "broken",
    [
        workflow(
            main(task("t1", "use", given("x", 1))),
            msgspec.structs.replace(USE, inputs=Inputs((Parameter("x", INT), Parameter("x", INT)))),
        ),
        workflow(
            main(task("t1", "box")),
            msgspec.structs.replace(
                BOX, outputs=Outputs((OutputParameter("o", path="/a"), OutputParameter("o", path="/b")))
            ),
        ),
        flow(task("t1", "wait"), parameters=(Parameter("p", default=""), Parameter("p", default=""))),
        flow(task("t1", "wait"), handlers=(Handler("h", "wait"), Handler("h", "wait"))),
        flow(task("t1", "wait", hooks=(Hook("exit", "wait"), Hook("exit", "wait")))),
        flow(task("t1", "wait"), volumes=(Volume("v", Templated({"emptyDir": {}})),) * 2),
    ],
    ids=["inputs", "outputs", "workflow parameters", "handlers", "hooks", "volumes"],
)  # fmt: skip
def test_two_things_of_one_name(broken: Workflow) -> None:
    assert [code for code, *_ in found(broken)] == ["CLR205"]


def test_an_unknown_template_is_called_and_the_nearest_name_offered() -> None:
    one = only(flow(task("t1", "wait"), task("t2", "wiat")))
    assert (one.code, one.step, one.help) == ("CLR206", "t2", "did you mean wait?")


def test_hooks_handlers_and_loops_call_templates_that_are_there() -> None:
    broken = workflow(
        main(task("t1", "wait", hooks=(Hook("exit", "gone"),)), task("t2", "loop")),
        Template("loop", Loop("gone", Literal(True))),
        handlers=(Handler("h", "gone"),),
    )
    assert found(broken) == [("CLR206", "t1", 11), ("CLR206", "loop", None), ("CLR206", "h", 8)]


RECURSIVE = Compare("==", TaskOutput("t1", "flag"), Literal(True))


@pytest.mark.parametrize(
    "again",
    [
        Task("t2", "main", when=RECURSIVE),
        Task("t2", "main", each=Each(TaskOutput("t1", "numbers"))),
        Task("t2", "main", after=(After("t1", "on_failure"),)),
        Task("t2", "main", depends=DependsOn("t1", "Failed")),
    ],
    ids=["when", "each", "on_failure", "depends"],
)
def test_a_guarded_call_of_oneself_may_end(again: Task) -> None:
    assert found(flow(task("t1", "make"), again)) == []


def test_an_edge_that_can_skip_guards_too() -> None:
    inside = Template("again", Graph((Task("m", "main"),)), Inputs((Parameter("x", INT),)))
    call = Task("t3", "again", (Argument("x", number("t2")),))
    assert found(workflow(main(task("t1", "make"), task("t2", "make", when=RECURSIVE), call), inside)) == []


@pytest.mark.parametrize(
    "again",
    [Task("t2", "main"), Task("t2", "main", each=Each(Literal([1]))), Task("t2", "main", after=(After("t1"),))],
    ids=["plain", "over a list that isn't empty", "order"],
)
def test_an_unguarded_call_of_oneself_never_ends(again: Task) -> None:
    one = only(flow(task("t1", "make"), again))
    assert (one.code, one.message) == ("CLR207", "this never ends: main -> main calls itself without a condition")


def test_a_circle_of_calls_never_ends_through_loops_either() -> None:
    loop = Template("loop", Loop("main", Literal(True)))
    one = only(workflow(main(task("t1", "loop")), loop))
    assert (one.code, one.message) == (
        "CLR207",
        "this never ends: main -> loop -> main calls itself without a condition",
    )


def test_a_template_that_nothing_calls() -> None:
    one = only(workflow(main(task("t1", "wait")), BOX))
    assert (one.code, one.severity, one.step) == ("CLR208", "warning", "box")


def test_an_empty_graph() -> None:
    assert found(flow()) == [("CLR209", "main", 9)]


def test_groups_hold_each_step_once() -> None:
    tasks = (task("t1", "wait"), task("t2", "wait"))
    for groups in ((("t1",),), (("t1", "t2"), ("t2",)), (("t1",), ("t3",))):
        broken = Template("main", Graph(tasks, form="steps", groups=groups))
        assert [code for code, *_ in found(workflow(broken))] == ["CLR217"]
    assert found(workflow(Template("main", Graph(tasks, form="steps", groups=(("t1",), ("t2",)))))) == []
    assert found(workflow(Template("main", Graph(tasks, groups=(("t1", "t2"),))))) == [("CLR217", "main", None)]


def test_edges_and_targets_lead_to_steps() -> None:
    assert found(flow(task("t1", "wait", after=(After("gone"),)))) == [("CLR220", "t1", 11)]
    assert found(flow(task("t1", "wait", depends=DependsOn("gone")))) == [("CLR220", "t1", 11)]
    assert found(workflow(Template("main", Graph((task("t1", "wait"),), targets=("gone",))))) == [
        ("CLR220", "main", None)
    ]


def test_a_circle_is_named() -> None:
    one = only(
        flow(
            task("t0", "wait"),
            task("t1", "wait", after=(After("t0"), After("t3"))),
            task("t2", "wait", after=(After("t1"),)),
            task("t3", "wait", after=(After("t2"),)),
        )
    )
    assert (one.code, one.message) == ("CLR230", "these steps wait for each other: t1 -> t2 -> t3 -> t1")
    assert one.related == (("t2", Source("flow.py", 12)), ("t3", Source("flow.py", 13)))


def test_a_step_that_waits_for_itself_is_a_circle() -> None:
    assert only(flow(task("t1", "wait", after=(After("t1"),)))).message == "these steps wait for each other: t1 -> t1"


ALWAYS = (After("t1", "always"),)


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (task("t3", "wait", after=ALWAYS, when=Literal(True)), "a condition"),
        (task("t3", "use", given("x", number("t2")), after=ALWAYS), "the plain value of t2"),
        (task("t3", "use", given("x", number("t1")), after=ALWAYS), "the plain value of t1"),
        (task("t3", "wait", after=(*ALWAYS, After("t2", "on_failure"))), "the edge on_failure to t2"),
        (task("t3", "use", given("x", First((number("t1"), number("t2")))), after=ALWAYS), "first(...) of t1 and t2"),
    ],
)  # fmt: skip
def test_always_has_only_always_and_order_beside_it(broken: Task, reason: str) -> None:
    one = only(flow(task("t1", "make"), task("t2", "make"), broken))
    assert one.code == "CLR233"
    assert reason in one.message


def test_always_reads_by_or_else_and_waits_by_order() -> None:
    value = OrElse(number("t1"), Literal(0))
    last = task("t3", "use", given("x", value), after=(*ALWAYS, After("t2")))
    assert found(flow(task("t1", "make"), task("t2", "make"), last)) == []


@pytest.mark.parametrize(
    "value",
    [number("t1"), OrElse(number("t1"), Literal(0)), First((number("t1"), number("t2")))],
    ids=["value", "or_else", "first"],
)
def test_a_handler_that_reads_what_it_handles_never_runs(value: object) -> None:
    handler = task("t3", "use", given("x", value), after=(After("t1", "on_failure"),))
    one = only(flow(task("t1", "make"), task("t2", "make"), handler))
    assert (one.code, one.severity, one.step) == ("CLR234", "warning", "t3")


def test_a_handler_of_what_cant_fail() -> None:
    one = only(flow(task("t1", "wait"), task("t2", "wait", after=(After("t1", "on_failure"),))))
    assert (one.code, one.severity, one.message) == ("CLR235", "warning", "it never runs: t1 can't fail")


def test_a_handler_may_read_the_status_of_what_it_handles() -> None:
    say = msgspec.structs.replace(USE, name="say", inputs=Inputs((Parameter("x", STR),)))
    handler = task("t2", "say", given("x", TaskStatus("t1")), after=(After("t1", "on_failure"),))
    assert found(workflow(main(task("t1", "make"), handler), say)) == []


OUT = OutputParameter("out", INT, value=number("t1"))
C = Parameter("c", BOOL, default=False)


def outputs(*tasks: Task, value: object = None) -> Workflow:
    output = OUT if value is None else msgspec.structs.replace(OUT, value=value)
    return workflow(
        main(*tasks, outputs=(output,), inputs=(Parameter("c", default=False, type=BOOL),)), parameters=(C,)
    )


def test_an_output_that_can_be_skipped() -> None:
    one = only(outputs(task("t1", "make", when=Input("c"))))
    assert (one.code, one.step) == ("CLR240", "main")
    assert one.message == "the output out can be absent although the graph succeeded: t1 can be skipped"
    assert one.related == (("t1", Source("flow.py", 11)),)


def test_an_output_of_a_step_that_isnt_there() -> None:
    assert [code for code, *_ in found(outputs(task("t2", "make")))] == ["CLR220"]


def test_an_output_whose_failure_is_absolved() -> None:
    one = only(outputs(task("t1", "make"), task("t2", "wait", after=(After("t1", "on_failure"),))))
    assert one.code == "CLR240"
    assert one.message.endswith("t1 can fail and be absolved by an on_failure step")


def test_both_branches_of_a_when_are_present() -> None:
    branches = (task("t1", "make", when=Input("c")), task("t2", "make", when=Not(Input("c"))))
    assert found(outputs(*branches, value=First((number("t1"), number("t2"))))) == []


def test_a_mapped_graph_may_end_without_its_output() -> None:
    mapped = Template(
        "mapped",
        Graph((task("t1", "make", when=Input("c")),)),
        Inputs((Parameter("c", BOOL),)),
        Outputs((OUT,)),
    )
    call = given("c", True)
    over = Each(Literal([1, 2]))
    assert found(workflow(main(task("t2", "mapped", call, each=over)), mapped, MAKE)) == []
    both = workflow(main(task("t2", "mapped", call, each=over), task("t3", "mapped", call)), mapped, MAKE)
    assert [code for code, *_ in found(both)] == ["CLR240"]


def test_first_takes_outputs_only() -> None:
    broken = outputs(task("t1", "make"), value=First((number("t1"), Literal(0))))
    assert [code for code, *_ in found(broken)] == ["CLR241"]


def test_everything_is_said_at_once_in_the_order_of_the_program() -> None:
    broken = flow(
        task("t1", "gone"),
        task("t2", "use", given("x", "text")),
        task("t3", "use", given("x", 1), given("z", 1), after=(After("t9"),)),
        parameters=(Parameter("p", INT, default="no"),),
    )
    assert found(broken) == [
        ("CLR212", "w", 8),
        ("CLR206", "t1", 11),
        ("CLR212", "t2", 12),
        ("CLR210", "t3", 13),
        ("CLR220", "t3", 13),
    ]
