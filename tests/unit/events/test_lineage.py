"""Events in OpenLineage's words have the form that its schema asks for, and name what was read and made."""

from __future__ import annotations

import re
from typing import Any

import pytest
from openlineage.client.generated import (
    base,
    dataset_version_dataset,
    error_message_run,
    job_type_job,
    nominal_time_run,
    parent_run,
)
from openlineage.client.serde import Serde

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


FACETS = {
    "parent": parent_run.ParentRunFacet,
    "nominalTime": nominal_time_run.NominalTimeRunFacet,
    "errorMessage": error_message_run.ErrorMessageRunFacet,
    "jobType": job_type_job.JobTypeJobFacet,
    "version": dataset_version_dataset.DatasetVersionDatasetFacet,
}


def facets(made: dict[str, Any]) -> dict[str, Any]:
    found = {}
    for name, content in made.get("facets", {}).items():
        content = dict(content)
        (place, ours), (there, theirs) = version(content.pop("_schemaURL")), version(FACETS[name]._get_schema())
        assert place == there
        assert ours <= theirs
        found[name] = FACETS[name](**{key.removeprefix("_"): value for key, value in content.items()})
    return found


def version(address: str) -> tuple[str, tuple[int, ...]]:
    """Where the schema of a facet lies, up to the minor version, and that."""
    found = re.fullmatch(r"(.+/\d+)-(\d+)-(\d+)(/.+)", address)
    assert found is not None
    return found[1] + found[4], (int(found[2]), int(found[3]))


def check(made: dict[str, Any]) -> None:
    """OpenLineage's own client, whose classes are made from the published schemas, says the same event alike."""
    datasets = {
        side: [kind(each["namespace"], each["name"], facets=facets(each)) for each in made[side]]
        for side, kind in (("inputs", base.InputDataset), ("outputs", base.OutputDataset))
    }
    event = base.RunEvent(
        eventTime=made["eventTime"],
        eventType=base.EventType(made["eventType"]),
        producer=made["producer"],
        run=base.Run(made["run"]["runId"], facets(made["run"])),
        job=base.Job(made["job"]["namespace"], made["job"]["name"], facets(made["job"])),
        **datasets,
    )
    assert plain(Serde.to_dict(event)) == plain(made)
    assert made["schemaURL"] == base.RunEvent._get_schema()


def plain(value: Any) -> Any:
    """Without what is empty, and without the versions of facets."""
    if isinstance(value, dict):
        found = {name: plain(each) for name, each in value.items() if name != "_schemaURL"}
        return {name: each for name, each in found.items() if each not in ({}, [], None)}
    return [plain(each) for each in value] if isinstance(value, list) else value


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
    check(made)
    check(used)
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
