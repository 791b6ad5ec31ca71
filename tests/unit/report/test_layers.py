"""The layouter of graph pictures: layers, no overlaps, lines between boxes."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from couler_py.report.graph.layers import layout

Sizes = dict[str, tuple[float, float]]


@st.composite
def graphs(draw: st.DrawFn) -> tuple[Sizes, list[tuple[str, str]]]:
    """Boxes of any size, and links between them in any direction, cycles and loops too."""
    names = [f"t{number}" for number in range(draw(st.integers(1, 14)))]
    side = st.floats(10, 200)
    sizes = {name: (draw(side), draw(side)) for name in names}
    pairs = st.tuples(st.sampled_from(names), st.sampled_from(names))
    return sizes, draw(st.lists(pairs, max_size=30))


@given(graphs())
def test_boxes_never_overlap(graph: tuple[Sizes, list[tuple[str, str]]]) -> None:
    sizes, links = graph
    placed = layout(sizes, links).boxes
    assert set(placed) == set(sizes)
    for a, b in combinations(sizes, 2):
        (ax, ay), (aw, ah), (bx, by), (bw, bh) = placed[a], sizes[a], placed[b], sizes[b]
        beside = ax + aw <= bx + 1e-6 or bx + bw <= ax + 1e-6
        above = ay + ah <= by + 1e-6 or by + bh <= ay + 1e-6
        assert beside or above, (a, b)


@given(graphs())
def test_all_is_inside_the_picture(graph: tuple[Sizes, list[tuple[str, str]]]) -> None:
    sizes, links = graph
    found = layout(sizes, links)
    for name, (x, y) in found.boxes.items():
        assert x >= -1e-6
        assert y >= -1e-6
        assert x + sizes[name][0] <= found.width + 1e-6
        assert y + sizes[name][1] <= found.height + 1e-6


@given(graphs())
def test_without_cycles_each_box_lies_below_all_that_it_waits_for(graph: tuple[Sizes, list[tuple[str, str]]]) -> None:
    sizes, links = graph
    names = list(sizes)
    forward = [(a, b) for a, b in links if names.index(a) < names.index(b)]
    placed = layout(sizes, forward).boxes
    for a, b in forward:
        assert placed[a][1] + sizes[a][1] <= placed[b][1]


@given(graphs())
def test_straight_pieces_of_lines_touch_no_other_box(graph: tuple[Sizes, list[tuple[str, str]]]) -> None:
    sizes, links = graph
    found = layout(sizes, links)
    for (a, b), way in found.lines.items():
        for (x1, y1), (_, y2) in zip(way[::2], way[1::2], strict=True):
            for name, (x, y) in found.boxes.items():
                wide, tall = sizes[name]
                inside = x + 1e-6 < x1 < x + wide - 1e-6 and min(y1, y2) < y + tall - 1e-6 and max(y1, y2) > y + 1e-6
                assert name in (a, b) or not inside, (a, b, name)


def test_the_same_graph_has_the_same_layout() -> None:
    sizes = dict.fromkeys("abcd", (50.0, 20.0))
    links = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]
    assert layout(sizes, links) == layout(dict(sizes), list(links))


def test_a_diamond_is_symmetric() -> None:
    sizes = dict.fromkeys("abcd", (50.0, 20.0))
    placed = layout(sizes, [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]).boxes
    middle = (placed["b"][0] + placed["c"][0]) / 2
    assert round(placed["a"][0], 3) == round(middle, 3) == round(placed["d"][0], 3)


def test_crossings_that_needn_t_be_are_gone() -> None:
    sizes = dict.fromkeys(("a", "b", "x", "y"), (50.0, 20.0))
    placed = layout(sizes, [("a", "y"), ("b", "x")]).boxes
    assert (placed["a"][0] < placed["b"][0]) == (placed["y"][0] < placed["x"][0])


def test_nothing_has_an_empty_layout() -> None:
    assert layout({}, []).boxes == {}
