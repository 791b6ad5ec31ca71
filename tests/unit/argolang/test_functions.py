"""What of Go's library the functions need, where the table of expressions is too coarse."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from couler_py.argolang import EvaluationProblem, formatted, to_json
from couler_py.argolang.functions.gotime import Moment, read, written
from couler_py.argolang.functions.regex import RegexProblem, compiled
from couler_py.argolang.functions.semver import satisfies
from couler_py.argolang.functions.spans import SECOND, duration_text, read_duration


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("a*?b", "aab", "aab"),
        ("a|ab", "ab", "a"),
        ("(a+)+$", "a" * 40 + "b", None),
        ("(?i)straße", "STRAßE", "STRAßE"),
        ("(?s)a.b", "a\nb", "a\nb"),
        ("a.b", "a\nb", None),
        ("(?m)^b$", "a\nb\nc", "b"),
        ("b$", "b\n", None),
        (r"\bfoo\b", "a foo b", "foo"),
        (r"[^[:space:]]+", " ab ", "ab"),
        (r"\pL+", "1éa2", "éa"),
        (r"\w+", "éa", "a"),
        (r"\Qa.b\E+", "xa.bb", "a.bb"),
        ("x{2,3}", "xxxx", "xxx"),
        ("x{2,3}?", "xxxx", "xx"),
        ("{", "a{", "{"),
        ("", "a", ""),
    ],
)
def test_a_pattern_finds_what_go_finds(pattern: str, text: str, found: str | None) -> None:
    match = compiled(pattern).search(text)
    assert (match.group() if match else None) == found


@pytest.mark.parametrize("pattern", ["(", ")", "a**", "*", r"\1", "(?=a)", "[a", "a{1001}", r"\Z", "[b-a]", "(?P<n>"])
def test_a_pattern_that_go_refuses_is_refused(pattern: str) -> None:
    with pytest.raises(RegexProblem) as caught:
        compiled(pattern)
    assert not caught.value.late


@pytest.mark.parametrize("pattern", [r"\p{Greek}", r"\C"])
def test_a_pattern_that_is_not_carried_here_says_so(pattern: str) -> None:
    with pytest.raises(RegexProblem) as caught:
        compiled(pattern)
    assert caught.value.late


@given(st.text(st.sampled_from("ab()[]{}*+?|^$\\.-,1:P<>i")) | st.text(), st.text(st.sampled_from("ab\n1")))
def test_any_pattern_searches_or_is_refused(pattern: str, text: str) -> None:
    try:
        compiled(pattern).search(text)
    except RegexProblem:
        return


@pytest.mark.parametrize(
    ("value", "text"),
    [(1e21, "1e+21"), (1e20, "100000000000000000000"), (1e-6, "0.000001"), (1e-7, "1e-7"), (-0.0, "-0"), (1.5, "1.5")],
)
def test_numbers_of_json_are_written_as_go_writes_them(value: float, text: str) -> None:
    assert to_json(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_read_back_as_it_was(value: float) -> None:
    assert float(to_json(value)) == value
    assert float(formatted(value)) == value


@pytest.mark.parametrize(
    ("layout", "text"),
    [
        ("2006-01-02T15:04:05Z07:00", "2023-11-14T22:13:20Z"),
        ("Mon Jan _2 15:04:05 2006", "Tue Nov 14 22:13:20 2023"),
        ("02/01/06 3:04:05.000PM -0700", "14/11/23 10:13:20.000PM +0000"),
        ("Monday, 2 January 2006 15h 4m 5s", "Tuesday, 14 November 2023 22h 13m 20s"),
        ("2006-002 15:04:05 MST", "2023-318 22:13:20 UTC"),
    ],
)
def test_a_moment_is_written_and_read_by_a_layout(layout: str, text: str) -> None:
    moment = Moment(1_700_000_000 * SECOND)
    assert written(moment, layout) == text
    assert read(layout, text).nanoseconds == moment.nanoseconds


@pytest.mark.parametrize("text", ["2023-02-29", "2023-13-01", "2023-1-01", "2023-01-01 ", "x"])
def test_a_date_that_there_is_not_is_refused(text: str) -> None:
    with pytest.raises(EvaluationProblem):
        read("2006-01-02", text)


@given(st.integers(-(2**60), 2**60))
def test_a_span_is_read_back_as_it_was(span: int) -> None:
    assert abs(read_duration(duration_text(span)) - span) <= 1


@pytest.mark.parametrize(
    ("constraint", "version", "fits"),
    [
        ("^0", "0.9.0", True),
        ("^0.0.3", "0.0.3", True),
        ("~1", "1.9.0", True),
        ("~1.2", "1.3.0", False),
        (">= 1.2, < 1.4", "1.3.9", True),
        ("1.2 - 1.4.5", "1.4.6", False),
        (">1.0.0-a", "1.0.0-b", True),
        ("<1.0.0", "1.0.0-b", False),
        ("=1.2.3", "1.2.3+build", True),
    ],
)
def test_a_version_satisfies_a_constraint(constraint: str, version: str, fits: bool) -> None:
    assert satisfies(constraint, version) is fits
