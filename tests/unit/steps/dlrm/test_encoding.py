"""Categories and their places in embedding tables; how many there are, how many share a place, how they grow."""

from __future__ import annotations

import numpy as np
import pytest

from couler_py.steps.dlrm.data.counting import Counter, Distinct, growth
from couler_py.steps.dlrm.data.encoding import Dictionary, Hashing, Table, expected_collisions, numeric

KNOWN = np.array([True, True, True, True, False])


def test_a_dictionary_gives_places_by_frequency_and_rare_values_share_one() -> None:
    counter = Counter()
    counter.add(np.array([7, 7, 7, 5, 5, 9, 9, 3], np.uint32))
    found = Dictionary("C1", *counter.counted(), threshold=2)
    assert found.places(np.array([7, 5, 9, 3, 0], np.uint32), KNOWN).tolist() == [2, 3, 4, 1, 0]
    assert found.table == Table("C1", 5, "dictionary", threshold=2, distinct=4)
    assert found.places(np.array([8, 0, 10, 6, 7], np.uint32), KNOWN).tolist() == [1, 1, 1, 1, 0]


def test_a_full_dictionary_keeps_the_most_frequent() -> None:
    found = Dictionary("C1", np.array([1, 2, 3], np.uint32), np.array([5, 9, 5]), most=4)
    assert found.places(np.array([1, 2, 3], np.uint32), KNOWN[:3]).tolist() == [3, 2, 1]
    assert found.table.rows == 4


def test_an_empty_dictionary_knows_nothing() -> None:
    found = Dictionary("C1", *Counter().counted())
    assert found.places(np.array([4, 4], np.uint32), np.array([True, False])).tolist() == [1, 0]


def test_counts_are_exact_however_they_were_merged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("couler_py.steps.dlrm.data.counting.PENDING", 50)
    values = np.random.default_rng(0).integers(0, 300, 5000).astype(np.uint32)
    counter = Counter()
    for part in np.array_split(values, 40):
        counter.add(part)
    expected, counts = np.unique(values, return_counts=True)
    found, count = counter.counted()
    assert (found.tolist(), count.tolist()) == (expected.tolist(), counts.tolist())


def test_hashing_uses_all_places_but_the_first_evenly() -> None:
    places = Hashing("C1", 11).places(np.arange(100_000, dtype=np.uint32), np.ones(100_000, bool))
    counts = np.bincount(places, minlength=11)
    assert counts[0] == 0
    assert np.abs(counts[1:] - 10_000).max() < 400
    assert Hashing("C1", 11).places(np.array([5], np.uint32), np.array([False])).tolist() == [0]
    assert Hashing("C1", 1 << 30).places(np.array([5, 6], np.uint32), KNOWN[:2]).tolist() == [66416529, 94363952]


def test_collisions_are_as_many_as_chance_gives() -> None:
    places = Hashing("C1", 1001).places(np.arange(700, dtype=np.uint32), np.ones(700, bool))
    assert 700 - len(np.unique(places)) == pytest.approx(expected_collisions(700, 1000), abs=25)
    assert expected_collisions(2, 2) == pytest.approx(0.5)
    assert expected_collisions(5, 1) == 4


def test_different_values_are_counted_exactly_and_then_within_a_few_percent() -> None:
    few, many = Distinct(), Distinct()
    for _ in range(2):
        few.add(np.arange(10_000, dtype=np.uint32))
        for part in np.array_split(np.arange(400_000, dtype=np.uint32), 7):
            many.add(part)
    assert few.estimate() == 10_000
    assert many.estimate() == pytest.approx(400_000, rel=0.03)


def test_growth_finds_the_law_that_was_planted() -> None:
    law = growth([(rows, round(3 * rows**0.8)) for rows in (10_000, 20_000, 40_000, 80_000)])
    assert law is not None
    assert law.exponent == pytest.approx(0.8, abs=1e-3)
    assert law.after(1_000_000) == pytest.approx(3 * 1_000_000**0.8, rel=0.01)
    assert growth([(10, 5)]) is None


def test_counts_become_logarithms() -> None:
    found = numeric(np.array([[0, 1, -3, 99]], np.int32), np.array([[True, True, True, False]]))
    assert found.dtype == np.float32
    assert found.tolist() == [[0.0, pytest.approx(0.6931472), 0.0, 0.0]]


def test_a_table_has_room() -> None:
    with pytest.raises(ValueError, match="a table of 1 rows for C3: it has 2 to 2147483647"):
        Hashing("C3", 1)
