"""EDiT beside plain data parallelism on real ranks: bytes, and time where one replica or the network is slow.

    .venv-train/bin/torchrun --standalone --nproc-per-node=4 -m benchmarks.edit.experiments NAME

NAME is `sent` (bytes, beside what the loopback interface has counted), `slow` (one replica's steps take 2.5 times as
long) or `network` (a slow one between replicas). Ranks are processes of this machine. Slow steps and slow networks are
timed waits around real computation, so that processors are never the limit. Results go to NAME.json and a plot in
`--out`; figures are means over `--seeds`. For `sent` the loopback interface is to be the run's own: begin the command
with `unshare --net sh -c 'ip link set lo up && …'`. Losses are measured by `curves.py` and `broken.py`.
"""

from __future__ import annotations

import argparse
import itertools
import os
import time
from pathlib import Path

import msgspec
import torch
from torch import distributed

from couler_py.report.plots.bars import bar
from couler_py.steps.corpus import files, tokens
from couler_py.steps.corpus.tokenizers import ByteTokenizer
from couler_py.steps.edit.channel import Said
from couler_py.steps.edit.settings import Outer, Penalty, Settings, preset
from couler_py.steps.edit.task import Inner, Task
from couler_py.steps.edit.training import Told, train
from couler_py.steps.models.config import DecoderConfig

MODEL = DecoderConfig(vocabulary=259, layers=2, hidden=32, heads=2, kv_heads=1, feed_forward=88, context=64)
EVERY, STEPS = 8, 64
PENALTY = Penalty(smoothing=0.1, rounds_before=8, temperature=1.0)
OUTER = Outer(0.7, 0.8)


class Result(msgspec.Struct):
    """One run."""

    method: str
    variant: str
    seed: int
    loss: float
    seconds: float
    steps_per_second: float
    """Of all replicas together."""
    between: int
    """Bytes that one rank sent between replicas."""
    waited: float
    heavy: int = 0
    """Of them gradients and pseudo-gradients."""
    loopback: int = 0
    """Bytes that the loopback interface sent, for all ranks and whatever else spoke over it."""


def task(settings: Settings, seed: int) -> Task:
    return Task(
        settings, MODEL, replicas=distributed.get_world_size(), steps=STEPS, sequence=64, batch=4, seed=seed,
        inner=Inner(lr=5e-3, rise=20), held_out=128,
    )  # fmt: skip


def result(method: str, variant: str, seed: int, told: Told, replicas: int, steps: float) -> Result:
    return Result(
        method, variant, seed, told.seen[-1].loss, told.seconds, steps * replicas / told.seconds, told.between,
        told.waited,
    )  # fmt: skip


def sent(data: Path, seeds: int) -> list[Result]:
    """Rounds of 4, 16 and 64 steps beside gradients in each step."""
    found = []
    for seed, every in itertools.product(range(seeds), (None, 4, 16, 64)):
        settings = preset("ddp") if every is None else preset("edit", sync_every=every, outer=OUTER, penalty=PENALTY)
        heavy: list[int] = []

        def count(said: Said, heavy: list[int] = heavy) -> None:
            if said.channel == "between" and said.how == "all_reduce":
                heavy.append(said.size)

        distributed.barrier()
        before = loopback()
        _, told = train(task(settings, seed), data, listen=count)
        distributed.barrier()
        after = loopback()
        name = "DDP" if every is None else f"EDiT, every {every}"
        one = result(name, "", seed, told, 4, STEPS)
        found.append(msgspec.structs.replace(one, heavy=sum(heavy), loopback=after - before))
    return found


def loopback() -> int:
    """Bytes that this network namespace's loopback interface has sent so far."""
    lines = Path("/proc/self/net/dev").read_text(encoding="ascii").splitlines()
    (line,) = (line for line in lines if line.strip().startswith("lo:"))
    return int(line.split()[9])


def slow(data: Path, seeds: int) -> list[Result]:
    """Each step waits 0.1 s, and 0.25 s on replica 0."""
    found = []
    timed = {
        "DDP": preset("ddp"),
        "EDiT": preset("edit", sync_every=EVERY, outer=OUTER, penalty=PENALTY),
        "A-EDiT": preset("a_edit", sync_seconds=1.6 * 2.5, outer=OUTER, penalty=PENALTY),
    }
    cases = [(seed, *each) for seed in range(seeds) for each in (("alike", 0.1), ("one 2.5 times slower", 0.25))]
    for seed, variant, slowest in cases:
        for method, settings in timed.items():
            made = task(settings, seed)
            _, told = train(made, data, pause=lambda replica, _, late=slowest: time.sleep(0.1 if replica else late))
            steps = sum(sum(each.steps) for each in told.rounds) / 4 if told.rounds else 64
            found.append(result(method, variant, seed, told, 4, steps))
    return found


def network(data: Path, seeds: int) -> list[Result]:
    """1 MB/s between replicas: each collective waits for its bytes times 2(N-1)/N."""
    found = []

    def wait(said: Said) -> None:
        if said.channel == "between":
            time.sleep(said.size * 1.5 / 1e6)

    for seed, every in itertools.product(range(seeds), (None, 4, 16, 64)):
        settings = preset("ddp") if every is None else preset("edit", sync_every=every, outer=OUTER, penalty=PENALTY)
        _, told = train(task(settings, seed), data, listen=wait)
        found.append(result("DDP" if every is None else f"EDiT, every {every}", "1 MB/s", seed, told, 4, 64))
    return found


EXPERIMENTS = {"sent": sent, "slow": slow, "network": network}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=EXPERIMENTS)
    parser.add_argument("--out", type=Path, default=Path("build/edit"))
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    torch.set_num_threads(1)
    distributed.init_process_group("gloo")
    given.out.mkdir(parents=True, exist_ok=True)
    data = given.out / "corpus"
    if distributed.get_rank() == 0:
        tokens.write(files.texts(most=4_000_000), ByteTokenizer(), data)
    distributed.barrier()
    found = EXPERIMENTS[given.name](data, given.seeds)
    if distributed.get_rank() == 0:
        (given.out / f"{given.name}.json").write_bytes(msgspec.json.encode(found))
        (given.out / f"{given.name}.svg").write_text(plot(given.name, found))
        print(table(found))
    distributed.destroy_process_group()


def plot(name: str, found: list[Result]) -> str:
    """Bars of what the experiment is about: megabytes for `sent`, else steps in a second; of the first seed."""
    first = [each for each in found if each.seed == 0]
    values = {
        method: {
            each.variant: each.heavy / 1e6 if name == "sent" else each.steps_per_second
            for each in first
            if each.method == method
        }
        for method in dict.fromkeys(each.method for each in first)
    }
    return bar(values, title=name, y_label="MB sent by a rank" if name == "sent" else "steps/s of all replicas")


def table(found: list[Result]) -> str:
    """Means over seeds, as Markdown."""
    rows = [
        "| method | | loss | steps/s | MB between | of it gradients, bytes | MB over loopback | s waited |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for method, variant in dict.fromkeys((each.method, each.variant) for each in found):
        same = [each for each in found if (each.method, each.variant) == (method, variant)]

        def mean(field: str, same: list[Result] = same) -> float:
            return sum(getattr(each, field) for each in same) / len(same)

        rows.append(
            f"| {method} | {variant} | {mean('loss'):.4f} | {mean('steps_per_second'):.1f} "
            f"| {mean('between') / 1e6:.2f} | {mean('heavy'):.0f} | {mean('loopback') / 1e6:.2f} "
            f"| {mean('waited'):.1f} |"
        )
    return "\n".join(rows)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
