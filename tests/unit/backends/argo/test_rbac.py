"""Which rights a workflow's pods need, read off its documents."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import couler_py as couler
from couler_py.backends.argo.rbac import Account, of_pods, of_submitter
from couler_py.backends.argo.rbac.kubectl import UnknownError, plural, rules

JSON = dict[str, Any]


def workflow(*templates: JSON, **spec: Any) -> JSON:
    return {
        "kind": "Workflow",
        "metadata": {"name": "flow"},
        "spec": {"entrypoint": "main", "templates": list(templates), **spec},
    }


def rights(*templates: JSON, **spec: Any) -> dict[str, list[str]]:
    """By account, "verbs resource" of each rule."""
    documents, _ = of_pods([workflow(*templates, **spec)])
    found: dict[str, list[str]] = {}
    for role, binding in itertools.pairwise(documents):
        if role["kind"] in ("Role", "ClusterRole"):
            account = binding["subjects"][0]["name"]
            found.setdefault(account, []).extend(
                f"{','.join(rule['verbs'])} {rule['resources'][0]}" for rule in role["rules"]
            )
    return found


POD = {"name": "main", "container": {"image": "a"}}
HTTP = {"name": "main", "http": {"url": "http://a"}}
RESULTS = "create,patch workflowtaskresults"


def test_a_pod_reports_its_results() -> None:
    assert rights(POD) == {"default": [RESULTS]}
    assert rights(POD, serviceAccountName="me") == {"me": [RESULTS]}


def test_graphs_and_waits_need_nothing() -> None:
    assert rights({"name": "main", "suspend": {}}, {"name": "g", "dag": {"tasks": []}}) == {}


def test_a_template_may_have_an_account_of_its_own_and_argos_program_another() -> None:
    own = POD | {"serviceAccountName": "own"}
    assert rights(own, serviceAccountName="me") == {"own": [RESULTS]}
    assert rights(own, executor={"serviceAccountName": "program"}) == {"program": [RESULTS]}
    assert rights(POD, templateDefaults={"serviceAccountName": "usual"}) == {"usual": [RESULTS]}


def test_the_agent_has_the_workflows_account_and_its_token() -> None:
    given = HTTP | {
        "serviceAccountName": "ignored",
        "http": {"url": "u", "headers": [{"name": "k", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}]},
    }
    documents, _ = of_pods([workflow(given, serviceAccountName="me")])
    assert documents[0]["rules"][-1] == {
        "apiGroups": [""],
        "resources": ["secrets"],
        "resourceNames": ["s"],
        "verbs": ["get"],
    }
    assert rights(given, serviceAccountName="me")["me"][:2] == [
        "watch workflowtasksets",
        "patch workflowtasksets/status",
    ]
    assert documents[-1]["metadata"]["name"] == "me.service-account-token"


def test_artifact_gc_has_an_account_of_its_own() -> None:
    leaving = POD | {"outputs": {"artifacts": [{"name": "a", "path": "/a"}]}}
    collector = ["list workflowartifactgctasks", "patch workflowartifactgctasks/status"]
    gc = {"strategy": "OnWorkflowDeletion", "serviceAccountName": "gc"}
    assert rights(leaving, artifactGC=gc) == {"default": [RESULTS], "gc": collector}
    assert rights(leaving, artifactGC={"strategy": "Never"}) == {"default": [RESULTS]}
    assert rights(leaving) == {"default": [RESULTS]}


def test_a_job_of_several_nodes_is_made_and_its_report_reads_the_logs_of_its_pods() -> None:
    given = {"name": "train", "nodes": 2, "launcher": "jobset", "service_account": "own"}
    train = couler.distributed_job("trainer:1", ["fit"], **given)

    @couler.workflow
    def main() -> None:
        train()

    documents, findings = of_pods([couler.compile(main, to="argo").documents[0]])
    roles = {each["metadata"]["name"]: each["rules"] for each in documents if each["kind"] == "Role"}
    made = {(rule["apiGroups"][0], rule["resources"][0]): rule["verbs"] for rule in roles["main-pods"]}
    assert made == {
        ("argoproj.io", "workflowtaskresults"): ["create", "patch"],
        ("", "services"): ["get", "create"],
        ("jobset.x-k8s.io", "jobsets"): ["get", "create"],
    }
    reads = {(rule["apiGroups"][0], rule["resources"][0]): rule["verbs"] for rule in roles["main-own"]}
    assert reads == {
        ("argoproj.io", "workflowtaskresults"): ["create", "patch"],
        ("", "pods"): ["list"],
        ("", "pods/log"): ["get"],
    }
    assert findings == ()


def test_templates_inside_tasks_and_in_other_files_count() -> None:
    inline = {"name": "main", "dag": {"tasks": [{"name": "a", "inline": {"http": {"url": "u"}}}]}}
    assert rights(inline) == {"default": ["watch workflowtasksets", "patch workflowtasksets/status"]}
    calling = {"name": "main", "steps": [[{"name": "a", "templateRef": {"name": "lib", "template": "t"}}]]}
    library = workflow(POD) | {"kind": "WorkflowTemplate", "metadata": {"name": "lib"}}
    assert of_pods([workflow(calling)], [library])[1] == ()
    documents, findings = of_pods([workflow(calling)])
    assert (documents, [each.code for each in findings]) == ([], ["CLR722"])


def test_a_cron_workflows_runs_count() -> None:
    cron = {"kind": "CronWorkflow", "metadata": {"name": "c"}, "spec": {"workflowSpec": workflow(POD)["spec"]}}
    assert of_pods([cron])[0][0]["rules"][0]["resources"] == ["workflowtaskresults"]


# ---- what kubectl does


def resource(action: str, manifest: str = "", **more: Any) -> JSON:
    outputs = more.pop("outputs", {})
    return {"name": "r", "resource": {"action": action, "manifest": manifest, **more}, "outputs": outputs}


JOB = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: '{{workflow.name}}', namespace: {{inputs.parameters.ns}}}\n"


@pytest.mark.parametrize(
    ("action", "verbs"),
    [
        ("get", ("get",)),
        ("create", ("create",)),
        ("apply", ("get", "create", "patch")),
        ("patch", ("patch",)),
        ("replace", ("update",)),
        ("delete", ("delete",)),
    ],
)
def test_each_action_has_its_verbs(action: str, verbs: tuple[str, ...]) -> None:
    (rule,) = rules(resource(action, JOB))
    assert (rule.group, rule.resource, rule.verbs, rule.namespace) == ("batch", "jobs", verbs, None)


def test_conditions_and_outputs_look_at_the_object() -> None:
    (rule,) = rules(resource("create", JOB, successCondition="status.succeeded > 0"))
    assert rule.verbs == ("get", "create")
    outputs = {"parameters": [{"name": "o", "valueFrom": {"jsonPath": "{.status}"}}]}
    (rule,) = rules(resource("create", JOB, outputs=outputs))
    assert rule.verbs == ("get", "create")


def test_several_objects_and_other_namespaces() -> None:
    manifest = (
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: n}\n---\n"
        + "apiVersion: v1\nkind: Pod\nmetadata: {namespace: b}\n"
    )
    assert [(each.resource, each.namespace) for each in rules(resource("create", manifest))] == [
        ("namespaces", "*"),
        ("pods", "b"),
    ]


@pytest.mark.parametrize(
    ("flags", "group", "name", "namespace"),
    [
        (["pods", "x"], "", "pods", None),
        (["cm/x", "-n", "b"], "", "configmaps", "b"),
        (["deployments.v1.apps", "x", "--namespace=b"], "apps", "deployments", "b"),
        (["jobs.batch/x"], "batch", "jobs", None),
    ],
)
def test_objects_that_flags_name(flags: list[str], group: str, name: str, namespace: str | None) -> None:
    (rule,) = rules(resource("delete", flags=flags))
    assert (rule.group, rule.resource, rule.namespace, rule.verbs) == (group, name, namespace, ("get", "delete"))


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (resource("create", "{{inputs.parameters.manifest}}"), "whole manifest"),
        (resource("create", "apiVersion: v1\nkind: {{inputs.parameters.kind}}"), "kind of its manifest is filled in"),
        (resource("create", manifestFrom={"artifact": {}}), "an artifact"),
        (resource("delete", flags=["widgets", "x"]), "only the cluster knows"),
        (resource("explode", JOB), "'explode' isn't known"),
        (resource("create", "a: b: c"), "isn't YAML"),
    ],
)
def test_what_cannot_be_known_is_said(given: JSON, why: str) -> None:
    with pytest.raises(UnknownError, match=why):
        list(rules(given))
    assert [each.code for each in of_pods([workflow(given)])[1]] == ["CLR722"]


@pytest.mark.parametrize(
    ("kind", "resource_"),
    [
        ("Pod", "pods"),
        ("Ingress", "ingresses"),
        ("NetworkPolicy", "networkpolicies"),
        ("Endpoints", "endpoints"),
        ("Gateway", "gateways"),
        ("PyTorchJob", "pytorchjobs"),
    ],
)
def test_resources_are_named_as_kubernetes_does(kind: str, resource_: str) -> None:
    assert plural(kind) == resource_


# ---- bindings


def test_rights_elsewhere_are_bound_there_to_the_workflows_account() -> None:
    given = workflow(resource("create", "apiVersion: v1\nkind: Pod\nmetadata: {namespace: b}"))
    documents, _ = of_pods([given], namespace="a")
    assert [(each["kind"], each["metadata"]["namespace"]) for each in documents] == [
        ("Role", "a"),
        ("RoleBinding", "a"),
        ("Role", "b"),
        ("RoleBinding", "b"),
    ]
    assert documents[-1]["subjects"] == [{"kind": "ServiceAccount", "name": "default", "namespace": "a"}]
    with pytest.raises(ValueError, match="-n NAMESPACE"):
        of_pods([given])


def test_a_submitter_of_cluster_templates_needs_a_cluster_role() -> None:
    template = workflow(POD) | {"kind": "ClusterWorkflowTemplate"}
    documents = of_submitter([template], Account("anna", "User"), namespace="a")
    assert [each["kind"] for each in documents] == ["Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"]
    assert documents[-1]["subjects"] == [{"kind": "User", "name": "anna", "apiGroup": "rbac.authorization.k8s.io"}]


def test_secrets_of_a_program_are_kept_by_its_submitter() -> None:
    documents = of_submitter([workflow(POD)], Account("ci"), ["token"])
    assert {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "create", "update"]} in documents[0]["rules"]
