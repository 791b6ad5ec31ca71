"""What is promised of planners. `python -m benchmarks.hybrid.marks` prints all tables, and fails where one is missed.

The processor's time is looked at, not the clock's.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

Verdict = tuple[str, str, bool]


def verdicts(found: dict[str, Any] | None) -> list[Verdict]:
    """What is promised, what was found, and whether it holds."""
    if found is None:
        return []
    made: list[Verdict] = []
    for name, each in found["golden"].items():
        objective, published = each["objective"], each["published"]
        made.append((f"plans, {name}: {published:g}", f"{objective:.1f}", objective <= published + 1e-6))
    deep = [row for name, row in found["stragglers"].items() if name.split()[1] == "4"]
    for place, least in ((-2, 1.5), (-1, 3.6)):
        worst = min(row[place] for row in deep)
        made.append((f"plans, two slow ranks in four stages: {least}", f"{worst:.2f}", worst >= least - 0.005))
    for name, row in found["lost"].items():
        made.append((f"plans, {name}: better than without the machine", f"{row[3]:.3f}", min(row[:4]) > row[4]))
    for longest, means in found["lengths"].items():
        first = means["static packing"]
        total, own = first / means["strategy by step"], means["dispatched"] / means["strategy by step"]
        said = f"plans, up to {longest} tokens 1.15 to 1.9 times as fast, a strategy by step no slower"
        made.append((said, f"{total:.2f}, {own:.2f}", 1.15 <= total <= 1.9 and own >= 1 - 1e-9))
    took = found["planning"]
    made.append(("plans, 1,024 ranks in 30 s", f"{took['straggler']:.1f} s", took["straggler"] < 30))
    made.append(("plans, 1.6 M tokens dispatched in 5 s", f"{took['dispatching']:.1f} s", took["dispatching"] < 5))
    return made


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from hybrid import tables

    rows = verdicts(tables.measure(10))
    for promise, value, held in rows:
        print(f"  {'holds' if held else 'BROKEN':<7} {promise}: {value}")
    sys.exit(not all(held for _, _, held in rows))
