"""The policies by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from couler_py.passes.cache.classic import Everything, Fifo, GreedyDual, Lfu, Lru, Nothing
from couler_py.passes.cache.foresight import Foresight
from couler_py.passes.cache.importance import Importance
from couler_py.passes.cache.shelf import Policy

POLICIES: Mapping[str, Callable[[], Policy]] = {
    "none": Nothing,
    "all": Everything,
    "fifo": Fifo,
    "lru": Lru,
    "lfu": Lfu,
    "gdsf": GreedyDual,
    "couler": Importance,
    "foresight": Foresight,
}
"""What `cache.policy` of the settings may name; each call gives a policy with a memory of its own."""
