"""What a task waits for, in words for who watches the run."""

from __future__ import annotations

from collections.abc import Sequence

from couler_py.backends.local.machine.capacity import Share

SUSPENDED = "waits for the run to be resumed"
LOCKED = "waits for a lock that others hold"
BOUND = "waits until fewer run at once"
NAMED = 3  # other runs, or packages, that are named


def for_share(share: Share, runs: Sequence[str] = ()) -> str:
    """Words for processors, memory and GPUs that others use, and for the other runs that use the machine.

    >>> for_share(Share(1.0, 0.0, 0)), for_share(Share(2.0, 4 * 1024**3, 1))
    ('waits for a processor', 'waits for 2 processors, 4 GiB of memory, a GPU')
    >>> for_share(Share(1.0, 0.0, 0), ["night-x2"])
    'waits for a processor; the machine is used by the run night-x2'
    >>> for_share(Share(0.0, 0.0, 1), list("abcde"))
    'waits for a GPU; the machine is used by the runs a, b, c, …'
    """
    wanted = [count(share.cpu, "processor")] if share.cpu else []
    if share.memory:
        wanted.append(f"{share.memory / 1024**3:.3g} GiB of memory")
    if share.gpus:
        wanted.append(count(share.gpus, "GPU"))
    text = f"waits for {', '.join(wanted) or 'its turn'}"
    if not runs:
        return text
    return f"{text}; the machine is used by the {'runs' if len(runs) > 1 else 'run'} {_first(runs)}"


def for_packages(requirements: Sequence[str]) -> str:
    """Words for an environment that is being made.

    >>> for_packages(["scikit-learn>=1.4"]), for_packages(["a", "b", "c", "d"])
    ('waits for packages to be installed: scikit-learn>=1.4', 'waits for packages to be installed: a, b, c, …')
    """
    return f"waits for packages to be installed: {_first(requirements)}"


def _first(names: Sequence[str]) -> str:
    return ", ".join([*names[:NAMED], *(["…"] if len(names) > NAMED else [])])


def count(number: float, noun: str) -> str:
    """So many of something: `a GPU`, `2 GPUs`."""
    return f"a {noun}" if number == 1 else f"{number:g} {noun}s"
