"""What imported fields become in the IR: typed where it has a word, in Argo's own words where it hasn't."""

from __future__ import annotations

from typing import Any

import pytest

from couler_py.backends.argo.document import read, write
from couler_py.backends.argo.document.natives import same
from couler_py.ir import expr as e
from couler_py.ir.model import (
    After,
    Argument,
    ArtifactArgument,
    Backoff,
    Cache,
    ContainerSet,
    Data,
    DependsAll,
    DependsAny,
    DependsNot,
    DependsOn,
    Document,
    Each,
    External,
    Graph,
    Handler,
    Hook,
    Http,
    Inline,
    InputArtifact,
    Mutex,
    OutputArtifact,
    OutputParameter,
    Parameter,
    Plugin,
    Resource,
    RetryPolicy,
    Schedule,
    Script,
    Semaphore,
    Sequence,
    Suspend,
    Task,
    Template,
    Ttl,
)
from couler_py.ir.pod import (
    ConfigMapRef,
    Container,
    EnvFrom,
    EnvVar,
    FieldRef,
    PodSettings,
    Resources,
    Toleration,
    Volume,
    VolumeClaim,
    VolumeMount,
)
from couler_py.ir.storage import GCS, HDFS, OSS, S3, Azure, Git, HTTPLocation, RawData, SecretRef
from couler_py.ir.templated import Substitution, Templated

JSON = dict[str, Any]


def document(spec: JSON, kind: str = "Workflow", **metadata: Any) -> Document:
    """A document, and a proof that it is written as it stands."""
    data = {"apiVersion": "argoproj.io/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec}
    found = read(data)
    assert same(write(found), data)
    return found


def template(**fields: Any) -> Template:
    [found] = document({"templates": [{"name": "t", **fields}]}).workflow.templates
    return found


def understood(**fields: Any) -> Template:
    """The template, of which nothing is left over."""
    data = {"kind": "Workflow", "spec": {"templates": [{"name": "t", **fields}]}}
    found = read({"apiVersion": "argoproj.io/v1alpha1", "metadata": {}, **data})
    assert found.natives == ()
    return found.workflow.templates[0]


def tasks(*given: JSON) -> tuple[Task, ...]:
    body = understood(dag={"tasks": list(given)}).body
    assert isinstance(body, Graph)
    return body.tasks


# ---- texts


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ("{{inputs.parameters.x}}", e.Input("x")),
        ("{{workflow.parameters.x-y}}", e.WorkflowParameter("x-y")),
        ("{{tasks.a-b.outputs.parameters.x}}", e.TaskOutput("a-b", "x")),
        ("{{tasks.a.outputs.result}}", e.TaskOutput("a", "result")),
        ("{{tasks.a.status}}", e.TaskStatus("a")),
        ("{{item}}", e.Item()),
        ("{{item.image}}", e.Access(e.Item(), e.Literal("image"))),
        ("{{workflow.name}}", e.Run("name")),
        ("{{workflow.uid}}", e.Run("id")),
        ("{{retries}}", e.Run("attempt")),
        ("{{inputs.artifacts.file.path}}", e.InputArtifact("file")),
        ("{{workflow.outputs.parameters.x}}", e.Published("x")),
        ("{{=asInt(inputs.parameters.x) + 1}}", e.Raw("argo", "asInt(inputs.parameters.x) + 1")),
        ("{{tasks.a.outputs.parameters.result}}", e.Raw("argo-tag", "tasks.a.outputs.parameters.result")),
        ("{{steps.a.outputs.result}}", e.Raw("argo-tag", "steps.a.outputs.result")),
        ("{{workflow.creationTimestamp.Y}}", e.Raw("argo-tag", "workflow.creationTimestamp.Y")),
        ("{{ anything else }}", e.Raw("argo-tag", " anything else ")),
        ("a {{item}} b", e.Text(("a ", e.Item(), " b"))),
        ("no tag {{", e.Literal("no tag {{")),
        ("", e.Literal("")),
        (5, e.Literal(5)),
        (True, e.Literal(True)),
        (1.5, e.Literal(1.5)),
    ],
)
def test_values_are_references_and_literals_of_their_json_type(tag: Any, expected: e.Expr) -> None:
    [task] = tasks({"name": "t", "template": "x", "arguments": {"parameters": [{"name": "p", "value": tag}]}})
    assert task.arguments == (Argument("p", expected),)
    assert type(getattr(task.arguments[0].value, "value", None)) is type(getattr(expected, "value", None))


