"""The fields of Kubernetes' ObjectMeta, which the CRDs leave open and the API server knows."""

from __future__ import annotations

from typing import Any

_TEXT = {"type": "string"}
_TEXTS = {"type": "object", "additionalProperties": _TEXT}
_ANY: dict[str, Any] = {}
_SOME = {"type": "string", "minLength": 1}
_WHOLE = {"type": "integer"}
_TIME = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$"}
_QUALIFIED = {"type": "string", "pattern": "^([a-z0-9][-a-z0-9.]*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$"}

_OWNER: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["apiVersion", "kind", "name", "uid"],
    "properties": {
        "apiVersion": _SOME,
        "kind": _SOME,
        "name": _SOME,
        "uid": _SOME,
        "blockOwnerDeletion": {"type": "boolean"},
        "controller": {"type": "boolean"},
    },
}

OBJECT_META: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "name": _TEXT,
        "generateName": _TEXT,
        "namespace": _TEXT,
        "labels": _TEXTS,
        "annotations": _TEXTS,
        "finalizers": {"type": "array", "items": _QUALIFIED},
        "ownerReferences": {"type": "array", "items": _OWNER},
        # What a server writes, and an exported document holds.
        "creationTimestamp": _TIME,
        "deletionGracePeriodSeconds": _WHOLE,
        "deletionTimestamp": _TIME,
        "generation": _WHOLE,
        "managedFields": _ANY,
        "resourceVersion": _TEXT,
        "selfLink": _TEXT,
        "uid": _TEXT,
    },
}
