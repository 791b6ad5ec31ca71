"""Rules, and the documents that give them to an account."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

JSON = dict[str, Any]
API = "rbac.authorization.k8s.io"


class Rule(msgspec.Struct, frozen=True, order=True):
    """What may be done with objects of one resource; `names` narrows it to some of them, `why` says what needs it.

    `namespace` is where the objects are: None is the workflow's own, "*" what belongs to no namespace.
    """

    group: str
    resource: str
    verbs: tuple[str, ...]
    names: tuple[str, ...] = ()
    namespace: str | None = None
    why: str = ""


class Account(msgspec.Struct, frozen=True, order=True):
    """Who gets rules: a ServiceAccount of the workflow's namespace, or a User or Group of the cluster."""

    name: str
    kind: str = "ServiceAccount"


def merged(rules: Iterable[Rule]) -> list[Rule]:
    """The same rights in as few rules as a person would write."""
    found: dict[tuple[str | None, str, str, tuple[str, ...]], Rule] = {}
    for rule in rules:
        key = (rule.namespace, rule.group, rule.resource, rule.names)
        there = found.get(key)
        verbs = dict.fromkeys((*(there.verbs if there else ()), *rule.verbs))
        whys = dict.fromkeys(filter(None, ((there.why if there else ""), rule.why)))
        found[key] = msgspec.structs.replace(rule, verbs=tuple(verbs), why="; ".join(whys))
    return list(found.values())


def documents(name: str, account: Account, rules: Iterable[Rule], namespace: str = "") -> list[JSON]:
    """Role and RoleBinding for each namespace, ClusterRole and ClusterRoleBinding for what belongs to none.

    `namespace` is the workflow's; where it isn't known, the documents name none and it is given to kubectl. Raises
    `ValueError` where it has to be known, because the binding is in another one or in none.
    """
    found: list[JSON] = []
    places: dict[str | None, list[Rule]] = {}
    for rule in merged(rules):
        # Without a name for the own namespace, one that is spelled out may be the same: it is another role then.
        where = None if rule.namespace in (None, namespace) else rule.namespace
        places.setdefault(where, []).append(rule)
    for where, given in places.items():
        if where is not None and account.kind == "ServiceAccount" and not namespace:
            raise ValueError(
                f"rights outside the workflow's namespace need its name: -n NAMESPACE (for {given[0].why})"
            )
        cluster = where == "*"
        metadata = _metadata(name, "" if cluster else (where or namespace))
        kind = "ClusterRole" if cluster else "Role"
        found.append(
            {"apiVersion": f"{API}/v1", "kind": kind, "metadata": metadata, "rules": [_rule(r) for r in given]}
        )
        subject: JSON = {"kind": account.kind, "name": account.name}
        if account.kind == "ServiceAccount":
            subject |= {"namespace": namespace} if namespace else {}
        else:
            subject |= {"apiGroup": API}
        reference = {"apiGroup": API, "kind": kind, "name": name}
        found.append(
            {
                "apiVersion": f"{API}/v1",
                "kind": f"{kind}Binding",
                "metadata": metadata,
                "roleRef": reference,
                "subjects": [subject],
            }
        )
    return found


def _metadata(name: str, namespace: str) -> JSON:
    return {"name": name, **({"namespace": namespace} if namespace else {})}


def _rule(rule: Rule) -> JSON:
    names = {"resourceNames": list(rule.names)} if rule.names else {}
    return {"apiGroups": [rule.group], "resources": [rule.resource], **names, "verbs": list(rule.verbs)}


def token(account: str, namespace: str = "") -> JSON:
    """The Secret with an account's token, which the agent of `http` and `plugin` templates reads by this name."""
    metadata: Mapping[str, Any] = _metadata(f"{account}.service-account-token", namespace) | {
        "annotations": {"kubernetes.io/service-account.name": account}
    }
    return {"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/service-account-token", "metadata": metadata}
