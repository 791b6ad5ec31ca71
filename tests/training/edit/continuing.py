"""Checkpoints, replicas that come and go, and clocks, on four ranks."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, distributed

from couler_py.steps.checkpoint.manifest import CheckpointError
from couler_py.steps.checkpoint.saving import save as save_tensors
from couler_py.steps.edit import state
from couler_py.steps.edit.settings import Outer, Penalty, Settings, preset
from tests.training.edit.launching import run
from tests.training.edit.toys import FIRST, RANK, Net, Setup, by_hand, same, shards_of

SHORT = Penalty(smoothing=0.2, rounds_before=2)


class Dropping(Net):
    """A model whose training draws random numbers."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(torch.nn.functional.dropout(x, 0.2, self.training))


def shared_folder() -> Path:
    """A new folder, the same on all ranks."""
    told = [tempfile.mkdtemp() if RANK() == 0 else ""]
    distributed.broadcast_object_list(told, 0)
    return Path(told[0])


def adam(parameters: Any) -> torch.optim.Optimizer:
    return torch.optim.AdamW(parameters, lr=0.01)


def seeds(first: int, last: int) -> list[int]:
    return [100 * step + RANK() for step in range(first, last)]


def moments(setup: Setup) -> list[Tensor]:
    return [
        (value.to_local() if hasattr(value, "to_local") else value).clone()
        for entry in setup.optimizer.state.values()
        for value in entry.values()
    ]


def outer(setup: Setup) -> list[Tensor]:
    return [tensor for each in setup.local.anchored for tensor in (*each.anchor, *each.momentum)]


def check_training_goes_on_as_if_it_had_not_stopped() -> None:
    for mesh, settings in (
        ((2, 2), preset("edit", sync_every=3, penalty=SHORT)),
        ((4, 1), preset("edit", sync_every=3, warmup=2, penalty=SHORT)),
        ((2, 2), preset("co2", sync_every=2)),
        ((2, 2), preset("diloco", sync_every=3, warmup=6)),  # saved before warm-up is over
        ((2, 2), preset("edit", sync_every=3, offload=True)),
    ):
        folder = shared_folder()
        setup = Setup(*mesh, settings, adam, Dropping())
        with setup.local:
            torch.manual_seed(RANK())
            setup.train(seeds(0, 5))
            before, held = shards_of(setup), len(setup.rounds)
            state.save(setup.local, folder, {"epoch": 1})
            state.save(setup.local, folder, {"epoch": 1})
            assert all(map(torch.equal, shards_of(setup), before))
            assert len(setup.rounds) == held
            setup.train(seeds(5, 11))
        later = Setup(*mesh, settings, adam, Dropping(seed=9))
        with later.local:
            loaded = state.load(later.local, folder)
            assert (loaded.step, loaded.facts) == (5, {"epoch": 1})
            later.train(seeds(5, 11))
        for kept in (shards_of, moments, outer):
            assert all(map(torch.equal, kept(later), kept(setup))), (mesh, settings, kept)
        assert later.local.running == setup.local.running
        assert [each.norms for each in later.rounds] == [each.norms for each in setup.rounds[held:]]
        assert (later.local.rounds, later.local.agreed_steps) == (setup.local.rounds, setup.local.agreed_steps)


def check_replicas_and_shards_come_and_go() -> None:
    settings = preset("edit", sync_every=3, penalty=SHORT)
    for old, new in (((2, 2), (4, 1)), ((4, 1), (2, 2)), ((2, 2), (1, 4))):
        folder = shared_folder()
        setup = Setup(*old, settings, adam)
        with setup.local:
            setup.train(seeds(0, 5))
            state.save(setup.local, folder)
            with setup.local.averaged():
                anchor = setup.parameters()
            theirs = setup.seen()
        later = Setup(*new, settings, adam, Net(seed=9))
        with later.local:
            state.load(later.local, folder)
            with later.local.averaged():
                assert same(later.parameters(), anchor)
            for replica, parameters in enumerate(later.seen()):
                assert same(parameters, theirs[replica] if replica < old[0] else anchor)
            later.train(seeds(5, 12))
            later.local.finish()
            assert all(same(later.seen()[0], other) for other in later.seen())
        assert all(len(each.steps) == new[0] for each in later.rounds)


def check_a_replica_that_comes_during_warm_up_has_the_same_state() -> None:
    settings = preset("edit", sync_every=3, warmup=8)
    folder = shared_folder()
    setup = Setup(2, 2, settings, adam)
    with setup.local:
        setup.train(seeds(0, 3))
        state.save(setup.local, folder)
    later = Setup(4, 1, settings, adam, Net(seed=9))
    with later.local:
        state.load(later.local, folder)
        assert all(same(setup.parameters(), other) for other in later.seen())
        later.train(seeds(3, 6))
        assert all(same(later.seen()[0], other) for other in later.seen())


