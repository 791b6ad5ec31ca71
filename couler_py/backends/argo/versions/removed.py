"""Documents of Argo 3.5 in the words of Argo 4: what 4 has removed as what it has instead.

Facts: Argo's page of deprecations, and the CRDs of 3.5.14 and 4.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from couler_py.backends.argo.versions.fields import OPEN
from couler_py.backends.argo.versions.older import KINDS
from couler_py.ir.diagnostics import Diagnostic, warning

JSON = dict[str, Any]
PLURALS = {"mutex": "mutexes", "semaphore": "semaphores"}


def raised(documents: Iterable[JSON]) -> tuple[list[JSON], list[Diagnostic]]:
    """The documents in the words of Argo 4, and what has no one right answer there, which stays as it is.

    The given documents stay as they are. Where a document says both the old word and the new, the old one's value is
    added to the new one's list, once.

    >>> document = {"kind": "Workflow", "spec": {"synchronization": {"mutex": {"name": "m"}}}}
    >>> raised([document])
    ([{'kind': 'Workflow', 'spec': {'synchronization': {'mutexes': [{'name': 'm'}]}}}], [])
    """
    made: list[JSON] = []
    found: list[Diagnostic] = []
    for document in documents:
        made.append(_raised(document, (document["kind"],), found) if document.get("kind") in KINDS else document)
    return made, found


def _raised(node: Any, names: tuple[str, ...], found: list[Diagnostic]) -> Any:
    if isinstance(node, list):
        return [_raised(each, names, found) for each in node]
    if not isinstance(node, dict):
        return node
    made: JSON = {}
    for key, value in node.items():
        if _removed_priority(names, key):
            template = node.get("name", "")
            found.append(
                warning(
                    "CLR416",
                    f"Argo 4 has no {key}",
                    step=template if isinstance(template, str) else "",
                    why="it was removed: pods have a priority by a PriorityClass",
                    help=f"make a PriorityClass of value {value}, and name it in podPriorityClassName",
                )
            )
        if names[-2:] == ("cache", "configMap") and key in ("key", "optional"):
            continue  # 3.5 has them and never read them
        made[key] = value if key in OPEN else _raised(value, (*names, key), found)
    if names[-1] == "synchronization":
        for old, new in PLURALS.items():
            made = _plural(made, old, new)
    if names == ("CronWorkflow", "spec"):
        made = _plural(made, "schedule", "schedules")
    return made


def _removed_priority(names: tuple[str, ...], key: str) -> bool:
    """`podPriority` of a workflow and `priority` of a template. A workflow's own `priority` orders runs, and stays."""
    if key == "podPriority":
        return names[-1] in ("spec", "workflowSpec")
    return key == "priority" and names[-1] in ("templates", "templateDefaults", "inline")


def _plural(node: JSON, old: str, new: str) -> JSON:
    """The mapping with the list `new` instead of the one value `old`, at its place."""
    if old not in node:
        return node
    others = node.get(new) or []
    together = others if node[old] in others else [node[old], *others]
    if new in node:
        return {key: together if key == new else value for key, value in node.items() if key != old}
    return {new if key == old else key: together if key == old else value for key, value in node.items()}
