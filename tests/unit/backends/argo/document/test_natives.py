"""`Native`: it is put back where what it replaced still stands, and said where it doesn't."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from couler_py.backends.argo.document import read, written
from couler_py.backends.argo.document.natives import applied, difference, same
from couler_py.ir.model import Native

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | st.floats(0, 2) | st.text("a/~0", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("a/~0", max_size=2), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text("ab/~0", max_size=2), JSON, max_size=4)


@given(OBJECTS, OBJECTS)
def test_a_difference_makes_one_of_the_other(one: Any, other: Any) -> None:
    assert applied(one, difference(one, other)) == ()
    assert same(one, other)


@given(OBJECTS, OBJECTS)
def test_what_was_put_back_says_nothing_a_second_time_that_was_not_meant(one: Any, other: Any) -> None:
    assert (difference(one, other) == ()) == same(one, other)


@pytest.mark.parametrize(("one", "other"), [(1, 1.0), (1, True), (0, False), (None, False), ("1", 1), ([], {})])
def test_values_of_two_types_are_never_the_same(one: Any, other: Any) -> None:
    assert not same({"a": [one]}, {"a": [other]})
    assert difference({"a": one}, {"a": other}) == (Native("argo", "/a", one, other),)


@pytest.mark.parametrize(
    ("native", "data"),
    [
        (Native("argo", "/a", 1, 2), {"a": 3}),
        (Native("argo", "/a", 1, 2), {}),
        (Native("argo", "/a", 1, 2), {"a": True}),
        (Native("argo", "/a", value=2), {"a": 3}),
        (Native("argo", "/a", 1), {"a": 3}),
        (Native("argo", "/a/b", 1, 2), {"a": 3}),
        (Native("argo", "/a/7", 1, 2), {"a": [1]}),
        (Native("argo", "/a/b", 1, 2), {"a": [1]}),
        (Native("argo", "/a/0", value=2), {"a": []}),
        (Native("argo", "/a/0", 1), {"a": [1]}),
    ],
)
def test_a_native_that_no_longer_fits_changes_nothing_and_is_said(native: Native, data: dict[str, Any]) -> None:
    before = msgspec.json.encode(data)
    [warning] = applied(data, [native])
    assert msgspec.json.encode(data) == before
    assert (warning.code, warning.severity) == ("CLR494", "warning")
    assert warning.message.startswith(native.pointer)


def test_an_empty_object_that_is_filled_meanwhile_is_no_loss() -> None:
    data = {"a": {"b": 1}}
    assert applied(data, [Native("argo", "/a", value={})]) == ()
    assert data == {"a": {"b": 1}}


def test_natives_of_other_engines_are_not_ours() -> None:
    data: dict[str, Any] = {}
    assert applied(data, [Native("tekton", "/a", value=1)]) == ()
    assert data == {}


def test_a_changed_workflow_wins_over_what_the_document_said() -> None:
    data = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {},
        "spec": {"templates": [{"name": "t", "suspend": {"duration": "60"}}]},
    }
    document = read(data)
    assert document.natives == (Native("argo", "/spec/templates/0/suspend/duration", "1m", "60"),)
    [template] = document.workflow.templates
    longer = msgspec.structs.replace(template, body=msgspec.structs.replace(template.body, duration=120.0))
    workflow = msgspec.structs.replace(document.workflow, templates=(longer,))
    changed, [warning] = written(msgspec.structs.replace(document, workflow=workflow))
    assert changed["spec"]["templates"][0]["suspend"] == {"duration": "2m"}
    assert warning.message.startswith("/spec/templates/0/suspend/duration: the workflow says something else there now")


def test_an_unset_value_takes_a_field_away() -> None:
    data = {"a": 1, "b": 2}
    assert applied(data, [Native("argo", "/a", 1, UNSET)]) == ()
    assert data == {"b": 2}
