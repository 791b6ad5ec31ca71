"""The fields of Kubernetes' ObjectMeta, which the CRDs leave open and the API server knows."""

from __future__ import annotations

from typing import Any

_TEXT = {"type": "string"}
_TEXTS = {"type": "object", "additionalProperties": _TEXT}
_ANY: dict[str, Any] = {}

_OWNER: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "apiVersion": _TEXT,
        "kind": _TEXT,
        "name": _TEXT,
        "uid": _TEXT,
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
        "finalizers": {"type": "array", "items": _TEXT},
        "ownerReferences": {"type": "array", "items": _OWNER},
        # What a server writes, and an exported document holds.
        "creationTimestamp": _ANY,
        "deletionGracePeriodSeconds": _ANY,
        "deletionTimestamp": _ANY,
        "generation": _ANY,
        "managedFields": _ANY,
        "resourceVersion": _TEXT,
        "selfLink": _TEXT,
        "uid": _TEXT,
    },
}
