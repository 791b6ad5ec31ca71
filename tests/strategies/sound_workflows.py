"""Documents that Argo accepts, beyond its own examples: those of `sound_workflows.yaml`, made whole."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

JSON = dict[str, Any]


@cache
def sound() -> dict[str, JSON]:
    """All documents by name."""
    given = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text())
    common = given.pop("_common")
    return {name: document(name, each, common) for name, each in given.items()}


def document(name: str, given: JSON, common: list[JSON]) -> JSON:
    """A whole object of `kind` (else a Workflow) with its own templates, the common ones and the rest of the spec."""
    rest = {key: value for key, value in given.items() if key not in ("kind", "metadata", "cron")}
    spec = {"entrypoint": "main", **rest, "templates": [*rest["templates"], *common]}
    spec = {key: value for key, value in spec.items() if value is not None}
    kind = given.get("kind", "Workflow")
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": kind,
        "metadata": {"name": f"sound-{name}", **given.get("metadata", {})},
        "spec": {**given["cron"], "workflowSpec": spec} if kind == "CronWorkflow" else spec,
    }
