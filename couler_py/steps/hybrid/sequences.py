"""Sequences of many lengths as steps of `hybrid`: what they cost, which pipelines suit, and who does which.

All that goes in and out is JSON, checked. The steps need NumPy and SciPy, which couler-py[train] brings.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from couler_py.dsl.step import step


class Fitted(NamedTuple):
    """Constants as measured, and how well they meet what was."""

    curves: list[dict[str, Any]]
    """By `tensor` and `stages`: milliseconds `square`·s² + `linear`·s + `fixed`, `r2`, and `worst`, relative."""
    model: dict[str, Any] | None
    """The model of memory with its constants; None without peaks."""
    memory_r2: float | None
    memory_worst: float | None


class Proposed(NamedTuple):
    """Strategies to choose from at each step."""

    strategies: list[dict[str, Any]]
    """`pipelines` of each, every one a scheme."""
    names: list[str]
    """Each as people write it: "1×(16,1) + 12×(4,1)"."""
    value: float
    """The least milliseconds of all sequences, where each scheme takes an interval of lengths."""


class Dispatched(NamedTuple):
    """Who does what in a step."""

    strategy: int
    """Which of the strategies."""
    pipelines: list[dict[str, Any]]
    """`milliseconds`, and `micros`: of each micro-batch the `sequences` and where they begin in it, `cu_seqlens`."""
    milliseconds: float
    """When the last pipeline ends."""


@step(name="fit-cost")
def fit_cost(
    samples: list[dict[str, Any]],
    peaks: list[dict[str, Any]] | None = None,
    model: dict[str, Any] | None = None,
) -> Fitted:
    """What a sequence costs on each kind of pipeline, and what a model takes, from what was measured.

    `samples` have `tensor`, `stages`, `length` and `milliseconds` of a micro-batch of one sequence on one stage;
    `peaks` the most `bytes` of a rank instead of the time. `model` is a `schemes.Model`: what of it isn't measured.
    Raises `ValueError` that names what is wrong, as for fewer than three lengths of a kind.
    """
    from couler_py.steps.hybrid import fitting, given
    from couler_py.steps.hybrid.schemes import Model

    measured = given.read(list[fitting.Sample], samples, "samples")
    for at, each in enumerate(measured):
        given.whole(each.tensor, f"samples[{at}].tensor")
        given.whole(each.stages, f"samples[{at}].stages")
        given.whole(each.length, f"samples[{at}].length")
        given.positive(each.milliseconds, f"samples[{at}].milliseconds")
    if not measured:
        raise ValueError("samples: there are none to fit")
    curves = [
        {"tensor": tensor, "stages": stages, "square": curve.square, "linear": curve.linear, "fixed": curve.fixed}
        | {"r2": curve.fit.r2, "worst": curve.fit.worst}
        for (tensor, stages), curve in fitting.fit_cost(measured).items()
    ]
    if (peaks is None) != (model is None):
        raise ValueError("peaks and model: memory is fitted from both together")
    if peaks is None or model is None:
        return Fitted(curves, None, None, None)
    most = given.read(list[fitting.Peak], peaks, "peaks")
    for at, peak in enumerate(most):
        given.whole(peak.tensor, f"peaks[{at}].tensor")
        given.whole(peak.stages, f"peaks[{at}].stages")
        given.whole(peak.length, f"peaks[{at}].length")
        given.positive(peak.bytes, f"peaks[{at}].bytes")
    found, fit = fitting.fit_memory(most, given.read(Model, model, "model"))
    return Fitted(curves, given.plain(found), fit.r2, fit.worst)


@step(name="propose-strategies")
def propose_strategies(
    histogram: dict[str, float], schemes: list[dict[str, Any]], ranks: int, grain: int = 128, unit: int = 1
) -> Proposed:
    """Mixes of pipelines that suit the lengths of a corpus.

    `histogram` says how many sequences of a step have so many tokens, `schemes` are kinds of pipelines, as
    `schemes.Scheme`: `tensor`, `stages`, `square`, `linear`, `fixed`, `longest`, `useful`. Raises `ValueError` that
    names what is wrong, as for a length that no scheme holds.
    """
    from couler_py.steps.hybrid import given, proposing

    counts = given.read(dict[int, float], histogram, "histogram")
    kinds = given.schemes_of(schemes, "schemes")
    found = proposing.propose_strategies(counts, kinds, given.whole(ranks, "ranks"), grain=grain, unit=unit)
    return Proposed([given.plain(each) for each in found.strategies], list(map(str, found.strategies)), found.value)


@step(name="dispatch-and-pack")
def dispatch_and_pack(
    lengths: list[int], strategies: list[dict[str, Any]], seed: int = 0, align: int = 1
) -> Dispatched:
    """The strategy that does these sequences soonest, and who does which in which micro-batch.

    `strategies` are those of `propose_strategies`. A packed micro-batch is filled up to a multiple of `align` tokens.
    Raises `ValueError` that names what is wrong, as for a sequence that no strategy holds.
    """
    from couler_py.steps.hybrid import dispatching, given
    from couler_py.steps.hybrid.schemes import Strategy

    for at, each in enumerate(lengths):
        given.whole(each, f"lengths[{at}]")
    given.whole(align, "align")
    choices = [
        Strategy(tuple(given.schemes_of(each.get("pipelines", []), f"strategies[{at}].pipelines")))
        for at, each in enumerate(given.read(list[dict[str, Any]], strategies, "strategies"))
    ]
    found = dispatching.dispatch_and_pack(lengths, choices, seed=seed)
    pipelines = [
        {
            "milliseconds": share.time,
            "micros": [
                {"sequences": list(micro), "cu_seqlens": dispatching.cu_seqlens(lengths, micro, align)}
                for micro in share.micros
            ],
        }
        for share in found.shares
    ]
    return Dispatched(found.strategy, pipelines, found.time)
