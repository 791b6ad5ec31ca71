"""What a refusal says: the rule that is missing, in the words of a Role."""

from __future__ import annotations

import json

import pytest

from couler_py.backends.argo.client.words import WORDS
from couler_py.backends.rest.failures import failure, read


@pytest.mark.parametrize(
    ("message", "rule"),
    [
        (
            'workflows.argoproj.io is forbidden: User "system:serviceaccount:a:b" cannot create resource "workflows" '
            'in API group "argoproj.io" in the namespace "team-a"',
            'missing in a Role in team-a: {apiGroups: ["argoproj.io"], resources: [workflows], verbs: [create]}',
        ),
        (
            'pods "x" is forbidden: User "u" cannot get resource "pods/log" in API group "" in the namespace "a"',
            'missing in a Role in a: {apiGroups: [""], resources: [pods/log], verbs: [get]}',
        ),
        (
            'User "u" cannot list resource "namespaces" in API group "" at the cluster scope',
            'missing in a ClusterRole: {apiGroups: [""], resources: [namespaces], verbs: [list]}',
        ),
        (
            'Permission denied, you are not allowed to list workflows in namespace "team-a". Maybe you want …',
            'missing in a Role in team-a: {apiGroups: ["argoproj.io"], resources: [workflows], verbs: [list]}',
        ),
    ],
)
def test_a_403_has_the_rule_to_add(message: str, rule: str) -> None:
    assert rule in str(failure(403, read(json.dumps({"message": message}).encode()), "do it", WORDS))


@pytest.mark.parametrize(
    ("verb", "resource", "said"),
    [
        ("create", "workflows", "`couler rbac argo FILE --submitter` prints"),
        ("update", "cronworkflows", "`couler rbac argo FILE --submitter` prints"),
        ("watch", "pods", "through the Argo server, logs list and watch pods with your rights"),
    ],
)
def test_a_403_names_who_asks_for_the_rule(verb: str, resource: str, said: str) -> None:
    assert said in refused(verb, resource)


def test_a_403_names_no_command_that_does_not_print_the_rule() -> None:
    assert refused("list", "cronworkflows").endswith("verbs: [list]}")


def refused(verb: str, resource: str) -> str:
    message = f'User "u" cannot {verb} resource "{resource}" in API group "" in the namespace "a"'
    return str(failure(403, read(json.dumps({"message": message}).encode()), "do it", WORDS))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"code": 5, "message": "not found"}', "not found"),
        (b'{"error": {"grpc_code": 16, "http_code": 401, "message": "token not valid"}}', "token not valid"),
        (b'{"error": "no such route"}', "no such route"),
        (b"plain words", "plain words"),
        (b"", ""),
        (b"[1]", "[1]"),
    ],
)
def test_the_words_of_every_kind_of_server_are_found(body: bytes, message: str) -> None:
    assert read(body).message == message