def check_another_checkpoint_is_named() -> None:
    folder = shared_folder()
    save_tensors(folder, 7, {"weight": torch.ones(2)})
    setup = Setup(2, 2, preset("edit"))
    with setup.local, pytest.raises(CheckpointError, match=r"the checkpoint of step 7 in .* has no replicas"):
        state.load(setup.local, folder)


class Hands:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def timed(settings: Settings, seconds: Callable[[int], float], steps: Callable[[int], int]) -> Setup:
    """Replicas of one rank whose steps take so many seconds each, and that have data for so many steps."""
    clock = Hands()
    setup = Setup(4, 1, settings, clock=clock)
    with setup.local:
        for step in range(steps(RANK())):
            setup.train([100 * step + RANK()])
            clock.now += seconds(RANK())
        setup.local.finish()
    assert all(same(setup.seen()[0], other) for other in setup.seen())
    return setup


def check_fast_replicas_make_more_steps_between_rounds() -> None:
    setup = timed(
        preset("a_edit", sync_seconds=6.0), lambda rank: 3.0 if rank == 2 else 1.0, lambda rank: 7 if rank == 2 else 21
    )
    assert [each.steps for each in setup.rounds] == [(6, 6, 2, 6)] * 3 + [(3, 3, 1, 3)]
    assert setup.local.agreed_steps == 3 * 20 + 10


def check_a_replica_whose_data_ends_waits_for_the_others() -> None:
    for settings in (preset("edit", sync_every=4), preset("a_edit", sync_seconds=4.0)):
        setup = timed(settings, lambda _: 1.0, lambda rank: 5 if rank == 1 else 14)
        assert [each.steps for each in setup.rounds] == [(4, 4, 4, 4), (4, 1, 4, 4), (4, 0, 4, 4), (2, 0, 2, 2)]
        assert [each.weights[FIRST][1] > 0 for each in setup.rounds] == [True, True, False, False]  # type: ignore[index]


def check_a_replica_without_any_data_does_no_harm() -> None:
    setup = timed(preset("edit", sync_every=4), lambda _: 1.0, lambda rank: 8 * (rank != 3))
    assert [each.steps for each in setup.rounds] == [(4, 4, 4, 0), (4, 4, 4, 0)]


def check_a_round_with_too_few_steps_is_put_off() -> None:
    settings = preset("a_edit", sync_seconds=2.0, least_steps=20)
    setup = timed(settings, lambda _: 1.0, lambda _: 9)
    assert [each.steps for each in setup.rounds] == [(6, 6, 6, 6), (3, 3, 3, 3)]


def check_so_many_steps_are_enough_whatever_the_clock_says() -> None:
    setup = timed(preset("a_edit", sync_seconds=1000.0, most_steps=3), lambda _: 0.0, lambda _: 7)
    assert [each.steps[0] for each in setup.rounds] == [3, 3, 1]


def check_checkpoints_of_replicas_that_a_clock_calls_are_made_where_they_meet() -> None:
    folder = shared_folder()
    clock = Hands()
    settings = preset("a_edit", sync_seconds=2.0, warmup=1)
    setup = Setup(4, 1, settings, by_hand, clock=clock)
    setup.local.watch = lambda each: each.number == 1 and state.save(setup.local, folder)  # type: ignore[assignment]
    with setup.local:
        for _ in range(7 if RANK() else 13):
            setup.move(0.1)
            setup.model.train()
            setup.model(torch.zeros(1, 6))
            clock.now += 1.0 if RANK() else 0.5
        setup.local.finish()
    later = Setup(4, 1, settings, by_hand, Net(seed=9), clock=clock)
    with later.local:
        assert state.load(later.local, folder).step == 1 + later.local.agreed_steps
        assert all(same(later.seen()[0], other) for other in later.seen())
        assert later.local.rounds == 2


def check_norms_that_have_changed_for_good_do_not_lock_a_replica_out() -> None:
    penalty = Penalty(smoothing=0.2, rounds_before=3, restart_after=2, temperature=None, clip=None)
    setup = Setup(2, 2, Settings(sync_every=10**6, penalty=penalty, outer=Outer(0.7, 0.8)), by_hand)
    with setup.local:
        for amount in (0.010, 0.011, 0.009, 0.010, *(0.1,) * 4):
            setup.move(amount if setup.replica else 0.01)
            setup.local.sync_now()
    assert [each.rejected[FIRST] for each in setup.rounds[4:]] == [(False, bad) for bad in (True, True, False, False)]


if __name__ == "__main__":
    run(globals())
