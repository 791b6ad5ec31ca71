"""Checks that need several ranks, all in one launch: each is a function, and each is a test of its own afterwards."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
from torch import distributed

Check = Callable[[], None]


def checks(namespace: dict[str, Any]) -> dict[str, Check]:
    """The functions of a module that are called check_…, by what they check."""
    return {name.removeprefix("check_"): each for name, each in namespace.items() if name.startswith("check_")}


def run(namespace: dict[str, Any]) -> None:
    """Run the checks of a module on this rank; the first rank writes what went wrong, by check, to the file named by
    the first argument. A check that fails on one rank only would leave others waiting: they give up after a minute."""
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", timeout=timedelta(seconds=60))
    found: dict[str, str | None] = {}
    for name, check in checks(namespace).items():
        problem = None
        try:
            check()
        except Exception:
            problem = traceback.format_exc()
        told: list[str | None] = [None] * distributed.get_world_size()
        distributed.all_gather_object(told, problem)
        failed = [f"rank {rank}: {each}" for rank, each in enumerate(told) if each]
        found[name] = "\n".join(failed) or None
    if distributed.get_rank() == 0:
        Path(sys.argv[1]).write_text(json.dumps(found))
    distributed.destroy_process_group()
