"""Lines and columns: of keys, of values, and of a character inside a string however it is written."""

from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from couler_py.backends.argo.lint.places import Place, Places
from couler_py.backends.yaml_reader import YamlError, load

TEXT = """\
a: 1
list:
- x: one
  q: {z: two, "w": 'three'}
-   - deep
shared: &s
  key: value
again: *s
merged:
  <<: *s
  own: 3
yes: word
---
second: 2
"""


@pytest.mark.parametrize(
    ("document", "path", "key", "place"),
    [
        (0, ("a",), False, Place(1, 4, 5)),
        (0, ("a",), True, Place(1, 1, 2)),
        (0, ("list",), False, Place(2, 1, 5)),
        (0, ("list", 0), False, Place(3, 3)),
        (0, ("list", 0, "x"), False, Place(3, 6, 9)),
        (0, ("list", 0, "q", "z"), True, Place(4, 7, 8)),
        (0, ("list", 0, "q", "w"), True, Place(4, 15, 18)),
        (0, ("list", 0, "q", "w"), False, Place(4, 20, 27)),
        (0, ("list", 1, 0), False, Place(5, 7, 11)),
        (0, ("again", "key"), False, Place(7, 8, 13)),
        (0, ("merged", "key"), False, Place(7, 8, 13)),
        (0, ("merged", "own"), False, Place(11, 8, 9)),
        (0, ("true",), True, Place(12, 1, 4)),
        (1, ("second",), False, Place(14, 9, 10)),
    ],
)
def test_a_path_leads_to_its_key_or_value(document: int, path: tuple[str | int, ...], key: bool, place: Place) -> None:
    assert Places(TEXT).find(document, path, key=key) == place


def test_a_path_that_leaves_the_text_ends_where_it_does() -> None:
    assert Places(TEXT).find(0, ("list", 0, "nothing", "there")) == Place(3, 3)
    assert Places(TEXT).find(7, ("a",)) == Place(1, 1)


def test_what_stands_before_broken_text_has_its_places() -> None:
    assert Places("a: 1\n---\nb: 2\n---\nc: [").find(1, ("b",)) == Place(3, 4, 5)


SPELLINGS = {
    "plain": "key: one two\n",
    "single": "key: 'it''s one two'\n",
    "double": 'key: "a\\tb \\u0041 one two"\n',
    "plain over lines": "key: first\n  line and\n\n  then one two\n",
    "double over lines": 'key: "first \\\n  line and\n\n  then one two"\n',
    "literal": "key: |\n  first\n    deeper\n  then one two\n",
    "literal with an indentation": "key: |2\n   first\n  then one two\n",
    "folded": "key: >\n  first\n  line\n\n  then one two\n",
    "folded and kept": "key: >+\n  first\n\n    deeper\n\n  then one two\n\n",
}


@pytest.mark.parametrize("text", SPELLINGS.values(), ids=SPELLINGS)
def test_a_character_of_a_string_is_found_in_its_spelling(text: str) -> None:
    value = load(text)["key"]  # type: ignore[index,call-overload]
    place = Places(text).find(0, ("key",), offset=value.index("two"))  # type: ignore[union-attr,arg-type]
    lines = text.split("\n")
    assert lines[place.line - 1][place.column - 1 :].startswith("two")


words = st.text(st.sampled_from("ab {}'\"\\:#é—\t\n"), max_size=40)


@given(words, st.sampled_from(["|", ">", "'", '"', None]), st.integers(0, 60), st.integers(10, 200))
@example("a\n\n\nb{", ">", 4, 10)
@example(":::\\\t::::\\:", '"', 5, 10)
def test_the_place_of_a_character_holds_it(value: str, style: str | None, offset: int, width: int) -> None:
    """Whatever the spelling: the character itself stands there, or an escape, or a line break that folds."""
    text = yaml.dump({"deep": [{"key": value}]}, default_style=style, width=width, allow_unicode=True)
    try:
        read = load(text)["deep"][0]["key"]  # type: ignore[index,call-overload]
    except YamlError:
        return
    if not isinstance(read, str) or not 0 < offset < len(read) or read[offset] in " \n\t\\'\"":
        return
    place = Places(text).find(0, ("deep", 0, "key"), offset=offset)
    there = text.split("\n")[place.line - 1][place.column - 1 :]
    assert there[:1] == read[offset]


@given(st.recursive(st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text("ab"), inner), max_leaves=9))
def test_every_value_is_found_where_it_is_written(data: object) -> None:
    text = yaml.dump({"data": data}, default_flow_style=False)
    places = Places(text)

    def walk(value: object, path: tuple[str | int, ...]) -> None:
        items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for step, inner in items:
            walk(inner, (*path, step))
        if isinstance(value, int):
            place = places.find(0, path)
            line = text.split("\n")[place.line - 1]
            assert json.loads(line[place.column - 1 : place.end - 1]) == value

    walk(data, ("data",))
