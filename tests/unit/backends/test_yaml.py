"""What we write as YAML, every reader reads alike; what we read, we read as Kubernetes does."""

from __future__ import annotations

import enum
import io
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import ruamel.yaml
import yaml as pyyaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from couler_py.backends.yaml import JSON, YamlError, dump, dump_all, load, load_all
from couler_py.backends.yaml_reader import MAX_ALIAS_NODES, MAX_DEPTH

# --- the readers -----------------------------------------------------------------------------------------------------


def _ruamel(version: str) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        reader = ruamel.yaml.YAML(typ="safe", pure=True)
        reader.version = version
        return reader.load(io.StringIO(text))

    return read


READERS: dict[str, Callable[[str], Any]] = {
    "ours": load,
    "PyYAML, libyaml": lambda text: pyyaml.load(text, Loader=pyyaml.CSafeLoader),
    "PyYAML": lambda text: pyyaml.load(text, Loader=pyyaml.SafeLoader),
    "ruamel.yaml 1.1": _ruamel("1.1"),
    "ruamel.yaml 1.2": _ruamel("1.2"),
}


def _typed(value: Any) -> Any:
    """The value with the type of every scalar, since Python calls 1, 1.0 and True equal."""
    if isinstance(value, dict):
        return {key: _typed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_typed(item) for item in value]
    return type(value), value, math.copysign(1, value) if isinstance(value, float) else None


def assert_read_back(document: JSON) -> None:
    text = dump(document)
    for name, read in READERS.items():
        assert _typed(read(text)) == _typed(document), f"{name} reads {text!r} otherwise"


# --- always ----------------------------------------------------------------------------------------------------------

ANY_TEXT = st.text()  # all of Unicode but surrogates
# Text made of what means something to YAML, so that indicators meet each other, blanks and line breaks.
PIECES = [
    *"\n\t :#-?'\"\\{}[],&*!|>%@`=~019._eExob+/yn\r\x00\x7f\x85\xa0",
    *("\u2028", "\ufeff", "\ufffd", "\u0300", "é", "漢", "😀", "½", "٣"),
    *("  ", "- ", "? ", ": ", " #", "<<", "---", "...", "\n\n", "\n ", "\n\t", "null", "2001-01-01", "12:30:45", "a"),
]
NASTY_TEXT = st.lists(st.sampled_from(PIECES), max_size=10).map("".join)
NUMBER_LIKE = st.text("0123456789+-._:eExXoObBTZ ", max_size=12)
TEXT = st.one_of(NASTY_TEXT, ANY_TEXT, NUMBER_LIKE)
SCALARS = st.one_of(TEXT, st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False))
DOCUMENTS = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(TEXT)
@settings(max_examples=300)
def test_every_text_is_read_back_wherever_it_stands(text: str) -> None:
    assert_read_back({"value": text, "list": [text, [text, {text: text}]], text: {text: [text]}})


@given(DOCUMENTS)
@settings(max_examples=200)
def test_every_document_is_read_back(document: JSON) -> None:
    assert_read_back(document)


@given(st.lists(DOCUMENTS, max_size=4))
@settings(max_examples=50)
def test_every_stream_is_read_back(documents: list[JSON]) -> None:
    text = dump_all(documents)
    assert load_all(text) == documents
    assert list(pyyaml.load_all(text, Loader=pyyaml.CSafeLoader)) == documents
    reader = ruamel.yaml.YAML(typ="safe", pure=True)
    assert list(reader.load_all(io.StringIO(text))) == documents


@given(st.floats(allow_nan=False, allow_infinity=False))
@example(1e20)
@example(5e-324)
@example(-0.0)
def test_every_float_stays_a_float(number: float) -> None:
    assert_read_back(number)


def test_every_character_is_read_back() -> None:
    characters = [chr(code) for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF]
    text = dump(characters)
    assert load(text) == characters


# --- what stands without quotes --------------------------------------------------------------------------------------

