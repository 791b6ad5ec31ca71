"""Each rule of a policy: what it refuses, what it lets pass, and that IR and Argo's documents are seen alike."""

from __future__ import annotations

import json
from typing import Any

import pytest

from couler_py.ir.diagnostics import Diagnostic
from couler_py.ir.expr import Input, Literal, Text
from couler_py.ir.model import (
    Each,
    Graph,
    Http,
    InputArtifact,
    Inputs,
    Resource,
    Script,
    Source,
    Task,
    Template,
    Workflow,
)
from couler_py.ir.pod import Container, PodSettings, Resources, Templated, Volume
from couler_py.ir.storage import S3
from couler_py.passes.policy import check, check_document, check_namespace
from couler_py.settings import Policy, PolicySource
from couler_py.settings.policy import Levels, Limits

PLACE = Source("flow.py", 7)


def found(workflow: Workflow, **rules: Any) -> list[str]:
    return [each.message for each in check(workflow, [PolicySource("policy.toml", Policy(**rules))])]


def one(body: Any, **more: Any) -> Workflow:
    return Workflow("flow", "step", (Template("step", body, source=PLACE, **more),), source=Source("flow.py", 20))


def image(name: Any) -> Workflow:
    return one(Container(name))


# ---- images


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("registry.example.com/a/b:1", True),
        ("registry.example.com.evil.com/a", False),
        ("python:3.11", True),
        ("docker.io/library/python:3.11", True),
        ("python-evil:3.11", False),
        ("someone/python:3.11", False),
        ("busybox", True),
        ("localhost/busybox", False),
    ],
)
def test_images_fit_a_pattern(name: str, allowed: bool) -> None:
    patterns = ("registry.example.com/*", "docker.io/library/python:*", "busybox")
    assert found(image(name), allow_images=patterns) == ([] if allowed else [f"the image {name!r} isn't allowed"])


def test_an_image_that_is_computed_is_allowed_where_any_value_fits() -> None:
    tag = Text(("registry/tool:", Input("tag")))
    assert found(image(tag), allow_images=("registry/*",)) == []
    assert found(image(Text((Input("image"),))), allow_images=("*",)) == []
    assert found(image(Text((Input("registry"), "/tool"))), allow_images=("registry/*",)) == [
        "the image '…/tool' isn't allowed, which is only known when it runs"
    ]


def test_no_image_at_all_may_be_allowed() -> None:
    assert found(image("python"), allow_images=()) == ["the image 'python' isn't allowed"]
    assert found(Workflow("w", "main", (Template("main", Graph(())),)), allow_images=()) == []


def test_images_of_helpers_count() -> None:
    pod = PodSettings(init_containers=(Container("a", name="i"),), sidecars=(Container("b", name="s"),))
    assert found(one(Script("c", "1"), pod=pod), allow_images=()) == [
        f"the image {name!r} isn't allowed" for name in ("c", "a", "b")
    ]


@pytest.mark.parametrize(
    ("name", "pinned"),
    [("a@sha256:" + "0" * 64, True), ("a:1@sha256:" + "0" * 64, True), ("a@sha256:0", False), ("a:1", False)],
)
def test_images_may_have_to_be_pinned(name: str, pinned: bool) -> None:
    assert bool(found(image(name), require_digest=True)) is not pinned


# ---- labels


def test_labels_are_asked_for_by_key_and_pattern() -> None:
    flow = Workflow("w", "main", (Template("main", Graph(())),), labels=(("team", "search"), ("tier", "x")))
    assert found(flow, require_labels=("team", "tier=prod*", "cost"), require_annotations=("owner",)) == [
        "the label 'tier' is 'x', and has to be 'prod*'",
        "the label 'cost' is missing",
        "the annotation 'owner' is missing",
    ]


# ---- limits


def test_limits_are_asked_for_of_every_container() -> None:
    pod = PodSettings(sidecars=(Container("b", name="side", resources=Resources(memory="1Gi", memory_limit="")),))
    flow = one(Container("a", resources=Resources(cpu="1")), pod=pod)
    assert found(flow, require_limits=("cpu", "memory")) == [
        "it has no limit of memory",
        "the container 'side' has no limit of cpu",
        "the container 'side' has no limit of memory",
    ]


@pytest.mark.parametrize(
    ("resources", "message"),
    [
        (Resources(cpu="4", memory="16Gi", gpu=1), []),
        (Resources(cpu="4500m"), ["it asks for 4.5 cpu, and may for 4 cpu"]),
        (Resources(memory="17Gi"), ["it asks for 17Gi of memory, and may for 16Gi of memory"]),
        (Resources(gpu=2), ["it asks for 2 GPUs, and may for 1 GPU"]),
        (Resources(gpu=2, gpu_type="amd.com/gpu"), ["it asks for 2 GPUs, and may for 1 GPU"]),
        (Resources(cpu="1", cpu_limit="8"), ["it asks for 8 cpu, and may for 4 cpu"]),
    ],
)
def test_a_step_asks_for_no_more_than_allowed(resources: Resources, message: list[str]) -> None:
    flow = one(Container("a", resources=resources))
    assert found(flow, max_per_step=Limits(cpu=4, memory="16Gi", gpu=1)) == message


