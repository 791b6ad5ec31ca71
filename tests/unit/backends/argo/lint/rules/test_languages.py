"""The small languages inside the settings: schedules, durations, selectors, edges."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from couler_py.backends.argo.lint.rules.depends import in_order, words
from couler_py.backends.argo.lint.rules.graph import first_ring
from couler_py.backends.argo.lint.rules.schedules import schedule_problem
from couler_py.backends.argo.lint.rules.selectors import condition_problem, label_selector_problem


@pytest.mark.parametrize(
    "text",
    [
        "* * * * *",
        "0 3 * * ?",
        "*/15 0-6/2 1,15,31 JAN-mar,12 sun,TUE-Fri",
        "5/10 * * * *",
        "@every 1h30m",
        "@midnight",
        "TZ=Asia/Tokyo 0 0 * * *",
        "CRON_TZ=UTC @daily",
    ],
)
def test_schedules_that_can_be_read(text: str) -> None:
    assert schedule_problem(text) == ""


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "it is empty"),
        ("0 3 * *", "it has 4 fields and not 5"),
        ("0 0 3 * * *", "it has 6 fields and not 5"),
        ("60 * * * *", "60 is no minute: it goes from 0 to 59"),
        ("* 24 * * *", "24 is no hour: it goes from 0 to 23"),
        ("* * 0 * *", "0 is no day of the month: it goes from 1 to 31"),
        ("* * * foo *", "foo is no month: it goes from 1 to 12"),
        ("* * * * 7", "7 is no day of the week: it goes from 0 to 6"),
        ("30-10 * * * *", "'30-10' ends before it begins"),
        ("*/0 * * * *", "'0' is no step: it is a number above 0"),
        ("1-2-3 * * * *", "'1-2-3' has too many signs"),
        ("@every day", "'day' is no duration"),
        ("@dayly", "did you mean '@daily'?"),
        ("TZ=Europe/Atlantis 0 0 * * *", "there is no time zone 'Europe/Atlantis'"),
    ],
)
def test_schedules_that_cannot(text: str, problem: str) -> None:
    assert schedule_problem(text) == problem


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("status.phase == Succeeded", ""),
        ("a=b,c!=d,!e,f,g in (h, i),j notin (k),l > 3, m<4", ""),
        ("status.phase is Done", "'is' stands where a comparison belongs"),
        ("a == b c == d", "a comma belongs between two conditions"),
        ("a > b", "> compares whole numbers, not 'b'"),
        ("a in b", "a list in parentheses is missing"),
        ("a in (b", "the list isn't closed"),
        ("a == b,", "a condition is missing behind the comma"),
        ("== b", "'==' stands where a name belongs"),
        ("a == 'b'", "\"'b'\" can't be compared with"),
    ],
)
def test_conditions_of_resources(text: str, problem: str) -> None:
    assert condition_problem(text) == problem


def test_label_selectors_take_values_where_their_operator_does() -> None:
    def expression(operator: str, *values: str) -> object:
        return label_selector_problem({"matchExpressions": [{"key": "a", "operator": operator, "values": values}]})

    assert expression("In", "b") is None
    assert expression("Exists") is None
    assert expression("In") == ("In takes values", ("matchExpressions", 0))
    assert expression("Exists", "b") == ("Exists takes no values", ("matchExpressions", 0))
    assert label_selector_problem({"matchLabels": {"a": "b c"}}) == (
        "'b c' is no value of a label",
        ("matchLabels", "a"),
    )


def test_every_word_of_depends_is_a_task() -> None:
    assert words("a&&!(b-1.Failed || true)") == [("a", "", 0), ("b-1", "Failed", 5), ("true", "", 19)]


NAMES = st.sampled_from("abcdef")
EDGES = st.dictionaries(NAMES, st.lists(NAMES, max_size=3), max_size=6)


@given(EDGES)
def test_a_ring_is_found_exactly_where_there_is_no_order(edges: dict[str, list[str]]) -> None:
    tasks = {name: {"dependencies": [each for each in waits if each in edges]} for name, waits in edges.items()}
    order, ring = in_order(tasks, rings=False), first_ring(edges)
    assert bool(ring) == (len(order) < len(tasks))
    for name in order:
        assert all(order.index(each) < order.index(name) for each in tasks[name]["dependencies"])
    if ring:
        assert ring[0] == ring[-1]
        assert all(after in edges[before] for before, after in itertools.pairwise(ring))


@given(EDGES)
def test_the_order_has_every_task_once(edges: dict[str, list[str]]) -> None:
    tasks = {name: {"dependencies": waits} for name, waits in edges.items()}
    assert sorted(in_order(tasks)) == sorted(tasks)