def test_in_steps_the_outputs_of_steps_are_references() -> None:
    step = {"name": "b", "template": "x", "when": "{{steps.a.outputs.result}} == {{tasks.a.outputs.result}}"}
    body = understood(steps=[[{"name": "a", "template": "x"}], [step]]).body
    assert isinstance(body, Graph)
    assert body.tasks[1].when == e.Condition(
        e.Text((e.TaskOutput("a", "result"), " == ", e.Raw("argo-tag", "tasks.a.outputs.result")))
    )


def test_spaces_in_a_tag_are_spelling() -> None:
    found = document({"templates": [{"name": "t", "container": {"image": "{{ inputs.parameters.x }}"}}]})
    assert found.workflow.templates[0].body == Container(e.Text((e.Input("x"),)))
    [native] = found.natives
    assert (native.pointer, native.was, native.value) == (
        "/spec/templates/0/container/image",
        "{{inputs.parameters.x}}",
        "{{ inputs.parameters.x }}",
    )


# ---- containers


def test_a_container() -> None:
    found = understood(
        container={
            "image": "alpine",
            "command": ["sh", "-c"],
            "args": ["echo {{inputs.parameters.x}}"],
            "workingDir": "/work",
            "imagePullPolicy": "Always",
            "env": [
                {"name": "A", "value": "1"},
                {"name": "B", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
                {"name": "C", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "k", "optional": True}}},
                {"name": "D", "valueFrom": {"fieldRef": {"fieldPath": "status.hostIP"}}},
            ],
            "envFrom": [{"secretRef": {"name": "s"}}, {"prefix": "P_", "configMapRef": {"name": "c"}}],
            "volumeMounts": [{"name": "v", "mountPath": "/v", "subPath": "x", "readOnly": True}],
            "resources": {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"memory": "2Gi"}},
            "ports": [{"containerPort": 80}],
        }
    ).body
    assert found == Container(
        "alpine",
        ("sh", "-c"),
        (e.Text(("echo ", e.Input("x"))),),
        env=(
            EnvVar("A", "1"),
            EnvVar("B", SecretRef("s", "k")),
            EnvVar("C", ConfigMapRef("c", "k", True)),
            EnvVar("D", FieldRef("status.hostIP")),
        ),
        env_from=(EnvFrom("s", "secret"), EnvFrom("c", "config_map", "P_")),
        working_dir="/work",
        pull_policy="Always",
        mounts=(VolumeMount("v", "/v", "x", True),),
        resources=Resources(cpu="1", memory="1Gi", cpu_limit="", memory_limit="2Gi"),
        extra=Templated({"ports": [{"containerPort": 80}]}),
    )


def test_an_environment_of_which_one_variable_can_not_be_said_stands_whole_in_argos_words() -> None:
    env = [
        {"name": "A", "value": "{{item}}"},
        {"name": "B", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
    ]
    found = understood(container={"image": "a", "env": env}).body
    assert found == Container(
        "a",
        extra=Templated(
            {"env": [{"name": "A", "value": ""}, env[1]]}, (Substitution("/env/0/value", e.Text((e.Item(),))),)
        ),
    )


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"requests": {"cpu": "1"}}, Resources(cpu="1", cpu_limit="")),
        ({"limits": {"cpu": "1"}}, Resources(cpu_limit="1")),
        ({"requests": {"cpu": "1"}, "limits": {"cpu": "1"}}, Resources(cpu="1")),
        (
            {"requests": {"nvidia.com/gpu": "2"}, "limits": {"nvidia.com/gpu": "2"}},
            Resources(gpu=2, gpu_type="nvidia.com/gpu"),
        ),
        ({"requests": {"x.y/z": "1"}, "limits": {"x.y/z": "1"}}, Resources(extra=(("x.y/z", "1"),))),
        (
            {"requests": {"ephemeral-storage": "1Gi"}, "limits": {"ephemeral-storage": "1Gi"}},
            Resources(ephemeral_storage="1Gi"),
        ),
    ],
)
def test_resources_as_one_quantity_of_each_kind(given: JSON, expected: Resources) -> None:
    found = understood(container={"image": "a", "resources": given}).body
    assert found == Container("a", resources=expected)