BIG = Template("big", Container("a", resources=Resources(cpu="2", memory="1Gi")))


def graph(*tasks: Task, parallelism: int | None = None) -> Workflow:
    return Workflow("w", "main", (Template("main", Graph(tasks)), BIG), parallelism=parallelism)


@pytest.mark.parametrize(
    ("flow", "cpu"),
    [
        (graph(Task("a", "big"), Task("b", "big")), 4),
        (graph(*(Task(f"t{n}", "big") for n in range(5)), parallelism=2), 4),
        (graph(Task("a", "big", each=Each(Literal([1, 2, 3])))), 6),
        (graph(Task("a", "big", each=Each(Input("items"), parallel=4))), 8),
        (graph(Task("a", "big", each=Each(Input("items")))), 2000),
    ],
)
def test_what_runs_at_once_asks_for_no_more_than_allowed(flow: Workflow, cpu: int) -> None:
    assert found(flow, max_per_workflow=Limits(cpu=cpu)) == []
    assert found(flow, max_per_workflow=Limits(cpu=cpu - 1)) == [
        f"tasks that can run at once ask for {cpu} cpu, and may for {cpu - 1} cpu"
    ]


def test_tasks_are_counted() -> None:
    flow = graph(*(Task(f"t{n}", "big") for n in range(5)))
    assert found(flow, max_tasks=5) == []
    assert found(flow, max_tasks=4) == ["the workflow has 5 tasks, and may have 4"]


# ---- features

SECURITY = "it uses the rights of the machine (privileged), which is forbidden"
FEATURES: list[tuple[str, Workflow, str]] = [
    (
        "hostPath",
        Workflow(
            "w", "m", (Template("m", Graph(())),), volumes=(Volume("v", Templated({"hostPath": {"path": "/etc"}})),)
        ),
        "the path '/etc' of the machine (hostPath)",
    ),
    (
        "privileged",
        one(Container("a:1", extra=Templated({"securityContext": {"privileged": True}}))),
        "the rights of the machine (privileged)",
    ),
    (
        "hostNetwork",
        one(Container("a:1"), pod=PodSettings(host_network=True)),
        "the network of the machine (hostNetwork)",
    ),
    (
        "hostNamespaces",
        one(Container("a:1"), pod=PodSettings(extra=Templated({"hostPID": True}))),
        "a namespace of the machine (hostPID)",
    ),
    (
        "hostPorts",
        one(Container("a:1", extra=Templated({"ports": [{"hostPort": 80}]}))),
        "the port 80 of the machine (hostPort)",
    ),
    (
        "capabilities",
        one(Container("a:1", extra=Templated({"securityContext": {"capabilities": {"add": ["SYS_ADMIN"]}}}))),
        "capabilities beyond the usual (SYS_ADMIN)",
    ),
    (
        "root",
        one(Container("a:1", extra=Templated({"securityContext": {"runAsUser": 0}}))),
        "a container that may run as root (neither runAsNonRoot nor a runAsUser)",
    ),
    ("latest", image("a"), "the image 'a', whose content changes (latest)"),
    ("latest", image("r:5000/a"), "the image 'r:5000/a', whose content changes (latest)"),
    ("http", one(Http("http://x")), "a request that the cluster makes (http)"),
    ("insecure", one(Http("https://x", insecure=True)), "a connection to whoever answers (insecureSkipVerify)"),
    ("resource", one(Resource("create", Templated({"kind": "Job"}))), "a Kubernetes object that it makes or changes"),
    ("podSpecPatch", one(Container("a:1"), pod=PodSettings(patch="{}")), "a patch of its pod (podSpecPatch)"),
    ("daemon", one(Container("a:1"), daemon=True), "a step that goes on while others run (daemon)"),
]


@pytest.mark.parametrize(("feature", "flow", "message"), FEATURES)
def test_what_is_forbidden_is_found(feature: str, flow: Workflow, message: str) -> None:
    assert found(flow, forbid=(feature,)) == [f"it uses {message}, which is forbidden"]
    assert found(flow, forbid=()) == []


def test_a_user_that_is_not_root_may_be_said_for_the_whole_workflow() -> None:
    around = PodSettings(extra=Templated({"securityContext": {"runAsNonRoot": True}}))
    flow = Workflow("w", "m", (Template("m", Container("a")),), pod=around)
    assert found(flow, forbid=("root",)) == []


