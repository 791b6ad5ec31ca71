"""What a real controller made of a document in Argo's words, as the local engine tells it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from couler_py.backends.argo.status import PHASES
from tests.cluster.argo import outputs

JSON = dict[str, Any]
_ITEM = re.compile(r"(.*?)\((\d+):.*\)", re.DOTALL)


def tasks(workflow: JSON) -> dict[str, JSON]:
    """The nodes of a run's tasks by their paths: `graph/task`, `task[2]` for an item of a fan-out."""
    nodes = list(workflow["status"].get("nodes", {}).values())
    root = next(node for node in nodes if node["name"] == workflow["metadata"]["name"])
    inside: dict[str, list[JSON]] = {}
    for node in nodes:
        inside.setdefault(node.get("boundaryID", ""), []).append(node)
    return dict(_inside(last(root, nodes), "", inside, nodes))


def last(node: JSON, nodes: list[JSON]) -> JSON:
    """The node of the last attempt, where there were several."""
    if node["type"] != "Retry":
        return node
    attempts = [each for each in nodes if re.fullmatch(re.escape(node["name"]) + r"\(\d+\)", each["name"])]
    return max(attempts, key=lambda each: int(each["name"].rpartition("(")[2][:-1]), default=node)


def _inside(node: JSON, prefix: str, inside: dict[str, list[JSON]], nodes: list[JSON]) -> Iterator[tuple[str, JSON]]:
    for each in inside.get(node["id"], []):
        flags = each.get("nodeFlag", {})
        if each["type"] == "StepGroup" or flags.get("retried") or flags.get("hooked"):
            continue
        name = each["name"].removeprefix(node["name"]).lstrip(".")
        name = re.sub(r"^\[\d+\]\.", "", name)
        if item := _ITEM.fullmatch(name):
            name = f"{item[1]}[{item[2]}]"
        yield f"{prefix}{name}", each
        yield from _inside(last(each, nodes), f"{prefix}{name}/", inside, nodes)


def states(workflow: JSON) -> dict[str, str]:
    """The states of a run's tasks; steps with items, which Argo has no node for, take that of their items."""
    found = {path: PHASES[node["phase"]] for path, node in tasks(workflow).items()}
    for path in list(found):
        fanned = path.rpartition("[")[0] if path.endswith("]") else path
        items = [state for each, state in found.items() if re.fullmatch(re.escape(fanned) + r"\[\d+\]", each)]
        found.setdefault(fanned, "Failed" if "Failed" in items else "Succeeded")
    return found


def says(workflow: JSON) -> dict[str, dict[str, str]]:
    """The output parameters of a run's tasks."""
    return {path: outputs(node) for path, node in tasks(workflow).items()}


def made(workflow: JSON) -> dict[str, str]:
    """The output parameters of a run's entrypoint."""
    return outputs(workflow["status"]["nodes"][workflow["metadata"]["name"]])
