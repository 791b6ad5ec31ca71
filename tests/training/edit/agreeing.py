"""What rounds do, on four ranks."""

from __future__ import annotations

import math

import pytest
import torch
from torch import distributed
from torch.utils.checkpoint import checkpoint

from couler_py.steps.edit.channel import Said
from couler_py.steps.edit.local_sgd import LocalSGD
from couler_py.steps.edit.settings import PLAIN, Outer, Penalty, Settings, preset
from tests.training.edit.launching import run
from tests.training.edit.toys import (
    FIRST,
    RANK,
    ROOT,
    SECOND,
    Net,
    Setup,
    batch,
    by_hand,
    close,
    loss_of,
    mesh_of,
    same,
    sharded,
    shards_of,
    whole,
)  # fmt: skip

FOREVER = 10**6
MESHES = ((4, 1), (2, 2), (1, 4))
SHORT = Penalty(smoothing=0.2, rounds_before=3, temperature=None, clip=None)


def mine(step: int) -> int:
    """The number of this rank's own batch of a step."""
    return 100 * step + RANK()


def reference(steps: int, optimizer: type[torch.optim.Optimizer] = torch.optim.SGD, ranks: int = 4) -> dict:
    """One process that sees all batches."""
    model = Net()
    made = optimizer(model.parameters(), lr=0.1)
    for step in range(steps):
        for rank in range(ranks):
            (loss_of(model, batch(100 * step + rank)) / ranks).backward()
        made.step()
        made.zero_grad()
    return whole(model)


def check_warm_up_is_training_on_all_data_at_once() -> None:
    for mesh in MESHES:
        for settings in (preset("ddp"), preset("edit", sync_every=2, warmup=6)):
            setup = Setup(*mesh, settings)
            with setup.local:
                setup.train([mine(step) for step in range(6)])
                close(setup.parameters(), reference(6))
                assert not setup.rounds
            assert same(setup.seen()[0], setup.seen()[-1])


def check_agreeing_after_each_step_is_synchronous_sgd() -> None:
    for mesh in MESHES:
        setup = Setup(*mesh, Settings(sync_every=1))
        with setup.local:
            setup.train([mine(step) for step in range(5)])
            setup.local.finish()
        close(setup.parameters(), reference(5))


def check_with_adam_it_is_the_average_of_parameters() -> None:
    setup = Setup(4, 1, Settings(sync_every=3), lambda parameters: torch.optim.AdamW(parameters, lr=0.01))
    with setup.local:
        setup.train([mine(step) for step in range(9)])
        setup.local.finish()
    replicas = [Net() for _ in range(4)]
    optimizers = [torch.optim.AdamW(each.parameters(), lr=0.01) for each in replicas]
    for step in range(9):
        for rank, (model, optimizer) in enumerate(zip(replicas, optimizers, strict=True)):
            loss_of(model, batch(100 * step + rank)).backward()
            optimizer.step()
            optimizer.zero_grad()
        if step % 3 == 2:
            with torch.no_grad():
                for four in zip(*(each.parameters() for each in replicas), strict=True):
                    mean = torch.stack(list(four)).mean(0)
                    for parameter in four:
                        parameter.copy_(mean)
    close(setup.parameters(), whole(replicas[0]))


def check_replicas_are_equal_after_a_round_and_differ_between_rounds() -> None:
    for mesh in ((4, 1), (2, 2)):
        setup = Setup(*mesh, preset("edit", sync_every=2))
        with setup.local:
            for start in (0, 2, 4):
                setup.train([mine(start), mine(start + 1)])
                first, *others = setup.seen()
                assert not any(same(first, other) for other in others)
                setup.local.sync_now()
                first, *others = setup.seen()
                assert all(same(first, other) for other in others)
        assert [each.number for each in setup.rounds] == [0, 1, 2]


def check_one_replica_that_averages_with_itself_is_plain_fsdp() -> None:
    plain = sharded(Net(), Setup(1, 4, Settings()).mesh)
    optimizer = torch.optim.AdamW(plain.parameters(), lr=0.01)
    for step in range(7):
        loss_of(plain, batch(mine(step))).backward()
        optimizer.step()
        optimizer.zero_grad()
    for every in (1, 3, FOREVER):
        setup = Setup(1, 4, Settings(sync_every=every), lambda parameters: torch.optim.AdamW(parameters, lr=0.01))
        with setup.local:
            setup.train([mine(step) for step in range(7)])
            close(setup.parameters(), whole(plain), 0.0 if every == FOREVER else 1e-6)


def check_without_rounds_replicas_are_runs_of_their_own() -> None:
    setup = Setup(4, 1, Settings(sync_every=FOREVER))
    with setup.local:
        setup.train([mine(step) for step in range(4)])
    alone = Net()
    optimizer = torch.optim.SGD(alone.parameters(), lr=0.1)
    for step in range(4):
        loss_of(alone, batch(mine(step))).backward()
        optimizer.step()
        optimizer.zero_grad()
    assert same(setup.parameters(), whole(alone))


