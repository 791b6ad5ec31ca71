"""Plots: valid SVG whatever the data, with the numbers that were given."""

from __future__ import annotations

import math
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from couler_py.report import plots
from couler_py.report.plots.frame import ticks

SVG = "{http://www.w3.org/2000/svg}"
numbers = st.floats(allow_nan=True, allow_infinity=True) | st.integers(-(10**9), 10**9).map(float)


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


@given(st.floats(-1e12, 1e12), st.floats(-1e12, 1e12))
def test_ticks_are_round_and_enclose_the_data(a: float, b: float) -> None:
    low, high = min(a, b), max(a, b)
    if 0 < high - low < 1e-6 * max(abs(low), abs(high)):
        return  # closer than what ticks of four digits can show
    marks = ticks(low, high)
    assert 2 <= len(marks) <= 13
    slack = 1e-6 * max(1.0, abs(low), abs(high))
    assert marks[0] <= low + slack
    assert marks[-1] >= high - slack


@pytest.mark.parametrize("high", [5e-324, 1e-310, 1e-299])
def test_a_range_too_narrow_for_floats_gets_ticks_around_it(high: float) -> None:
    marks = ticks(0.0, high)
    assert marks[0] <= 0.0
    assert marks[-1] >= high
    assert len(set(marks)) >= 2


def test_bars_carry_their_values() -> None:
    found = texts(plots.bar({"svm": 0.98, "forest": 0.961}, title="accuracy"))
    assert {"accuracy", "svm", "forest", "0.98", "0.961"} <= set(found)


def test_the_height_of_a_bar_is_in_proportion_to_its_value() -> None:
    tree = ElementTree.fromstring(plots.bar({"a": 1.0, "b": 0.5}))
    bars = [element for element in tree.iter(f"{SVG}rect") if element.find(f"{SVG}title") is not None]
    heights = [float(bar.attrib["height"]) for bar in bars]
    assert heights[0] == pytest.approx(2 * heights[1], abs=0.02)


def test_a_line_breaks_where_a_value_is_not_finite() -> None:
    svg = plots.line([(0, 1.0), (1, 2.0), (2, math.nan), (3, 2.0), (4, 1.0)])
    assert svg.count("<polyline") == 2


def test_a_confusion_matrix_shows_each_count() -> None:
    found = texts(plots.confusion_matrix([[50, 3], [4, 90]], ["malignant", "benign"]))
    assert {"50", "3", "4", "90", "malignant", "benign", "predicted", "true"} <= set(found)


@pytest.mark.parametrize("counts", [[[1, 2]], [[1], [2]], [[1, 2], [3, 4], [5, 6]]])
def test_a_confusion_matrix_is_square(counts: list[list[float]]) -> None:
    with pytest.raises(ValueError, match="a confusion matrix of 2 labels has 2 rows of 2 counts"):
        plots.confusion_matrix(counts, ["a", "b"])


def test_a_heatmap_has_as_many_values_as_labels() -> None:
    with pytest.raises(ValueError, match="a heatmap of 1 rows and 2 columns"):
        plots.heatmap([[1.0]], ["a"], ["b", "c"])


def test_a_timeline_has_a_row_for_each_span_in_order_of_start() -> None:
    svg = plots.timeline([plots.Span("late", 2, 3), plots.Span("early", 0, 2.5, "Failed")])
    found = texts(svg)
    assert found.index("early") < found.index("late")
    assert "2.5 s" in found


def test_a_long_timeline_keeps_the_longest() -> None:
    spans = [plots.Span(f"t{number}", number, number + (2 if number == 777 else 1)) for number in range(1000)]
    svg = plots.timeline(spans)
    assert "t777" in texts(svg)
    assert "the 400 longest of 1,000 tasks" in texts(svg)


def test_lanes_have_a_row_for_each_worker_and_one_scale() -> None:
    rows = [plots.Lane("rank 0", (("forward", 0.0, 1.0), ("backward", 1.0, 3.0))), plots.Lane("rank 1, lost", ())]
    svg = plots.lanes(rows, title="Step 3", upto=4.0)
    assert {"Step 3", "rank 0", "rank 1, lost", "forward", "backward", "4 s"} <= set(texts(svg))
    bars = [each for each in ElementTree.fromstring(svg).iter(f"{SVG}rect") if each.find(f"{SVG}title") is not None]
    one, two = (float(each.attrib["width"]) for each in bars)
    assert two + 0.5 == pytest.approx(2 * (one + 0.5), abs=0.02)
    assert float(bars[1].attrib["x"]) > float(bars[0].attrib["x"]) + one


@given(st.dictionaries(st.text(max_size=30), numbers, max_size=6), st.text(max_size=20))
def test_any_data_and_text_give_valid_bars(values: dict[str, float], title: str) -> None:
    ElementTree.fromstring(plots.bar(values, title=title))


@given(st.lists(st.tuples(numbers, numbers), max_size=8), st.text(max_size=20))
def test_any_data_give_valid_lines_and_points(pairs: list[tuple[float, float]], title: str) -> None:
    ElementTree.fromstring(plots.line({"a": pairs, "b": pairs[:1]}, title=title))
    ElementTree.fromstring(plots.scatter(pairs, title=title))


@given(st.lists(st.lists(numbers, min_size=2, max_size=2), max_size=4))
def test_any_data_give_valid_cells(values: list[list[float]]) -> None:
    ElementTree.fromstring(plots.heatmap(values, [f"r{row}" for row in range(len(values))], ["a", "<b>"]))