def test_resources_that_are_no_pair_of_request_and_limit_stand_in_kubernetes_words() -> None:
    given = {"requests": {"ephemeral-storage": "1Gi"}}
    found = understood(container={"image": "a", "resources": given}).body
    assert found == Container("a", extra=Templated({"resources": given}))


def test_devices_that_are_only_limited_are_asked_for_and_the_limit_alone_is_spelling() -> None:
    given = {"limits": {"nvidia.com/gpu": 1}}
    found = template(container={"image": "a", "resources": given}).body
    assert found == Container("a", resources=Resources(gpu=1))


def test_a_script_without_a_command_has_none() -> None:
    assert understood(script={"image": "python", "source": "print(1)"}).body == Script("python", "print(1)", ())


# ---- other bodies


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"suspend": {}}, Suspend()),
        ({"suspend": {"duration": "1m"}}, Suspend(60.0)),
        (
            {"resource": {"action": "create", "manifest": "kind: {{item}}", "setOwnerReference": True}},
            Resource(
                "create",
                Templated("", (Substitution("", e.Text(("kind: ", e.Item()))),)),
                set_owner_reference=True,
            ),
        ),
        (
            {"resource": {"action": "get", "manifestFrom": {"artifact": {"name": "x"}}}},
            Resource("get", Templated(None), extra=Templated({"manifestFrom": {"artifact": {"name": "x"}}})),
        ),
        (
            {
                "http": {
                    "url": "http://a",
                    "method": "POST",
                    "headers": [
                        {"name": "A", "value": "1"},
                        {"name": "B", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
                    ],
                    "body": "x",
                    "timeoutSeconds": 5,
                    "successCondition": "response.statusCode == 200",
                    "bodyFrom": {"bytes": "eA=="},
                }
            },
            Http(
                "http://a",
                "POST",
                (("A", "1"), ("B", SecretRef("s", "k"))),
                "x",
                5.0,
                "response.statusCode == 200",
                extra=Templated({"bodyFrom": {"bytes": "eA=="}}),
            ),
        ),
        (
            {
                "data": {
                    "source": {"artifactPaths": {"name": "x", "s3": {"key": "k"}}},
                    "transformation": [{"expression": "filter(data, {# != ''})"}],
                }
            },
            Data(Templated({"artifactPaths": {"name": "x", "s3": {"key": "k"}}}), ("filter(data, {# != ''})",)),
        ),
        (
            {
                "containerSet": {
                    "containers": [
                        {"name": "a", "image": "x"},
                        {"name": "b", "dependencies": ["a"], "image": "y"},
                    ],
                    "volumeMounts": [{"name": "v", "mountPath": "/v"}],
                    "retryStrategy": {"retries": 3},
                }
            },
            ContainerSet(
                (Container("x", name="a"), Container("y", name="b")), (("b", ("a",)),), (VolumeMount("v", "/v"),), 3
            ),
        ),
        ({"plugin": {"slack": {"text": "hi"}}}, Plugin(Templated({"slack": {"text": "hi"}}))),
    ],
)
def test_every_kind_of_body(fields: JSON, expected: Any) -> None:
    assert understood(**fields).body == expected


def test_a_body_that_can_not_be_said_is_none_and_stands_in_argos_words() -> None:
    found = understood(suspend={"duration": "{{inputs.parameters.x}}"})
    assert found.body == Plugin(Templated(None))
    assert found.pod.extra == Templated(
        {"suspend": {"duration": ""}}, (Substitution("/suspend/duration", e.Text((e.Input("x"),))),)
    )


def test_of_several_bodies_one_is_understood() -> None:
    found = understood(container={"image": "a"}, suspend={})
    assert found.body == Container("a")
    assert found.pod.extra == Templated({"suspend": {}})


# ---- inputs and outputs


def test_input_parameters() -> None:
    found = understood(
        inputs={
            "parameters": [
                {"name": "a"},
                {"name": "b", "default": "1", "description": "d", "enum": ["1", "2"]},
                {"name": "c", "valueFrom": {"configMapKeyRef": {"name": "m", "key": "k"}}},
                {"name": "d", "valueFrom": {"supplied": {}}},
            ]
        }
    ).inputs.parameters
    assert found == (
        Parameter("a", portable=False),
        Parameter("b", default="1", enum=("1", "2"), description="d", portable=False),
        Parameter("c", value_from=ConfigMapRef("m", "k"), portable=False),
        Parameter("d", portable=False, extra=Templated({"valueFrom": {"supplied": {}}})),
    )


