"""Pictures of workflows: what they show, and that no text in them is more than text."""

from __future__ import annotations

import shutil
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from couler_py.ir import expr as e
from couler_py.ir.model import (
    After,
    Argument,
    Each,
    Graph,
    Handler,
    Inputs,
    Loop,
    Parameter,
    Task,
    Template,
    Workflow,
)
from couler_py.ir.pod import Container
from couler_py.report import graph
from couler_py.report.graph.phrase import phrase
from couler_py.report.graph.scene import Link, Node, Scene

WORK = Template("work", Container("alpine"), Inputs((Parameter("x", default=""),)))
LAYOUTERS = [
    False,
    pytest.param(True, marks=pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")),
]


def workflow(*tasks: Task, templates: tuple[Template, ...] = (), handlers: tuple[Handler, ...] = ()) -> Workflow:
    return Workflow("flow", "main", (Template("main", Graph(tasks)), WORK, *templates), handlers=handlers)


def words(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_each_task_is_a_box_and_each_edge_a_line_of_its_kind() -> None:
    scene = graph.scene(
        workflow(
            Task("a", "work"),
            Task("b", "work", (Argument("x", e.TaskOutput("a", "result")),)),
            Task("c", "work", after=(After("a"),)),
            Task("d", "work", after=(After("b", "on_failure"), After("c", "always"))),
        )
    )
    assert [node.id for node in scene.nodes] == ["a", "b", "c", "d"]
    assert scene.links == (
        Link("a", "b", "value"),
        Link("a", "c", "order"),
        Link("b", "d", "on_failure"),
        Link("c", "d", "always"),
    )


def test_a_nested_graph_is_drawn_inside_its_task() -> None:
    inner = Template("inner", Graph((Task("x", "work"), Task("y", "work", after=(After("x"),)))))
    scene = graph.scene(workflow(Task("first", "inner"), templates=(inner,)))
    inside = scene.nodes[0].inside
    assert inside is not None
    assert [node.id for node in inside.nodes] == ["x", "y"]


def test_a_template_that_calls_itself_is_drawn_once() -> None:
    scene = graph.scene(workflow(Task("again", "main")))
    assert scene.nodes[0].inside is None
    assert scene.nodes[0].note == "main again"


def test_a_condition_and_a_fan_out_are_written_in_the_box() -> None:
    each = Each(e.Literal(["a", "b", "c"]))
    when = e.Compare(">", e.TaskOutput("a", "score"), e.Literal(0.9))
    scene = graph.scene(workflow(Task("a", "work"), Task("b", "work", each=each, when=when)))
    assert (scene.nodes[1].many, scene.nodes[1].condition) == ("× 3", "a.score > 0.9")


def test_a_loop_says_when_it_ends() -> None:
    loop = Template("loop", Loop("work", e.Compare("==", e.Own("x"), e.Literal("done")), max_iterations=7))
    scene = graph.scene(workflow(Task("repeat", "loop"), templates=(loop,)))
    assert scene.nodes[0].note == 'loop · until x == "done", at most 7 times'


def test_handlers_stand_below_the_run() -> None:
    scene = graph.scene(workflow(Task("a", "work"), handlers=(Handler("tell", "work", "failure"),)))
    assert [node.label for node in scene.nodes] == ["flow", "tell"]
    assert scene.nodes[1].note == "work · on failure"
    assert scene.links == (Link("main", "handler0", "on_failure"),)


def test_above_the_limit_alike_tasks_share_a_box() -> None:
    middle = [Task(f"t{number}", "work", after=(After("first"),)) for number in range(600)]
    last = Task("last", "work", after=tuple(After(task.name) for task in middle))
    scene = graph.scene(workflow(Task("first", "work"), *middle, last))
    assert [node.many for node in scene.nodes] == ["", "600 tasks", ""]
    assert scene.folded == 599
    assert scene.links == (Link("first", "t0"), Link("t0", "last"))


def test_a_long_chain_is_folded_by_neighbours() -> None:
    tasks = [Task("t0", "work")] + [Task(f"t{n}", "work", after=(After(f"t{n - 1}"),)) for n in range(1, 2000)]
    scene = graph.scene(workflow(*tasks), limit=500)
    assert [node.label for node in scene.nodes[:2]] == ["t0 … t3", "t4 … t7"]
    assert len(scene.nodes) == 500


def test_wide_levels_are_folded_one_by_one() -> None:
    tasks = [
        Task(
            f"t{level}-{n}",
            "work",
            after=tuple(After(f"t{level - 1}-{(n + k) % 300}") for k in (0, 1)) if level else (),
        )
        for level in range(3)
        for n in range(300)
    ]
    scene = graph.scene(workflow(*tasks))
    assert [node.many for node in scene.nodes] == ["300 tasks", "300 tasks", "300 tasks"]
    assert len(scene.links) == 2


def test_above_the_limit_nested_graphs_are_closed() -> None:
    inner = Template("inner", Graph(tuple(Task(f"x{number}", "work") for number in range(30))))
    scene = graph.scene(workflow(*(Task(f"g{number}", "inner") for number in range(20)), templates=(inner,)))
    assert len(scene.nodes) == 20
    assert all(node.inside is None for node in scene.nodes)


@pytest.mark.parametrize("graphviz", LAYOUTERS)
def test_an_svg_holds_every_label_and_a_legend_of_the_lines_used(graphviz: bool) -> None:
    tasks = (Task("a", "work"), Task("b", "work", after=(After("a", "on_failure"),)))
    found = words(graph.svg(graph.scene(workflow(*tasks)), title="my flow", graphviz=graphviz))
    assert found == ["my flow", "a", "work · container", "b", "work · container", "runs when the other failed"]


@given(st.text(max_size=40), st.booleans())
def test_any_text_is_only_text(label: str, inside: bool) -> None:
    node = Node("n", label, note=label, condition=label, many=label, title=label)
    scene = Scene((msgspec_replace(node, Scene((node,))) if inside else node,))
    tree = ElementTree.fromstring(graph.svg(scene, title=label, graphviz=False))
    kinds = {element.tag.rpartition("}")[2] for element in tree.iter()}
    assert kinds <= {"svg", "title", "defs", "marker", "path", "rect", "g", "text"}


def msgspec_replace(node: Node, inside: Scene) -> Node:
    import msgspec

    return msgspec.structs.replace(node, id="outer", inside=inside)


def test_mermaid_quotes_what_could_be_markup() -> None:
    scene = Scene((Node("a", 'x"]; click n0 <b>'), Node("b", "y")), (Link("a", "b", "always"),))
    assert graph.mermaid(scene) == (
        'flowchart TD\n  n0["x#34;#93;#59; click n0 #60;b#62;"]\n  n1["y"]\n  n0 -.->|always| n1\n'
    )


def test_mermaid_draws_nested_graphs_as_subgraphs() -> None:
    scene = Scene((Node("a", "outer", inside=Scene((Node("x", "inner"),))),))
    assert graph.mermaid(scene) == 'flowchart TD\n  subgraph n0["outer"]\n    n0_0["inner"]\n  end\n'


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (e.OrElse(e.TaskOutput("a", "result"), e.Literal(0)), "a or else 0"),
        (e.AllOf((e.Compare(">", e.Input("x"), e.Literal(1)), e.Not(e.Item()))), "(x > 1) and (not item)"),
        (e.Access(e.TaskOutput("a", "row"), e.Literal("k")), 'a.row["k"]'),
        (e.Text(("n = ", e.Run("attempt"))), "n = {run.attempt}"),
        (e.First((e.TaskOutput("a", "y"), e.TaskOutput("b", "y"))), "first(a.y, b.y)"),
        (e.Record(("k",), (e.Length(e.Item()),)), "{k: len(item)}"),
        (e.Zip((e.Item(), e.Literal([]))), "zip[item, []]"),
        (e.Contains(e.Item(), e.Literal("x")), '"x" in item'),
        (e.Compute("+", e.Own("n"), e.NonFinite("NaN")), "n + NaN"),
    ],
)
def test_expressions_read_like_python(expr: e.Expr, text: str) -> None:
    assert phrase(expr) == text
