"""Plans on real processes. Each launch does many checks: one costs seconds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


def on_ranks(checkout: Path, folder: Path, module: str, count: int, *arguments: str, timeout: float = 900) -> str:
    """What the ranks of a module here print; the test fails where one does, or where they wait for ever."""
    command = [sys.executable, "-m", "tests.training.hybrid.forked", f"tests.training.hybrid.{module}", str(count)]
    environment = os.environ | {"PYTHONPATH": str(checkout)}
    done = subprocess.run(
        [*command, *arguments],
        capture_output=True,
        text=True,
        timeout=timeout,
        env=environment,
        check=False,
        cwd=folder,
    )
    if done.returncode:
        pytest.fail(f"{module} ended with {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-6000:]}")
    return done.stdout


def test_gradients_are_those_of_one_process_under_any_plan(checkout: Path, tmp_path: Path) -> None:
    """Uneven stages, groups and micro-batches, packed samples, slices, chunks: 1e-10 in float64, 1e-5 in float32."""
    on_ranks(checkout, tmp_path, "gradients", 5)


def test_changing_plans_and_losing_ranks_changes_no_loss(checkout: Path, tmp_path: Path) -> None:
    """Re-planning, a lost rank with and without a checkpoint of its step, its return: 1e-4 over twenty steps."""
    on_ranks(checkout, tmp_path, "changing", 5, str(tmp_path))
