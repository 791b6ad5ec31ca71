"""An outline becomes the workflow that a person would have written for it."""

from __future__ import annotations

import pytest

from couler_py import api
from couler_py.ir import expr as x
from couler_py.ir.meaning import graph_edges
from couler_py.ir.model import Graph, Loop, Script, Workflow
from couler_py.ir.model import Task as TaskIR
from couler_py.nl import outline as o
from couler_py.nl.assemble import assemble
from couler_py.nl.checking import OutlineError
from couler_py.nl.draft import Draft
from couler_py.nl.offering import offer


def tasks(workflow: Workflow) -> dict[str, TaskIR]:
    found = {}
    for template in workflow.templates:
        if isinstance(template.body, Graph):
            found |= {task.name: task for task in template.body.tasks}
    return found


def before(workflow: Workflow, name: str) -> set[str]:
    for template in workflow.templates:
        if isinstance(template.body, Graph):
            for task, edges in graph_edges(template.body).items():
                if task == name:
                    return {each for edge in edges for each in edge.tasks}
    raise KeyError(name)


def outline(*parts: o.Task | o.Block, **more: object) -> o.Outline:
    given = tuple(part for part in parts if isinstance(part, o.Task))
    blocks = tuple(part for part in parts if isinstance(part, o.Block))
    return o.Outline("flow", tasks=given, blocks=blocks, **more)  # type: ignore[arg-type]


def test_what_a_task_takes_makes_the_order_and_gives_its_parameters_their_names() -> None:
    found = assemble(
        outline(o.Task("train", takes=("load",), role="train", gives="file"), o.Task("load", role="load", gives="file"))
    )

    assert before(found, "train") == {"load"}
    assert [each.name for each in tasks(found)["train"].artifacts] == ["data"]


def test_a_step_that_nobody_has_written_fails_and_says_what_to_write() -> None:
    draft = offer(outline(o.Task("fit", text='train "the" model', gives="number")), Draft(""))

    assert draft.source == (
        "import couler_py as couler\n\n\n"
        "@couler.step\n"
        "def fit() -> float:\n"
        "    'Train \"the\" model.'\n"
        "    raise NotImplementedError('write what fit does, and returns float: Train \"the\" model.')\n\n\n"
        "@couler.workflow\n"
        "def flow():\n"
        "    fit()\n"
    )


def test_a_text_never_becomes_program_text() -> None:
    hostile = 'x"""\nimport os; os.system("id")\n"""'
    draft = offer(outline(o.Task("fit", text=hostile)), Draft(""))

    assert "\nimport os" not in draft.source
    api.compile(draft.workflow, to="argo")


def test_a_condition_guards_the_task_and_its_opposite_another() -> None:
    found = assemble(
        outline(
            o.Task("evaluate", gives="number"),
            o.Task("deploy", when=(o.Condition("evaluate", op=">", value=0.9),), gives="nothing"),
            o.Task("alert", when=(o.Condition("evaluate", op="<=", value=0.9),), gives="nothing"),
        )
    )

    score = x.TaskOutput("evaluate", "result")
    assert tasks(found)["deploy"].when == x.Compare(">", score, x.Literal(0.9))
    assert tasks(found)["alert"].when == x.Compare("<=", score, x.Literal(0.9))


def test_tasks_of_a_block_are_a_graph_that_runs_for_each_item() -> None:
    found = assemble(
        outline(
            o.Block("each_model", items=("svm", "forest"), item="model", parallel=2),
            o.Task("train", inside="each_model", gives="file"),
            o.Task("evaluate", inside="each_model", takes=("train",), gives="number"),
            o.Task("select", takes=("evaluate",)),
        )
    )

    each = tasks(found)["each_model"].each
    assert each is not None
    assert (each.items, each.parallel) == (x.Literal(["svm", "forest"]), 2)
    assert before(found, "evaluate") == {"train"}
    assert before(found, "select") == {"each_model"}


def test_a_loop_runs_its_tasks_again_until_the_condition_over_their_results() -> None:
    found = assemble(
        outline(
            o.Block("again", "loop", until=(o.Condition("evaluate", op=">=", value=0.95),), most=7),
            o.Task("train", inside="again", gives="file"),
            o.Task("evaluate", inside="again", takes=("train",), gives="number"),
            o.Task("deploy", takes=("train",), gives="nothing"),
        )
    )

    [loop] = [template.body for template in found.templates if isinstance(template.body, Loop)]
    assert loop.max_iterations == 7
    assert loop.until == x.Compare(">=", x.Own("evaluate"), x.Literal(0.95))
    assert before(found, "deploy") == {"again"}


def test_a_command_is_a_script_of_exactly_its_text() -> None:
    found = assemble(outline(o.Task("tests", kind="shell", command="pytest -q | tee log")))

    [body] = [template.body for template in found.templates if isinstance(template.body, Script)]
    assert (body.source, body.image) == ("pytest -q | tee log", "python:3.11")


def test_a_reader_of_two_branches_gets_the_first_that_is_there() -> None:
    found = assemble(
        outline(
            o.Task("size", gives="number"),
            o.Task("small", when=(o.Condition("size", op="<", value=5),)),
            o.Task("large", when=(o.Condition("size", op=">=", value=5),)),
            o.Task("use", takes=("small", "large")),
        )
    )

    [argument] = tasks(found)["use"].arguments
    assert argument.value == x.First((x.TaskOutput("small", "result"), x.TaskOutput("large", "result")))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (outline(), "there are no tasks"),
        (outline(o.Task("a"), o.Task("a")), "the name 'a' is given twice"),
        (outline(o.Task("a", takes=("b",)), o.Task("b", takes=("a",))), "these wait for each other in a circle: a, b"),
        (outline(o.Task("a", kind="shell")), "task a is of the kind shell and needs command"),
        (outline(o.Task("a", inside="b")), "there is no block of that name"),
        (outline(o.Task("a"), o.Task("b", when=(o.Condition("a", op="<", value="x"),))), "compares 'x' by <"),
        (outline(o.Task("a"), schedule=o.Schedule(("61 * * * *",))), "is no cron line"),
    ],
)
def test_what_is_wrong_is_named(wrong: o.Outline, said: str) -> None:
    with pytest.raises(OutlineError) as raised:
        assemble(wrong)

    assert said in str(raised.value)


def test_an_outline_is_read_from_json_and_held_to_its_limits() -> None:
    assert o.read('{"name": "x", "tasks": [{"name": "load"}]}').tasks == (o.Task("load"),)
    with pytest.raises(Exception, match=r"Expected `str` matching regex"):
        o.read('{"name": "x", "tasks": [{"name": "Load it"}]}')


def test_an_explanation_says_what_runs_when() -> None:
    draft = offer(
        outline(
            o.Task("load", text="load the sales", gives="file"),
            o.Task("score", takes=("load",), gives="number", retry=o.Retry(2)),
            o.Task("deploy", when=(o.Condition("score", op=">", value=0.9),), gives="nothing"),
            schedule=o.Schedule(("0 3 * * *",), "Europe/Berlin"),
        ),
        Draft(""),
    )

    assert draft.explanation.splitlines() == [
        "It starts by itself at 0 3 * * * (minute, hour, day, month, weekday), time zone Europe/Berlin.",
        "1. load: Load the sales (still to be written).",
        "2. score, after load (still to be written); tried again up to 2 times.",
        "3. deploy, after score, only if score > 0.9 (still to be written).",
    ]
