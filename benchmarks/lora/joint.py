"""Four and eight jobs on one base, together and one after another: time, memory, and whether the losses are the same.

    .venv-train/bin/python -m benchmarks.lora.joint [--jobs 4 8] [--steps 20] [--model tiny] [--out build/lora]

Jobs differ in rank, method, length and seed; each learns lines of Python's own library. "At once" is what as many
separate trainings take, each with a base of its own. Bytes are those of the base, of adapters with their gradients and
moments, and of the largest pass: what autograd keeps, counted, or the allocator's peak on a GPU. Both ways are run in
turns, `--repeats` times, and what took the processor least counts: unlike the clock, it hardly sees other programs.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from pathlib import Path

import msgspec
import torch

from couler_py.steps.corpus.files import standard_library, texts
from couler_py.steps.lora.jobs import Adapter, Data, Job, Optimizer, Policy, Queue
from couler_py.steps.lora.reporting import Results
from couler_py.steps.lora.running import run
from couler_py.steps.models.config import PRESETS
from couler_py.steps.models.decoder import build
from couler_py.steps.models.folders import save

KINDS = (
    ("json", Adapter(rank=4), 4),
    ("email", Adapter("lora+", rank=8, ratio=4.0), 4),
    ("asyncio", Adapter("rslora", rank=16, dropout=0.05), 2),
    ("unittest", Adapter("lora", rank=32, targets=("q_proj", "v_proj", "up_proj", "down_proj")), 4),
)


def jobs(folder: Path, count: int, steps: int) -> list[Job]:
    made = []
    for number in range(count):
        package, adapter, batch = KINDS[number % len(KINDS)]
        found = [line.strip() for line in "\n".join(texts([standard_library() / package])).splitlines()]
        lines = [line for line in found if 16 <= len(line) <= (48 if number % 2 else 88)]
        chosen = random.Random(number).sample(lines, steps * batch)
        path = folder / f"job-{number}.jsonl"
        path.write_text("\n".join(json.dumps({"text": line}) for line in chosen))
        data = Data(str(path.resolve()))
        name = f"{package}-{number}"
        made.append(Job(name, data, adapter, optimizer=Optimizer(lr=3e-3), batch=batch, cutoff=96, seed=number))
    return made


class Timed(msgspec.Struct):
    told: Results
    processor: float
    """Seconds of this process's one thread, loading of the base included."""


def timed(asked: Queue, base: Path, out: Path) -> Timed:
    began = time.process_time()
    told = run(asked, base, out)
    return Timed(told, time.process_time() - began)


def best(found: list[Timed]) -> Timed:
    return min(found, key=lambda each: each.processor)


def measured(folder: Path, base: Path, count: int, steps: int, repeats: int) -> list[str]:
    asked = jobs(folder, count, steps)
    together, alone = [], {job.name: [] for job in asked}
    for turn in range(repeats):
        policy = Policy(concurrency=count)
        together.append(timed(Queue(tuple(asked), policy), base, folder / f"together-{turn}"))
        for job in asked:
            alone[job.name].append(timed(Queue((job,)), base, folder / f"alone-{job.name}-{turn}"))
    joint, single = best(together), [best(each) for each in alone.values()]
    losses = {name: each.told.losses[name] for name, each in zip(alone, single, strict=True)}
    apart = max(abs(joint.told.losses[name] - loss) for name, loss in losses.items())
    peaks = [each.told.peak / 1e6 for each in single]
    return [
        f"| {count} | together | {joint.processor:.1f} | {joint.told.seconds:.1f} | {joint.told.peak / 1e6:.1f} "
        f"| {joint.told.padding:.1%} | {apart:.1e} |",
        f"| {count} | one after another | {sum(each.processor for each in single):.1f} "
        f"| {sum(each.told.seconds for each in single):.1f} | {max(peaks):.1f} "
        f"| {sum(each.told.padding for each in single) / count:.1%} | |",
        f"| {count} | at once, apart | | | {sum(peaks):.1f} | | |",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, nargs="+", default=[4, 8])
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--model", choices=PRESETS, default="tiny")
    parser.add_argument("--out", type=Path, default=Path("build/lora"))
    given = parser.parse_args()
    torch.set_num_threads(1)
    given.out.mkdir(parents=True, exist_ok=True)
    base = given.out / "base"
    shape = msgspec.structs.replace(PRESETS[given.model], vocabulary=max(259, PRESETS[given.model].vocabulary))
    save(build(shape, seed=1), base)
    rows = [
        "| jobs | | processor s | s | MB at the peak | padding | largest difference of last losses |",
        "|---|---|---|---|---|---|---|",
    ]
    for count in given.jobs:
        rows += measured(given.out, base, count, given.steps, given.repeats)
    (given.out / "joint.md").write_text("\n".join(rows) + "\n")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
