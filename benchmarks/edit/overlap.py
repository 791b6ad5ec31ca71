"""How much of what replicas send in a round is hidden behind computation: E7 of EDiT's experiments.

    .venv-train/bin/torchrun --standalone --nproc-per-node=2 -m benchmarks.edit.overlap

Each module's pseudo-gradient is in flight while the module before computes its forward. The table says for how long it
was, and for how much of that time the rank stood and waited, by module, as the mean over rounds and ranks.
The trace goes to `--out`, for https://ui.perfetto.dev. On processors gloo's own threads compete with computation.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path

import torch
from torch import distributed

from couler_py.steps.corpus import files, tokens
from couler_py.steps.corpus.tokenizers import ByteTokenizer
from couler_py.steps.edit.settings import preset
from couler_py.steps.edit.task import Task
from couler_py.steps.edit.tracing import FLIGHT, WAIT, Span, Tracer, timeline
from couler_py.steps.edit.training import train
from couler_py.steps.models.config import DecoderConfig

MODEL = DecoderConfig(vocabulary=259, layers=6, hidden=192, heads=4, kv_heads=4, feed_forward=512, context=128)
ROUNDS, EVERY = 6, 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("build/edit"))
    given = parser.parse_args()
    torch.set_num_threads(1)
    distributed.init_process_group("gloo")
    data = given.out / "corpus"
    if distributed.get_rank() == 0:
        tokens.write(files.texts(most=1_000_000), ByteTokenizer(), data)
    distributed.barrier()
    replicas = distributed.get_world_size()
    task = Task(preset("edit", sync_every=EVERY), MODEL, replicas=replicas, steps=ROUNDS * EVERY, sequence=128, batch=4)
    tracer = Tracer(ROUNDS)
    train(task, data, tracer=tracer)
    told: list[tuple[float, list[Span]]] = [(0.0, [])] * replicas
    distributed.all_gather_object(told, (tracer.met, tracer.spans))
    if distributed.get_rank() == 0:
        timeline(told, shards=1).write(given.out / "overlap.json")
        print(table([span for _, spans in told for span in spans], ROUNDS * replicas))
    distributed.destroy_process_group()


def table(spans: list[Span], times: int) -> str:
    """As Markdown: each module, in the order of rounds."""
    seconds: dict[str, dict[str, float]] = defaultdict(lambda: {FLIGHT: 0.0, WAIT: 0.0})
    sizes: dict[str, int] = {}
    for span in spans:
        if span.row in (FLIGHT, WAIT) and span.facts["how"] == "all_reduce" and span.name.startswith("between"):
            seconds[span.name][span.row] += span.end - span.start
            sizes[span.name] = span.facts["bytes"]
    rows = ["| module | MB | in flight, ms | waited, ms | hidden |", "|---|---|---|---|---|"]
    for name, found in seconds.items():
        hidden = 1 - found[WAIT] / found[FLIGHT] if found[FLIGHT] else 0.0
        rows.append(
            f"| {name.removeprefix('between: ')} | {sizes[name] / 1e6:.2f} | {1000 * found[FLIGHT] / times:.1f} "
            f"| {1000 * found[WAIT] / times:.1f} | {hidden:.0%} |"
        )
    return "\n".join(rows)


if __name__ == "__main__":
    main()