def check_the_outer_step_is_torchs_sgd() -> None:
    for outer in (Outer(0.7, 0.8), Outer(0.7, 0.9, nesterov=False), Outer(0.5, 0.0, nesterov=False)):
        setup = Setup(2, 2, Settings(sync_every=FOREVER, outer=outer), by_hand)
        model = Net()
        expected = torch.optim.SGD(model.parameters(), lr=outer.lr, momentum=outer.momentum, nesterov=outer.nesterov)
        with setup.local:
            for amount in (1.0, 0.25, -2.0, 0.5):
                setup.move(amount + (0.5 if setup.replica else -0.5))
                setup.local.sync_now()
                for parameter in model.parameters():
                    parameter.grad = torch.full_like(parameter, -amount)
                expected.step()
                close(setup.parameters(), whole(model), 2e-6)


def check_a_first_round_with_nesterov_goes_further_than_the_replicas_did() -> None:
    setup = Setup(1, 4, Settings(sync_every=FOREVER, outer=Outer(0.7, 0.8)), by_hand)
    before = setup.parameters()
    with setup.local:
        setup.move(1.0)
        setup.local.sync_now()
    for name, tensor in setup.parameters().items():
        torch.testing.assert_close(tensor - before[name], torch.full_like(tensor, 0.7 * 1.8))


def warm_norms(setup: Setup) -> None:
    """Some rounds of ordinary length, after which the detector is armed."""
    for amount in (0.010, 0.011, 0.009, 0.010, 0.011):
        setup.move(amount)
        setup.local.sync_now()


def check_a_bad_replica_changes_nothing() -> None:
    for mesh in ((4, 1), (2, 2)):
        setup = Setup(*mesh, Settings(sync_every=FOREVER, penalty=SHORT), by_hand)
        with setup.local:
            warm_norms(setup)
            remembered, before = dict(setup.local.running), setup.parameters()
            setup.move(1.0 if setup.replica == 1 else 0.01)
            setup.local.sync_now()
            for name, tensor in setup.parameters().items():
                torch.testing.assert_close(tensor - before[name], torch.full_like(tensor, 0.01), rtol=1e-4, atol=1e-6)
            assert all(same(setup.seen()[0], other) for other in setup.seen())
            last = setup.rounds[-1]
            others = 1 / (mesh[0] - 1)
            for unit in (ROOT, FIRST, SECOND):
                assert last.rejected[unit] == tuple(replica == 1 for replica in range(mesh[0]))
                assert last.weights[unit] == tuple(0.0 if replica == 1 else others for replica in range(mesh[0]))
                kept, old = setup.local.running[unit], remembered[unit]
                if setup.replica == 1:
                    assert (kept.mean, kept.variance, kept.count, kept.refused) == (*_numbers(old), 1)
                else:
                    assert kept.count == old.count + 1


def _numbers(running: object) -> tuple[float, float, int]:
    return running.mean, running.variance, running.count  # type: ignore[attr-defined]


def check_what_is_no_number_stays_with_its_replica() -> None:
    for mesh in ((4, 1), (2, 2)):
        for amount in (math.nan, math.inf, -math.inf):
            setup = Setup(*mesh, preset("edit", sync_every=FOREVER, outer=PLAIN), by_hand)
            before = setup.parameters()
            with setup.local:
                setup.move(amount if setup.replica == 0 else 0.5)
                setup.local.sync_now()
                for name, tensor in setup.parameters().items():
                    torch.testing.assert_close(tensor - before[name], torch.full_like(tensor, 0.5))


def check_where_nobody_is_good_all_go_back() -> None:
    for mesh in ((4, 1), (2, 2)):
        setup = Setup(*mesh, Settings(sync_every=FOREVER, penalty=SHORT, outer=Outer(0.7, 0.8)), by_hand)
        with setup.local:
            warm_norms(setup)
            before = shards_of(setup)
            momentum = [tensor.clone() for each in setup.local.anchored for tensor in each.momentum]
            setup.move(5.0)
            setup.local.sync_now()
            assert all(map(torch.equal, shards_of(setup), before))
            now = [tensor for each in setup.local.anchored for tensor in each.momentum]
            assert all(map(torch.equal, now, momentum))
            assert setup.rounds[-1].weights == {ROOT: None, FIRST: None, SECOND: None}
            setup.move(0.01)
            setup.local.sync_now()
            assert not all(map(torch.equal, shards_of(setup), before))


