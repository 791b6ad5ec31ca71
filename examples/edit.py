"""Training in rounds: a corpus, EDiT with two replicas of two shards beside plain data parallelism, and a comparison.

couler run examples/edit.py
GPUS=4 couler compile examples/edit.py --to argo -o edit.yaml

The steps need torch: on this machine `pip install couler-py[train]`, on a cluster the image.
"""

import os

import couler_py as couler
from couler_py.steps import compare, edit

IMAGE = "ghcr.io/couler-py/train-cuda:latest"
GPUS = int(os.environ.get("GPUS", "0"))
WHERE = {"image": IMAGE, "memory": "8Gi"} | ({"gpu": GPUS} if GPUS else {})


@couler.workflow
def rounds_or_steps(most: int = 1_000_000):
    corpus = edit.prepare.with_options(image=IMAGE)(most=most)
    shared = {"replicas": 2, "shards": 2, "steps": 120, "warmup": 24, "evaluate_every": 24}
    rounds = edit.train(corpus, method="edit", sync_every=12, **shared, **WHERE)
    steps = edit.train(corpus, method="ddp", **shared, **WHERE)
    judge = edit.evaluate.with_options(image=IMAGE)
    losses = [judge.named("judge-edit")(rounds.model, corpus), judge.named("judge-ddp")(steps.model, corpus)]
    return compare(["edit", "ddp"], losses, goal="minimize")
