"""Kubernetes' own fields of `metadata`, which the CRDs leave open."""

from __future__ import annotations

from typing import Any

import pytest

from couler_py.backends.argo.lint import lint_documents

OWNER = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "x", "uid": "abc"}


def messages(**metadata: Any) -> list[str]:
    document = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"name": "it", **metadata},
        "spec": {"entrypoint": "m", "templates": [{"name": "m", "suspend": {}}]},
    }
    return [finding.message for _, finding in lint_documents([document])]


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        (
            {"finalizers": ["a b"]},
            "`metadata.finalizers[0]` is letters, digits, `-`, `_` and `.`, perhaps behind a domain and `/`, not 'a b'",
        ),
        (
            {"creationTimestamp": "yesterday"},
            "`metadata.creationTimestamp` is a moment, as 2024-01-31T12:00:00Z, not 'yesterday'",
        ),
        ({"generation": "one"}, "`metadata.generation` takes a whole number, not 'one'"),
        ({"ownerReferences": [{**OWNER, "uid": ""}]}, "`metadata.ownerReferences[0].uid` is empty"),
        (
            {"ownerReferences": [{"name": "x", "kind": "A", "apiVersion": "v1"}]},
            "`metadata.ownerReferences[0]` has no 'uid', and needs one",
        ),
    ],
)
def test_what_the_api_server_refuses(metadata: dict[str, Any], message: str) -> None:
    assert messages(**metadata) == [message]


def test_what_a_server_wrote_is_no_finding() -> None:
    written = {
        "creationTimestamp": "2024-01-01T00:00:00Z",
        "deletionTimestamp": None,
        "finalizers": ["foregroundDeletion", "foo.io/bar"],
        "generation": 3,
        "ownerReferences": [{**OWNER, "controller": True}],
    }
    assert messages(**written) == []
    assert messages(creationTimestamp=None) == []
