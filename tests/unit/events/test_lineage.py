"""Events in OpenLineage's words have the form that its schema asks for, and name what was read and made."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

import pytest

from couler_py.events.lineage import Translator
from couler_py.events.model import Artifact, Event
from couler_py.ir.expr import TaskArtifact
from couler_py.ir.model import (
    ArtifactArgument,
    Graph,
    InputArtifact,
    Inputs,
    OutputArtifact,
    Outputs,
    Task,
    Template,
    Workflow,
)
from couler_py.ir.pod import Container
from couler_py.ir.storage import S3

MAKE = Template("make", Container("a"), outputs=Outputs(artifacts=(OutputArtifact("data", "/d"),)))
USE = Template(
    "use",
    Container("a"),
    Inputs(artifacts=(InputArtifact("d", "/d"), InputArtifact("raw", "/r", S3("in/raw.csv", bucket="lake")))),
    Outputs(artifacts=(OutputArtifact("o", "/o", storage=S3("out/o.csv", bucket="lake")),)),
)
INNER = Template(
    "inner",
    Graph((Task("make", "make"), Task("use", "use", artifacts=(ArtifactArgument("d", TaskArtifact("make", "data")),)))),
)
FLOW = Workflow("flow", "main", (Template("main", Graph((Task("nested", "inner"),))), INNER, MAKE, USE))


def event(kind: str, task: str = "", **more: Any) -> Event:
    return Event("id", 1.5, kind, "flow-x", "flow", task, **more)  # type: ignore[arg-type]


def check(made: dict[str, Any]) -> None:
    """What RunEvent, Run, Job, Dataset and BaseFacet of the published schema (2-0-2) require."""
    assert made["eventType"] in ("START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER")
    datetime.fromisoformat(made["eventTime"])
    assert made["producer"].startswith("https://")
    assert made["schemaURL"] == "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
    uuid.UUID(made["run"]["runId"])
    facets = [*made["run"]["facets"].values(), *made["job"]["facets"].values()]
    for named in (made["job"], *made["inputs"], *made["outputs"]):
        assert isinstance(named["namespace"], str)
        assert isinstance(named["name"], str)
        facets += named.get("facets", {}).values()
    for facet in facets:
        assert facet["_producer"].startswith("https://")
        assert facet["_schemaURL"].startswith("https://openlineage.io/spec/")


@pytest.mark.parametrize(
    ("kind", "type_"), [("started", "START"), ("succeeded", "COMPLETE"), ("failed", "FAIL"), ("stopped", "ABORT")]
)
@pytest.mark.parametrize("task", ["", "nested/make"])
def test_every_kind_has_its_type_and_the_form_of_the_schema(kind: str, type_: str, task: str) -> None:
    made = Translator(FLOW, "team")(event(kind, task, message="no", scheduled=1.0))
    assert made is not None
    assert made["eventType"] == type_
    check(made)


def test_a_task_that_never_ran_is_no_run() -> None:
    assert Translator(FLOW, "team")(event("skipped", "nested/make")) is None


def test_a_task_has_its_run_as_parent() -> None:
    translate = Translator(FLOW, "team")
    run, task = translate(event("started")), translate(event("started", "nested/make[3]"))
    assert run is not None
    assert task is not None
    parent = task["run"]["facets"]["parent"]
    assert parent["run"]["runId"] == run["run"]["runId"] != task["run"]["runId"]
    assert parent["job"] == {"namespace": "team", "name": "flow"}
    assert task["job"]["name"] == "flow.nested/make"


def test_what_is_made_and_read_is_the_same_dataset() -> None:
    translate = Translator(FLOW, "team")
    made = translate(event("succeeded", "nested/make", template="make", artifacts=(Artifact("data", "ab12", 3),)))
    used = translate(event("succeeded", "nested/use", template="use"))
    assert made is not None
    assert used is not None
    [output] = made["outputs"]
    assert (output["namespace"], output["name"]) == ("team", "flow/nested/make/data")
    assert output["facets"]["version"]["datasetVersion"] == "sha256:ab12"
    assert [(each["namespace"], each["name"]) for each in used["inputs"]] == [
        ("s3://lake", "in/raw.csv"),
        ("team", "flow/nested/make/data"),
    ]
    assert used["inputs"][1] == output
    assert [(each["namespace"], each["name"]) for each in used["outputs"]] == [("s3://lake", "out/o.csv")]


def test_a_failure_says_why() -> None:
    made = Translator(FLOW, "team")(event("failed", "nested/make", message="exit code 1"))
    assert made is not None
    assert made["run"]["facets"]["errorMessage"]["message"] == "exit code 1"
