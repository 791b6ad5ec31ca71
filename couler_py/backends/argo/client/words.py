"""What helps where a cluster refuses a call."""

from __future__ import annotations

import re

from couler_py.backends.rest.failures import Words

_KUBERNETES = re.compile(
    r'cannot (?P<verb>\w+) resource "(?P<resource>[\w./-]+)" in API group "(?P<group>[\w.-]*)"'
    r'(?: in the namespace "(?P<namespace>[\w.-]+)")?'
)
_SERVER = re.compile(r'not allowed to (?P<verb>\w+) (?P<resource>\w+) in namespace "(?P<namespace>[\w.-]*)"')


def rule(message: str) -> str:
    """The rule that a refusal asks for, as one would write it into a Role; nothing where it doesn't say."""
    found = _KUBERNETES.search(message) or _SERVER.search(message)
    if found is None:
        return ""
    given = found.groupdict()
    group = given.get("group", "argoproj.io")
    where = f"a Role in {given['namespace']}" if given.get("namespace") else "a ClusterRole"
    resource, verb = given["resource"], given["verb"]
    lacking = f'{{apiGroups: ["{group}"], resources: [{resource}], verbs: [{verb}]}}'
    return f"; missing in {where}: {lacking}{_source(resource, verb)}"


def _source(resource: str, verb: str) -> str:
    """Who prints a rule, or asks for it. What is printed is for submitting and steering, through the Kubernetes API."""
    if resource == "pods":
        return " (through the Argo server, logs list and watch pods with your rights, and retry deletes them)"
    if resource in ("workflows", "pods/log") or verb in ("get", "create", "update", "patch"):
        return " (`couler rbac argo FILE --submitter` prints all that submitting and steering FILE needs)"
    return ""


WORDS = Words(
    engine="argo",
    final=(500,),  # the Argo server says so of much that is wrong with the call itself
    lets_in=(
        "a new one comes from `kubectl create token ACCOUNT`, your cluster's login, or `argo auth token`, and is given "
        "by --token-file, ARGO_TOKEN or the kubeconfig"
    ),
    right=rule,
)