def check_a_replica_may_be_bad_in_one_module_only() -> None:
    setup = Setup(2, 2, Settings(sync_every=FOREVER, penalty=SHORT), by_hand)
    with setup.local:
        warm_norms(setup)
        setup.move(0.01)
        if setup.replica == 0:
            for parameter in setup.local.units[1].parameters.values():
                parameter.detach().to_local().add_(3.0)
        setup.local.sync_now()
    last = setup.rounds[-1]
    assert last.rejected == {ROOT: (False, False), FIRST: (True, False), SECOND: (False, False)}
    assert last.weights == {ROOT: (0.5, 0.5), FIRST: (0.0, 1.0), SECOND: (0.5, 0.5)}


def check_the_average_is_no_longer_than_it_may_be_whatever_the_shards() -> None:
    results = []
    penalty = Penalty(clip=0.25, temperature=0.5, rounds_before=3)
    for mesh in ((4, 1), (2, 2)):
        setup = Setup(*mesh, Settings(sync_every=FOREVER, penalty=penalty, outer=Outer(0.7, 0.8)), by_hand)
        with setup.local:
            half = RANK() // 2  # of four replicas, two and two do the same: together as much as each of two
            for amount in (0.3, 0.4):
                setup.move(amount + 0.1 * half)
                setup.local.sync_now()
            results.append((setup.parameters(), setup.rounds))
        assert all(each.moved[unit].shrunk < 1 for each in setup.rounds for unit in (ROOT, FIRST, SECOND))
        moved = setup.rounds[0].moved[FIRST]
        assert math.isclose(moved.norm * moved.shrunk, 0.25, rel_tol=1e-12)
    close(results[0][0], results[1][0])
    for one, other in zip(results[0][1], results[1][1], strict=True):
        for unit in (ROOT, FIRST, SECOND):
            assert math.isclose(one.moved[unit].norm, other.moved[unit].norm, rel_tol=1e-5)
            assert math.isclose(one.norms[unit][0], other.norms[unit][0], rel_tol=1e-5)


def check_a_round_begins_in_the_next_training_forward_once_for_each_step() -> None:
    setup = Setup(2, 2, Settings(sync_every=2))
    with setup.local:
        for step in range(6):
            setup.model.eval()
            setup.model(batch(1)[0])
            setup.model.train()
            with torch.no_grad():
                setup.model(batch(1)[0])
            for part in range(3):
                (loss_of(setup.model, batch(mine(10 * step + part))) / 3).backward()
            setup.optimizer.step()
            setup.optimizer.zero_grad()
            assert len(setup.rounds) == step // 2
    assert [each.step for each in setup.rounds] == [2, 4]


def check_what_runs_twice_agrees_once() -> None:
    class Twice(Net):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = self.into(x)
            for layer in (*self.layers, self.layers[0]):
                x = torch.tanh(checkpoint(layer, x, use_reentrant=False))
            return self.out(x)

    setup = Setup(2, 2, preset("edit", sync_every=1), model=Twice())
    with setup.local:
        setup.train([mine(step) for step in range(4)])
    assert len(setup.rounds) == 3
    assert all(list(each.moved) == [ROOT, FIRST, SECOND] for each in setup.rounds)


def check_frozen_parts_stay_out() -> None:
    for mesh in ((4, 1), (2, 2)):
        model = Net()
        for parameter in (*model.into.parameters(), *model.out.parameters(), *model.layers[0].parameters()):
            parameter.requires_grad_(False)
        setup = Setup(*mesh, preset("edit", sync_every=1, warmup=1), model=model)
        frozen = setup.parameters()
        with setup.local:
            setup.train([mine(step) for step in range(3)])
            setup.local.finish()
        assert {unit.name for unit in setup.local.units} == {SECOND}
        assert len(setup.rounds) == 2
        now = setup.parameters()
        assert [name for name in now if not torch.equal(now[name], frozen[name])] == [
            "layers.1.weight", "layers.1.bias",
        ]  # fmt: skip
        assert all(same(setup.seen()[0], other) for other in setup.seen())


def check_all_ranks_of_a_group_say_the_same_in_the_same_order() -> None:
    said: list[Said] = []
    setup = Setup(2, 2, preset("edit", sync_every=2, warmup=2), listen=said.append)
    with setup.local:
        setup.train([mine(step) for step in range(7 if setup.replica else 5)])
        setup.local.finish()
    told: list[list[Said]] = [[]] * 4
    distributed.all_gather_object(told, said)
    for channel, groups in (("between", ((0, 2), (1, 3))), ("within", ((0, 1), (2, 3)))):
        for one, other in groups:
            first, second = (
                [(each.how, each.what) for each in told[n] if each.channel == channel] for n in (one, other)
            )
            assert first == second


