"""What pods used, from answers of Kubernetes' metrics API (metrics.k8s.io/v1beta1, `PodMetricsList`).

It knows only now, so a pod is asked for again and again while it runs. `usage.memory` is the working set.
Source: https://kubernetes.io/docs/reference/external-api/metrics.v1beta1
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import fmean
from typing import Any

import msgspec

from couler_py.ir.quantity import quantity

BESIDE = frozenset({"wait", "init", "base-xcom-sidecar", "airflow-xcom-sidecar"})
"""Containers that Argo and Airflow put beside a step: what they use isn't the step's."""


class Used(msgspec.Struct, frozen=True):
    """What a pod used: the most bytes of memory, processors on average and at most."""

    memory: int
    processors: float
    busiest: float


def usage(answers: Iterable[Mapping[str, Any]]) -> dict[str, Used]:
    """What each pod used, by its name, over several answers."""
    seen: dict[str, dict[str, tuple[int, float]]] = {}
    for answer in answers:
        for item in answer.get("items", ()):
            containers = [each for each in item.get("containers", ()) if each.get("name") not in BESIDE]
            memory = sum(_amount(each, "memory") for each in containers)
            cpu = sum(_amount(each, "cpu") for each in containers)
            # The same moment may be told twice.
            seen.setdefault(item["metadata"]["name"], {})[str(item.get("timestamp", ""))] = (int(memory), cpu)
    return {
        pod: Used(
            max(memory for memory, _ in looks.values()),
            fmean(cpu for _, cpu in looks.values()),
            max(cpu for _, cpu in looks.values()),
        )
        for pod, looks in seen.items()
    }


def _amount(container: Mapping[str, Any], name: str) -> float:
    found = quantity(str(container.get("usage", {}).get(name, "0")))
    return 0.0 if found is None else float(found)