def test_a_value_in_a_template_is_a_default_and_its_word_is_spelling() -> None:
    found = template(inputs={"parameters": [{"name": "a", "value": 5}]})
    assert found.inputs.parameters == (Parameter("a", default=5, portable=False),)


def test_output_parameters() -> None:
    found = understood(
        outputs={
            "parameters": [
                {"name": "a", "valueFrom": {"path": "/a", "default": "x"}, "globalName": "g"},
                {"name": "b", "valueFrom": {"parameter": "{{steps.a.outputs.result}}"}},
                {"name": "c", "valueFrom": {"expression": "1 + 1"}},
                {"name": "d", "valueFrom": {"parameter": "{{=1 + 1}}"}},
                {"name": "e", "valueFrom": {"jsonPath": "{.a}"}},
                {"name": "f", "valueFrom": {"jqFilter": ".a"}},
                {"name": "g", "valueFrom": {"supplied": {}}},
                {"name": "h", "valueFrom": {"event": "payload"}},
            ]
        },
        steps=[],
    ).outputs.parameters
    assert found == (
        OutputParameter("a", path="/a", default="x", global_name="g"),
        OutputParameter("b", value=e.TaskOutput("a", "result")),
        OutputParameter("c", value=e.Raw("argo", "1 + 1")),
        OutputParameter("d", value=e.Text((e.Raw("argo", "1 + 1"),))),
        OutputParameter("e", json_path="{.a}"),
        OutputParameter("f", jq_filter=".a"),
        OutputParameter("g", supplied=True),
        OutputParameter("h", extra=Templated({"valueFrom": {"event": "payload"}})),
    )


KEY = {"name": "s", "key": "k"}
REF = SecretRef("s", "k")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (
            {"s3": {"key": "{{item}}", "bucket": "b", "endpoint": "e", "insecure": True, "accessKeySecret": KEY}},
            S3(e.Text((e.Item(),)), "b", "e", insecure=True, access_key=REF),
        ),
        (
            {"s3": {"key": "k", "createBucketIfNotPresent": {"objectLocking": True}, "bucket": "{{item}}"}},
            S3(
                "k",
                extra=Templated(
                    {"createBucketIfNotPresent": {"objectLocking": True}, "bucket": ""},
                    (Substitution("/bucket", e.Text((e.Item(),))),),
                ),
            ),
        ),
        ({"gcs": {"key": "k", "serviceAccountKeySecret": KEY}}, GCS("k", service_account_key=REF)),
        ({"oss": {"key": "k", "bucket": "b", "secretKeySecret": KEY}}, OSS("k", "b", secret_key=REF)),
        ({"azure": {"blob": "b", "container": "c", "endpoint": "e"}}, Azure("b", "c", "e")),
        (
            {"hdfs": {"path": "/p", "addresses": ["a:1"], "hdfsUser": "u", "krbConfigConfigMap": KEY}},
            HDFS("/p", ("a:1",), "u", extra=Templated({"krbConfigConfigMap": KEY})),
        ),
        ({"git": {"repo": "r", "revision": "v", "depth": 1}}, Git("r", "v", 1)),
        (
            {
                "http": {
                    "url": "u",
                    "headers": [{"name": "a", "value": "b"}],
                    "auth": {"basicAuth": {"passwordSecret": KEY}},
                }
            },
            HTTPLocation("u", (("a", "b"),), password=REF),
        ),
        (
            {"http": {"url": "u", "auth": {"oauth2": {}}}},
            HTTPLocation("u", extra=Templated({"auth": {"oauth2": {}}})),
        ),
        ({"raw": {"data": "hello"}}, RawData("hello")),
    ],
)
def test_every_kind_of_store(given: JSON, expected: Any) -> None:
    found = understood(inputs={"artifacts": [{"name": "a", "path": "/a", **given}]})
    assert found.inputs.artifacts == (InputArtifact("a", "/a", expected),)


