"""The order in which a person writes the fields of Argo's objects."""

from __future__ import annotations

from typing import Any

_ORDER = (
    "apiVersion kind metadata spec "
    "name generateName namespace labels annotations "
    "schedules schedule timezone concurrencyPolicy startingDeadlineSeconds successfulJobsHistoryLimit "
    "failedJobsHistoryLimit suspend workflowMetadata workflowSpec "
    "workflowTemplateRef entrypoint description template templateRef inline depends dependencies when "
    "arguments withItems withParam withSequence inputs outputs parameters artifacts "
    "image source command args workingDir "
    "value valueFrom default enum globalName path from fromExpression optional mode archive "
    "container script steps dag resource http data containerSet plugin "
    "hooks onExit continueOn "
    "retryStrategy activeDeadlineSeconds timeout memoize synchronization daemon failFast parallelism "
    "env envFrom imagePullPolicy resources volumeMounts "
    "limit retryPolicy backoff expression affinity key cache maxAge "
    "serviceAccountName nodeSelector tolerations podMetadata volumes volumeClaimTemplates "
    "initContainers sidecars podSpecPatch "
    "templateDefaults templates"
)
_RANK = {key: rank for rank, key in enumerate(_ORDER.split())}
_LAST = _RANK["templateDefaults"]


def put(found: dict[str, Any], more: dict[str, Any]) -> None:
    """Add fields to an object where a person would look for them; those that are there keep their order."""
    for key, value in more.items():
        if key in found:
            found[key] = value
            continue
        rank = _RANK.get(key, _LAST)
        before = next((each for each in found if _RANK.get(each, _LAST) > rank), None)
        if before is None:
            found[key] = value
            continue
        items = list(found.items())
        place = next(index for index, (each, _) in enumerate(items) if each == before)
        found.clear()
        found.update([*items[:place], (key, value), *items[place:]])
