"""Documents in Argo's own words: what is written is what stands in them."""

from __future__ import annotations

from typing import Any

import pytest

import couler_py as couler
from couler_py import argo_native as argo

JSON = dict[str, Any]


def templates(w: argo.Written) -> list[JSON]:
    found: list[JSON] = w.data["spec"]["templates"]
    return found


def test_a_diamond() -> None:
    with argo.Workflow(generateName="dag-diamond-", entrypoint="diamond") as w:
        echo = argo.container("echo", image="alpine:3.7", command=["echo", argo.input("message")], inputs=["message"])
        with argo.dag("diamond"):
            a = echo("A", message="A")
            b = echo("B", message="B", depends=a)
            c = echo("C", message="C", depends=a)
            echo("D", message="D", depends=b & c)

    def task(name: str, depends: str = "") -> JSON:
        arguments = {"parameters": [{"name": "message", "value": name}]}
        return {"name": name, "template": "echo", "arguments": arguments} | ({"depends": depends} if depends else {})

    assert w.data == {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"generateName": "dag-diamond-"},
        "spec": {
            "entrypoint": "diamond",
            "templates": [
                {
                    "name": "echo",
                    "inputs": {"parameters": [{"name": "message"}]},
                    "container": {"image": "alpine:3.7", "command": ["echo", "{{inputs.parameters.message}}"]},
                },
                {"name": "diamond", "dag": {"tasks": [task("A"), task("B", "A"), task("C", "A"), task("D", "B && C")]}},
            ],
        },
    }


def test_steps_follow_each_other_and_those_in_a_group_run_side_by_side() -> None:
    with argo.Workflow("w") as w:
        one = argo.container("one", image="x")
        with argo.steps("main"):
            first = one("first")
            with argo.parallel():
                one("left", when=f"{first.result} == yes")
                one("right", withParam=first.parameter("list"))
            one("last")
    steps = templates(w)[1]["steps"]
    assert [[step["name"] for step in group] for group in steps] == [["first"], ["left", "right"], ["last"]]
    assert steps[1][0]["when"] == "{{steps.first.outputs.result}} == yes"
    assert steps[1][1]["withParam"] == "{{steps.first.outputs.parameters.list}}"


def test_fields_of_a_template_and_of_its_body_stand_side_by_side() -> None:
    with argo.Workflow("w") as w:
        argo.container(
            "c",
            image="x",
            env=[{"name": "A", "value": "b"}],
            securityContext={"runAsUser": 1},
            container={"securityContext": {"privileged": True}},
            retryStrategy={"limit": 3},
        )
    assert templates(w) == [
        {
            "name": "c",
            "securityContext": {"runAsUser": 1},
            "retryStrategy": {"limit": 3},
            "container": {
                "image": "x",
                "env": [{"name": "A", "value": "b"}],
                "securityContext": {"privileged": True},
            },
        }
    ]


def test_every_kind_of_template() -> None:
    with argo.Workflow("w") as w:
        argo.script("script", image="x", source="print(1)")
        argo.resource("resource", action="create", manifest="kind: ConfigMap")
        argo.suspend("suspend", duration="10s")
        argo.http("http", url="https://example.com")
        argo.data(
            "data",
            source={"artifactPaths": {"name": "files", "s3": {"bucket": "b"}}},
            transformation=[{"expression": "filter(data, {true})"}],
        )
        argo.container_set(
            "set", containers=[{"name": "main", "image": "x"}], containerSet={"retryStrategy": {"retries": 1}}
        )
        argo.plugin("plugin", plugin={"hello": {}})
        argo.template("raw", container={"image": "x"})
    kinds = [sorted(each.keys() - {"name"}) for each in templates(w)]
    assert kinds == [
        ["script"],
        ["resource"],
        ["suspend"],
        ["http"],
        ["data"],
        ["containerSet"],
        ["plugin"],
        ["container"],
    ]
    assert templates(w)[5]["containerSet"]["retryStrategy"] == {"retries": 1}