@pytest.mark.parametrize("store", [{"artifactory": {"url": "u"}}, {"plugin": {"name": "p", "key": "k"}}])
def test_stores_that_the_ir_does_not_know_stand_in_argos_words(store: JSON) -> None:
    found = understood(inputs={"artifacts": [{"name": "a", "path": "/a", **store}]})
    assert found.inputs.artifacts == (InputArtifact("a", "/a", extra=Templated(store)),)


def test_artifacts() -> None:
    found = understood(
        inputs={"artifacts": [{"name": "a", "path": "/a", "mode": 420, "optional": True, "archive": {"none": {}}}]},
        outputs={
            "artifacts": [
                {"name": "b", "path": "/b", "archive": {"tar": {"compressionLevel": 9}}},
                {"name": "c", "archive": {"zip": {}}, "from": "{{tasks.x.outputs.artifacts.y}}", "globalName": "g"},
                {"name": "d", "fromExpression": "tasks.x.outputs.artifacts.y", "artifactGC": {"strategy": "Never"}},
            ]
        },
        dag={
            "tasks": [
                {
                    "name": "x",
                    "template": "t",
                    "arguments": {
                        "artifacts": [
                            {"name": "e", "from": "{{inputs.artifacts.a}}", "subPath": "x"},
                            {"name": "f", "raw": {"data": "d"}, "optional": True},
                        ]
                    },
                }
            ]
        },
    )
    assert found.inputs.artifacts == (InputArtifact("a", "/a", optional=True, mode=420, archive="none"),)
    assert found.outputs.artifacts == (
        OutputArtifact("b", "/b", extra=Templated({"archive": {"tar": {"compressionLevel": 9}}})),
        OutputArtifact("c", value=e.TaskArtifact("x", "y"), archive="zip", global_name="g"),
        OutputArtifact(
            "d",
            value=e.Raw("argo", "tasks.x.outputs.artifacts.y"),
            extra=Templated({"artifactGC": {"strategy": "Never"}}),
        ),
    )
    assert isinstance(found.body, Graph)
    assert found.body.tasks[0].artifacts == (
        ArtifactArgument("e", e.InputArtifact("a"), extra=Templated({"subPath": "x"})),
        ArtifactArgument("f", storage=RawData("d"), optional=True),
    )


# ---- graphs


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a", DependsOn("a")),
        ("a.Failed", DependsOn("a", "Failed")),
        ("a && !b.Succeeded", DependsAll((DependsOn("a"), DependsNot(DependsOn("b", "Succeeded"))))),
        ("a || b && c", DependsAny((DependsOn("a"), DependsAll((DependsOn("b"), DependsOn("c")))))),
    ],
)
def test_depends_is_a_tree(text: str, tree: Any) -> None:
    [task] = tasks({"name": "x", "template": "t", "depends": text})
    assert task.depends == tree


def test_a_depends_that_is_none_stands_as_it_is() -> None:
    [task] = tasks({"name": "x", "template": "t", "depends": "a &&"})
    assert (task.depends, task.extra) == (None, Templated({"depends": "a &&"}))


def test_a_depends_in_another_spelling_is_the_same_tree() -> None:
    body = template(dag={"tasks": [{"name": "x", "template": "t", "depends": "(a)&&b"}]}).body
    assert isinstance(body, Graph)
    assert body.tasks[0].depends == DependsAll((DependsOn("a"), DependsOn("b")))


def test_dependencies_are_order_edges_and_failures_may_not_count() -> None:
    [task] = tasks(
        {"name": "x", "template": "t", "dependencies": ["a", "b"], "continueOn": {"failed": True, "error": True}}
    )
    assert task.after == (After("a"), After("b"))
    assert task.continue_on == ("failed", "error")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"withItems": ["a", 1, {"b": None}]}, Each(e.Literal(["a", 1, {"b": None}]))),
        (
            {"withItems": ["x", {"k": "{{inputs.parameters.p}}"}]},
            Each(e.Record((), (e.Literal("x"), e.Record(("k",), (e.Input("p"),))), "list")),
        ),
        ({"withParam": "{{tasks.a.outputs.result}}"}, Each(e.FromJson(e.TaskOutput("a", "result")))),
        ({"withParam": "[1, 2]"}, Each(e.FromJson(e.Literal("[1, 2]")))),
        (
            {"withSequence": {"count": "{{inputs.parameters.n}}", "format": "x-%d"}},
            Each(Sequence(count=e.Input("n"), form="x-%d")),
        ),
        ({"withSequence": {"start": 1, "end": "5"}}, Each(Sequence(e.Literal(1), e.Literal("5")))),
    ],
)
def test_fan_outs(given: JSON, expected: Each) -> None:
    [task] = tasks({"name": "x", "template": "t", **given})
    assert task.each == expected


