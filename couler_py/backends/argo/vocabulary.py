"""Names in Argo's documents that several rooms look for, each list in one place.

Facts: the CRDs and Go types of Argo 4 (pkg/apis/workflow/v1alpha1).
"""

from __future__ import annotations

from typing import TypeAlias, get_args

from couler_py.ir.model import DocumentKind

API = "argoproj.io/v1alpha1"
Kind: TypeAlias = DocumentKind
KINDS: tuple[Kind, ...] = get_args(DocumentKind)
BODIES = ("container", "containerSet", "steps", "dag", "script", "resource", "data", "suspend", "http", "plugin")
"""What a template can be, in the order in which Argo looks when a template is more than one of them."""
PODS = frozenset({"container", "script", "resource", "data", "containerSet"})
"""The bodies that run in a pod of their own."""
LOOPS = ("withItems", "withParam", "withSequence")
"""What makes one task or step many."""
MERGE_KEYS = {
    "env": "name",
    "parameters": "name",
    "artifacts": "name",
    "volumes": "name",
    "sidecars": "name",
    "initContainers": "name",
    "templates": "name",
    "tasks": "name",
    "imagePullSecrets": "name",
    "volumeMounts": "mountPath",
    "volumeDevices": "devicePath",
    "ports": "containerPort",
    "hostAliases": "ip",
    "tolerations": "key",
}
"""By the name of a list, by what its entries are the same (`patchMergeKey` of Argo's and Kubernetes' types)."""
