"""Our parts beside level slices, the paper's Algorithm 3 and a part for each component; 100,000 tasks."""

from __future__ import annotations

import gc
import time
import tracemalloc
from typing import Any

from engine import Verdict

from split.graphs import SHAPES, problem

TASKS, MOST, SLOTS = 5_000, 400, 16
ROOMY, FEW = 2_000, 8
"""The same shapes with parts that have 100 tasks and more for each worker slot."""
LARGE, MOST_SECONDS, SEEDS = 100_000, 10.0, 1_000
LEAST_LOSS = 0.05


def measure(scale: int) -> dict[str, Any]:
    """Simulated seconds and values that cross, by shape; processor seconds of large graphs; cyclic parts."""
    return {"shapes": _shapes(scale), "large": _large(scale), "cyclic": _cyclic(SEEDS // scale)}


def _shapes(scale: int) -> list[dict[str, Any]]:
    from couler_py.passes.split.choosing import BASELINES, choose

    print(f"\nSplit: a run of {TASKS // scale:,} tasks of 1 to 10 s, simulated; seconds, and values that cross")
    heads = ("whole", "ours", "parts", "cross", *(f"{way}, cross" for way in BASELINES))
    print(
        f"  {'shape':<12}{'slots':>6}{'part':>6}"
        + "".join(f"{head:>22}" if "," in head else f"{head:>9}" for head in heads)
    )
    rows = []
    for most, slots in ((MOST // scale, SLOTS), (ROOMY // scale, max(2, FEW // scale))):
        for shape in SHAPES:
            made = problem(shape, TASKS // scale, most)
            choice = choose(made, slots)
            by_way = {each.way: each for each in choice.tried}
            others = {way: by_way.get(way) for way in BASELINES}
            ours = choice.chosen
            row = {
                "shape": shape, "slots": slots, "most": most, "whole": choice.whole, "seconds": ours.seconds,
                "parts": ours.count, "carried": ours.carried, "way": ours.way,
                "least": min(ours.parts.count(part) for part in range(ours.count)),
                "baselines": {way: each and (each.seconds, each.carried) for way, each in others.items()},
            }  # fmt: skip
            rows.append(row)
            told = [f"{each.seconds:,.0f}, {each.carried:,}" if each else "cyclic" for each in others.values()]
            print(
                f"  {shape:<12}{slots:>6}{most:>6}{choice.whole:>9,.0f}{ours.seconds:>9,.0f}{ours.count:>9}"
                f"{ours.carried:>9,}" + "".join(f"{each:>22}" for each in told),
                flush=True,
            )
    return rows


def _large(scale: int) -> list[dict[str, Any]]:
    from couler_py.passes.split.choosing import choose

    print(f"\nSplit: {LARGE // scale:,} tasks, processor seconds of all ways tried, and of a tenth of them")
    rows = []
    for shape in SHAPES:
        took, held = [], []
        for count in (LARGE // scale // 10, LARGE // scale):
            made = problem(shape, count, 2_000)
            gc.disable()
            begun = time.process_time()
            choice = choose(made, SLOTS)
            took.append(time.process_time() - begun)
            gc.enable()
            gc.collect()
            held.append(_most_memory(made))
        rows.append(
            {"shape": shape, "seconds": took[1], "tenth": took[0], "loss": choice.loss, "bytes": held[1] / count}
        )
        print(
            f"  {shape:<12}{took[1]:>9.1f}{took[0]:>9.2f}   {choice.chosen.count} parts, {choice.loss:+.1%}, at most "
            f"{held[1] / 2**20:,.0f} MiB ({held[1] / count:,.0f} bytes a task; of a tenth {held[0] / count * 10:,.0f})",
            flush=True,
        )
    return rows


def _most_memory(made: Any) -> int:
    """The most bytes that one way of cutting holds at once, beside the graph: levels, with tasks moved."""
    from couler_py.passes.split.cutting import cut
    from couler_py.passes.split.orders import by_level
    from couler_py.passes.split.refining import refined

    tracemalloc.start()
    refined(made, cut(made, by_level(made)))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def _cyclic(seeds: int) -> dict[str, int]:
    """In how many random graphs the parts wait for each other, of 60 tasks in parts of at most 10."""
    from couler_py.passes.split.baselines import acyclic, of_the_paper
    from couler_py.passes.split.choosing import choose

    found = {"graphs": 0, "paper": 0, "ours": 0}
    for seed in range(seeds):
        made = problem("random", 60, 10, seed)
        found["graphs"] += 1
        found["paper"] += not acyclic(made, of_the_paper(made))
        found["ours"] += not acyclic(made, choose(made, 4).chosen.parts)
    print(
        f"\nSplit: parts that wait in a circle, of {seeds:,} random graphs: ours {found['ours']}, "
        f"the paper's {found['paper']}"
    )
    return found


def verdicts(found: dict[str, Any] | None) -> list[Verdict]:
    """What is promised about splitting."""
    if found is None:
        return []
    slowest = max(found["large"], key=lambda row: row["seconds"])
    roomy = [row for row in found["shapes"] if row["least"] >= 100 * row["slots"]]
    lost = max((row["seconds"] / row["whole"] - 1 for row in roomy), default=0.0)
    worse = [
        row["shape"]
        for row in found["shapes"]
        if row not in roomy
        and any(each and row["seconds"] > each[0] * (1 + 1e-6) for each in row["baselines"].values())
    ]
    return [
        (
            f"{LARGE:,} tasks are split in less than {MOST_SECONDS:.0f} s",
            f"{slowest['seconds']:.1f} s ({slowest['shape']})",
            slowest["seconds"] < MOST_SECONDS,
        ),
        (
            "no parts wait in a circle",
            f"{found['cyclic']['ours']} of {found['cyclic']['graphs']:,}",
            not found["cyclic"]["ours"],
        ),
        ("a run is never slower than by another way of cutting", ", ".join(worse) or "in no shape", not worse),
        (f"parts of 100 tasks a slot cost less than {LEAST_LOSS:.0%}", f"{lost:.1%}", lost <= LEAST_LOSS),
    ]
