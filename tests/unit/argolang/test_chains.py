"""Which variables expressions read, and other names for them."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from couler_py.argolang import Reference, SyntaxProblem, chain, hyphenated, parse, references, replaced
from tests.unit.argolang.generated import an_expression


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("tasks['a-b'].outputs.parameters.x", ["tasks.a-b.outputs.parameters.x"]),
        ("a.b + c.d", ["a.b", "c.d"]),
        ("a", ["a"]),
        ("1 + 2", []),
        ("filter(xs, .name == y.z)", ["xs", "y.z"]),
        ("reduce(xs, #acc + #index, 0)", ["xs"]),
        ("let v = a.b; v.c + d", ["a.b", "d"]),
        ("(let v = 1; v) + v", ["v"]),
        ("sprig.trim(a.b)", ["sprig.trim", "a.b"]),
        ("asInt(a.b)", ["asInt", "a.b"]),
        ("a[b.c].d", ["a", "b.c"]),
        ("a.b[0].c", ["a.b"]),
        ("a.b[1:n]", ["a.b", "n"]),
        ("{a: b, (c): d}", ["b", "c", "d"]),
        ("'a.b' // c.d", []),
        ("a?.b ?? c", ["a.b", "c"]),
        ("'x' | f(y)", ["f", "y"]),
    ],
)
def test_references_are_chains_of_names(text: str, names: list[str]) -> None:
    assert [each.name for each in references(text)] == names


def test_a_reference_knows_its_places() -> None:
    text = "1 + tasks['a-b']?.outputs[k].x"
    first, second = references(text)
    assert [text[start:end] for start, end in first.places] == ["tasks", "'a-b'", "outputs"]
    assert text[first.start : first.end] == "tasks['a-b']?.outputs"
    assert (first.optional, first.dynamic, first.guarded, first.called) == ((2,), True, True, False)
    assert (second.name, second.guarded) == ("k", False)


def test_a_reference_before_a_coalescing_operator_is_guarded() -> None:
    assert [(each.name, each.guarded) for each in references("a.b ?? c.d")] == [("a.b", True), ("c.d", False)]


def test_functions_are_called() -> None:
    assert [(each.name, each.called) for each in references("sprig.trim(a)")] == [("sprig.trim", True), ("a", False)]


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("tasks.a.status == 'a'", "tasks.b.status == 'a'"),
        ("tasks [ 'a' ] . status", "tasks [ 'b' ] . status"),
        ('tasks["a"].x /* tasks.a */ + tasks.c', 'tasks["b"].x /* tasks.a */ + tasks.c'),
        ("filter(tasks.a.x, # == tasks.a.y)", "filter(tasks.b.x, # == tasks.b.y)"),
        ("(tasks).a.x", "(tasks).b.x"),
    ],
)
def test_names_are_replaced_in_place(text: str, new: str) -> None:
    assert replaced(text, lambda each: _renamed(each.path, "b")) == new


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("tasks.a.x", "tasks['b-c'].x"),
        ("tasks?.a?.x", "tasks?.['b-c']?.x"),
        ("tasks['a'].x", "tasks['b-c'].x"),
    ],
)
def test_a_name_that_cannot_follow_a_dot_gets_brackets(text: str, new: str) -> None:
    assert replaced(text, lambda each: _renamed(each.path, "b-c")) == new


def test_a_chain_may_become_longer_or_shorter() -> None:
    assert replaced("item.x + 1", lambda each: ("inputs", "parameters", "x")) == "inputs.parameters.x + 1"
    assert replaced("(a?.b).c[0]", lambda each: ("x",)) == "x[0]"
    assert replaced("a?.b ?? 1", lambda each: ("x", "y", "z")) == "x?.y?.z ?? 1"


def _renamed(path: tuple[str, ...], new: str) -> tuple[str, ...] | None:
    return (path[0], new, *path[2:]) if path[:2] == ("tasks", "a") else None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("tasks.a-b.status", [("a-b", "tasks['a-b'].status")]),
        ("tasks.step-1.outputs.result == 'x'", [("step-1", "tasks['step-1'].outputs.result")]),
        ("inputs.parameters.my-name", [("my-name", "inputs.parameters['my-name']")]),
        ("tasks['a-b'].outputs.parameters.c-d", [("c-d", "tasks['a-b'].outputs.parameters['c-d']")]),
        ("inputs.parameters.a-inputs.parameters.b", []),
        ("inputs.parameters.a - b", []),
        ("'tasks.a-b' + tasks['a-b'].x // tasks.a-b", []),
        ("asInt(item.a)-1", []),
        ("x.tasks.a-b", []),
    ],
)
def test_names_with_hyphens_after_dots_are_found(text: str, found: list[tuple[str, str]]) -> None:
    assert [(each.name, each.written) for each in hyphenated(text)] == found


def test_a_chain_is_written_as_the_language_reads_it() -> None:
    (reference,) = references(chain(("a", "b-c", "it's {{x}}", "d", "é")))
    assert reference.path == ("a", "b-c", "it's {{x}}", "d", "é")


@given(st.integers(0, 10**9))
def test_what_is_changed_to_itself_stays(seed: int) -> None:
    text = an_expression(Random(seed))
    try:
        parse(text)
    except SyntaxProblem:
        return
    assert replaced(text, lambda each: each.path) == text
    assert replaced(text, lambda each: None) == text


@given(st.integers(0, 10**9))
def test_changed_names_are_those_that_are_read_then(seed: int) -> None:
    text = an_expression(Random(seed))
    try:
        before = references(text)
    except SyntaxProblem:
        return
    after = references(replaced(text, _longer))
    assert [each.path for each in after] == [_longer(each) or each.path for each in before]


def _longer(reference: Reference) -> tuple[str, ...] | None:
    """Another name for all but the first; a function in brackets couldn't be called."""
    return None if reference.called else tuple(f"{name}-2" if n else name for n, name in enumerate(reference.path))
