"""Tags in texts: found without loss."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from couler_py.argolang import Literal, Tag, scan, tags_in, unclosed, written

TEXTS = st.text(st.sampled_from("{}= ab'\n")) | st.text()


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ()),
        ("plain", (Literal("plain", 0, 5),)),
        ("{{a}}", (Tag("a", 0, 5),)),
        ("x{{ a }}y", (Literal("x", 0, 1), Tag(" a ", 1, 8), Literal("y", 8, 9))),
        ("{{=1 + 1}}", (Tag("1 + 1", 0, 10, expression=True),)),
        ("{{ =1}}", (Tag(" =1", 0, 7),)),
        ("{{a}}{{b}}", (Tag("a", 0, 5), Tag("b", 5, 10))),
        ("{{{a}}}", (Tag("{a", 0, 6), Literal("}", 6, 7))),
        ("{{a{{b}}c}}", (Tag("a{{b", 0, 8), Literal("c}}", 8, 11))),
        ("{{={a: {b: 1}}.a}}", (Tag("{a: {b: 1", 0, 14, expression=True), Literal(".a}}", 14, 18))),
        ("{{='}}'}}", (Tag("'", 0, 6, expression=True), Literal("'}}", 6, 9))),
        ("a {{b", (Literal("a {{b", 0, 5),)),
        ("}} {{", (Literal("}} {{", 0, 5),)),
        ("{{}}", (Tag("", 0, 4),)),
        ("{{=}}", (Tag("", 0, 5, expression=True),)),
    ],
)
def test_a_tag_ends_at_the_first_closing_braces(text: str, parts: tuple[Literal | Tag, ...]) -> None:
    assert scan(text) == parts


def test_spaces_around_a_name_do_not_count() -> None:
    assert [tag.name for tag in tags_in("{{ inputs.parameters.x }} {{y}}")] == ["inputs.parameters.x", "y"]


def test_a_tag_knows_where_its_text_begins() -> None:
    text = "a {{=b}} {{ c}}"
    assert [text[tag.inside :][: len(tag.text)] for tag in tags_in(text)] == ["b", " c"]


@pytest.mark.parametrize(
    ("text", "place"), [("{{a}} {{b", 6), ("{{", 0), ("{{a}}", None), ("a }} b", None), ("", None)]
)
def test_braces_that_are_not_closed_are_found(text: str, place: int | None) -> None:
    assert unclosed(text) == place


@given(TEXTS)
def test_the_pieces_are_the_text(text: str) -> None:
    parts = scan(text)
    assert "".join(map(written, parts)) == text
    assert all(text[part.start : part.end] == written(part) for part in parts)
