"""`-p NAME=VALUE`: read by the parameter's type, refused with the type named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from couler_py.cli.errors import UsageError
from couler_py.cli.parameters import read
from couler_py.ir import types as t
from couler_py.ir.model import Parameter, Suspend, Template, Workflow


def parsed(type_: t.Type, text: str) -> Any:
    return read(workflow(Parameter("x", type_)), [f"x={text}"])["x"]


def workflow(*parameters: Parameter) -> Workflow:
    return Workflow("w", "main", (Template("main", Suspend()),), parameters=parameters)


@pytest.mark.parametrize(
    ("type_", "text", "value"),
    [
        (t.STR, "3", "3"),
        (t.STR, "", ""),
        (t.STR, "a=b", "a=b"),
        (t.STR, '"quoted"', '"quoted"'),
        (t.STR, "@@file", "@file"),
        (t.INT, "3", 3),
        (t.FLOAT, "3", 3),
        (t.FLOAT, "1e-3", 0.001),
        (t.FLOAT, "NaN", "NaN"),
        (t.FLOAT, "-Infinity", "-Infinity"),
        (t.BOOL, "true", True),
        (t.BOOL, "False", False),
        (t.NONE, "null", None),
        (t.DATETIME, "2026-05-01T03:00:00Z", "2026-05-01T03:00:00Z"),
        (t.ListOf(t.STR), '["a", "b"]', ["a", "b"]),
        (t.DictOf(t.INT), '{"a": 1}', {"a": 1}),
        (t.Choice(("fast", "slow")), "fast", "fast"),
        (t.Choice((1, 2)), "2", 2),
        (t.UnionOf((t.STR, t.INT)), "5", 5),
        (t.UnionOf((t.STR, t.INT)), '"5"', "5"),
        (t.UnionOf((t.STR, t.INT)), "five", "five"),
        (t.UnionOf((t.STR, t.NONE)), "null", None),
        (t.UnionOf((t.STR, t.NONE)), "12", "12"),
        (t.ANY, "[1]", [1]),
        (t.ANY, "plain", "plain"),
    ],
)
def test_values_are_read_by_their_types(type_: t.Type, text: str, value: Any) -> None:
    found = parsed(type_, text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("type_", "text", "message"),
    [
        (t.INT, "three", "the parameter 'x' is int, and 'three' is not"),
        (t.INT, "3.5", "the parameter 'x' is int, and '3.5' is not"),
        (t.BOOL, "yes", "the parameter 'x' is bool, and 'yes' is not"),
        (t.ListOf(t.INT), "[1, 'a']", r"the parameter 'x' is list\[int\], and \"\[1, 'a'\]\" is not"),
        (t.Choice(("a", "b"), name="Mode"), "c", "the parameter 'x' is Mode, and 'c' is not"),
    ],
)
def test_a_wrong_value_names_the_type_and_the_value(type_: t.Type, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parsed(type_, text)


def test_an_enum_lists_its_choices() -> None:
    with pytest.raises(UsageError, match="the parameter 'x' is one of a, b, and 'c' is not"):
        read(workflow(Parameter("x", enum=("a", "b"))), ["x=c"])


def test_an_unknown_parameter_lists_the_known() -> None:
    made = workflow(Parameter("rounds", t.INT, default=1), Parameter("name", default=""))
    with pytest.raises(UsageError, match=r"no parameter 'round' \(did you mean 'rounds'\?\); it has rounds"):
        read(made, ["round=3"])


def test_a_missing_parameter_says_how_to_give_it() -> None:
    with pytest.raises(UsageError, match=r"w needs -p source=<str>, -p n=<int>"):
        read(workflow(Parameter("source"), Parameter("n", t.INT), Parameter("d", default="")), [])


def test_what_is_typed_replaces_what_the_file_gave() -> None:
    made = workflow(Parameter("a"), Parameter("b"))
    assert read(made, ["b=typed"], {"a": "file", "b": "file"}) == {"a": "file", "b": "typed"}


def test_a_value_comes_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "names.json").write_text('["a", "b"]')
    assert parsed(t.ListOf(t.STR), f"@{tmp_path}/names.json") == ["a", "b"]


def test_a_file_that_can_t_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"-p x=@.*nosuch: can't be read"):
        parsed(t.STR, f"@{tmp_path}/nosuch")


def test_text_without_an_equals_sign_is_refused() -> None:
    with pytest.raises(UsageError, match="-p 'x' is not NAME=VALUE"):
        read(workflow(Parameter("x")), ["x"])
