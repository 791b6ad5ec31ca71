"""Uneven hardware: one of four ranks gets slow, equal shares against plans that suit it; then a rank is lost, and back.

couler run examples/uneven.py
couler compile examples/uneven.py --to argo -o uneven.yaml

A rank is a process. That one is slow is emulated: each computes something small, and waits for the rest of the time
that a layer is said to take; what ranks send each other, how plans change and what is learned are real. The rank that
is lost is a process that ends. The steps need torch: here `pip install couler-py[train]`, on a cluster the image.
"""

from pathlib import Path

import couler_py as couler
from couler_py.steps import edit, hybrid
from couler_py.steps.models.config import DecoderConfig

IMAGE = "ghcr.io/couler-py/train-cuda:latest"
SHAPE = DecoderConfig(vocabulary=257, layers=8, hidden=32, heads=2, kv_heads=2, feed_forward=64, context=32)
SLOW, LOST, BACK, STEPS = 6, 14, 20, 26
"""After which step rank 0 takes 2.57 times as long, rank 3 is lost, and is back; and how many steps there are."""
RATES = [2.57, 1.0, 1.0, 1.0]
FORWARD, BACKWARD = 0.01, 0.02
"""Seconds that a layer is said to take for a micro-batch on a healthy rank."""


@couler.step(image=IMAGE)
def compared(planned: Path, same: Path, suits: Path, equal: Path, predicted: list[float]) -> Path:
    """A page: what steps took with equal shares and with plans, who computed when, and what was predicted."""
    from statistics import median

    import msgspec

    from couler_py.report.cards import Plot, Table, Text
    from couler_py.report.page import Section, page
    from couler_py.report.plots import line
    from couler_py.steps.hybrid.reporting import EMULATED, pictures
    from couler_py.steps.hybrid.telling import Told

    paths = {"equal shares": same, "plans": planned}
    told = {name: msgspec.json.decode(path.read_bytes(), type=Told) for name, path in paths.items()}
    rows = []
    for what, end in (
        ("all are healthy", SLOW),
        ("rank 0 is slow", LOST),
        ("rank 3 is lost too", BACK),
        ("rank 3 is back", STEPS),
    ):
        last = [[step.seconds for step in each.steps if end - 4 < step.step <= end] for each in told.values()]
        guess = [f"{each:.3f}" for each in predicted] if end == LOST else ["", ""]
        rows.append((what, *(f"{median(took):.3f}" if took else "" for took in last), *guess))
        print(*rows[-1], sep=" | ")
    columns = ("when", *told, "equal shares, predicted", "plans, predicted")
    series = {name: [(float(step.step), step.seconds) for step in each.steps] for name, each in told.items()}
    report = Path("uneven.html")
    sections = [
        Section("", (Text(EMULATED),)),
        Section("Seconds of a step, median of the last four", (Table(columns, tuple(rows)),)),
        Section("Seconds of all steps", (Plot("seconds", line(series, x_label="steps", y_label="seconds")),)),
        Section("What happened", (Table(("after step", "what"), told["plans"].news),)),
        Section("Predicted", (Plot("equal", equal.read_text()), Plot("suiting", suits.read_text()))),
        Section("Measured with equal shares", tuple(pictures(told["equal shares"]))),
        Section("Measured with plans", tuple(pictures(told["plans"]))),
    ]
    report.write_text(page("Training on uneven hardware", sections), encoding="utf-8")
    return report


@couler.workflow
def uneven():
    corpus = edit.prepare.with_options(image=IMAGE)(most=100_000)
    where = {"image": IMAGE, "memory": "8Gi"}
    begins = {"processes": 4, "pipelines": 2, "model": SHAPE, "micros": 8, "sequence": 32, "elastic": True}
    slow = hybrid.Emulated(FORWARD, BACKWARD, slow=((SLOW, {0: RATES[0]}),))
    same = hybrid.train(corpus, steps=LOST, planning=False, emulated=slow, **begins, **where)
    lost = hybrid.Emulated(FORWARD, BACKWARD, slow=slow.slow, lost=((3, LOST, BACK),))
    planned = hybrid.train(corpus, steps=STEPS, emulated=lost, **begins, **where)
    planned = planned.after(same)  # one at a time, so that times can be compared

    plan, play = hybrid.plan_straggler.with_options(image=IMAGE), hybrid.simulate_schedule.with_options(image=IMAGE)
    equal = plan.named("equal-shares")([1.0] * 4, SHAPE.layers, 8, [2], tensor=1)
    suits = plan.named("plan-that-suits")(RATES, SHAPE.layers, 8, [2], tensor=1)
    played = [
        play.named(f"play-{name}")(each.plan, RATES, tensor=1, unit=FORWARD + BACKWARD, title=title)
        for name, each, title in (
            ("equal", equal, "Equal shares, rank 0 slow"),
            ("suiting", suits, "The plan that suits, rank 0 slow"),
        )
    ]
    seconds = [each.seconds for each in played]
    page = compared(planned.metrics, same.metrics, played[1].picture, played[0].picture, seconds)
    return page, planned.report, planned.trace
