"""Text as literals: exact, on one line, and never program text."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from couler_py.printer.layout import flat
from couler_py.printer.literal import block, literal, quoted, verbatim
from tests.strategies.text import HOSTILE

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_is_one_string_on_one_line(text: str) -> None:
    source = quoted(text)
    tree = ast.parse(source, mode="eval")
    assert isinstance(tree.body, ast.Constant)
    assert tree.body.value == text
    assert source.isprintable()


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_one_string(text: str) -> None:
    assert ast.literal_eval(quoted(text)) == text


@given(st.text("ab\"'\\\n {}$\t", min_size=1))
def test_a_block_is_exact_or_isnt_used(text: str) -> None:
    for source in (block(text), verbatim(text)):
        assert source is None or ast.literal_eval(source) == text


@given(json_values)
@settings(max_examples=40)
def test_any_json_value_reads_back(value: object) -> None:
    assert ast.literal_eval(flat(literal(value))) == value


def test_lines_stand_as_they_are() -> None:
    assert block("one\n  two\n") == '"""one\n  two\n"""'


def test_a_program_stands_as_it_is() -> None:
    assert verbatim('def f():\n    """\\n"""\n') == "r'''def f():\n    \"\"\"\\n\"\"\"\n'''"
    assert verbatim("f()\ng()\n") == '"""f()\ng()\n"""'
    assert verbatim("one line") is None
    assert verbatim("'''\n\"\"\"\n") is None


def test_fewer_quotes_are_escaped() -> None:
    assert quoted('say "hi"') == "'say \"hi\"'"
    assert quoted("it's") == '"it\'s"'


def test_signs_that_change_how_source_looks_are_escaped() -> None:
    assert quoted("a\u202eb\u200b") == '"a\\u202eb\\u200b"'


def test_what_is_no_value_is_refused() -> None:
    with pytest.raises(TypeError, match="set"):
        literal({1})
