"""Python steps: their source stands in the module once, and nothing of it runs while it is printed."""

from __future__ import annotations

import ast
from pathlib import Path

import msgspec
import pytest

from couler_py.ir import DiagnosticError, Graph, Task, Template, Workflow
from couler_py.ir import expr as x
from couler_py.ir.model import Argument, DistributedJob, Function, Inputs, OutputParameter, Outputs, Parameter, Piece
from couler_py.ir.pod import Container
from couler_py.ir.types import INT, STR
from couler_py.printer import print_python
from tests.unit.printer.rebuilt import printed

ONE = Outputs((OutputParameter("result", INT),))


def function(name: str, own: str, *pieces: str, called: str = "work", **fields: object) -> Template:
    body = Function(called, tuple(map(Piece, (*pieces, own))), "one", **fields)  # type: ignore[arg-type]
    return Template(name, body, outputs=ONE)


def workflow(*templates: Template) -> Workflow:
    tasks = tuple(Task(template.name, template.name) for template in templates)
    return Workflow("main", "main", (*templates, Template("main", Graph(tasks))))


def test_what_several_steps_need_stands_there_once() -> None:
    needed = ("import math", "LIMIT = 3")
    source = printed(
        workflow(
            function("one", "def one() -> int:\n    return LIMIT + math.floor(1.5)", *needed, called="one"),
            function("two", "def two() -> int:\n    return LIMIT - math.floor(1.5)", *needed, called="two"),
        )
    )
    assert source.count("import math\n") == 1
    assert source.count("LIMIT = 3\n") == 1
    assert "couler.template" not in source


def test_two_things_of_one_name_stand_in_functions_of_their_own() -> None:
    source = printed(
        workflow(
            function("one", "def work() -> int:\n    return helper()", "def helper():\n    return 1"),
            function("two", "def work() -> int:\n    return helper()", "def helper():\n    return 2"),
            function("three", 'def work() -> int:\n    """Text\n\n    of lines."""\n    return 3'),
        )
    )
    assert "couler.template(" not in source.split("three")[0]
    assert "two = _make_two()\n" in source


def test_the_same_function_under_two_names() -> None:
    printed(
        workflow(
            function("one", "def work() -> int:\n    return 1"),
            function("two", "def work() -> int:\n    return 1", image="python:3.12"),
        )
    )


def test_a_step_that_hides_a_builtin_doesnt_hide_it_from_others() -> None:
    source = printed(
        workflow(
            function("list", "def list() -> int:\n    return 1", called="list"),
            function("work", "def work() -> int:\n    return len(list('ab'))"),
        )
    )
    assert "\n@couler.step\ndef list()" not in source


def test_source_that_says_something_else_than_its_template_is_kept_as_it_is() -> None:
    odd = function("odd", "def work() -> str:\n    return 'x'")
    source = printed(workflow(odd))
    assert "ir.model.Piece(" in source


def test_pieces_in_an_order_that_the_dsl_would_not_find_are_kept() -> None:
    odd = function("odd", "def work() -> int:\n    return 1", "UNUSED = 1")
    assert "ir.model.Piece(" in printed(workflow(odd))


def test_nothing_of_a_persons_runs_while_it_is_printed(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    harm = f"open({str(mark)!r}, 'w').close()"
    pieces = (f"class Thing:\n    {harm}", f"value = [{harm}]")
    template = function("harm", f"def work(a=[{harm}]) -> int:\n    return (Thing, value)", *pieces)
    print_python(workflow(template))
    print_python(workflow(function("two", f"def work() -> int:\n    return {harm}")))
    assert not mark.exists()


@pytest.mark.parametrize("text", ['"""\nimport os\n"""', "'); raise SystemExit('", "{x}", "\\", "# \u2028 x"])
def test_text_of_a_workflow_is_no_program(text: str) -> None:
    say = Template(
        "say", Container(text, (text,), (x.Text((text, x.Input("word"))),)), Inputs((Parameter("word", STR),))
    )
    task = Task("say", "say", (Argument("word", x.Literal({text: [text]} if "{" not in text else text)),))
    main = Template("main", Graph((task,)), description=text)
    source = printed(Workflow("main", "main", (say, main), display=text, description=text))
    names = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
    assert names <= {"couler", "ir", "say", "main", "str"}


def test_what_has_no_form_in_source_is_refused_by_its_place() -> None:
    task = Task("say", "say", (Argument("word", x.Literal({1, 2})),))
    say = Template("say", Container("alpine"), Inputs((Parameter("word", STR),)))
    with pytest.raises(DiagnosticError) as caught:
        print_python(Workflow("main", "main", (say, Template("main", Graph((task,))))))
    assert [diagnostic.code for diagnostic in caught.value.diagnostics] == ["CLR801"]


def test_an_order_of_templates_doesnt_matter() -> None:
    one = workflow(function("one", "def work() -> int:\n    return 1"))
    other = msgspec.structs.replace(one, templates=one.templates[::-1])
    assert printed(one) == printed(other)


def test_templates_that_nothing_calls_are_kept() -> None:
    one = workflow(function("one", "def work() -> int:\n    return 1"))
    idle = Template("idle", Container("alpine:3.20", ("true",)))
    source = printed(msgspec.structs.replace(one, templates=(*one.templates, idle)))
    assert 'idle = couler.container("alpine:3.20", ["true"], name="idle")\n' in source


def test_a_job_of_several_nodes_is_printed_by_its_verb() -> None:
    job = DistributedJob(
        "mpi", Container("trainer:1", ("fit",), ("--fast",)), 2, 4, (1, 2), 3, "mpijob", "team-a", health_timeout=30.0
    )
    source = printed(workflow(Template("train", job)))
    assert (
        'couler.distributed_job(\n    "trainer:1",\n    ["fit"],\n    ["--fast"],\n    name="train",\n'
        '    framework="mpi",\n    nodes=2,\n    processes=4,\n    max_restarts=3,\n    launcher="mpijob",\n'
        '    queue="team-a",\n    elastic=(1, 2),\n    health_timeout="30s",\n)'
    ) in source
