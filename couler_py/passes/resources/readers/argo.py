"""The attempts of a run on Argo, from the status of its Workflow.

`resourcesDuration` is what a pod had asked for, times how long it ran: processors in seconds, memory in seconds of
100 MiB. It says nothing of what was used; the metrics API does, where somebody asked it meanwhile.
Source: https://argo-workflows.readthedocs.io/en/latest/resource-duration/
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from couler_py.passes.history import Attempt
from couler_py.passes.resources.readers.kubernetes import Used

MEMORY_BASE = 100 * 1024 * 1024
STATES = {"Succeeded": "Succeeded", "Failed": "Failed", "Error": "Failed"}


def attempts(document: Mapping[str, Any], used: Mapping[str, Used] | None = None) -> dict[str, list[Attempt]]:
    """The attempts that have ended, by their template. `used` are pods by name, as `kubernetes.usage` gives them."""
    found: dict[str, list[Attempt]] = {}
    for node in document.get("status", {}).get("nodes", {}).values():
        if node.get("type") != "Pod" or node.get("phase") not in STATES or not node.get("finishedAt"):
            continue
        template = node.get("templateName") or node.get("templateRef", {}).get("template", "")
        found.setdefault(template, []).append(_attempt(node, (used or {}).get(pod_name(node))))
    return {template: sorted(tries, key=lambda each: each.started) for template, tries in found.items()}


def pod_name(node: Mapping[str, Any]) -> str:
    """The name of a node's pod: `WORKFLOW-TEMPLATE-NUMBER` (Argo's pod names v2); its id where that says it already."""
    name, template = str(node["id"]), str(node.get("templateName", ""))
    stem, _, number = name.rpartition("-")
    return f"{stem}-{template}-{number}" if template and template not in stem else name


def _attempt(node: Mapping[str, Any], used: Used | None) -> Attempt:
    started, finished = moment(node["startedAt"]), moment(node["finishedAt"])
    kept = node.get("resourcesDuration", {})
    code = node.get("outputs", {}).get("exitCode")
    # Argo counts whole seconds, rounded down: 0 says nothing.
    seconds = max(finished - started, 1.0)
    return Attempt(
        STATES[node["phase"]],
        started,
        finished - started,
        str(node.get("message", "")),
        int(code) if code not in (None, "") else None,
        None if used is None else used.memory,
        None if used is None else used.processors,
        None if used is None else used.busiest,
        round(kept["memory"] * MEMORY_BASE / seconds) if kept.get("memory") else None,
        kept["cpu"] / seconds if kept.get("cpu") else None,
    )


def moment(text: str) -> float:
    """An RFC 3339 time in seconds since 1970."""
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
