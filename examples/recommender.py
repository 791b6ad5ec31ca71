"""A recommender that sizes and heals itself: planned, one worker of two killed on the way, held to a baseline.

couler run examples/recommender.py
couler compile examples/recommender.py --to argo -o recommender.yaml
GPUS=2 couler compile examples/recommender.py --to airflow -O artifacts=s3://bucket/runs -o recommender.py

Clicks are generated; Criteo's own files, in the place of what `dlrm.generate` gives, are used the same way. A worker of
two is killed on the way: the other goes on alone with as many rows in a step, and later it comes back. What is learned
is held to a model without categories. The steps need torch: here `pip install couler-py[train]`, on a cluster IMAGE.
"""

import os
from pathlib import Path

import couler_py as couler
from couler_py.steps import dlrm

IMAGE = "ghcr.io/couler-py/train-cuda:latest"
GPUS = int(os.environ.get("GPUS", "0"))
"""Of a training, whose workers share them; none where it only tries itself out."""
WORKERS = 2, 2
"""Two, so that one can be lost; wider bounds leave the number to what earlier runs measured."""
SHAPE = dlrm.Shape(width=8, bottom=(64,), top=(64,))
DENSE = dlrm.Shape("dense", bottom=(), top=(64,))
LOST = dlrm.Emulated(lost=((1, 45),))
TASK = dlrm.Task(batch=1024, micro_batches=2, dense_lr=0.01, row_lr=0.2, save_every=10, emulated=LOST)
ALONE = dlrm.Task(batch=1024, dense_lr=0.01)


@couler.step(image=IMAGE)
def compared(trained: Path, dense: Path, again: Path, plan: Path) -> Path:
    """A page: who trained when, what was decided, what the model and the baseline are worth."""
    import json

    from couler_py.report.cards import Table
    from couler_py.report.page import Section, page

    ours, theirs = (json.loads(path.read_text()) for path in (trained, dense))
    judged, planned = json.loads(again.read_text()), json.loads(plan.read_text())
    best, base = (each["seen"][-1]["judged"] for each in (ours, theirs))
    names = ("auc", "log_loss", "normalised_entropy", "calibration")
    quality = tuple((name, *(f"{each[name]:.4f}" for each in (best, judged, base))) for name in names)
    facts = {
        "rows in the model": ours["rows"],
        "steps": ours["steps"],
        "workers planned": planned["allocation"]["workers"],
        "AUC above the baseline": round(best["auc"] - base["auc"], 4),
    }
    for name, value in facts.items():
        print(f"{name}: {value}")
    decisions = tuple((each["stage"], each["choice"], each["why"]) for each in planned["decisions"])
    lives = tuple((life[0], life[1]) for life in ours["lives"])
    print("from step, workers:", lives)
    sections = [
        Section("Who trained", (Table(("from step", "workers"), lives),)),
        Section("How good", (Table(("on rows for testing", "trained", "read again", "dense only"), quality),)),
        Section("What was decided before", (Table(("stage", "choice", "because"), decisions),)),
    ]
    report = Path("recommender.html")
    report.write_text(page("A recommender", sections, facts=facts), encoding="utf-8")
    return report


@couler.workflow
def recommender(rows: int = 160_000):
    where = {"image": IMAGE, "cpu": 2, "memory": "8Gi", **({"gpu": GPUS} if GPUS else {})}
    made = dlrm.generate.with_options(image=IMAGE)(rows=rows, largest=20_000)
    shards = dlrm.prepare.with_options(image=IMAGE)(made, threshold=3, holdout=0.1)
    plan = dlrm.plan(shards.train, workers=WORKERS, model=SHAPE, task=TASK, image=IMAGE)
    healed = dlrm.train(
        shards.train,
        shards.test,
        model=SHAPE,
        workers=plan.workers,
        least=1,
        task=TASK,
        checkpoints="checkpoints",
        **where,
    )
    baseline = dlrm.train(shards.train, shards.test, model=DENSE, task=ALONE, **where)
    again = dlrm.evaluate.with_options(image=IMAGE)(healed.model, shards.test)
    page = compared(healed.metrics, baseline.metrics, again.metrics, plan.plan)
    return page, healed.auc, baseline.auc, healed.rows, dlrm.export.with_options(image=IMAGE)(healed.model)
