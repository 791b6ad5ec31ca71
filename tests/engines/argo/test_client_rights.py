"""The least rights that `couler rbac argo` prints: with them a workflow runs, without any one of them it doesn't."""

from __future__ import annotations

import copy
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from kubernetes import client

from couler_py.backends.argo.client import ArgoClient
from couler_py.backends.argo.client.door import LogOptions
from couler_py.backends.argo.rbac import Account, of_pods, of_submitter
from couler_py.backends.rest.failures import ForbiddenError, MissingError
from tests.cluster.argo import Namespace
from tests.cluster.fixtures import Cluster
from tests.engines.argo.doors import account, asking, door, holding, nothing, until, workflow
from tests.engines.argo.test_client_failures import kubeconfig

pytestmark = pytest.mark.cluster

JSON = dict[str, Any]


def map_(name: str, **data: str) -> str:
    """The manifest of a ConfigMap of the run's account."""
    lines = "".join(f'  {key}: "{value}"\n' for key, value in data.items())
    whose = "{{workflow.serviceAccountName}}"
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {whose}-{name}}}\ndata:\n{lines}"


def resource(action: str, name: str, **more: Any) -> JSON:
    return {"action": action, "manifest": map_(name, x="1"), **more}


def acting(name: str, *resources: JSON) -> JSON:
    """A run with a pod for each resource, side by side."""
    templates = [{"name": f"t{place}", "resource": each} for place, each in enumerate(resources)]
    group = [{"name": each["name"], "template": each["name"]} for each in templates]
    return workflow(name, {"name": "main", "steps": [group]}, *templates, activeDeadlineSeconds=90)


def calling(url: str) -> JSON:
    header = {"name": "X-Key", "valueFrom": {"secretKeyRef": {"name": "header", "key": "key"}}}
    call = {"name": "call", "http": {"url": url, "headers": [header], "successCondition": "response.body == 'hello'"}}
    return workflow("calling", {"name": "main", "steps": [[{"name": "a", "template": "call"}]]}, call)


def saying() -> JSON:
    return workflow("saying", {"name": "say", "container": {"image": "debian:12", "command": ["echo", "hi"]}})


HANGS = ("call", "patch workflowtasksets/status")
"""What the agent has found out never arrives then, and the run waits for it, deadline or not."""


@pytest.fixture(scope="module")
def url(cluster: Cluster) -> Iterator[str]:
    """A server that says hello to whoever has the key."""
    if cluster.machine is None:
        pytest.fail("pods of this cluster can't reach this machine", pytrace=False)

    class Hello(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = b"hello" if self.headers.get("X-Key") == "secret" else b"who are you?"
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer((cluster.machine, 0), Hello)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://{cluster.machine}:{server.server_address[1]}/"
    server.shutdown()
    server.server_close()
    thread.join()


def lacking(documents: list[JSON]) -> Iterator[tuple[str, list[JSON]]]:
    """The same documents, each time without one verb of one rule."""
    for place, document in enumerate(documents):
        for number, rule in enumerate(document.get("rules", [])):
            for verb in rule["verbs"]:
                less = copy.deepcopy(documents)
                rules = less[place]["rules"]
                rules[number]["verbs"].remove(verb)
                if not rules[number]["verbs"]:
                    del rules[number]
                yield f"{verb} {rule['resources'][0]}", less


def test_pods_need_all_that_is_printed_and_nothing_else(cluster: Cluster, namespace: Namespace, url: str) -> None:
    """All side by side, each under an account of its own that has what is printed, or all but one verb."""
    namespace.submit(
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "header"}, "stringData": {"key": "secret"}}
    )
    workflows = {
        "say": saying(),
        "get": acting("get", resource("get", "there")),
        "create": acting("create", resource("create", "new", successCondition="data.x == 1")),
        "apply": acting("apply", resource("apply", "new"), resource("apply", "there")),
        "patch": acting("patch", resource("patch", "there")),
        "replace": acting("replace", resource("replace", "there")),
        "delete": acting("delete", resource("delete", "there")),
        "call": calling(url),
    }
    runs, expected = door("kubernetes", cluster, namespace), {}
    for name, document in workflows.items():
        whole = printed(document, f"right-{name}", namespace)
        # That every pod reports its results is shown once: other kinds of pods then hang instead of failing.
        cases = [("all", whole), *(case for case in lacking(whole) if name == "say" or "taskresults" not in case[0])]
        for number, (lacks, rights) in enumerate(cases):
            who = f"right-{name}-{number}"
            grant(namespace, who, renamed(rights, f"right-{name}", who))
            deadline = {"activeDeadlineSeconds": 150 if lacks == "all" else 40}
            (run,) = runs.send([document | {"spec": document["spec"] | {"serviceAccountName": who} | deadline}])
            expected[run.rpartition("/")[2]] = (name, lacks)
    ended = namespace.wait_for([run for run, case in expected.items() if case != HANGS], 170)
    ended |= {run: namespace.get("Workflow", run) for run, case in expected.items() if case == HANGS}
    found = {expected[run]: each["status"]["phase"] for run, each in ended.items()}
    wrong = {
        case: (phase, ended[run]["status"].get("message"))
        for run, case in expected.items()
        if ((phase := found[case]) == "Succeeded") != (case[1] == "all")
    }
    assert wrong == {}