EVIL = {"image": "evil", "securityContext": {"privileged": True}}
HIDDEN = f"spec: {{template: {{spec: {{containers: [{json.dumps(EVIL)}]}}}}}}"


@pytest.mark.parametrize(
    "template",
    [
        {"resource": {"action": "create", "manifest": "apiVersion: batch/v1\nkind: Job\n" + HIDDEN}},
        {"container": {"image": "ok"}, "podSpecPatch": json.dumps({"containers": [EVIL]})},
        {"steps": [[{"name": "x", "inline": {"container": EVIL}}]]},
        {"dag": {"tasks": [{"name": "x", "inline": {"script": EVIL}}]}},
        {"containerSet": {"containers": [EVIL]}},
    ],
)
def test_what_is_written_deep_inside_is_found(template: dict[str, Any]) -> None:
    document = {"kind": "Workflow", "spec": {"templates": [{"name": "t", **template}]}}
    policy = Policy(allow_images=("ok",), forbid=("privileged",))
    said = check_document(document, [PolicySource("p", policy)], locate=lambda path: None)
    assert [each.message for each in said] == ["the image 'evil' isn't allowed", SECURITY]


def test_a_manifest_that_refers_to_itself_ends() -> None:
    manifest = "apiVersion: v1\nkind: Pod\nspec: &a {containers: [{image: x}], again: *a}\n"
    document = {"kind": "Workflow", "spec": {"templates": [{"name": "t", "resource": {"manifest": manifest}}]}}
    policy = Policy(allow_images=())
    assert len(check_document(document, [PolicySource("p", policy)], locate=lambda path: None)) == 1


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        ("apiVersion: batch/v1\nkind: Job", []),
        ("apiVersion: v1\nkind: Secret", ["it may not make or change objects of the kind 'v1/Secret'"]),
        (
            "{{inputs.parameters.manifest}}\nx: {",
            ["it may not make or change an object that is only known when it runs"],
        ),
    ],
)
def test_only_some_kinds_of_objects_may_be_made(manifest: str, message: list[str]) -> None:
    document = {"kind": "Workflow", "spec": {"templates": [{"name": "t", "resource": {"manifest": manifest}}]}}
    policy = PolicySource("p", Policy(allow_resource_kinds=("batch/v1/Job", "ConfigMap")))
    assert [each.message for each in check_document(document, [policy], locate=lambda path: None)] == message


# ---- places


@pytest.mark.parametrize(
    ("storage", "allowed"),
    [
        (None, True),
        (S3("data/x", bucket="team"), True),
        (S3("x"), True),
        (S3("x", bucket="other"), False),
        (S3("data/x", bucket="team", endpoint="evil.com"), False),
        (S3(Text(("data/", Input("x"))), bucket="team"), True),
    ],
)
def test_artifacts_lie_where_they_may(storage: S3 | None, allowed: bool) -> None:
    flow = one(Container("a"), inputs=Inputs(artifacts=(InputArtifact("x", "/x", storage),)))
    assert bool(found(flow, allow_artifacts=("s3://team/*",))) is not allowed


def test_service_accounts_are_those_that_are_allowed() -> None:
    flow = one(Container("a"), pod=PodSettings(service_account="admin"))
    assert found(flow, allow_service_accounts=("runner",)) == ["the service account 'admin' isn't allowed"]


@pytest.mark.parametrize(
    ("namespace", "messages"),
    [
        ("team-a", []),
        ("prod", ["the namespace 'prod' isn't allowed"]),
        ("", ["no namespace is named, and not all are allowed"]),
    ],
)
def test_namespaces_are_those_that_are_allowed(namespace: str, messages: list[str]) -> None:
    policy = PolicySource("p", Policy(allow_namespaces=("team-*",)))
    assert [each.message for each in check_namespace(namespace, [policy])] == messages


# ---- findings


def test_a_finding_says_where_why_and_what_to_do() -> None:
    policy = Policy(allow_images=("python:*",), reason="see wiki/images")
    assert check(image("evil"), [PolicySource("team.toml", policy)]) == [
        Diagnostic(
            "CLR900",
            "error",
            "the image 'evil' isn't allowed",
            PLACE,
            "step",
            "team.toml says so (allow_images): see wiki/images",
            "images may be: python:*",
        )
    ]


def test_all_policies_hold_and_each_rule_has_its_level() -> None:
    policies = [
        PolicySource("one", Policy(level="warning", allow_images=("a",), levels=Levels(require_digest="error"))),
        PolicySource("two", Policy(allow_images=("b",))),
        PolicySource("three", Policy(level="warning", require_digest=True, levels=Levels(require_digest="error"))),
    ]
    assert [(each.severity, each.why) for each in check(image("a"), policies)] == [
        ("error", "two says so (allow_images)"),
        ("error", "three says so (require_digest)"),
    ]