def test_what_a_task_calls() -> None:
    named, external, cluster, inline, nothing = tasks(
        {"name": "a", "template": "t"},
        {"name": "b", "templateRef": {"name": "w", "template": "t"}},
        {"name": "c", "templateRef": {"name": "w", "template": "t", "clusterScope": True}},
        {"name": "d", "inline": {"container": {"image": "{{tasks.a.outputs.result}}"}}},
        {"name": "e"},
    )
    assert named.call == "t"
    assert external.call == External("w", "t")
    assert cluster.call == External("w", "t", "ClusterWorkflowTemplate")
    assert inline.call == Inline(Template("", Container(e.Text((e.TaskOutput("a", "result"),)))))
    assert nothing.call == ""


def test_an_inline_that_is_no_template_stands_as_it_is() -> None:
    [task] = tasks({"name": "a", "inline": {"container": 5}})
    assert (task.call, task.extra) == ("", Templated({"inline": {"container": 5}}))


def test_hooks_of_a_task() -> None:
    [task] = tasks(
        {
            "name": "a",
            "template": "t",
            "onExit": "bye",
            "hooks": {
                "exit": {"template": "t", "arguments": {"parameters": [{"name": "p", "value": "1"}]}},
                "running": {"expression": "tasks.a.status == 'Running'", "templateRef": {"name": "w", "template": "t"}},
            },
        }
    )
    assert task.hooks == (
        Hook("onExit", "bye"),
        Hook("exit", "t", arguments=(Argument("p", e.Literal("1")),)),
        Hook(
            "running",
            "",
            e.Raw("argo", "tasks.a.status == 'Running'"),
            extra=Templated({"templateRef": {"name": "w", "template": "t"}}),
        ),
    )


def test_an_argument_without_a_value() -> None:
    source = {"valueFrom": {"configMapKeyRef": {"name": "m", "key": "k"}}}
    [task] = tasks({"name": "a", "template": "t", "arguments": {"parameters": [{"name": "p", **source}]}})
    assert task.arguments == (Argument("p", e.Literal(None), Templated(source)),)


def test_dags_and_steps() -> None:
    dag = understood(dag={"target": "a b", "failFast": False, "tasks": [{"name": "a", "template": "t"}]}).body
    steps = understood(steps=[[{"name": "a", "template": "t"}, {"name": "b", "template": "t"}], []]).body
    assert dag == Graph((Task("a", "t"),), targets=("a", "b"))
    assert steps == Graph((Task("a", "t"), Task("b", "t")), "steps", (("a", "b"), ()), fail_fast=True)


def test_a_target_that_only_the_run_knows_stands_in_argos_words_and_the_graph_is_understood() -> None:
    body = understood(dag={"target": "{{workflow.parameters.t}}", "tasks": [{"name": "a", "template": "t"}]}).body
    target = Templated({"target": ""}, (Substitution("/target", e.Text((e.WorkflowParameter("t"),))),))
    assert body == Graph((Task("a", "t"),), fail_fast=True, extra=target)


# ---- policies


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"limit": 3}, RetryPolicy(3, policy="OnFailure")),
        ({"limit": 3, "expression": "true"}, RetryPolicy(3, when=e.Raw("argo", "true"))),
        (
            {
                "limit": 3,
                "retryPolicy": "Always",
                "backoff": {"duration": "10s", "factor": 2, "maxDuration": "1m"},
                "affinity": {"nodeAntiAffinity": {}},
            },
            RetryPolicy(3, Backoff(10.0, 2.0, 60.0), other_node=True),
        ),
    ],
)
def test_retries(given: JSON, expected: RetryPolicy) -> None:
    assert understood(container={"image": "a"}, retryStrategy=given).retry == expected