AMBIGUOUS = [
    *("", " ", "~", "null", "Null", "NULL", "y", "Y", "n", "N", "yes", "Yes", "no", "NO", "on", "On", "off", "OFF"),
    *("true", "True", "TRUE", "false", "tRuE", ".inf", "-.inf", "+.INF", ".nan", ".NaN", "nan", "inf"),
    *("0", "1", "-1", "+1", "007", "0o7", "0x1F", "0b101", "1_000", "0_1", "1e3", "1E3", "1e+3", "12e03", "1.", ".5"),
    *("1.5", "-.5", "1.5e3", "0.1.2", "3.11", "10.0.0.1", "1e", "0x", "1:30", "12:30:45", "190:20:30.15"),
    *("2001-01-01", "2001-1-1", "2001-12-14T21:59:43Z", "2001-12-14 21:59:43.10 -5"),
    *("=", "<<", "<", "-", "--", "---", "- a", "-1a", "-.5a", "...", "?", "? a", ":", ":a", "a:", "a: b", "a :b"),
    *(
        "#a",
        "a #b",
        "&a",
        "*a",
        "!a",
        "!!str a",
        "|",
        "|a",
        ">",
        "%a",
        "@a",
        "`a",
        "'a",
        '"a',
        "{a",
        "{{a}}",
        "[a",
        "}",
    ),
    *("]a", ",a", " a", "a ", "a\tb", "\ta", "a\xa0b", "\ufeffa", "e\u0301", "a\u200fb"),
]

PLAIN = [
    *("a", "train", "argoproj.io/v1alpha1", "python:3.11", "sha256:ab12", "s3://bucket/a#b", "http://x:80/?a=b&c=d"),
    *("a.Succeeded && !(b.Failed)", 'echo "it\'s" > /tmp/x', "steps.{{item}}", "-c", "--flag=1", "/bin/sh", "./run"),
    *("../x", "$HOME", "(a)", "1Gi", "100m", "2.5Gi", "30s", "a: ".strip(": "), "x::y", "a,b", "a [b] {c}", "_x"),
    *("nobody", "yesterday", "onto", "é", "漢字", "Straße", "a  b", "e3", "x1e3", "v1.0", "Infinity"),
]


@pytest.mark.parametrize("text", AMBIGUOUS)
def test_what_a_reader_could_mistake_is_quoted(text: str) -> None:
    assert dump(text)[0] in ('"', "'")
    assert_read_back([text, {text: text}])


@pytest.mark.parametrize("text", PLAIN)
def test_what_no_reader_mistakes_stands_without_quotes(text: str) -> None:
    assert dump(text) == f"{text}\n"
    assert_read_back([text, {text: text}])


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ('say "it\'s" \\ now: x', r'''"say \"it's\" \\ now: x"'''),
        ("a\r\nb", r'"a\r\nb"'),
        ("\x00\x07\x1b\x7f\x85", r'"\u0000\u0007\u001b\u007f\u0085"'),
        ("\u2028\u2029\ufeff\ufffe\uffff", r'"\u2028\u2029\ufeff\ufffe\uffff"'),
        ("safe\u202etxt.exe", r'"safe\u202etxt.exe"'),
        ("\U0001f600", '"\U0001f600"'),
        ("a\xa0b", '"a\xa0b"'),
    ],
)
def test_quoted_strings_are_json_strings_with_what_yaml_cannot_hold_escaped(text: str, written: str) -> None:
    assert dump(text) == written + "\n"
    assert_read_back([text])


def test_what_would_need_escapes_stands_in_single_quotes_where_it_holds_none() -> None:
    assert dump({"a": '["x", "\\d"]'}) == """a: '["x", "\\d"]'\n"""


# --- the shape of the text -------------------------------------------------------------------------------------------


def test_a_document_looks_as_kubectl_prints_it() -> None:
    document: JSON = {
        "kind": "Workflow",
        "metadata": {"labels": {}, "finalizers": []},
        "spec": {
            "templates": [
                {"name": "main", "dag": {"tasks": [{"name": "a", "retries": 3}]}},
                {"name": "b", "matrix": [[1, 2], [], [[True]], {}], "ratio": 0.5, "none": None},
            ],
            "on": False,
        },
    }
    assert dump(document) == (
        "kind: Workflow\n"
        "metadata:\n"
        "  labels: {}\n"
        "  finalizers: []\n"
        "spec:\n"
        "  templates:\n"
        "  - name: main\n"
        "    dag:\n"
        "      tasks:\n"
        "      - name: a\n"
        "        retries: 3\n"
        "  - name: b\n"
        "    matrix:\n"
        "    - - 1\n"
        "      - 2\n"
        "    - []\n"
        "    - - - true\n"
        "    - {}\n"
        "    ratio: 0.5\n"
        "    none: null\n"
        '  "on": false\n'
    )


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("import os\nprint(1)\n", "|\n  import os\n  print(1)\n"),
        ("a\nb", "|-\n  a\n  b\n"),
        ("a\nb\n\n\n", "|+\n  a\n  b\n\n\n"),
        ("if x:\n\n    y()\n", "|\n  if x:\n\n      y()\n"),
        ("  a\nb\n", "|2\n    a\n  b\n"),
        ("\na", "|2-\n\n  a\n"),
        ("all:\n\techo: # x\n", "|\n  all:\n  \techo: # x\n"),
        ("a  \nb\n", "|\n  a  \n  b\n"),
        ("---\n# a\n", "|\n  ---\n  # a\n"),
    ],
)
def test_text_of_several_lines_is_a_block(text: str, written: str) -> None:
    assert dump({"script": text, "after": 1}) == f"script: {written}after: 1\n"
    assert_read_back([text, {"script": text, "list": [text, [text]]}, text])


