"""What whoever submits a workflow and steers its runs calls, with `couler` through the Kubernetes API."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from couler_py.backends.argo.client.kinds import KINDS
from couler_py.backends.argo.rbac.rules import Rule

JSON = dict[str, Any]
GROUP = "argoproj.io"

STEERING = (
    Rule(GROUP, "workflows", ("create",), why="submit, resubmit"),
    Rule(GROUP, "workflows", ("get",), why="status, get, artifacts, and knowing one's own run again"),
    Rule(GROUP, "workflows", ("list",), why="runs"),
    Rule(GROUP, "workflows", ("watch",), why="watch, logs -f"),
    Rule(GROUP, "workflows", ("patch",), why="suspend, resume, stop, terminate"),
    Rule(GROUP, "workflows", ("update",), why="resume with approvals"),
    Rule(GROUP, "workflows", ("delete",), why="delete"),
    Rule("", "pods/log", ("get",), why="logs"),
)


def rules(documents: Iterable[JSON], secrets: Iterable[str] = ()) -> Iterator[Rule]:
    """The rules for these documents; `secrets` are those that the program hands over."""
    kinds = dict.fromkeys(document["kind"] for document in documents)
    yield from STEERING
    for kind in kinds:
        if kind == "Workflow":
            continue
        known = KINDS[kind]
        group = known.group.removeprefix("apis/").rpartition("/")[0] if known.group.startswith("apis/") else ""
        where = None if known.namespaced else "*"
        yield Rule(group, known.plural, ("get", "create", "update"), namespace=where, why=f"applying its {kind}")
        if kind == "CronWorkflow":
            yield Rule(group, known.plural, ("patch",), why="cron suspend, cron resume")
    if any(secrets):
        yield Rule("", "secrets", ("get", "create", "update"), why="secrets of the program")
