"""How long training waits for a save: through memory, plainly, and `torch.save` of the same state, side by side.

    .venv-train/bin/python -m benchmarks.checkpoint.blocking [--gigabytes 1] [--saves 4]

`torch.save` and the plain save return when the disk has the bytes (fsync), and once more without, as people call it.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch

from couler_py.steps.checkpoint.flash import Flash
from couler_py.steps.checkpoint.saving import save


def state(gigabytes: float) -> dict[str, torch.Tensor]:
    """Weights and two moments in float32, as Adam has them, in matrices of 16 MB."""
    count = max(1, round(gigabytes * 2**30 / (2048 * 2048 * 4)))
    return {f"{each}": torch.randn(2048, 2048) for each in range(count)}


def seconds(work: Callable[[], object]) -> float:
    os.sync()  # what was written before is not paid for here
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=1.0)
    parser.add_argument("--saves", type=int, default=4)
    given = parser.parse_args()
    tensors = state(given.gigabytes)
    rows: dict[str, list[float]] = {"through memory": [], "plain": [], "torch.save, fsync": [], "torch.save": []}
    with tempfile.TemporaryDirectory(dir=".") as name:
        folder = Path(name)
        flash = Flash(folder / "flash")

        def torch_save(settle: bool) -> None:
            with open(folder / "state.pt", "wb") as file:
                torch.save(tensors, file)
                if settle:
                    file.flush()
                    os.fsync(file.fileno())

        for step in range(1, given.saves + 1):
            rows["through memory"].append(seconds(lambda step=step: flash.save(step, tensors)))
            flash.wait()
            rows["plain"].append(seconds(lambda step=step: save(folder / "plain", step, tensors, keep=1)))
            rows["torch.save, fsync"].append(seconds(lambda: torch_save(True)))
            rows["torch.save"].append(seconds(lambda: torch_save(False)))
        flash.close()
    size = sum(each.numel() * each.element_size() for each in tensors.values()) / 2**30
    print(f"{size:.2f} GB in {len(tensors)} tensors; seconds that training waits, {given.saves} saves in turns\n")
    print(f"{'':20} {'first':>8} {'later (median)':>16} {'of torch.save, fsync':>22} {'of torch.save':>15}")
    later = {way: statistics.median(times[1:]) for way, times in rows.items()}
    for way, times in rows.items():
        share = [later[way] / later[other] for other in ("torch.save, fsync", "torch.save")]
        print(f"{way:20} {times[0]:8.3f} {later[way]:16.3f} {share[0]:21.1%} {share[1]:14.1%}")


if __name__ == "__main__":
    main()