def test_members_are_names_parameters_and_artifacts() -> None:
    with argo.Workflow("w", arguments=[argo.parameter("n", 3, enum=["3", "4"])]) as w:
        argo.container(
            "c",
            image="x",
            inputs=["a", argo.parameter("b", default=True), argo.artifact("f", "/tmp/f", s3={"key": "k"})],
            outputs=[argo.parameter("o", valueFrom={"path": "/o"}), argo.artifact("g", from_="{{x}}", optional=True)],
        )
    assert w.data["spec"]["arguments"] == {"parameters": [{"name": "n", "value": "3", "enum": ["3", "4"]}]}
    assert templates(w)[0]["inputs"] == {
        "parameters": [{"name": "a"}, {"name": "b", "default": "true"}],
        "artifacts": [{"name": "f", "path": "/tmp/f", "s3": {"key": "k"}}],
    }
    assert templates(w)[0]["outputs"] == {
        "parameters": [{"name": "o", "valueFrom": {"path": "/o"}}],
        "artifacts": [{"name": "g", "from": "{{x}}", "optional": True}],
    }


def test_arguments_are_values_by_name_and_artifacts_are_told_from_them() -> None:
    with argo.Workflow("w") as w:
        one = argo.container("one", image="x", inputs=["plain", argo.artifact("file", "/f")])
        with argo.dag("main"):
            a = one("a")
            one(
                "b",
                parameters={"odd-name": 1, "when": "x"},
                artifacts={"raw": {"raw": {"data": "x"}}},
                plain=[1, {"k": "v"}],
                file=a.artifact("out"),
            )
    assert templates(w)[1]["dag"]["tasks"][1]["arguments"] == {
        "parameters": [
            {"name": "odd-name", "value": "1"},
            {"name": "when", "value": "x"},
            {"name": "plain", "value": '[1, {"k": "v"}]'},
        ],
        "artifacts": [
            {"name": "raw", "raw": {"data": "x"}},
            {"name": "file", "from": "{{tasks.a.outputs.artifacts.out}}"},
        ],
    }


def test_a_task_of_a_template_elsewhere_and_of_one_that_is_written_later() -> None:
    with argo.Workflow("w") as w, argo.dag("main"):
        argo.task("a", "later")
        argo.task("b", templateRef={"name": "shared", "template": "t"}, x="1")
        argo.task("c", inline={"container": {"image": "x"}})
    tasks = templates(w)[0]["dag"]["tasks"]
    assert tasks[0] == {"name": "a", "template": "later"}
    assert tasks[1]["templateRef"] == {"name": "shared", "template": "t"}
    assert tasks[2] == {"name": "c", "inline": {"container": {"image": "x"}}}


def test_names_of_templates_and_tasks_stand_where_text_does() -> None:
    with argo.Workflow("w", onExit="bye") as w:
        bye = argo.container("bye", image="x")
        with argo.dag("main"):
            a = bye("a")
            bye("b", dependencies=[a], onExit=bye, hooks={"exit": {"template": bye}})
    assert templates(w)[1]["dag"]["tasks"][1] == {
        "name": "b",
        "template": "bye",
        "dependencies": ["a"],
        "hooks": {"exit": {"template": "bye"}},
        "onExit": "bye",
    }
    assert {type(each) for each in (*templates(w)[1]["dag"]["tasks"][1]["dependencies"],)} == {str}


def test_templates_stand_in_the_order_in_which_they_are_written_unless_arranged() -> None:
    with argo.Workflow("w") as w:
        for name in ("a", "b", "c"):
            argo.suspend(name)
        w.arrange("c")
    assert [each["name"] for each in templates(w)] == ["c", "a", "b"]


def test_a_cron_workflow_has_its_templates_in_what_it_runs() -> None:
    with argo.CronWorkflow("nightly", schedules=["0 3 * * *"], workflowSpec={"entrypoint": "a"}) as w:
        argo.suspend("a")
    assert w.data["spec"] == {
        "schedules": ["0 3 * * *"],
        "workflowSpec": {"entrypoint": "a", "templates": [{"name": "a", "suspend": {}}]},
    }


