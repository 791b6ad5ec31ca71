"""The order of samples: all of them in each epoch, whoever reads."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from couler_py.steps.corpus.order import Order


@given(st.integers(1, 300), st.integers(), st.integers(0, 5))
def test_an_epoch_holds_each_sample_once(samples: int, seed: int, epoch: int) -> None:
    assert sorted(Order(samples, seed).batch(epoch * samples, samples)) == list(range(samples))


@given(st.integers(1, 100), st.integers(0, 1000), st.integers(1, 40), st.integers(1, 9))
def test_readers_share_a_batch_without_loss_whatever_their_number(
    samples: int, consumed: int, count: int, readers: int
) -> None:
    order = Order(samples, 7)
    shares = [order.batch(consumed, count, reader, readers) for reader in range(readers)]
    assert sorted(itertools.chain(*shares)) == sorted(order.batch(consumed, count))
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_where_reading_goes_on_is_said_by_what_was_consumed() -> None:
    order = Order(10, 3)
    assert order.batch(0, 12) + order.batch(12, 12) == order.batch(0, 24)


def test_seeds_and_epochs_shuffle_differently() -> None:
    rows = [tuple(Order(50, seed).batch(epoch * 50, 50)) for seed in range(5) for epoch in range(5)]
    assert len(set(rows)) == 25


def test_a_shuffle_is_the_same_everywhere() -> None:
    assert Order(12, 42).batch(0, 12) == [0, 11, 3, 7, 9, 8, 5, 1, 2, 4, 10, 6]


def test_places_spread_evenly() -> None:
    """The first quarter of 1,000 epochs holds each of 20 samples about 250 times: within five standard deviations."""
    counts = [0] * 20
    for epoch in range(1000):
        for sample in Order(20, 5).batch(epoch * 20, 5):
            counts[sample] += 1
    assert all(abs(count - 250) < 5 * (250 * 0.75) ** 0.5 for count in counts)


def test_without_a_shuffle_samples_come_as_they_lie() -> None:
    assert Order(4, shuffled=False).batch(2, 5) == [2, 3, 0, 1, 2]


def test_no_samples_are_an_error() -> None:
    with pytest.raises(ValueError, match="0 samples: there is nothing to train on"):
        Order(0)
