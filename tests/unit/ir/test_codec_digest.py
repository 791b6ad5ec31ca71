"""What is part of a template's content, and what isn't."""

from couler_py.ir import Graph, Source, Suspend, Task, Template, digest
from couler_py.ir.model import Function, Piece


def graph(line: int) -> Template:
    return Template("g", Graph((Task("a", "wait", source=Source("flow.py", line)),)), source=Source("flow.py", line))


def function(line: int) -> Template:
    return Template("f", Function("f", (Piece("def f(): ...", "flow.py", line),)))


def test_where_a_task_was_called_is_no_part_of_its_graph():
    assert digest(graph(1)) == digest(graph(2))


def test_where_a_function_stands_is_no_part_of_it():
    assert digest(function(1)) == digest(function(2))


def test_what_a_graph_calls_is_part_of_it():
    assert digest(graph(1)) != digest(Template("g", Graph((Task("a", "other"),))))


def test_a_name_is_no_part_of_the_content():
    assert digest(Template("a", Suspend(1))) == digest(Template("b", Suspend(1)))
    assert digest(Template("a", Suspend(1))) != digest(Template("a", Suspend(2)))
