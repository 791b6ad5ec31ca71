"""A training of sixty steps that loses a node at some of them, and goes on ten more without it.

`losing.py FOLDER STEP,STEP`.
Each step has four micro-batches of eight samples. The state is one file, written by rank 0 after every step.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

import torch
import torch.distributed as dist

from couler_py.steps.elastic import microbatches, planned

STEPS, SIZE, WITHOUT = 60, 8, 10


def train(folder: Path, losing: list[int]) -> None:
    dist.init_process_group("gloo")
    rank, world, whole = dist.get_rank(), dist.get_world_size(), planned()
    file = folder / "state.json"
    state = json.loads(file.read_text()) if file.exists() else {"step": 0, "samples": 0, "weights": [0.0] * 3}
    weights = torch.tensor(state["weights"], dtype=torch.float32, requires_grad=True)
    loss = torch.zeros(())
    for step in range(state["step"], STEPS):
        lost = [each for each in losing if each <= step]
        if step in losing and world == whole and rank == 2 and not (folder / f"lost-{step}").exists():
            (folder / f"lost-{step}").touch()
            os.kill(os.getppid(), signal.SIGKILL)  # the agent: the whole node is gone
            os.kill(os.getpid(), signal.SIGKILL)
        while world < whole and step >= lost[-1] + WITHOUT:
            time.sleep(0.1)  # until the node is back and all begin again
        total, count = torch.zeros(()), torch.zeros(())
        weights.grad = torch.zeros_like(weights)
        for batch in microbatches(whole, rank, world):
            draw = torch.Generator().manual_seed(step * whole + batch)
            x = torch.randn(SIZE, 3, generator=draw)
            error = ((x @ weights - x @ torch.tensor([1.0, -2.0, 0.5])) ** 2).sum()
            error.backward()
            total, count = total + error.detach(), count + SIZE
        for each in (weights.grad, total, count):
            dist.all_reduce(each)
        with torch.no_grad():
            weights -= 0.02 * weights.grad / count
        loss = total / count
        if rank == 0:
            state = {"step": step + 1, "samples": state["samples"] + int(count), "weights": weights.tolist()}
            (folder / "new.json").write_text(json.dumps(state))
            (folder / "new.json").rename(file)
            with (folder / "worlds").open("a") as worlds:
                worlds.write(f"{step} {world}\n")
    if rank == 0:
        out = Path("/tmp/couler/outputs")
        (out / "loss").write_text(json.dumps(float(loss)))
        (out / "samples").write_text(json.dumps(state["samples"]))
    dist.destroy_process_group()


if __name__ == "__main__":
    train(Path(sys.argv[1]), [int(step) for step in sys.argv[2].split(",") if step])
