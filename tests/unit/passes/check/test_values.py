"""Arguments, references, types and expressions."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest

from couler_py.ir import Task, Template, Workflow
from couler_py.ir import expr as x
from couler_py.ir.model import (
    ArtifactArgument,
    Each,
    External,
    Function,
    Graph,
    Handler,
    Hook,
    InputArtifact,
    Inputs,
    OutputArtifact,
    OutputParameter,
    Outputs,
    Parameter,
    RetryPolicy,
    Source,
    Suspend,
)
from couler_py.ir.pod import Container
from couler_py.ir.storage import RawData
from couler_py.ir.types import BOOL, DATETIME, INT, STR, Choice, DictOf, Field, ListOf, Record, Type, UnionOf
from tests.unit.passes.check.workflows import (
    BOX,
    MAKE,
    READ,
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

MADE = task("t1", "make")


def using(value: Any, type_: Type = INT) -> Workflow:
    """A step that takes a value of a type, behind one that makes some."""
    takes = msgspec.structs.replace(USE, inputs=Inputs((Parameter("x", type_),)))
    return workflow(main(MADE, task("t2", "use", given("x", value))), takes)


def condition(expr: x.Expr) -> Workflow:
    return flow(MADE, task("t2", "wait", when=expr))


def test_an_unknown_argument() -> None:
    one = only(flow(task("t1", "use", given("x", 1), given("z", 1))))
    assert (one.code, one.message, one.related) == ("CLR210", "use takes no z", (("use", Source("flow.py", 3)),))


def test_a_missing_argument() -> None:
    one = only(flow(task("t1", "use")))
    assert (one.code, one.message) == ("CLR211", "use needs the argument x, and it isn't given")


def test_a_missing_file() -> None:
    assert only(flow(task("t1", "read"))).message == "read needs the file data, and it isn't given"
    nowhere = task("t1", "read", artifacts=(ArtifactArgument("data"),))
    assert only(flow(nowhere)).message == "the file data is given neither a value nor a place"


def test_the_entrypoint_gets_its_inputs_from_the_workflows_parameters() -> None:
    asks = main(task("t1", "wait"), inputs=(Parameter("n", INT),))
    assert found(workflow(asks, parameters=(Parameter("n", INT, default=1),))) == []
    assert found(workflow(asks)) == [("CLR211", "w", 8)]
    assert found(workflow(asks, parameters=(Parameter("n", STR, default=""),))) == [("CLR213", "w", 8)]


def test_an_argument_given_twice() -> None:
    assert only(flow(task("t1", "use", given("x", 1), given("x", 2)))).code == "CLR214"


@pytest.mark.parametrize(
    ("type_", "value", "reason"),
    [
        (INT, "3", "'3' is not int"),
        (INT, 1.5, "1.5 is not int"),
        (ListOf(INT), [1, "a"], "'a' at [1] is not int"),
        (Choice(("a", "b")), "c", "'c' is not one of 'a', 'b'"),
        (DATETIME, "soon", "'soon' is not datetime"),
    ],
)
def test_a_literal_of_the_wrong_type(type_: Type, value: Any, reason: str) -> None:
    one = only(using(value, type_))
    assert one.code == "CLR212"
    assert one.message.endswith(f": {reason}")


def test_a_literal_that_isnt_among_the_listed_values() -> None:
    listed = msgspec.structs.replace(BOX, inputs=Inputs((Parameter("size", enum=("s", "l")),)))
    assert only(workflow(main(task("t1", "box", given("size", "m"))), listed)).code == "CLR212"


def test_an_output_of_the_wrong_type_names_both_sides() -> None:
    one = only(using(x.TaskOutput("t1", "text")))
    assert (one.code, one.message) == ("CLR213", "the argument x of use takes int: str is not int")
    assert one.source == Source("flow.py", 12)
    assert one.related == (
        ("the step t1", Source("flow.py", 11)),
        ("the parameter x of use", Source("flow.py", 3)),
    )


OUTPUT = {name: x.TaskOutput("t1", name) for name in ("text", "number", "flag", "numbers")}
POINT = Record("Point", (Field("x", INT), Field("y", STR, required=False)))


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (INT, OUTPUT["number"]),
        (UnionOf((STR, INT)), OUTPUT["number"]),
        (ListOf(INT), x.Record((), (OUTPUT["number"], x.Literal(2)), "list")),
        (POINT, x.Record(("x",), (OUTPUT["number"],))),
        (POINT, {"x": 1, "y": "a"}),
        (DictOf(DATETIME), x.Record(("a",), (x.Literal("2024-01-01T00:00:00Z"),))),
        (Choice(("a", "b")), x.OrElse(x.Literal("a"), x.Literal("b"))),
        (STR, x.Text(("n=", OUTPUT["number"]))),
        (INT, x.Access(OUTPUT["numbers"], x.Literal(0))),
        (INT, x.Length(OUTPUT["text"])),
        (INT, x.Compute("+", OUTPUT["number"], x.Literal(1))),
        (ListOf(ListOf(UnionOf((INT, STR)))), x.Zip((OUTPUT["numbers"], x.Literal(["a"])))),
        (BOOL, x.Compare("<", OUTPUT["number"], x.NonFinite("Infinity"))),
        (BOOL, x.Contains(OUTPUT["numbers"], x.Literal(1))),
        (STR, x.Run("id")),
        (DATETIME, x.Run("scheduled_time")),
        (STR, x.TaskStatus("t1")),
        (INT, x.Raw("argo", "asInt('1')")),
    ],
)
def test_values_that_fit(type_: Type, value: Any) -> None:
    assert found(using(value, type_)) == []


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (INT, x.Compute("/", OUTPUT["number"], x.Literal(1))),
        (INT, x.OrElse(OUTPUT["number"], x.Literal("none"))),
        (INT, x.Record((), (), "list")),
        (POINT, x.Record(("z",), (OUTPUT["number"],))),
        (STR, x.Access(OUTPUT["numbers"], x.Literal(0))),
        (INT, OUTPUT["flag"]),
    ],
)
def test_values_that_dont_fit(type_: Type, value: Any) -> None:
    assert only(using(value, type_)).code in ("CLR212", "CLR213")


def test_files_are_no_values_and_values_no_files() -> None:
    file, text = x.TaskArtifact("t1", "file"), x.TaskOutput("t1", "text")
    assert only(using(file)).code == "CLR215"
    assert only(flow(MADE, task("t2", "read", artifacts=(ArtifactArgument("data", text),)))).code == "CLR215"
    assert [code for code, *_ in found(flow(MADE, task("t2", "read", given("data", text))))] == ["CLR215", "CLR211"]
    assert only(condition(x.Compare("==", file, x.Literal(1)))).code == "CLR215"
    assert found(flow(MADE, task("t2", "read", artifacts=(ArtifactArgument("data", file),)))) == []
    assert found(flow(task("t2", "read", artifacts=(ArtifactArgument("data", storage=RawData("x")),)))) == []


def test_a_file_that_can_be_absent_goes_to_who_can_do_without() -> None:
    maybe = ArtifactArgument("data", x.OrElse(x.TaskArtifact("t1", "file"), x.Literal(None)))
    assert only(flow(MADE, task("t2", "read", artifacts=(maybe,)))).code == "CLR216"
    assert found(flow(MADE, task("t2", "read-if", artifacts=(maybe,)))) == []


def test_parameters_have_defaults_that_fit() -> None:
    assert only(flow(WAITS, parameters=(Parameter("p", INT, default="x"),))).code == "CLR212"
    assert only(flow(WAITS, parameters=(Parameter("p", enum=()),))).code == "CLR218"
    assert only(flow(WAITS, parameters=(Parameter("p", enum=("a",), default="b"),))).code == "CLR212"


WAITS = task("t9", "wait")


@pytest.mark.parametrize(
    ("value", "code", "help_"),
    [
        (x.TaskOutput("t8", "number"), "CLR220", "known: t1, t2"),
        (x.TaskOutput("t1", "nubmer"), "CLR221", "did you mean number?"),
        (x.TaskArtifact("t1", "flie"), "CLR221", "did you mean file?"),
        (x.WorkflowParameter("p"), "CLR222", ""),
        (x.Input("i"), "CLR223", ""),
        (x.InputArtifact("i"), "CLR223", ""),
        (x.Own("result"), "CLR224", ""),
        (x.Run("status"), "CLR224", ""),
        (x.Run("attempt"), "CLR224", ""),
        (x.LastRetry("exit_code"), "CLR224", ""),
        (x.TaskItems("t1"), "CLR224", ""),
        (x.Published("best"), "CLR224", "use the value itself"),
    ],
)
def test_references_that_lead_nowhere(value: x.Expr, code: str, help_: str) -> None:
    one = only(using(value))
    assert (one.code, one.help) == (code, help_)


def test_the_item_is_known_in_the_arguments_of_a_fan_out_only() -> None:
    item, over = x.Item(), Each(x.Literal([1, 2]))
    assert found(flow(task("t1", "use", given("x", item), each=over))) == []
    assert only(flow(task("t1", "use", given("x", item)))).code == "CLR224"
    guarded = task("t1", "wait", each=over, when=x.Compare("==", item, x.Literal(1)))
    assert only(flow(guarded)).code == "CLR224"
    assert only(flow(task("t1", "use", given("x", item), each=Each(x.Literal(["a"]))))).code == "CLR213"


def test_a_container_cant_see_the_steps_of_a_graph() -> None:
    box = msgspec.structs.replace(BOX, body=Container("alpine", args=(x.Text((number("t1"),)),)))
    assert only(workflow(main(MADE, task("t2", "box")), box)).code == "CLR224"


def test_a_container_sees_its_inputs_the_paths_of_its_files_and_the_attempt() -> None:
    args = (x.Text((x.Input("x"), x.InputArtifact("f"), x.Run("attempt"))),)
    inputs = Inputs((Parameter("x"),), (InputArtifact("f", "/tmp/f", optional=True),))
    box = Template("box", Container("alpine", args=args), inputs)
    assert found(workflow(main(task("t1", "box", given("x", ""))), box)) == []


def test_handlers_see_the_run_and_published_values_but_no_steps() -> None:
    say = Template("say", Container("alpine"), Inputs((Parameter("x"),)))
    made = Template("made", Container("a"), outputs=Outputs((OutputParameter("o", path="/o", global_name="best"),)))

    def handled(value: x.Expr) -> Workflow:
        return workflow(
            main(task("t1", "made")), say, made, handlers=(Handler("h", "say", arguments=(given("x", value),)),)
        )

    assert found(handled(x.Run("status"))) == []
    assert found(handled(x.OrElse(x.Published("best"), x.Literal("")))) == []
    assert only(handled(x.Published("bset"))).code == "CLR226"
    assert only(handled(x.TaskOutput("t1", "o"))).code == "CLR224"


def test_a_template_that_only_handlers_call_knows_the_status() -> None:
    say = Template("say", Container("alpine", args=(x.Text((x.Run("status"),)),)))
    assert found(workflow(main(WAITS), say, handlers=(Handler("h", "say"),))) == []
    assert only(workflow(main(WAITS, task("t1", "say")), say, handlers=(Handler("h", "say"),))).code == "CLR224"


def test_hooks_see_their_own_step() -> None:
    ended = x.Compare("==", x.TaskStatus("t1"), x.Literal("Failed"))
    assert found(flow(task("t1", "wait", hooks=(Hook("failed", "wait", ended),)))) == []


def test_a_retry_reads_the_last_attempt() -> None:
    again = x.Compare("==", x.LastRetry("exit_code"), x.Literal(137))
    box = msgspec.structs.replace(BOX, retry=RetryPolicy(2, when=again))
    assert found(workflow(main(task("t1", "box")), box)) == []
    box = msgspec.structs.replace(BOX, retry=RetryPolicy(2, when=x.LastRetry("exit_code")))
    assert only(workflow(main(task("t1", "box")), box)).code == "CLR270"


def test_a_decision_of_a_function_is_over_its_own_outputs() -> None:
    def decides(value: x.Expr) -> Workflow:
        decision = OutputParameter("good", BOOL, value=value)
        use = msgspec.structs.replace(USE, outputs=Outputs((*USE.outputs.parameters, decision)))
        return workflow(main(task("t1", "use", given("x", 1))), use)

    assert found(decides(x.Compare(">", x.Own("result"), x.Literal(1)))) == []
    assert only(decides(x.Own("reslut"))).code == "CLR225"
    assert only(decides(x.Own("result"))).code == "CLR213"


def test_what_an_external_template_takes_and_gives_isnt_known() -> None:
    outside = Task("t1", External("wt", "make"), (given("anything", 1),))
    assert found(flow(outside, task("t2", "use", given("x", x.TaskOutput("t1", "whatever"))))) == []


def test_a_value_that_is_too_large() -> None:
    assert found(using("a" * 96_000, STR)) == []
    assert only(using("a" * 96_001, STR)).message == "the argument x takes 96,001 bytes, and a value may take 96,000"
    assert only(using("é" * 50_000, STR)).code == "CLR227"
    assert only(using(["a"] * 30_000, ListOf(STR))).code == "CLR227"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (2**63, "doesn't fit in 64 bits"),
        (math.nan, 'the float nan must be written as the string "NaN"'),
        ({1: 2}, "the key 1 of an object is not a string"),
        ((1, 2), "a tuple is not a JSON value"),
        ("\ud800", "half of a surrogate pair"),
        ({"\ud800": 1}, "half of a surrogate pair"),
    ],
)
def test_a_value_that_cant_travel(value: Any, reason: str) -> None:
    one = only(using(value, msgspec.convert({"type": "scalar", "name": "any"}, Type)))
    assert one.code == "CLR228"
    assert reason in one.message


def test_a_value_nested_too_deep() -> None:
    value: Any = []
    for _ in range(2000):
        value = [value]
    assert "CLR228" in {code for code, *_ in found(using(value, ListOf(STR)))}


def test_text_that_isnt_unicode_anywhere() -> None:
    broken = msgspec.structs.replace(flow(WAITS), description="\udfff")
    assert only(broken).code == "CLR228"


@pytest.mark.parametrize(
    ("template", "code"),
    [
        (msgspec.structs.replace(BOX, outputs=Outputs((OutputParameter("o"),))), "CLR245"),
        (msgspec.structs.replace(BOX, outputs=Outputs((OutputParameter("o", path="/o", stdout=True),))), "CLR245"),
        (msgspec.structs.replace(BOX, outputs=Outputs((OutputParameter("o", json_path="{.x}"),))), "CLR245"),
        (msgspec.structs.replace(BOX, outputs=Outputs(artifacts=(OutputArtifact("o"),))), "CLR296"),
        (Template("box", Graph((WAITS,)), outputs=Outputs((OutputParameter("o"),))), "CLR245"),
        (Template("box", Graph((WAITS,)), outputs=Outputs(artifacts=(OutputArtifact("o"),))), "CLR245"),
        (Template("box", Suspend(), outputs=Outputs((OutputParameter("o", path="/o"),))), "CLR245"),
        (Template("box", Function("f", ()), outputs=Outputs((OutputParameter("o"),))), "CLR246"),
        (Template("box", Function("f", (), returns="one")), "CLR246"),
        (Template("box", Function("f", (), returns="fields")), "CLR246"),
    ],
)
def test_outputs_come_from_where_their_template_can_make_them(template: Template, code: str) -> None:
    assert (
        only(workflow(main(task("t1", "box")), template, WAIT)).code == code
        if template.body.__class__ is Graph
        else True
    )
    rest = (WAIT,) if isinstance(template.body, Graph) else ()
    assert only(workflow(main(task("t1", "box")), template, *rest)).code == code


def test_the_file_of_a_graph() -> None:
    inner = Template(
        "inner", Graph((MADE,)), outputs=Outputs(artifacts=(OutputArtifact("f", value=x.TaskArtifact("t1", "file")),))
    )
    read = task("t2", "read", artifacts=(ArtifactArgument("data", x.TaskArtifact("t3", "f")),))
    assert found(workflow(main(task("t3", "inner"), read), inner, MAKE, READ)) == []
