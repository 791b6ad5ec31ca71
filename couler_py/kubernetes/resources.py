"""What a container asks for: Kubernetes' requests and limits."""

from __future__ import annotations

from couler_py.ir.pod import Resources


def resources(asked: Resources) -> dict[str, dict[str, str]]:
    """The `resources` of a container; empty where nothing is asked for.

    `cpu` and `memory` are requests and limits at once unless a limit of their own says otherwise; devices and
    further resources must have equal requests and limits in Kubernetes.
    """
    requests: dict[str, str] = {}
    limits: dict[str, str] = {}
    for name, quantity, limit in (
        ("cpu", asked.cpu, asked.cpu_limit),
        ("memory", asked.memory, asked.memory_limit),
        ("ephemeral-storage", asked.ephemeral_storage, None),
    ):
        if quantity:
            requests[name] = quantity
        bound = quantity if limit is None else limit
        if bound:
            limits[name] = bound
    extra = [*asked.extra]
    if asked.gpu:
        extra.append((asked.gpu_type, str(asked.gpu)))
    for name, quantity in extra:
        requests[name] = limits[name] = quantity
    found = {}
    if requests:
        found["requests"] = requests
    if limits:
        found["limits"] = limits
    return found
