"""What is written in Argo's own words does on a real controller what it says; and what `argo=` adds is taken there."""

from __future__ import annotations

from typing import Any

import pytest

import couler_py as couler
from couler_py import argo_native as argo
from tests.cluster.argo import Namespace

pytestmark = pytest.mark.cluster

IMAGE = "debian:12"


def outputs(node: dict[str, Any]) -> dict[str, str]:
    return {each["name"]: each["value"] for each in node.get("outputs", {}).get("parameters", [])}


def nodes(ended: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {node["displayName"]: node for node in ended["status"]["nodes"].values()}


def native() -> argo.Workflow:
    with argo.Workflow(generateName="native-", entrypoint="main", arguments=[argo.parameter("greeting", "hello")]) as w:
        say = argo.container(
            "say",
            image=IMAGE,
            command=["sh", "-c"],
            args=[f"printf '%s' '{argo.input('word')}' | tee {argo.output_path('said')}"],
            inputs=["word"],
            outputs=[argo.parameter("said", valueFrom={"path": "/tmp/said"})],
        )
        fail = argo.script("fail", image=IMAGE, command=["sh"], source="exit 3")
        with argo.steps("pair", inputs=["word"]):
            first = say("first", word=argo.input("word"))
            with argo.parallel():
                say("left", word=f"{first.result}-left")
                say("right", word="never", when=f"{first.parameter('said')} == other")
        with argo.dag("main"):
            a = say("a", word=argo.workflow.parameter("greeting"))
            b = fail("b", depends=a)
            say("each", word=argo.item["n"], withItems=[{"n": "1"}, {"n": "2"}], depends=a & b.failed)
            argo.task("c", "pair", word=a.parameter("said"), depends=a.succeeded & ~b.succeeded)
    return w


@couler.step(
    image="python:3.11",
    retries=2,
    argo={
        "retryStrategy": {"expression": "asInt(lastRetry.exitCode) > 5"},
        "metadata": {"labels": {"own": "words"}},
        "synchronization": {"mutexes": [{"name": "own-words"}]},
        "script": {"env": [{"name": "EXTRA", "value": "{{workflow.name}}"}]},
    },
)
def extra() -> str:
    import os

    return os.environ["EXTRA"]


@couler.workflow(argo={"podMetadata": {"labels": {"all": "pods"}}, "ttlStrategy": {"secondsAfterCompletion": 600}})
def mixed() -> str:
    return extra.argo_task(
        hooks={"running": {"expression": "tasks.extra.status == 'Running'", "template": "nothing"}}
    )()


def test_documents_run_as_they_say(namespace: Namespace) -> None:
    ended = namespace.run(native().data, 240)
    seen = nodes(ended)
    states = {name: node["phase"] for name, node in seen.items() if not name.startswith("native-")}
    assert states.pop("b") == "Failed"
    assert states.pop("right") == "Skipped"
    assert set(states.values()) == {"Succeeded"}
    assert outputs(seen["left"]) == {"said": "hello-left"}
    assert sorted(outputs(node)["said"] for name, node in seen.items() if name.startswith("each(")) == ["1", "2"]


def test_what_argo_adds_to_a_workflow_of_ours_is_taken(namespace: Namespace) -> None:
    nothing = {"name": "nothing", "container": {"image": IMAGE, "command": ["true"]}}

    with couler.Workflow("added", argo={"templates": [nothing]}) as w:
        w.output("result", mixed())
    ended = namespace.run(couler.compile(w).documents[-1], 240)
    assert ended["status"]["phase"] == "Succeeded"
    hooks = [name for name in nodes(ended) if "hooks.running" in name]
    assert len(hooks) == 1
    assert ended["metadata"]["name"] in {value for node in nodes(ended).values() for value in outputs(node).values()}
