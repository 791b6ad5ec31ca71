"""What steps that train start, and how each of the processes begins."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

if TYPE_CHECKING:
    import torch

T = TypeVar("T")
HEALTH = 5
"""Seconds after which a worker that isn't heard of is lost; three times as long later, one that ended comes back."""


def need_torch() -> None:
    """Say what is missing before anything is begun. Raises `RuntimeError` where this Python has no torch."""
    if importlib.util.find_spec("torch") is None:
        raise RuntimeError(f"{sys.executable} has no torch: run this step where couler-py[train] is installed")


def torchrun(module: str, processes: int, *arguments: str, restarts: int = 0) -> None:
    """Run a module in so many processes of this machine; all begin again, so often, when one fails.

    Raises `RuntimeError` where they fail for good: what they said stands above in the log.
    """
    command = [
        *(sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"),
        *(f"--max-restarts={restarts}", "--module", module, *arguments),
    ]
    ended = subprocess.run(command, check=False).returncode
    if ended:
        raise RuntimeError(f"the training ended with {ended}: what its ranks said stands above")


def agents(module: str, workers: int, *arguments: str, least: int, restarts: int) -> None:
    """Run a module in so many workers of this machine, each with an agent of torchrun, of which some may be lost.

    While at least `least` are left they meet anew and go on; who was lost comes back later (`runner/launch/`). Where
    there are GPUs, each worker has its part of them. Raises `RuntimeError` where they fail for good.
    """
    from couler_py.runner.launch import program

    job = {"framework": "torch", "nodes": workers, "processes": 1, "least": least, "restarts": restarts}
    spec = job | {"health": HEALTH, "patience": 0, "roles": []}
    command = [sys.executable, "-c", program(), json.dumps(spec), sys.executable, "-m", module, *arguments]
    environment = dict(os.environ)
    gpus = len(list(Path("/dev").glob("nvidia[0-9]*")))
    if gpus:
        environment.setdefault("CUDA_VISIBLE_DEVICES", ",".join(str(each) for each in range(gpus)))
    ended = subprocess.run(command, check=False, env=environment).returncode
    if ended:
        raise RuntimeError(f"the training ended with {ended}: what its workers said stands above")


def task_of(text: str, kind: type[T]) -> T:
    """A task, given as JSON or as the path of a file of it. Raises what `msgspec` raises for another kind's."""
    found = text if text.lstrip().startswith("{") else Path(text).read_text(encoding="utf-8")
    return msgspec.json.decode(found, type=kind)


def begin() -> torch.device:
    """Join the other processes; gives the device of this one, a GPU of its own where there are any.

    Checkpoints and what ranks tell each other go from memory to memory of the host, and so over gloo.
    """
    import torch
    from torch import distributed

    if not torch.cuda.is_available():
        distributed.init_process_group("gloo")
        return torch.device("cpu")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    distributed.init_process_group("cpu:gloo,cuda:nccl")
    return device
