"""Both ways to the cluster of the tests, and small documents to send through them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from kubernetes import client, config

from couler_py.backends.argo.client import ArgoClient
from couler_py.backends.base import FINISHED, RunStatus
from tests.cluster.argo import Namespace
from tests.cluster.fixtures import Cluster

JSON = dict[str, Any]
DOORS = ("kubernetes", "server")


def token_of(cluster: Cluster) -> str:
    """The token of the kubeconfig's user."""
    api = config.new_client_from_config(str(cluster.kubeconfig))
    return str(api.configuration.auth_settings()["BearerToken"]["value"])


def door(way: str, cluster: Cluster, namespace: Namespace, **more: Any) -> ArgoClient:
    """A client that knows that way alone."""
    if way == "kubernetes":
        return ArgoClient(namespace=namespace.name, kubeconfig=cluster.kubeconfig, **more)
    return ArgoClient(
        **{"namespace": namespace.name, "server": cluster.argo_server or "", "token": token_of(cluster)} | more
    )


def account(namespace: Namespace, name: str) -> str:
    """A new ServiceAccount without any right; gives its token."""
    namespace.core.create_namespaced_service_account(namespace.name, {"metadata": {"name": name}})
    request = client.AuthenticationV1TokenRequest(spec=client.V1TokenRequestSpec(audiences=[], expiration_seconds=3600))
    made = namespace.core.create_namespaced_service_account_token(name, namespace.name, request)
    return str(made.status.token)


def until(statuses: Iterator[RunStatus], wanted: str) -> RunStatus:
    """The first status of a watched run that is the wanted one."""
    last = None
    for last in statuses:
        if last.status == wanted:
            return last
    raise AssertionError(f"never {wanted}: {last}")


def end(runs: ArgoClient, run: str) -> RunStatus:
    """A run at its end."""
    *_, last = runs.watch(run)
    assert last.status in FINISHED
    return last


def listed(runs: ArgoClient, labels: str, right: Callable[[list[RunStatus]], bool]) -> list[RunStatus]:
    """The runs with some labels, as soon as they are listed as they should be: the Argo server lists a little later."""
    for _ in range(100):
        found = list(runs.list(labels=labels))
        if right(found):
            break
        time.sleep(0.2)
    return found


# ---- documents


def workflow(name: str, *templates: JSON, **spec: Any) -> JSON:
    """A run whose entrypoint is its first template."""
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"generateName": f"{name}-", "labels": {"test": name}},
        "spec": {"entrypoint": templates[0]["name"], "templates": list(templates), **spec},
    }


def nothing() -> JSON:
    """A run that succeeds without a pod."""
    return workflow("nothing", {"name": "main", "steps": [[{"name": "a", "template": "main", "when": "false"}]]})


def failing() -> JSON:
    """A run that fails without a pod."""
    return workflow(
        "failing", {"name": "main", "steps": [[{"name": "a", "template": "main", "when": "{{= fromJSON('x') }}"}]]}
    )


def asking() -> JSON:
    """A run that waits for an answer with an output that is needed and one that has a default; without a pod."""
    supplied = [
        {"name": "yes", "valueFrom": {"supplied": {}}},
        {"name": "why", "valueFrom": {"supplied": {}, "default": "no reason"}},
    ]
    outputs = [
        {"name": each["name"], "valueFrom": {"parameter": f"{{{{tasks.ask.outputs.parameters.{each['name']}}}}}"}}
        for each in supplied
    ]
    return workflow(
        "asking",
        {"name": "main", "dag": {"tasks": [{"name": "ask", "template": "wait"}]}, "outputs": {"parameters": outputs}},
        {"name": "wait", "suspend": {}, "outputs": {"parameters": supplied}},
    )


def holding(exit_handler: bool = False) -> JSON:
    """A run that waits for ever, without a pod."""
    main = {"name": "main", "dag": {"tasks": [{"name": "hold", "template": "wait"}]}}
    end_of_it = {"name": "bye", "steps": [[{"name": "a", "template": "bye", "when": "false"}]]}
    return workflow(
        "holding", main, {"name": "wait", "suspend": {}}, end_of_it, **({"onExit": "bye"} if exit_handler else {})
    )


def talking(seconds: int = 2) -> JSON:
    """Two pods side by side that print three lines; one leaves files, the other has an init container and a sidecar."""

    def say(name: str, **more: Any) -> JSON:
        lines = f"for i in 1 2 3; do echo {name} $i; sleep {seconds / 3:.2f}; done"
        script = f"{lines}; mkdir -p /tmp/d/e; echo {name} > /tmp/d/e/f; echo g > /tmp/g"
        return {"name": name, "container": {"image": "debian:12", "command": ["sh", "-c", script]}, **more}

    files = [
        {"name": "folder", "path": "/tmp/d", "archive": {"none": {}}},
        {"name": "packed", "path": "/tmp/g"},
        {"name": "plain", "path": "/tmp/g", "archive": {"none": {}}},
    ]
    side = {"name": "side", "image": "debian:12", "command": ["sh", "-c", "echo from the side; sleep 60"]}
    before = {"name": "before", "image": "debian:12", "command": ["sh", "-c", "echo from before"]}
    return workflow(
        "talking",
        {"name": "main", "steps": [[{"name": "left", "template": "left"}, {"name": "right", "template": "right"}]]},
        say("left", outputs={"artifacts": files}),
        say("right", sidecars=[side], initContainers=[before]),
    )
