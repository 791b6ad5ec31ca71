"""Real runs: a pipeline that somebody works on, run again after each change, its cache held to a budget."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import Any

import couler_py as couler
from couler_py.backends.local import execute

MODELS = 4
BUDGET = "5MB"
RUNS = (
    {},
    {"c0": 1},
    {"c0": 2},
    {"c0": 2, "c1": 1},
    {"c0": 2, "c1": 2},
    {"c0": 2, "c1": 2, "scale": 1},
    {"c0": 2, "c1": 2, "c2": 1, "scale": 1},
    {"c0": 2, "c1": 2, "c2": 2, "scale": 1},
    {"c0": 2, "c1": 2, "c2": 2, "c3": 1, "scale": 1},
    {"c0": 2, "c1": 2, "c2": 2, "c3": 2, "scale": 1},
)
"""The parameters of each run: models are tuned, once the features are made otherwise."""

SHOWN = ("none", "fifo", "lru", "gdsf", "couler", "foresight", "all")


@couler.step(cache=True)
def load() -> Path:
    """Much, and soon had."""
    path = Path("raw.bin")
    path.write_bytes(bytes(range(256)) * 16_000)
    return path


@couler.step(cache=True)
def clean(raw: Path) -> Path:
    """As much, with some work."""
    import hashlib

    hashlib.pbkdf2_hmac("sha256", b"clean", b"salt", 300_000)
    path = Path("clean.bin")
    path.write_bytes(raw.read_bytes()[::-1])
    return path


@couler.step(cache=True)
def features(clean: Path, scale: int) -> Path:
    """Less, with much work."""
    import hashlib

    digest = hashlib.pbkdf2_hmac("sha256", b"features", str(scale).encode(), 900_000)
    path = Path("features.bin")
    path.write_bytes(digest * 25_000)
    return path


@couler.step(cache=True)
def train(features: Path, model: int, c: int) -> Path:
    """Little, with much work."""
    import hashlib

    digest = hashlib.pbkdf2_hmac("sha256", features.read_bytes()[:32], f"{model} {c}".encode(), 600_000)
    path = Path("model.bin")
    path.write_bytes(digest * 20_000)
    return path


@couler.step
def choose(a: Path, b: Path, c: Path, d: Path) -> str:
    """The best, by nothing that matters here."""
    return max(path.read_bytes()[:8].hex() for path in (a, b, c, d))


@couler.workflow
def tuning(c0: int = 0, c1: int = 0, c2: int = 0, c3: int = 0, scale: int = 0):
    made = features(clean(load()), scale)
    return choose(*(train(made, number, c) for number, c in enumerate((c0, c1, c2, c3))))


def measure() -> list[dict[str, Any]]:
    """By policy: seconds of the clock, and of steps that had to run, over all runs."""
    print(f"\nCaching, real runs: {len(RUNS)} runs of {MODELS + 4} steps, budget {BUDGET}")
    print(f"{'policy':12}{'seconds':>9}{'of steps':>10}{'steps run':>11}{'cached':>8}")
    rows = []
    before = dict(os.environ)
    for policy in SHOWN:
        os.environ.update(COULER_CACHE_POLICY=policy, COULER_CACHE_BUDGET=BUDGET)
        with tempfile.TemporaryDirectory() as home:
            rows.append({"policy": policy} | _runs(home))
        print("{policy:12}{seconds:>9.2f}{of_steps:>10.2f}{ran:>11}{cached:>8}".format(**rows[-1]), flush=True)
    os.environ.clear()
    os.environ.update(before)
    return rows


def _runs(home: str) -> dict[str, Any]:
    workflow = couler.build(tuning)
    began = time.monotonic()
    of_steps, ran, cached = 0.0, 0, 0
    for parameters in RUNS:
        done = execute(workflow, parameters, home=home)
        assert done.status == "Succeeded", done.message
        for path, task in done.tasks.items():
            if path and task.cached:
                cached += 1
            elif path:
                ran, of_steps = ran + 1, of_steps + task.seconds
    return {"seconds": time.monotonic() - began, "of_steps": of_steps, "ran": ran, "cached": cached}


def verdicts(rows: list[dict[str, Any]]) -> list[tuple[str, str, bool]]:
    """What is promised of real runs: the same direction as replayed."""
    took = {row["policy"]: row["of_steps"] for row in rows}
    others = {name: took[name] for name in ("none", "fifo", "lru", "couler")}
    text = f"{took['foresight']:.1f} s of steps, " + ", ".join(
        f"{name} {value:.1f} s" for name, value in others.items()
    )
    return [
        (
            "caching: real runs take less than with none, fifo, lru, couler",
            text,
            took["foresight"] < min(others.values()),
        )
    ]
