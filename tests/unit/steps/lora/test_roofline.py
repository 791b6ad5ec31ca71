"""What a layer takes by arithmetic, bytes and links: each bound alone, where the others cost nothing."""

from __future__ import annotations

import msgspec
import pytest

from couler_py.steps.lora.planning.roofline import A100_40GB, Device, layer_time, roofline
from couler_py.steps.models.config import PRESETS, DecoderConfig

SHAPE = PRESETS["llama-7b"]
FREE = 1e40
ONLY = Device(
    FREE,
    FREE,
    FREE,
    FREE,
    units=1,
    matrix_share=1,
    memory_share=1,
    link_share=1,
    launch=0,
    base=0,
    hop=0,
    network_hop=0,
)
"""A GPU on which nothing takes any time."""


@pytest.mark.parametrize("tensor", [1, 2, 8])
def test_arithmetic_is_four_operations_a_parameter_and_attention(tensor: int) -> None:
    """Two forward, two for gradients of inputs, none for those of frozen matrices; 2 and 5 a place of attention."""
    matrices = SHAPE.layer_parameters - 2 * SHAPE.hidden
    expected = 4 * 4096 * matrices + 7 * 4096 * 2048 * SHAPE.hidden
    device = msgspec.structs.replace(ONLY, matrix=1.0)
    assert layer_time(SHAPE, device, tensor, 2, 2048) == pytest.approx(expected / tensor)


def test_a_small_matrix_takes_as_long_as_one_tile_on_each_unit() -> None:
    device = msgspec.structs.replace(ONLY, matrix=1.0, units=108)
    assert layer_time(SHAPE, device, 1, 1, 16) == pytest.approx(layer_time(SHAPE, device, 1, 1, 32), rel=1e-3)
    assert layer_time(SHAPE, device, 8, 1, 16) > layer_time(SHAPE, device, 1, 1, 16) / 8


@pytest.mark.parametrize(("tensor", "speed"), [(2, 100.0), (8, 100.0), (16, 40.0)])
def test_links_carry_eight_collectives_and_the_network_bounds_those_of_several_machines(
    tensor: int, speed: float
) -> None:
    device = msgspec.structs.replace(ONLY, link=100.0, network=5.0)
    moved = 8 * (tensor - 1) / tensor * 512 * SHAPE.hidden * 2
    assert layer_time(SHAPE, device, tensor, 1, 512) == pytest.approx(moved / speed)


def test_a_ring_takes_time_for_each_rank_and_more_between_machines() -> None:
    device = msgspec.structs.replace(ONLY, base=100.0, hop=1.0, network_hop=10.0)
    times = [layer_time(SHAPE, device, tensor, 1, 8) for tensor in (1, 2, 8, 16)]
    assert times == pytest.approx([0, 8 * 101, 8 * 107, 8 * (100 + 14 + 20)])


def test_a_step_of_few_tokens_takes_what_starting_its_kernels_takes() -> None:
    device = msgspec.structs.replace(ONLY, launch=1.0)
    assert layer_time(SHAPE, device, 1, 1, 8) == layer_time(SHAPE, device, 1, 8, 2048) == 46


def test_constants_are_near_the_bounds_where_a_micro_batch_is_full() -> None:
    costs, worst = roofline(SHAPE, A100_40GB, (1, 8))
    for tensor in (1, 8):
        for rows, length in ((16, 128), (8, 2048), (1, 16384)):
            told = layer_time(SHAPE, A100_40GB, tensor, rows, length)
            assert costs.taus[tensor].time(rows, length) == pytest.approx(told, rel=0.1)
    assert worst < 0.3


def test_more_ranks_than_heads_are_refused() -> None:
    with pytest.raises(ValueError, match="4 heads on 8 ranks: each has at least one"):
        layer_time(DecoderConfig(100, heads=4), A100_40GB, 8, 1, 8)
