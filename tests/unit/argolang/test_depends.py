"""`depends`: trees, texts, and what Argo could not evaluate."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from couler_py.argolang import (
    RESERVED,
    RESULTS,
    AllDepend,
    AnyDepend,
    Depends,
    DependsOn,
    NotDepends,
    SyntaxProblem,
    decided,
    parse_depends,
    print_depends,
    tasks_of,
)


def test_a_tree_knows_its_places() -> None:
    assert parse_depends("a && (b-c.Failed || !d)") == AllDepend(
        (
            DependsOn("a", None, 0, 1),
            AnyDepend((DependsOn("b-c", "Failed", 6, 16), NotDepends(DependsOn("d", None, 21, 22), 20, 22)), 6, 22),
        ),
        0,
        22,
    )


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("a", "a"),
        (" ( a ) ", "a"),
        ("a&&b||c", "a && b || c"),
        ("a && (b || c)", "a && (b || c)"),
        ("(a && b) || c", "a && b || c"),
        ("!(a.Failed && b)", "!(a.Failed && b)"),
        ("!!a", "!!a"),
        ("1-a.Succeeded", "1-a.Succeeded"),
    ],
)
def test_a_tree_is_printed_with_the_parentheses_it_needs(text: str, printed: str) -> None:
    assert print_depends(parse_depends(text)) == printed


@pytest.mark.parametrize(
    ("text", "message", "offset"),
    [
        ("", "nothing to depend on", 0),
        ("a &&", "the name of a task is missing", 4),
        ("a b", "unexpected 'b'", 2),
        ("(a", "a parenthesis isn't closed", 0),
        ("a.Done", f"a has no result 'Done'; it is one of {', '.join(RESULTS)}", 0),
        ("a and b", "unexpected 'and'", 2),
        ("x && if", "'if' is a word of the expression language and no name for a task", 5),
        ("a & b", "unexpected '&'", 2),
        ("_a", "the name of a task is missing", 0),
    ],
)
def test_what_argo_cannot_read_is_told_where(text: str, message: str, offset: int) -> None:
    with pytest.raises(SyntaxProblem) as caught:
        parse_depends(text)
    assert (caught.value.message, caught.value.offset) == (message, offset)


def test_the_words_that_break_at_run_time() -> None:
    assert {"else", "in", "if", "and", "or", "not", "let", "nil", "true", "false", "matches", "contains"} < RESERVED
    assert "then" not in RESERVED
    assert tasks_of(parse_depends("then && len && filter")) == ("then", "len", "filter")


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("ok", True),
        ("skipped", True),
        ("failed", False),
        ("failed.Failed", True),
        ("ok && failed", False),
        ("ok || failed", True),
        ("ok && !failed", True),
        ("omitted", False),
        ("omitted.Omitted", True),
    ],
)
def test_a_name_alone_asks_for_success_or_being_skipped(text: str, begins: bool) -> None:
    results = {"ok": "Succeeded", "skipped": "Skipped", "failed": "Failed", "omitted": "Omitted"}
    assert decided(parse_depends(text), lambda task: frozenset({results[task]})) is begins


LEAVES = st.builds(DependsOn, st.sampled_from(["a", "b-c", "d1"]), st.sampled_from([None, *RESULTS]))


def _grown(inner: st.SearchStrategy[Depends]) -> st.SearchStrategy[Depends]:
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        st.builds(NotDepends, inner),
        st.builds(AllDepend, several),
        st.builds(AnyDepend, several),
    )


@given(st.recursive(LEAVES, _grown, max_leaves=8))
def test_a_printed_tree_decides_alike(tree: Depends) -> None:
    read = parse_depends(print_depends(tree))
    for results in ({"Succeeded"}, {"Failed"}, {"Skipped"}, {"Omitted"}):
        given_results = frozenset(results)
        assert decided(read, lambda task, r=given_results: r) == decided(tree, lambda task, r=given_results: r)


@given(st.text(st.sampled_from("ab.-&|!() FS")) | st.text())
def test_any_text_is_read_or_a_problem_in_it(text: str) -> None:
    assert 0 <= _offset(text) <= len(text)


def _offset(text: str) -> int:
    """The place of what is wrong with a text, or 0."""
    try:
        parse_depends(text)
    except SyntaxProblem as problem:
        return problem.offset
    return 0


def test_what_is_nested_too_deeply_is_refused() -> None:
    with pytest.raises(SyntaxProblem):
        parse_depends("(" * 5000)
    with pytest.raises(SyntaxProblem):
        parse_depends("!" * 5000 + "a")
