"""What a container may use, as Kubernetes reads it: a limit is what is asked for, unless it is given by itself."""

from __future__ import annotations

import os

from couler_py.backends.local.machine.capacity import quantity
from couler_py.ir.pod import Resources

LEAST_MEMORY = 6 * 2**20  # bytes; docker takes no lower limit


def cpu_limit(asked: Resources) -> float:
    """Processors, at most those of this machine; 0 for no limit.

    >>> cpu_limit(Resources(cpu="500m"))
    0.5
    """
    text = asked.cpu if asked.cpu_limit is None else asked.cpu_limit
    return min(quantity(text), float(os.cpu_count() or 1)) if text else 0.0


def memory_limit(asked: Resources) -> int:
    """Bytes; 0 for no limit.

    >>> memory_limit(Resources(memory="64Mi", memory_limit="1Gi"))
    1073741824
    """
    text = asked.memory if asked.memory_limit is None else asked.memory_limit
    return max(int(quantity(text)), LEAST_MEMORY) if text else 0
