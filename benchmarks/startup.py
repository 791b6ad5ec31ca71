"""How long `import couler_py` and `couler --help` take, in new processes."""

from __future__ import annotations

import subprocess
import time

from programs import OURS, PEERS, FailedError, output

IMPORTS = {"couler_py": OURS, "hera.workflows": PEERS, "kfp": PEERS}
Verdict = tuple[str, str, bool]


def measure(rounds: int) -> dict[str, float]:
    """Seconds of the clock, the best of three times `rounds`."""
    found: dict[str, float] = {}
    for _ in range(3 * rounds):
        for module, python in IMPORTS.items():
            code = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
            try:
                seconds = float(output(python, "-c", code))
            except FailedError:
                continue  # a peer that doesn't install is told by the part about compilers
            found[f"import {module}"] = min(seconds, found.get(f"import {module}", seconds))
        start = time.perf_counter()
        subprocess.run([OURS.parent / "couler", "--help"], stdout=subprocess.DEVNULL, check=True)
        seconds = time.perf_counter() - start
        found["couler --help"] = min(seconds, found.get("couler --help", seconds))
    print("\nStart")
    for what, seconds in found.items():
        print(f"  {what:24}{seconds:.3f} s")
    return found


def verdicts(found: dict[str, float] | None) -> list[Verdict]:
    """What is promised about starting."""
    if found is None:
        return []
    limits = {"import couler_py": 0.2, "couler --help": 0.4}
    return [
        (f"{what} in less than {most} s", f"{found[what]:.3f} s", found[what] < most) for what, most in limits.items()
    ]
