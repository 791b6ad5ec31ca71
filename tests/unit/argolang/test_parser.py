"""The trees of expressions, and what is said of texts that are none."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from couler_py.argolang import SyntaxProblem, parse
from couler_py.argolang.nodes import (
    Array,
    Binary,
    Boolean,
    Builtin,
    Call,
    Chain,
    Conditional,
    Float,
    Identifier,
    Integer,
    Let,
    Map,
    Member,
    Nil,
    Node,
    Pointer,
    Predicate,
    Sequence,
    Slice,
    String,
    Unary,
    walk,
)
from tests.unit.argolang.cases import VALUES
from tests.unit.argolang.generated import an_expression, spoiled


def said(node: Node | None) -> str:
    """A tree as text with all its parentheses."""
    match node:
        case None:
            return ""
        case Nil():
            return "nil"
        case Boolean() | Integer() | Float() | String():
            return repr(node.value)
        case Identifier():
            return node.name
        case Pointer():
            return f"#{node.name}"
        case Unary():
            return f"({node.operator} {said(node.operand)})"
        case Binary():
            return f"({said(node.left)} {node.operator} {said(node.right)})"
        case Member():
            return f"{said(node.base)}{'?' if node.optional else ''}.{said(node.property)}"
        case Chain():
            return f"<{said(node.body)}>"
        case Slice():
            return f"{said(node.base)}[{said(node.first)}:{said(node.last)}]"
        case Call():
            return f"{said(node.callee)}({', '.join(map(said, node.arguments))})"
        case Builtin():
            return f"{node.name}!({', '.join(map(said, node.arguments))})"
        case Predicate():
            return f"{{{said(node.body)}}}"
        case Let():
            return f"let {node.name} = {said(node.value)}; {said(node.body)}"
        case Sequence():
            return "; ".join(map(said, node.items))
        case Conditional():
            return f"({said(node.condition)} ? {said(node.yes)} : {said(node.no)})"
        case Array():
            return f"[{', '.join(map(said, node.items))}]"
        case Map():
            return "{" + ", ".join(f"{said(key)}: {said(value)}" for key, value in node.pairs) + "}"
    raise AssertionError(node)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("1 + 2 * 3", "(1 + (2 * 3))"),
        ("1 - 2 - 3", "((1 - 2) - 3)"),
        ("2 ** 3 ** 2", "(2 ** (3 ** 2))"),
        ("-2 ** 2", "(- (2 ** 2))"),
        ("-a.b", "(- a.'b')"),
        ("not a in b", "((not a) in b)"),
        ("a not in b", "(not (a in b))"),
        ("a and b or c", "((a and b) or c)"),
        ("a == b && c", "((a == b) && c)"),
        ("a < b < c", "((a < b) && (b < c))"),
        ("a + b ?? c", "(a + (b ?? c))"),
        ("a ? b : c ? d : e", "(a ? b : (c ? d : e))"),
        ("a ?: b", "(a ? a : b)"),
        ("if a { 1 } else if b { 2 } else { 3 }", "(a ? 1 : (b ? 2 : 3))"),
        ("1..n - 1", "(1 .. (n - 1))"),
        ("a?.b.c", "<a?.'b'.'c'>"),
        ("a?.b[0]", "<a?.'b'>.0"),
        ("a?.['b-c']", "<a?.'b-c'>"),
        ("a.b['c'][0]", "a.'b'.'c'.0"),
        ("a[1:]", "a[1:]"),
        ("a[:-1]", "a[:(- 1)]"),
        ("a.not", "a.'not'"),
        ("xs | filter(# > 1) | len()", "len!(filter!(xs, {(# > 1)}))"),
        ("filter(xs, {.a > #index})", "filter!(xs, {(#.'a' > #index)})"),
        ("reduce(xs, #acc + #, 0)", "reduce!(xs, {(#acc + #)}, 0)"),
        ("sprig.trim(a)", "sprig.'trim'(a)"),
        ("asInt(a)", "asInt(a)"),
        ("::len(a)", "len!(a)"),
        ("let x = 1; x + 1", "let x = 1; (x + 1)"),
        ("1; 2;", "1; 2"),
        ("{a: 1, 'b': 2, (c): 3}", "{'a': 1, 'b': 2, c: 3}"),
        ("[1, /* two */ 2,] // end", "[1, 2]"),
        ("`a\\n`", "'a\\\\n'"),
        (r"'\x41\u{1f600}'", "'A\U0001f600'"),
        ("0xff + 0b11 + 0o17 + 1_0", "(((255 + 3) + 15) + 10)"),
        (".5 + 1.", "(0.5 + 1.0)"),
        ("größe", "größe"),
    ],
)
def test_operators_bind_as_in_the_language(text: str, tree: str) -> None:
    assert said(parse(text)) == tree


@pytest.mark.parametrize(
    ("text", "message", "offset"),
    [
        ("", "expected a value, not the end", 0),
        ("1 +", "expected a value, not the end", 3),
        ("a b", "unexpected name 'b'", 2),
        ("(1", "expected ')', not the end", 2),
        ("'abc", "a string isn't closed", 0),
        ("x == 'a\nb'", "a string isn't closed", 5),
        (r"x + '\q'", r"the escape \q is unknown", 5),
        ("1 /* x", "a comment isn't closed", 2),
        ("a @ b", "'@' begins nothing in an expression", 2),
        ("tasks.step-1.outputs", "'1.o' is no number", 11),
        ("a ?? b == c", "'==' beside '??' needs parentheses", 7),
        ("a.", "a name must follow the dot", 2),
        ("# > 1", "expected a value, not operator '#'", 0),
        ("filter(xs)", "an argument is missing", 9),
        ("let x 1; x", "expected '=', not number '1'", 6),
        ("99999999999999999999", "99999999999999999999 doesn't fit into 64 bits", 0),
        ("1e999", "1e999 is larger than any float", 0),
        ("{a 1}", "expected ':', not number '1'", 3),
        ("a not b", "unexpected 'b' after 'not'", 6),
    ],
)
def test_a_text_that_is_no_expression_is_told_where(text: str, message: str, offset: int) -> None:
    with pytest.raises(SyntaxProblem) as caught:
        parse(text)
    assert (caught.value.message, caught.value.offset) == (message, offset)


def test_nodes_know_their_places() -> None:
    text = "f(tasks['a-b'].x) + 'q'"
    places = {type(node).__name__: text[node.start : node.end] for node in walk(parse(text))}
    assert places == {
        "Binary": text,
        "Call": "f(tasks['a-b'].x)",
        "Identifier": "tasks",
        "Member": "tasks['a-b']",
        "String": "'q'",
    }


@pytest.mark.parametrize("text", VALUES)
def test_the_place_of_a_node_is_an_expression_that_means_it(text: str) -> None:
    tree = parse(text)
    assert all(0 <= node.start <= node.end <= len(text) for node in walk(tree))


def _offset(text: str) -> int:
    """The place of what is wrong with a text, or 0."""
    try:
        parse(text)
    except SyntaxProblem as problem:
        return problem.offset
    return 0


@given(st.text())
def test_any_text_is_an_expression_or_a_problem_in_it(text: str) -> None:
    assert 0 <= _offset(text) <= len(text)


@given(st.integers(0, 10**9))
def test_a_spoiled_expression_is_one_or_a_problem_in_it(seed: int) -> None:
    source = Random(seed)
    text = spoiled(source, an_expression(source))
    assert 0 <= _offset(text) <= len(text)
