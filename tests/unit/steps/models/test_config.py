"""The shape of a decoder, and what follows from it."""

from __future__ import annotations

from typing import Any

import pytest

from couler_py.steps.models.config import PRESETS, DecoderConfig


def test_llama_2_has_as_many_parameters_as_its_paper_says() -> None:
    assert PRESETS["llama-7b"].parameters == 6_738_415_616


def test_tied_weights_count_once() -> None:
    apart, tied = DecoderConfig(vocabulary=100), DecoderConfig(vocabulary=100, tied=True)
    assert apart.parameters - tied.parameters == 100 * 64


def test_operations_are_six_for_each_weight_of_a_matrix_and_those_of_attention() -> None:
    config = DecoderConfig(vocabulary=10, layers=1, hidden=4, heads=2, kv_heads=1, feed_forward=8)
    # q and o 4x4, k and v 4x2, three of 4x8, and the head 10x4
    assert config.flops(tokens=1, sequence=16) == 6 * (16 + 16 + 8 + 8 + 96 + 40) + 12 * 4 * 16


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"layers": 0}, "layers is 0: a decoder has at least 1"),
        ({"heads": 3}, "3 heads don't share a width of 64 evenly"),
        ({"kv_heads": 3}, "3 heads of keys and values aren't shared evenly by 4 of queries"),
        ({"hidden": 12, "heads": 4, "kv_heads": 4}, "a head is 3 wide"),
    ],
)
def test_a_shape_that_there_cannot_be_is_refused(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        DecoderConfig(**({"vocabulary": 10} | fields))
