"""Scalars that readers of YAML 1.1 and 1.2 take for different values."""

from __future__ import annotations

import io
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from couler_py.backends.argo.lint.ambiguous import ambiguous, suspicious
from couler_py.backends.yaml_reader import YamlError, load


def found(text: str) -> list[tuple[str, str | None]]:
    return [(each.text, each.value) for each in ambiguous(text)]


@pytest.mark.parametrize(
    ("scalar", "value"),
    [
        ("yes", "true"),
        ("No", "false"),
        ("ON", "true"),
        ("y", "true"),
        ("010", "8"),
        ("-0_10", "-8"),
        ("08", "8"),
        ("0b11", "3"),
        ("1_000", "1000"),
        ("12:30:45", '"12:30:45"'),
        ("2024-01-01", '"2024-01-01"'),
        ("2024-01-01T10:00:00Z", '"2024-01-01T10:00:00Z"'),
    ],
)
def test_an_ambiguous_scalar_and_what_kubernetes_reads(scalar: str, value: str) -> None:
    for text in (f"a: {scalar}\n", f"- {scalar}\n", f"[b, {scalar}]\n", f"a:\n  {scalar}\n", f"a: &x {scalar}\n"):
        assert suspicious(text)
        assert found(text) == [(scalar, value)]
    assert load(value) == load(scalar)


@pytest.mark.parametrize(
    "scalar",
    [
        "true",
        "null",
        "0",
        "10",
        "-3",
        "1.5",
        "0x1F",
        "yes please",
        "'yes'",
        '"010"',
        "!!str yes",
        "v1_000",
        "10:99",
        "1e3",
    ],
)
def test_scalars_that_all_read_alike_or_that_are_quoted(scalar: str) -> None:
    assert found(f"a: {scalar}\n") == []


def test_keys_are_ambiguous_too_and_stay_as_they_are() -> None:
    assert found("on: 1\nb: {y: 2}\n") == [("on", None), ("y", None)]
    assert found("a: {<<: {b: 1}}\n") == [("<<", None)]
    assert found("a: <<\n") == []


def test_text_in_blocks_and_comments_is_nobodys_business() -> None:
    assert found("a: |\n  - yes\n  b: 010\n# on: yes\n") == []


def test_the_document_is_counted() -> None:
    assert [each.document for each in ambiguous("a: 1\n---\nb: yes\n")] == [1]


def test_broken_text_gives_what_stands_before() -> None:
    assert found("a: yes\nb: [\n") == [("yes", "true")]
    assert found("\0") == []


READERS = [
    lambda text: yaml.safe_load(text),
    lambda text: YAML(typ="safe", pure=True).load(io.StringIO(text)),
]


@given(st.text("0123456789_-+:.bxoTZyesnofYN", min_size=1, max_size=10))
def test_what_three_readers_take_for_different_values_is_found(scalar: str) -> None:
    """Floats aside, which some readers know only with a dot."""
    text = f"a: {scalar}\n"
    try:
        values: list[Any] = [load(text)["a"], *(read(text)["a"] for read in READERS)]  # type: ignore[index,call-overload]
    except (YamlError, ValueError, TypeError, KeyError, IndexError, yaml.YAMLError):
        return
    if any(isinstance(value, float) for value in values) or not isinstance(values[0], int | str):
        return
    differ = len({(type(value), str(value)) for value in values}) > 1
    if differ and not scalar.startswith(("0o", "+", "-")):
        assert found(text), values
