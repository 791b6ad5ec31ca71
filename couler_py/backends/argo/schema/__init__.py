"""What Argo's custom resources allow: JSON schemas made from Argo's CRDs by `make schemas`.

`full` and `minimal` are of Argo Workflows 4.1.2, `full-3.5` is of 3.5.14.
"""

from __future__ import annotations

import gzip
from functools import cache
from importlib import resources
from typing import Any, Literal

import msgspec

Crds = Literal["full", "minimal", "full-3.5"]

PLURALS = {
    "Workflow": "workflows",
    "WorkflowTemplate": "workflowtemplates",
    "ClusterWorkflowTemplate": "clusterworkflowtemplates",
    "CronWorkflow": "cronworkflows",
}


@cache
def schema(kind: str, crds: Crds = "full") -> dict[str, Any]:
    """The strict JSON schema of documents of `kind`; the same object at every call, so don't change it.

    `full` is what Argo 4 installs by default: typed objects refuse fields they don't know, lists have their bounds
    (200 templates, 200 tasks, 500 parameters), and CEL rules stand under `x-kubernetes-validations`. `minimal`, of
    installations from before 4.0, says only that there are `metadata` and `spec`: the controller reads the rest.
    `full-3.5` is what the controller of Argo 3.5 reads, which few of its installations held documents against.

    >>> schema("Workflow")["required"]
    ['metadata', 'spec']

    Raises ValueError for a kind that Argo has no CRD of here.
    """
    if kind not in PLURALS:
        raise ValueError(f"no schema for kind {kind!r}; there is one for {', '.join(PLURALS)}")
    packed = resources.files(__name__).joinpath(crds, f"{PLURALS[kind]}.json.gz").read_bytes()
    decoded: dict[str, Any] = msgspec.json.decode(gzip.decompress(packed))
    return decoded
