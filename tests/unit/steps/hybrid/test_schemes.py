"""What sequences cost and how long they may be: the published constants, and fits that find constants again."""

from __future__ import annotations

import msgspec
import pytest

from couler_py.steps.hybrid.fitting import Peak, Sample, fit_cost, fit_memory
from couler_py.steps.hybrid.schemes import M32, POOL32, homogeneous

BY_SHAPE = {(each.tensor, each.stages): each for each in POOL32}


@pytest.mark.parametrize(
    ("shape", "tokens"),
    {
        (4, 1): 7872,
        (4, 2): 12447,
        (4, 4): 14707,
        (8, 1): 21930,
        (8, 2): 25961,
        (8, 3): 27288,
        (8, 4): 27951,
        (16, 1): 43614,
    }.items(),
    ids=str,
)
def test_a_scheme_holds_as_many_tokens_as_the_formula_of_memory_says(shape: tuple[int, int], tokens: int) -> None:
    assert M32.longest(*shape) == tokens


def test_a_pipeline_takes_all_micro_batches_and_the_longest_again_for_each_further_stage() -> None:
    scheme = BY_SHAPE[4, 4]
    one, two = scheme.cost(1000), scheme.cost(3000)
    assert scheme.time([one, two]) == pytest.approx(one + two + 2 * 35.3 + 3 * (two + 35.3))
    assert scheme.time([]) == 0.0


def test_a_pool_has_as_many_pipelines_as_ranks_allow() -> None:
    assert len(homogeneous(BY_SHAPE[8, 3], 64).pipelines) == 2
    with pytest.raises(ValueError, match=r"a pipeline \(8,3\) takes 24 ranks: there are 16"):
        homogeneous(BY_SHAPE[8, 3], 16)


def test_curves_are_found_again() -> None:
    samples = [
        Sample(each.tensor, each.stages, length, each.cost(length) + each.fixed)
        for each in POOL32
        for length in (1024, 2048, 8192, 32768)
    ]
    found = fit_cost(samples)
    for each in POOL32:
        curve = found[each.tensor, each.stages]
        assert (curve.square, curve.linear, curve.fixed) == pytest.approx((each.square, each.linear, each.fixed))
        assert curve.fit.r2 == pytest.approx(1.0)
        assert curve.fit.worst < 1e-6


def test_a_measure_that_is_off_shows() -> None:
    scheme = BY_SHAPE[8, 1]
    samples = [Sample(8, 1, length, scheme.cost(length) + scheme.fixed) for length in (1024, 2048, 8192, 16384)]
    samples[1] = msgspec.structs.replace(samples[1], milliseconds=samples[1].milliseconds * 1.5)
    assert fit_cost(samples)[8, 1].fit.worst > 0.1


def test_two_lengths_are_too_few_for_a_curve() -> None:
    with pytest.raises(ValueError, match=r"\(8,1\) was measured at fewer than 3 lengths"):
        fit_cost([Sample(8, 1, 1024, 1.0), Sample(8, 1, 2048, 2.0), Sample(8, 1, 2048, 2.1)])


def test_constants_of_memory_are_found_again() -> None:
    peaks = [
        Peak(tensor, stages, length, M32.state_bytes(tensor, stages) + held * 60 * 6656 / tensor * length)
        for tensor, held in M32.activations.items()
        for stages in (1, 2, 4)
        for length in (1024, 4096)
    ]
    start = msgspec.structs.replace(M32, activations={}, states=1.0, sharded=0.1)
    found, fit = fit_memory(peaks, start)
    assert found.activations == pytest.approx(dict(M32.activations))
    assert (found.states, found.sharded) == pytest.approx((201.0, 0.75))
    assert fit.worst < 1e-9


def test_peaks_of_one_shape_cannot_tell_the_constants_apart() -> None:
    with pytest.raises(ValueError, match="measure each tensor parallelism at two lengths"):
        fit_memory([Peak(4, 1, 1024, 1e9), Peak(4, 1, 2048, 2e9)], M32)
