"""The benchmarks' replicas, which share a process and a backward, are those that loops of their own would be."""

from __future__ import annotations

import torch

from benchmarks.edit.problems import REPLICAS, Chain
from benchmarks.edit.replicas import Course, Inner, Outcome, trained
from benchmarks.edit.turns import Meeting, Thread, in_turns
from couler_py.steps.edit.local_sgd import LocalSGD
from couler_py.steps.edit.settings import Outer, Penalty, Settings, preset

STEPS, EVERY, WARM = 14, 4, 5
SETTINGS = {
    "DDP": preset("ddp"),
    "EDiT": preset("edit", sync_every=EVERY, warmup=WARM, outer=Outer(0.7, 0.8), penalty=Penalty(rounds_before=1)),
    "A-EDiT": preset("a_edit", sync_seconds=4.0, warmup=WARM, outer=Outer(0.7, 0.8), penalty=Penalty()),
}


class Short(Chain):
    held_out, batches = 64, 80


def seconds(replica: int, _: int) -> float:
    return 2.0 if replica == 2 else 1.0


def alone(settings: Settings, inner: Inner) -> float:
    """Four loops, each with a forward, a backward and hooks of its own; the loss at the end."""
    problem, meeting = Short(), Meeting(REPLICAS)

    def loop(replica: int) -> float:
        model = problem.model(1)
        optimizer = inner.made(model)
        local = LocalSGD(
            model, optimizer, settings, clock=lambda: meeting.clocks[replica], parts=problem.parts(model)
        )  # fmt: skip
        local.between = Thread(meeting, replica)
        made = 0
        with local:
            while progress(local, settings) < STEPS:
                loss = problem.loss(model, problem.rows(1, made * REPLICAS + replica))
                if progress(local, settings) >= STEPS:  # a round has begun in the forward
                    break
                loss.backward()
                for group in optimizer.param_groups:
                    group["lr"] = inner.rate(progress(local, settings), STEPS)
                meeting.clocks[replica] += seconds(replica, made)
                optimizer.step()
                optimizer.zero_grad()
                made += 1
            local.finish()
        with torch.no_grad():
            return float(problem.loss(model, problem.held(1)))

    losses = in_turns(meeting, loop)
    assert len(set(losses)) == 1
    return losses[0]


def progress(local: LocalSGD, settings: Settings) -> float:
    if settings.sync_seconds is None or not local.anchored:
        return local.timing.step
    return WARM + local.agreed_steps / REPLICAS


def together(**inner: Inner) -> dict[str, Outcome]:
    courses = [Course(name, SETTINGS[name], each, seed=1, seconds=seconds) for name, each in inner.items()]
    return {each.method: each for each in trained(courses, Short(), STEPS, EVERY)}


def test_stacked_replicas_learn_what_loops_of_their_own_learn() -> None:
    inner = Inner(1e-2, clip=None)
    found = together(**dict.fromkeys(SETTINGS, inner))
    for name, settings in SETTINGS.items():
        torch.testing.assert_close(found[name].loss, alone(settings, inner), rtol=1e-4, atol=0)
    assert [steps for steps, _ in found["EDiT"].curve] == [4, 9, 13]
    assert found["EDiT"].steps == [(4,) * 4, (4,) * 4, (1,) * 4]
    assert found["A-EDiT"].steps[0] == (4, 4, 2, 4)


def test_replicas_send_gradients_in_each_step_or_one_pseudo_gradient_a_round() -> None:
    found = together(**dict.fromkeys(("DDP", "EDiT"), Inner(1e-2)))
    size = 4 * sum(each.numel() for each in Chain().model(0).parameters())
    plan = 8 * (2 + 2 * 4)  # steps, finished, and two numbers for each of four modules
    assert found["DDP"].between == STEPS * size
    assert found["EDiT"].between == (WARM + 3) * size + 3 * plan
