"""The graphs that every compiler is timed on: for each task, the tasks that it waits for."""

from __future__ import annotations


def chain(n: int) -> list[list[int]]:
    """Each task waits for the one before."""
    return [[i - 1] if i else [] for i in range(n)]


def wide(n: int) -> list[list[int]]:
    """One task, then all others side by side, then one that waits for the last ten of them."""
    middle = [[0] for _ in range(n - 2)]
    return [[], *middle, list(range(max(1, n - 11), n - 1))]


def layered(n: int) -> list[list[int]]:
    """Layers of 100 tasks; each waits for three of the layer before."""
    return [
        [] if i < 100 else sorted({i - 100, (i // 100 - 1) * 100 + (i + 1) % 100, (i // 100 - 1) * 100 + (i + 7) % 100})
        for i in range(n)
    ]


SHAPES = {"chain": chain, "wide": wide, "layered": layered}
