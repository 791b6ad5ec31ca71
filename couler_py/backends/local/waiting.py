"""What a task waits for, in words for who watches the run."""

from __future__ import annotations

from couler_py.backends.local.machine import Share

SUSPENDED = "waits for the run to be resumed"
LOCKED = "waits for a lock that others hold"
BOUND = "waits until fewer run at once"


def for_share(share: Share) -> str:
    """Words for processors, memory and GPUs that others use.

    >>> for_share(Share(1.0, 0.0, 0)), for_share(Share(2.0, 4 * 1024**3, 1))
    ('waits for a processor', 'waits for 2 processors, 4 GiB of memory, a GPU')
    """
    wanted = [_count(share.cpu, "processor")] if share.cpu else []
    if share.memory:
        wanted.append(f"{share.memory / 1024**3:.3g} GiB of memory")
    if share.gpus:
        wanted.append(_count(share.gpus, "GPU"))
    return f"waits for {', '.join(wanted) or 'its turn'}"


def _count(number: float, noun: str) -> str:
    return f"a {noun}" if number == 1 else f"{number:g} {noun}s"