def printed(document: JSON, who: str, namespace: Namespace) -> list[JSON]:
    given = document | {"spec": document["spec"] | {"serviceAccountName": who}}
    documents, findings = of_pods([given], namespace=namespace.name)
    assert findings == ()
    return documents


def renamed(documents: list[JSON], old: str, new: str) -> list[JSON]:
    """The documents for another account, under other names."""
    return [json.loads(json.dumps(each).replace(old, new)) for each in documents]


def grant(namespace: Namespace, who: str, documents: list[JSON]) -> None:
    namespace.core.create_namespaced_service_account(namespace.name, {"metadata": {"name": who}})
    there = {"metadata": {"name": f"{who}-there"}, "data": {"x": "0"}}
    namespace.core.create_namespaced_config_map(namespace.name, there)
    namespace.submit(*documents)


def test_a_submitter_has_all_verbs_and_nothing_else(
    cluster: Cluster, namespace: Namespace, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """An account with what `--submitter` prints does everything; without one verb, what needs it is refused."""
    template = nothing() | {"kind": "WorkflowTemplate", "metadata": {"name": "by-submitter"}}
    documents = of_submitter([template], Account("submitter"), namespace=namespace.name)
    token = account(namespace, "submitter")
    namespace.submit(*documents)
    config = kubeconfig(cluster, tmp_path_factory.mktemp("submitter"), token=token)
    runs = ArgoClient(namespace=namespace.name, kubeconfig=config)
    known = sorted(f"{verb} {rule['resources'][0]}" for rule in documents[0]["rules"] for verb in rule["verbs"])
    wait_for_rights(namespace, known)
    asked, held = runs.send([asking(), holding()])
    for run in (asked, held):
        until(runs.watch(run), "Suspended")
    needing = needs(runs, template, asked, held)
    assert sorted(needing) == known
    for lacks, (role, *_) in lacking(documents):
        replace_role(namespace, role)
        wait_for_rights(namespace, [each for each in known if each != lacks], lacks)
        with pytest.raises(ForbiddenError, match=rf"resources: \[{lacks.split()[1]}\], verbs: \[{lacks.split()[0]}\]"):
            needing[lacks]()
    replace_role(namespace, documents[0])
    wait_for_rights(namespace, known)
    for call in needing.values():
        call()


def replace_role(namespace: Namespace, role: JSON) -> None:
    client.RbacAuthorizationV1Api(namespace.api).replace_namespaced_role(role["metadata"]["name"], namespace.name, role)


def wait_for_rights(namespace: Namespace, has: list[str], lacks: str = "") -> None:
    """Until the API server knows a change of a role: it learns of it a moment later."""
    api = client.AuthorizationV1Api(namespace.api)
    for right in [*has, *([lacks] if lacks else [])]:
        verb, resource, part = (*right.replace("/", " ").split(), "")[:3]
        group = "" if resource == "pods" else "argoproj.io"
        asked = {"namespace": namespace.name, "verb": verb, "group": group, "resource": resource, "subresource": part}
        who = f"system:serviceaccount:{namespace.name}:submitter"
        review = {"spec": {"user": who, "resourceAttributes": asked}}
        while api.create_subject_access_review(review).status.allowed is (right == lacks):
            pass


def needs(runs: ArgoClient, template: JSON, asked: str, held: str) -> dict[str, Callable[[], Any]]:
    """By verb and resource what a submitter does that needs it."""
    stored = runs.stored("WorkflowTemplate")

    def log() -> None:
        with pytest.raises(MissingError):  # whether it may read is decided before whether the pod is there
            list(runs._door.entries(runs.namespace, "any", "no-such-pod", LogOptions()))

    return {
        "create workflows": lambda: runs.send([nothing()]),
        "get workflows": lambda: runs.status(held),
        "list workflows": lambda: list(runs.list()),
        "watch workflows": lambda: next(runs._door.events(runs.namespace, held.rpartition("/")[2], "0")),
        "patch workflows": lambda: runs.suspend(held),
        "update workflows": lambda: runs.resume(asked, outputs={"yes": "1"}),
        "delete workflows": lambda: runs.delete(held),
        "get pods/log": log,
        "create workflowtemplates": lambda: stored.apply(template),
        "get workflowtemplates": lambda: stored.get("by-submitter"),
        "update workflowtemplates": lambda: (stored.apply(template), stored.apply(template)),
    }
