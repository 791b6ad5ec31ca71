"""Many trainings on one base: five jobs at once, each adapter judged, and the same five one after another to compare.

couler run examples/lora.py
GPUS=1 couler compile examples/lora.py --to argo -o lora.yaml

Three jobs learn the style of a package of Python's own library, two prefer its lines to lines whose words are shuffled;
they differ in method, rank and length. The steps need torch: here `pip install couler-py[train]`, elsewhere an image.
"""

import os
from pathlib import Path
from typing import NamedTuple, TypedDict

import couler_py as couler
from couler_py.steps import lora

IMAGE = "ghcr.io/couler-py/train-cuda:latest"
GPUS = int(os.environ.get("GPUS", "0"))
WHERE = {"image": IMAGE, "memory": "8Gi"} | ({"gpu": GPUS} if GPUS else {})
SHARED = {"batch": 8, "cutoff": 96, "optimizer": lora.Optimizer(lr=5e-3)}
PAIRS = {"objective": lora.CPO(beta=0.5), "batch": 4}
TASTE = {"objective": lora.DPO(0.5), "optimizer": lora.Optimizer(lr=2e-4)}  # at 5e-3 its loss on held-out pairs rises


def data(name: str) -> lora.Data:
    return lora.Data(f"{name}.jsonl", held_out=16)


JOBS = [
    lora.Job("json", data("json"), lora.Adapter(rank=4), **SHARED),
    lora.Job("email", data("email"), lora.Adapter("lora+", rank=8, ratio=4.0), **SHARED),
    lora.Job("asyncio", data("asyncio"), lora.Adapter("dora", rank=8, dropout=0.05), **SHARED),
    lora.Job("order", data("pairs"), lora.Adapter(rank=8), **(SHARED | PAIRS)),
    lora.Job("taste", data("pairs"), lora.Adapter("rslora", rank=16), **(SHARED | PAIRS | TASTE)),
]


class Took(TypedDict):
    seconds: float
    peak: int


class Begun(NamedTuple):
    base: Path
    data: Path


@couler.step(image=IMAGE)
def base_and_data(lines: int) -> Begun:
    """A small decoder that has read a little Python, and a file of lines for each job."""
    import json
    import random

    import torch

    from couler_py.steps.corpus.files import standard_library, texts
    from couler_py.steps.models.config import PRESETS
    from couler_py.steps.models.decoder import build, next_token_loss
    from couler_py.steps.models.folders import save

    def rows(package: str) -> list[str]:
        source = "\n".join(texts([standard_library() / package]))
        return [line.strip() for line in source.splitlines() if 24 <= len(line.strip()) <= 88]

    model, draw = build(PRESETS["tiny"], seed=1), random.Random(1)
    optimizer, read = torch.optim.AdamW(model.parameters(), lr=3e-3), "\n".join(rows("unittest")).encode()
    for _ in range(60):
        places = [draw.randrange(len(read) - 97) for _ in range(8)]
        batch = torch.tensor([list(read[place : place + 97]) for place in places])
        optimizer.zero_grad()
        next_token_loss(model(batch[:, :-1]), batch[:, 1:]).backward()
        optimizer.step()
    save(model, "base")
    folder = Path("data")
    folder.mkdir()
    for name in ("json", "email", "asyncio"):
        chosen = [json.dumps({"text": text}) for text in draw.sample(rows(name), lines)]
        (folder / f"{name}.jsonl").write_text("\n".join(chosen))
    pairs = []
    for text in draw.sample(rows("email"), lines):
        words = text.split(" ")
        start, rest = words[:1], draw.sample(words[1:], len(words) - 1)
        fields = {"prompt": f"{start[0]} ", "chosen": " ".join(words[1:]) + "\n", "rejected": " ".join(rest)}
        pairs.append(json.dumps(fields))
    (folder / "pairs.jsonl").write_text("\n".join(pairs))
    return Begun(Path("base"), folder)


@couler.step
def compared(
    judged: dict[str, float], together: Took, alone: list[dict[str, float]], seconds: list[float], peaks: list[int]
) -> Path:
    """A table: each adapter's loss on held-out lines, trained together and alone, and what both ways took."""
    single = {name: loss for losses in alone for name, loss in losses.items()}
    rows = ["| job | together | alone |", "|---|---|---|"]
    rows += [f"| {name} | {judged[name]:.4f} | {single[name]:.4f} |" for name in single]
    rows += ["", "| | seconds | MB at the peak |", "|---|---|---|"]
    rows.append(f"| together | {together['seconds']:.1f} | {together['peak'] / 1e6:.1f} |")
    rows.append(f"| one after another | {sum(seconds):.1f} | {max(peaks) / 1e6:.1f} |")
    rows.append(f"| at once, each with a base of its own | | {sum(peaks) / 1e6:.1f} |")
    report = Path("comparison.md")
    report.write_text("\n".join([*rows, ""]))
    print("\n".join(rows))
    return report


@couler.workflow
def five_jobs(lines: int = 120):
    begun = base_and_data(lines)
    names = [job.name for job in JOBS]
    together = lora.train_many(begun.base, JOBS, data=begun.data, name="together", **WHERE)
    judge = lora.evaluate.with_options(image=IMAGE)
    judged = {name: judge.named(f"judge-{name}")(begun.base, together.adapters, name, begun.data) for name in names}
    alone, before = [], together
    for job in JOBS:
        one = lora.train_many(begun.base, [job], data=begun.data, name=f"alone-{job.name}", **WHERE)
        before = one.after(before)  # one at a time, so that times can be compared
        alone.append(one)
    took = {"seconds": together.seconds, "peak": together.peak}
    seconds, peaks = [one.seconds for one in alone], [one.peak for one in alone]
    table = compared(judged, took, [one.losses for one in alone], seconds, peaks)
    best = lora.export.with_options(image=IMAGE)(together.adapters, "json", begun.base)
    return table, together.report, best