@pytest.mark.parametrize("given", [{}, {"limit": "{{inputs.parameters.x}}"}, {"limit": 3, "backoff": {"cap": "1m"}}])
def test_retries_that_can_not_be_said_stand_in_argos_words(given: JSON) -> None:
    found = understood(container={"image": "a"}, retryStrategy=given)
    assert found.retry is None
    assert found.pod.extra is not None
    assert found.pod.extra.value["retryStrategy"].keys() == given.keys()


def test_other_policies() -> None:
    found = understood(
        container={"image": "a"},
        activeDeadlineSeconds=30,
        timeout="2m",
        daemon=True,
        parallelism=2,
        archiveLocation={"archiveLogs": False},
        metrics={"prometheus": [{"name": "m", "help": "h", "counter": {"value": "{{item}}"}}]},
        memoize={"key": "{{item}}", "cache": {"configMap": {"name": "c"}}, "maxAge": "1h"},
        failFast=True,
    )
    assert (found.timeout, found.deadline, found.daemon, found.parallelism) == (30.0, 120.0, True, 2)
    assert found.archive_logs is False
    assert found.cache == Cache(3600.0, key=e.Text((e.Item(),)), store="c")
    assert found.metrics == Templated(
        {"prometheus": [{"name": "m", "help": "h", "counter": {"value": ""}}]},
        (Substitution("/prometheus/0/counter/value", e.Text((e.Item(),))),),
    )
    assert found.pod.extra == Templated({"failFast": True})


LOCKS = (Mutex("m", "n"), Semaphore("k", config_map=ConfigMapRef("c", "k")))


def test_locks() -> None:
    found = understood(
        container={"image": "a"},
        synchronization={
            "mutexes": [{"name": "m", "namespace": "n"}],
            "semaphores": [{"configMapKeyRef": {"name": "c", "key": "k"}}, {"database": {"key": "d"}}],
        },
    )
    assert found.locks == (*LOCKS, Semaphore("d", database=True))


def test_locks_in_the_words_of_argo_before_4_are_the_same_locks() -> None:
    found = template(
        container={"image": "a"},
        synchronization={
            "mutex": {"name": "m", "namespace": "n"},
            "semaphore": {"configMapKeyRef": {"name": "c", "key": "k"}},
        },
    )
    assert found.locks == LOCKS


def test_a_pod() -> None:
    found = understood(
        container={"image": "a"},
        metadata={"labels": {"l": "{{item}}"}, "annotations": {"a": "b"}},
        nodeSelector={"disk": "ssd"},
        tolerations=[{"key": "k", "operator": "Exists", "effect": "NoSchedule", "tolerationSeconds": 5}],
        serviceAccountName="sa",
        schedulerName="s",
        priorityClassName="p",
        volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "{{inputs.parameters.c}}"}}],
        initContainers=[{"name": "i", "image": "a"}],
        sidecars=[{"name": "s", "image": "a", "mirrorVolumeMounts": True}],
        podSpecPatch="{}",
        affinity={"nodeAffinity": {}},
    )
    assert found.pod == PodSettings(
        labels=(("l", e.Text((e.Item(),))),),
        annotations=(("a", "b"),),
        node_selector=(("disk", "ssd"),),
        tolerations=(Toleration("k", "Exists", effect="NoSchedule", seconds=5),),
        service_account="sa",
        scheduler="s",
        priority_class="p",
        volumes=(
            Volume(
                "v",
                Templated(
                    {"persistentVolumeClaim": {"claimName": ""}},
                    (Substitution("/persistentVolumeClaim/claimName", e.Text((e.Input("c"),))),),
                ),
            ),
        ),
        init_containers=(Container("a", name="i"),),
        sidecars=(Container("a", name="s", extra=Templated({"mirrorVolumeMounts": True})),),
        patch="{}",
        extra=Templated({"affinity": {"nodeAffinity": {}}}),
    )


# ---- workflows