def check_bytes_are_as_many_as_the_formula_says() -> None:
    for mesh in ((4, 1), (2, 2)):
        said: list[Said] = []
        setup = Setup(*mesh, preset("edit", sync_every=3), listen=said.append)
        with setup.local:
            setup.train([mine(step) for step in range(7)])
        own = sum(shard.numel() for shard in shards_of(setup))
        between = [each for each in said if each.channel == "between"]
        heavy = sum(each.size for each in between if each.how == "all_reduce")
        plans = [each.size for each in between if each.how == "all_gather"]
        assert heavy == 2 * 4 * own  # two rounds, float32
        assert plans == [8 * (2 + 2 * 3)] * 2  # steps, finished, and two numbers for each of three units
        assert sum(each.between for each in setup.rounds) == heavy + sum(plans)
        said.clear()
        synchronous = Setup(*mesh, preset("ddp"), listen=said.append)
        with synchronous.local:
            synchronous.train([mine(step) for step in range(6)])
        if not setup.shard:  # fully_shard pads the gradients of shards that are shorter than the first
            assert sum(each.size for each in said if each.channel == "between") == 3 * heavy


def check_memory_is_8_bytes_for_each_parameter_of_a_rank() -> None:
    for mesh in ((4, 1), (2, 2)):
        for settings, each in ((preset("edit"), 8), (preset("post_local_sgd"), 4), (preset("edit", offload=True), 8)):
            setup = Setup(*mesh, settings)
            with setup.local:
                own = sum(shard.numel() for shard in shards_of(setup))
                kept = [t for unit in setup.local.anchored for t in (*unit.anchor, *unit.momentum)]
                assert sum(tensor.numel() * tensor.element_size() for tensor in kept) == each * own


def check_fewer_bytes_cost_an_error_that_is_measured() -> None:
    exact = None
    bounds = (("none", 4.0, 0.0), ("bf16", 2.0, 4e-3), ("fp16", 2.0, 5e-4), ("int8", 1.0, 2e-2))
    for compression, width, bound in bounds:
        said: list[Said] = []
        setup = Setup(2, 2, Settings(sync_every=3, compression=compression), listen=said.append)  # type: ignore[arg-type]
        with setup.local:
            setup.train([mine(step) for step in range(3)])
            setup.local.sync_now()
        own = sum(shard.numel() for shard in shards_of(setup))
        heavy = sum(s.size for s in said if s.channel == "between" and s.what in (ROOT, FIRST, SECOND))
        assert heavy == width * own
        errors = [moved.error for moved in setup.rounds[0].moved.values()]
        assert max(errors) <= bound
        assert any(errors) == bool(bound)
        assert all(same(setup.seen()[0], other) for other in setup.seen())
        exact = exact if exact is not None else setup.parameters()
        close(setup.parameters(), exact, 5e-3)


def check_a_late_average_is_used_one_round_later() -> None:
    setup = Setup(2, 2, preset("co2", sync_every=FOREVER, outer=PLAIN), by_hand)
    before = setup.parameters()["layers.0.weight"]
    with setup.local:
        gone = []
        for amount in (1.0, 2.0, 4.0):
            setup.move(amount)
            setup.local.sync_now()
            gone.append(float((setup.parameters()["layers.0.weight"] - before).mean()))
        setup.local.finish()
        gone.append(float((setup.parameters()["layers.0.weight"] - before).mean()))
    torch.testing.assert_close(torch.tensor(gone), torch.tensor([0.0, 1.0, 3.0, 7.0]), rtol=0, atol=1e-5)


def check_the_model_to_evaluate_is_the_anchor() -> None:
    setup = Setup(2, 2, preset("diloco", sync_every=2))
    with setup.local:
        start = setup.parameters()
        setup.train([mine(0)])
        between = setup.parameters()
        with setup.local.averaged():
            assert same(setup.parameters(), start)
        assert same(setup.parameters(), between)


def check_looking_at_the_model_changes_nothing() -> None:
    def look(setup: Setup) -> None:
        setup.model.eval()
        with torch.no_grad(), setup.local.averaged():
            setup.model(batch(1)[0])
        setup.model.train()

    for mesh in ((4, 1), (2, 2)):
        ends = []
        for looks in (False, True):
            setup = Setup(*mesh, preset("diloco", sync_every=2))
            with setup.local:
                for step in range(7):
                    setup.train([mine(step)])
                    if looks:
                        look(setup)
                setup.local.finish()
                if looks:
                    look(setup)
                    setup.move(0.0)
                    setup.local.sync_now()
            ends.append([each.norms for each in setup.rounds[:4]])
        assert ends[0] == ends[1]


def check_a_whole_model_on_shards_is_refused() -> None:
    model = Net()
    with pytest.raises(ValueError, match=r"into\.weight is whole on each of 2 shards: apply fully_shard"):
        LocalSGD(model, by_hand(model.parameters()), preset("edit"), mesh_of(2, 2))


if __name__ == "__main__":
    run(globals())