@pytest.mark.parametrize(
    "text", ["\n", "\n\n", "a\n ", "a\n\t\n", "\ta\nb", " \nb", "a\rb\n", "a\n\x85", "a\n\u2028", "a\n\x00"]
)
def test_text_that_a_block_cannot_hold_exactly_is_quoted(text: str) -> None:
    assert dump({"script": text}).startswith('script: "')
    assert_read_back({"script": text})


def test_long_text_is_never_folded() -> None:
    text = "word " * 1000 + "end"
    assert dump({"a": text, "b": f"{text}: "}) == f'a: {text}\nb: "{text}: "\n'


@pytest.mark.parametrize("value", ["x", "a\nb\n", {"a": 1}, [1], {}, None])
def test_a_key_too_long_for_one_line_is_read_back(value: JSON) -> None:
    assert_read_back([{"k" * 2000: value, "漢: " * 500: [{"k" * 1100: value}]}])


@pytest.mark.parametrize(
    ("number", "written"),
    [
        (1.0, "1.0"),
        (1e20, "1.0e+20"),
        (1.5e-07, "1.5e-07"),
        (-1e-07, "-1.0e-07"),
        (-0.0, "-0.0"),
        (2**70, "1180591620717411303424"),
    ],
)
def test_numbers_keep_their_type(number: float, written: str) -> None:
    assert dump(number) == written + "\n"
    assert_read_back([number])


def test_the_order_of_keys_is_kept_and_the_text_is_always_the_same() -> None:
    document: JSON = {"b": 1, "a": [{"z": "x y", "c": "x y"}], "script": "a\nb\n"}
    assert dump(document) == dump(load(dump(document)))
    assert list(pyyaml.safe_load(dump(document))) == ["b", "a", "script"]


def test_documents_of_a_stream_are_separated() -> None:
    assert dump_all([{"a": 1}, ["b"]]) == "a: 1\n---\n- b\n"
    assert dump_all([]) == ""


# --- what can't be written -------------------------------------------------------------------------------------------