def test_what_holds_for_the_run() -> None:
    found = document(
        {
            "entrypoint": "main",
            "arguments": {
                "parameters": [{"name": "p", "value": "1", "enum": ["1"]}],
                "artifacts": [{"name": "a", "raw": {"data": "x"}}],
            },
            "parallelism": 3,
            "activeDeadlineSeconds": 60,
            "ttlStrategy": {"secondsAfterSuccess": 5},
            "podGC": {"strategy": "OnPodSuccess"},
            "priority": 1,
            "serviceAccountName": "sa",
            "podPriorityClassName": "p",
            "podMetadata": {"labels": {"l": "{{workflow.parameters.p}}"}},
            "imagePullSecrets": [{"name": "s"}],
            "hostNetwork": True,
            "dnsPolicy": "Default",
            "dnsConfig": {"nameservers": ["1.1.1.1"]},
            "volumes": [{"name": "v", "emptyDir": {}}],
            "volumeClaimTemplates": [
                {
                    "metadata": {"name": "c"},
                    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
                }
            ],
            "onExit": "bye",
            "hooks": {"running": {"expression": "workflow.status == 'Running'", "template": "t"}},
            "templateDefaults": {"timeout": "1m"},
            "artifactGC": {"strategy": "Never"},
        },
        generateName="hello-",
        labels={"a": "b"},
    ).workflow
    assert (found.name, found.entrypoint, found.dialect) == ("hello", "main", "argo")
    assert found.parameters == (Parameter("p", default="1", enum=("1",), portable=False),)
    assert found.artifacts == (ArtifactArgument("a", storage=RawData("x")),)
    assert (found.parallelism, found.deadline, found.priority) == (3, 60.0, 1)
    assert (found.ttl, found.pod_gc) == (Ttl(after_success=5), "OnPodSuccess")
    assert found.pod.labels == (("l", e.Text((e.WorkflowParameter("p"),))),)
    assert (found.pod.service_account, found.pod.priority_class, found.pod.host_network) == ("sa", "p", True)
    assert found.pod.image_pull_secrets == ("s",)
    assert found.pod.dns is not None
    assert (found.pod.dns.policy, found.pod.dns.nameservers) == ("Default", ("1.1.1.1",))
    assert found.volumes == (Volume("v", Templated({"emptyDir": {}})),)
    assert found.volume_claims == (VolumeClaim("c", "1Gi"),)
    assert found.handlers == (
        Handler("onExit", "bye"),
        Handler("running", "t", "when", e.Raw("argo", "workflow.status == 'Running'")),
    )
    assert found.labels == (("a", "b"),)
    assert found.engines == {"argo": {"templateDefaults": {"timeout": "1m"}, "artifactGC": {"strategy": "Never"}}}


def test_a_run_of_a_workflow_template_has_neither_entrypoint_nor_templates() -> None:
    found = document({"workflowTemplateRef": {"name": "w"}}, name="x").workflow
    assert (found.entrypoint, found.templates) == ("", ())
    assert found.engines == {"argo": {"workflowTemplateRef": {"name": "w"}}}


def test_a_schedule() -> None:
    found = document(
        {
            "schedules": ["0 3 * * *", "0 4 * * *"],
            "timezone": "Europe/Berlin",
            "concurrencyPolicy": "Forbid",
            "startingDeadlineSeconds": 5,
            "successfulJobsHistoryLimit": 1,
            "failedJobsHistoryLimit": 2,
            "suspend": True,
            "stopStrategy": {"expression": "true"},
            "workflowMetadata": {"labels": {"a": "b"}},
            "workflowSpec": {"entrypoint": "main"},
        },
        "CronWorkflow",
        name="nightly",
    )
    assert (found.kind, found.workflow.name, found.workflow.entrypoint) == ("CronWorkflow", "nightly", "main")
    assert found.workflow.schedule == Schedule(
        ("0 3 * * *", "0 4 * * *"),
        "Europe/Berlin",
        "Forbid",
        5.0,
        1,
        2,
        True,
        Templated({"stopStrategy": {"expression": "true"}, "workflowMetadata": {"labels": {"a": "b"}}}),
    )


def test_one_schedule_in_the_word_of_argo_before_4_is_the_same() -> None:
    found = document({"schedule": "0 3 * * *", "workflowSpec": {}}, "CronWorkflow").workflow.schedule
    assert found == Schedule(("0 3 * * *",), "")


@pytest.mark.parametrize(
    ("metadata", "name"),
    [
        ({"name": "a-"}, "a-"),
        ({"generateName": "a-"}, "a"),
        ({"name": "a", "generateName": "b-"}, "a"),
        ({}, "workflow"),
        ({"generateName": "-"}, "workflow"),
    ],
)
def test_the_name_of_a_workflow(metadata: JSON, name: str) -> None:
    assert document({}, **metadata).workflow.name == name
