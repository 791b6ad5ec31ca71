"""Whether jobs learn on a GPU what they learn on the processor, and what a pass really takes there.

    .venv-train/bin/python -m benchmarks.lora.gpu_check

Two jobs of different ranks, fused, on both devices; then the memory model against the allocator's peak, and one forward
and backward of 1, 4 and 8 jobs together and apart. Without a GPU it says so.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import torch

from couler_py.steps.lora.data import OfBytes, examples_of
from couler_py.steps.lora.hosting import Host
from couler_py.steps.lora.jobs import Adapter, Data, Job, Optimizer, Policy
from couler_py.steps.lora.passes import learn
from couler_py.steps.lora.trainer import Trainer
from couler_py.steps.lora.tuning import Tuning
from couler_py.steps.lora.weights import Weights
from couler_py.steps.models.config import DecoderConfig
from couler_py.steps.models.decoder import build

SHAPE = DecoderConfig(vocabulary=512, layers=8, hidden=512, heads=8, kv_heads=4, feed_forward=1376, context=256)


def jobs(folder: Path, count: int) -> list[Job]:
    made = []
    for number in range(count):
        path = folder / f"{number}.jsonl"
        path.write_text("".join(f'{{"text": "{chr(97 + number) * (20 + 11 * row)}"}}\n' for row in range(16)))
        adapter = Adapter(rank=4 * (number + 1))
        made.append(Job(f"job-{number}", Data(str(path)), adapter, optimizer=Optimizer(lr=1e-3), batch=4, seed=number))
    return made


def losses(folder: Path, device: str) -> tuple[list[float], Trainer]:
    trainer = Trainer(Host(build(SHAPE, 1, device=device)), Policy(overhead=10**6))
    for job in jobs(folder, 2):
        trainer.submit(job)
    told = trainer.run()
    return [loss for each in told.values() for loss in each.losses], trainer


def timed(host: Host, tunings: list[Tuning], fused: bool) -> float:
    pieces = [tuning.piece() for tuning in tunings]
    best = float("inf")
    for _ in range(12):
        torch.cuda.synchronize()
        began = time.perf_counter()
        for group in [pieces] if fused else [[piece] for piece in pieces]:
            learn(host, group)
        torch.cuda.synchronize()
        best = min(best, time.perf_counter() - began)
    return best * 1e3


def main() -> None:
    if not torch.cuda.is_available():
        print("skipped: there is no GPU here")
        return
    torch.backends.cuda.matmul.allow_tf32 = False
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (expected, _), (found, trainer) = losses(folder, "cpu"), losses(folder, "cuda")
        worst = max(abs(one - other) for one, other in zip(expected, found, strict=True))
        print(f"losses on both devices differ by at most {worst:.1e}")
        if worst > 1e-3:
            raise SystemExit("DIFFERENT")
        model = trainer.meter.model
        for each in trainer.meter.samples:
            told = model.bytes(each.rows, each.length) / (1 + model.margin)
            print(f"{each.rows} rows of {each.length}: {each.bytes / 1e6:.1f} MB, foretold {told / 1e6:.1f} MB")
        print(f"margin {model.margin:.1%} after {model.samples} samples")
        host = Host(build(SHAPE, 1, device="cuda"))
        for count in (1, 4, 8):
            tunings = []
            for job in jobs(folder, count):
                samples = examples_of(job, OfBytes(), host.vocabulary, host.context)
                tunings.append(Tuning(job, samples, Weights(job.adapter, host.targets(job.adapter.targets), job.seed)))
            fused, apart = timed(host, tunings, fused=True), timed(host, tunings, fused=False)
            print(f"{count} jobs, one forward and backward: {fused:.2f} ms together, {apart:.2f} ms apart")


if __name__ == "__main__":
    main()