class Color(enum.StrEnum):
    RED = "red"


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"spec": {"templates": [{}, {"weight": math.nan}]}}, "spec.templates[1].weight: nan is not a number in JSON"),
        ({"a": [0, [math.inf]]}, "a[1][0]: inf is not a number in JSON"),
        ({"a": {"k8s.io/x": "\ud800"}}, 'a["k8s.io/x"]: half of a surrogate pair (U+D800)'),
        ({"a": {"\udfff": 1}}, 'a["\\udfff"]: half of a surrogate pair (U+DFFF)'),
        ({"a": "x\n\ud800\n"}, "a: half of a surrogate pair (U+D800)"),
        ({"a": {1: "x"}}, "a[1]: a key must be a string, not 1 (int)"),
        ({"a": {None: "x"}}, "a key must be a string, not None (NoneType)"),
        ({"a": (1, 2)}, "a: a tuple isn't JSON data"),
        ([{1, 2}], "[0]: a set isn't JSON data"),
        ({"a": Color.RED}, "a: a Color isn't JSON data"),
        (b"x", "document: a bytes isn't JSON data"),
        ({"a": 10**5000}, "a: an integer too long to write"),
    ],
)
def test_what_json_cannot_hold_is_an_error_that_names_its_place(document: Any, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        dump(document)
    assert message in str(caught.value)


@pytest.mark.parametrize("kind", ["list", "mapping", "both"])
def test_data_inside_itself_is_an_error(kind: str) -> None:
    inside: dict[str, Any] = {"list": []}
    if kind == "list":
        inside["list"].append(inside["list"])
    elif kind == "mapping":
        inside["mapping"] = inside
    else:
        inside["list"].append(inside)
    with pytest.raises(ValueError, match=r"nested deeper than 128 levels, or inside itself"):
        dump(inside)


def test_the_error_of_a_stream_names_the_document() -> None:
    with pytest.raises(ValueError, match=r"document 2: a: nan"):
        dump_all([{"a": 1}, {"a": math.nan}])


def test_the_deepest_document_that_is_written_is_read_back() -> None:
    document: JSON = "x"
    for _ in range(128):
        document = {"a": [document]}
    assert load(dump(document)) == document
    with pytest.raises(ValueError, match="nested deeper"):
        dump({"a": document})


# --- reading, as sigs.k8s.io/yaml 1.6 reads (its own answers are the expected values) --------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *((word, True) for word in ("y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE")),
        *((word, False) for word in ("n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE")),
        *((word, None) for word in ("", "~", "null", "Null", "NULL")),
        *((word, word) for word in ("yEs", "tRue", "nULL", "nan", "=", "+", ".", "a_1", "_1", "0b", "0o", "0x")),
        *(
            (word, word)
            for word in ("2020-01-01", "2001-12-14T21:59:43Z", "12:30:45", "1e999", "0x1p3", ".5_5", "1.2.3")
        ),
        *(
            ("0", 0),
            ("-1", -1),
            ("+1", 1),
            ("1_0", 10),
            ("1__", 1),
            ("010", 8),
            ("0o7", 7),
            ("-0x1", -1),
            ("0x1_0", 16),
        ),
        *(("0b1", 1), ("-0b1", -1), ("18446744073709551616", 2**64)),
        *(("08", 8.0), ("1e3", 1000.0), (".5", 0.5), ("5.", 5.0), ("+.5e3", 500.0), ("1e-999", 0.0), ("1_0.5", 10.5)),
        *(('"y"', "y"), ("'1'", "1"), ("!!str 1", "1"), ("! 1", "1"), ("!!float 1", 1.0), ("!!int 1", 1)),
        *(
            ("!!timestamp 2020-01-01", "2020-01-01"),
            ("!!null ''", None),
            ("|\n    1\n", "1\n"),
            (">-\n    a\n    b", "a b"),
        ),
    ],
)
def test_scalars_mean_what_they_mean_to_kubernetes(text: str, value: JSON) -> None:
    assert _typed(load(f"a: {text}")) == _typed({"a": value})


def test_keys_are_strings_as_in_kubernetes() -> None:
    assert load("1: a\n0x10: b\non: c\nn: d\n'y': e\n2020-01-01: f") == {
        "1": "a",
        "16": "b",
        "true": "c",
        "false": "d",
        "y": "e",
        "2020-01-01": "f",
    }


def test_merge_keys_fill_in_what_the_mapping_lacks() -> None:
    text = "x: &a {p: 1, q: 2}\none: {p: 5, <<: *a}\nmany: {<<: [{q: 3}, *a], r: 9}\nliteral: {'<<': 1}\n"
    assert load(text) == {
        "x": {"p": 1, "q": 2},
        "one": {"p": 5, "q": 2},
        "many": {"q": 3, "p": 1, "r": 9},
        "literal": {"<<": 1},
    }


def test_aliases_are_copies() -> None:
    document = load("a: &x [1, {b: &y c}]\nd: *x\ne: *y\n")
    assert document == {"a": [1, {"b": "c"}], "d": [1, {"b": "c"}], "e": "c"}
    assert isinstance(document, dict)
    assert document["a"] is not document["d"]


def test_an_anchor_is_known_in_its_own_document_only() -> None:
    with pytest.raises(YamlError, match=r"line 3, column 4: \*x has no &x before it"):
        load_all("a: &x 1\n---\na: *x\n")


@pytest.mark.parametrize(
    ("text", "documents"),
    [("", []), ("# nothing\n", []), ("---\n", [None]), ("a: 1\n---\n---\n- b\n...\n", [{"a": 1}, None, ["b"]])],
)
def test_every_document_of_a_stream_is_read(text: str, documents: list[JSON]) -> None:
    assert load_all(text) == documents


def test_an_empty_text_is_nothing() -> None:
    assert load("") is None


