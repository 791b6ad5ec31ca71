"""Argo's variables that every text sees: of the run, and of the call that the text stands in."""

from __future__ import annotations

import datetime
import json
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from couler_py.backends.local.imported import words
from couler_py.store import runs

if TYPE_CHECKING:
    from couler_py.backends.local.imported.scope import ImportedScope

TIMES = "BbmAadHIMSYypZz"
"""The letters of `workflow.creationTimestamp.LETTER` (util/strftime); `L` besides, thousandths, which are always 0."""


def field(scope: ImportedScope, name: str) -> str:
    """A fact of the run, as Argo writes it."""
    facts = scope.facts
    if name == "attempt":
        return str(scope.attempt)
    if name in ("scheduled_time", "start"):
        return words.instant(facts.scheduled if name == "scheduled_time" else facts.start)
    if name == "duration":
        return f"{facts.duration or runs.now() - facts.start:f}"
    if name == "failures":
        return json.dumps(words.go_json(facts.failures), ensure_ascii=False)
    return words.said(getattr(facts, name))


def of_run(scope: ImportedScope) -> dict[str, Any]:
    """The variables of the run."""
    facts = scope.facts
    parameters = {name: words.said(value) for name, value in facts.parameters.items()}
    listed = words.go_json([{"name": name, "value": value} for name, value in parameters.items()])
    found: dict[str, Any] = {
        "workflow.name": facts.name,
        "workflow.namespace": facts.namespace,
        "workflow.uid": facts.id,
        "workflow.serviceAccountName": "",
        "workflow.mainEntrypoint": scope.entrypoint,
        "workflow.status": facts.status,
        "workflow.duration": field(scope, "duration"),
        "workflow.failures": field(scope, "failures"),
        "workflow.scheduledTime": words.instant(facts.scheduled),
        "workflow.parameters": listed,
        "workflow.parameters.json": listed,
    }
    found |= {f"workflow.parameters.{name}": value for name, value in parameters.items()}
    found |= {f"workflow.outputs.parameters.{name}": words.said(value) for name, value in facts.published.items()}
    found |= {f"workflow.outputs.artifacts.{name}": ref for name, ref in facts.files.items()}
    for kind, known in (("labels", scope.labels), ("annotations", scope.annotations)):
        found[f"workflow.{kind}"] = found[f"workflow.{kind}.json"] = words.go_json(dict(known))
        found |= {f"workflow.{kind}.{name}": value for name, value in known.items()}
    return found | _created(facts.start)


def _created(start: float) -> dict[str, str]:
    moment = datetime.datetime.fromtimestamp(start, datetime.UTC)
    name = "workflow.creationTimestamp"
    found = {f"{name}.{letter}": moment.strftime(f"%{letter}") for letter in TIMES}
    found |= {f"{name}.L": ".000", f"{name}.s": str(int(start)), f"{name}.RFC3339": words.instant(start)}
    return found | {name: words.instant(start)}


def of_call(scope: ImportedScope) -> dict[str, Any]:
    """The variables of the template that a text stands in."""
    found: dict[str, Any] = {
        "node.name": f"{scope.facts.name}.{scope.path}".rstrip("."),
        "pod.name": f"{scope.facts.name}-{scope.template.name if scope.template else ''}",
        "retries": str(scope.attempt),
    }
    if scope.task:
        found |= {"tasks.name": scope.task, "steps.name": scope.task}
    values = {name: words.said(value) for name, value in scope.parameters.items()}
    found |= {f"inputs.parameters.{name}": value for name, value in values.items()}
    found["inputs.parameters"] = words.go_json([{"name": name, "value": value} for name, value in values.items()])
    found |= {f"inputs.artifacts.{name}": ref for name, ref in scope.artifacts.items()}
    if scope.template is not None:
        found |= _paths(scope)
    if scope.last:
        last = scope.last
        found |= {
            "lastRetry.exitCode": str(last["exit_code"]),
            "lastRetry.status": last["status"],
            "lastRetry.duration": str(int(last["duration"])),
            "lastRetry.message": last["message"],
        }
    if scope.item is not UNSET:
        found["item"] = words.said(scope.item)
        if isinstance(scope.item, dict):
            found |= {f"item.{name}": words.said(value) for name, value in scope.item.items()}
    return found


def _paths(scope: ImportedScope) -> dict[str, str]:
    template = scope.template
    assert template is not None
    inputs, outputs = template.inputs, template.outputs
    found = {f"inputs.artifacts.{each.name}.path": each.path for each in inputs.artifacts if each.path}
    found |= {f"outputs.artifacts.{each.name}.path": each.path for each in outputs.artifacts if each.path}
    return found | {f"outputs.parameters.{each.name}.path": each.path for each in outputs.parameters if each.path}
