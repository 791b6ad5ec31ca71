"""What can be chosen, and what can't."""

from __future__ import annotations

import msgspec
import pytest

from couler_py.steps.edit.settings import PLAIN, PRESETS, Outer, Penalty, Settings, preset


def test_each_method_is_a_preset_of_one_engine() -> None:
    made = {name: preset(name, sync_every=16, sync_seconds=2.0, warmup=4) for name in PRESETS}
    assert made == {
        "ddp": Settings(),
        "post_local_sgd": Settings(sync_every=16, warmup=4),
        "diloco": Settings(sync_every=16, warmup=4, outer=Outer(0.7, 0.9)),
        "co2": Settings(sync_every=16, warmup=4, outer=Outer(0.7, 0.8, momentum_clip=1.0), late=True),
        "edit": Settings(sync_every=16, warmup=4, outer=Outer(0.7, 0.8), penalty=Penalty()),
        "a_edit": Settings(sync_seconds=2.0, warmup=4, outer=Outer(0.7, 0.8), penalty=Penalty()),
    }


def test_a_preset_takes_changes_and_names_what_there_is() -> None:
    assert preset("edit", penalty=Penalty(clip=1.0), compression="bf16").penalty == Penalty(clip=1.0)
    with pytest.raises(ValueError, match="no preset is called 'adam': there are ddp, post_local_sgd"):
        preset("adam")


def test_gradients_are_averaged_in_the_steps_of_warm_up_and_always_without_rounds() -> None:
    assert [Settings(sync_every=4, warmup=2).synchronous(step) for step in range(4)] == [True, True, False, False]
    assert Settings().synchronous(10**9)
    assert Outer(lr=1.0, momentum=0.0, nesterov=False) == PLAIN


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"sync_every": 4, "sync_seconds": 1.0}, "set sync_every or sync_seconds, not both"),
        ({"sync_every": 4, "most_steps": 9}, "set sync_seconds"),
        ({"sync_every": 0}, "sync_every is 0: it is above 0"),
        ({"sync_seconds": float("nan")}, "sync_seconds is nan: it is above 0"),
        ({"warmup": -1}, "a warmup of -1 steps"),
        ({"outer": {"lr": 0}}, "an outer rate of 0"),
        ({"outer": {"momentum": 1.0}}, "an outer momentum of 1.0"),
        ({"outer": {"momentum": 0.0}}, "Nesterov's step needs momentum"),
        ({"penalty": {"smoothing": 1.0}}, "a smoothing of 1.0"),
        ({"penalty": {"step_ratio": 2.0}}, "a step_ratio of 2.0"),
        ({"penalty": {"rounds_before": 0}}, "rounds_before and restart_after are at least 1"),
        ({"penalty": {"clip": 0.0}}, "clip is 0.0"),
        ({"compression": "zip"}, "zip"),
        ({"sync": 4}, "unknown field `sync`"),
    ],
)
def test_what_makes_no_sense_is_said(changes: dict[str, object], problem: str) -> None:
    with pytest.raises((ValueError, msgspec.ValidationError), match=problem):
        msgspec.convert(changes, Settings)