@pytest.mark.parametrize("kind", ["Workflow", "WorkflowTemplate", "ClusterWorkflowTemplate", "CronWorkflow"])
def test_each_kind_says_what_it_is(kind: str) -> None:
    w = getattr(argo, kind)("w", labels={"a": "b"}, metadata={"finalizers": ["f"]})
    assert (w.data["kind"], w.data["metadata"]) == (kind, {"finalizers": ["f"], "name": "w", "labels": {"a": "b"}})


def test_text_loses_the_indentation_that_its_lines_share() -> None:
    source = argo.text("""
        if True:
            print(1)
        """)
    assert source == "if True:\n    print(1)\n"


def test_a_field_without_a_value() -> None:
    w = argo.Workflow("w", volumes=argo.null, onExit=None)
    assert w.data["spec"] == {"volumes": None}


def test_other_documents_of_the_file_stand_around_it() -> None:
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
    w = argo.Workflow("w", before=[config], workflowTemplateRef={"name": "t"})
    assert w.document.before == (config,)
    assert w.yaml().startswith("apiVersion: v1\nkind: ConfigMap\n")


def test_what_is_written_compiles_as_it_stands() -> None:
    with argo.WorkflowTemplate("w", namespace="team", entrypoint="a") as w:
        argo.container("a", image="x", command=["true"])
    bundle = couler.compile(w)
    assert bundle.documents == (w.data,)
    assert couler.build(w).dialect == "argo"
    assert w.compile().text == bundle.text


# ---- references


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (argo.input("m"), "{{inputs.parameters.m}}"),
        (argo.input_artifact("f"), "{{inputs.artifacts.f}}"),
        (argo.input_artifact("f").path, "{{inputs.artifacts.f.path}}"),
        (argo.output_path("o"), "{{outputs.parameters.o.path}}"),
        (argo.item, "{{item}}"),
        (argo.item["os"], "{{item.os}}"),
        (argo.workflow.name, "{{workflow.name}}"),
        (argo.workflow.parameter("p"), "{{workflow.parameters.p}}"),
        (argo.workflow.label("a/b"), "{{workflow.labels.a/b}}"),
        (argo.workflow.annotation("a"), "{{workflow.annotations.a}}"),
        (argo.workflow.output("x"), "{{workflow.outputs.parameters.x}}"),
        (argo.workflow.artifact("x"), "{{workflow.outputs.artifacts.x}}"),
        (argo.tag("pod.name"), "{{pod.name}}"),
        (argo.expression("1 + 1"), "{{=1 + 1}}"),
    ],
)
def test_references_are_argos_tags(value: argo.Reference, text: str) -> None:
    assert value == text
    assert f"<{value}>" == f"<{text}>"


def test_what_others_read_of_a_task() -> None:
    with argo.Workflow("w"):
        one = argo.container("one", image="x")
        with argo.dag("main"):
            a = one("a")
    assert a.result == a.outputs.result == "{{tasks.a.outputs.result}}"
    assert a.parameter("x") == a.outputs.parameters["x"] == "{{tasks.a.outputs.parameters.x}}"
    assert a.artifact("x") == a.outputs.artifacts["x"] == "{{tasks.a.outputs.artifacts.x}}"
    assert str(a.outputs.parameters) == "{{tasks.a.outputs.parameters}}"
    facts = [a.exit_code, a.status, a.id, a.ip, a.started_at, a.finished_at, a.host_node_name]
    names = ["exitCode", "status", "id", "ip", "startedAt", "finishedAt", "hostNodeName"]
    assert facts == [f"{{{{tasks.a.{name}}}}}" for name in names]


def test_what_a_task_depends_on() -> None:
    with argo.Workflow("w"):
        one = argo.container("one", image="x")
        with argo.dag("main"):
            a, b, c = one("a"), one("b"), one("c")
    assert a & ~b == "a && !b"
    assert a.failed | b.succeeded & c == "a.Failed || b.Succeeded && c"
    assert (a | b) & c == "(a || b) && c"
    assert ~(a & b) == "!(a && b)"
    states = [a.errored, a.skipped, a.omitted, a.daemoned, a.any_succeeded, a.all_failed]
    names = ["Errored", "Skipped", "Omitted", "Daemoned", "AnySucceeded", "AllFailed"]
    assert states == [f"a.{name}" for name in names]