@pytest.mark.parametrize(
    ("text", "line", "column", "problem"),
    [
        ("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n", 5, 3, "the key 'c' stands twice in this mapping, first on line 3"),
        ("1: a\n'1': b\n", 2, 1, "the key '1' stands twice in this mapping, first on line 1"),
        ("a: 1\n---\nb: 2\n", 2, 1, "a second document starts here"),
        ("a: [1, 2\nb: 3\n", 2, 2, "while parsing a flow sequence"),
        ("a: b: c\n", 1, 5, "mapping values are not allowed in this context"),
        ("a:\n\t- b\n", 2, 1, "cannot start any token"),
        ("a: b\n  \x07c\n", 2, 3, "the character U+0007 can't stand in YAML"),
        ("a: \ud800\n", 1, 4, "the character U+D800 can't stand in YAML"),
        ("~: 1\n", 1, 1, "a null can't be a key; write it in quotes"),
        ("1.10: 1\n", 1, 1, "a number can't be a key; write it in quotes"),
        ("? [a]\n: 1\n", 1, 3, "a collection can't be a key"),
        ("a: .inf\n", 1, 4, ".inf is not a number in JSON; write it in quotes"),
        ("a: -.INF\n", 1, 4, "-.INF is not a number in JSON"),
        ("a: .nan\n", 1, 4, ".nan is not a number in JSON"),
        ("a: !!binary aGk=\n", 1, 4, "the tag 'tag:yaml.org,2002:binary' has no meaning in JSON"),
        ("a: !!python/object:os.system {}\n", 1, 4, "has no meaning in JSON"),
        ("a: !mine [1]\n", 1, 4, "the tag '!mine' has no meaning in JSON"),
        ("a: !!int x\n", 1, 4, "its tag says int, but 'x' is none"),
        ("a: &x [*x]\n", 1, 8, "*x stands inside &x itself"),
        ("a: *x\n", 1, 4, "*x has no &x before it"),
        ("a: {<<: 1}\n", 1, 9, "'<<' merges mappings or lists of mappings"),
        ("a: " + "9" * 5000, 1, 4, "an integer too long to read"),
    ],
)
def test_what_cannot_be_read_is_an_error_with_line_and_column(text: str, line: int, column: int, problem: str) -> None:
    with pytest.raises(YamlError) as caught:
        load(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert problem in caught.value.problem
    assert str(caught.value).startswith(f"line {line}, column {column}: ")
    assert isinstance(caught.value, ValueError)


def test_a_text_that_is_longer_than_any_file_of_objects_is_refused_before_it_is_parsed() -> None:
    with pytest.raises(YamlError, match=r"a text of 33,554,433 characters; at most 33,554,432 are read"):
        load("[" * (32 * 1024 * 1024 + 1))


def test_aliases_that_multiply_are_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    with pytest.raises(YamlError, match=f"the aliases repeat more than {MAX_ALIAS_NODES:,} values"):
        load("\n".join(lines))


@pytest.mark.parametrize("text", ["[ " * 400, "- " * 5000 + "x", "{a: " * 400, "a:\n" + "? " * 5000])
def test_deep_nesting_is_refused(text: str) -> None:
    with pytest.raises(YamlError, match=f"nested deeper than {MAX_DEPTH} collections"):
        load(text)


def test_brackets_without_end_are_refused() -> None:
    with pytest.raises(YamlError, match="line 1, column"):
        load("[" * 1_000_000)


def test_aliases_cannot_nest_deeper_than_text_can() -> None:
    lines = ["a0: &a0 [x]", *(f"a{n}: &a{n} [[[[[[[[[[*a{n - 1}]]]]]]]]]]" for n in range(1, 100))]
    with pytest.raises(YamlError, match=f"nested deeper than {MAX_DEPTH} collections"):
        load("\n".join(lines))


@given(st.one_of(ANY_TEXT, NASTY_TEXT))
@settings(max_examples=300)
def test_any_text_is_refused_or_read_as_data_that_can_be_written(text: str) -> None:
    try:
        documents = load_all(text)
    except YamlError:
        return
    assert load_all(dump_all(documents)) == documents


@given(DOCUMENTS)
@settings(max_examples=50)
def test_a_python_without_libyaml_reads_the_same(document: JSON) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.delattr(pyyaml, "CSafeLoader")
        assert _typed(load(dump(document))) == _typed(document)


def test_the_manifests_of_argo_are_read_and_written_without_loss(reference_data: Path) -> None:
    manifests = sorted((reference_data / "argo").rglob("*.yaml"))
    assert manifests
    for manifest in manifests:
        documents = load_all(manifest.read_text())
        text = dump_all(documents)
        assert load_all(text) == documents, manifest.name
        assert list(pyyaml.load_all(text, Loader=pyyaml.CSafeLoader)) == documents, manifest.name
