"""What a split workflow is on Argo: parts within every budget as they are emitted, and one workflow that runs them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

import couler_py as couler
from couler_py.backends.argo.client.parts import to_run_again
from couler_py.backends.argo.emission import ROLE
from couler_py.backends.argo.size import LARGE, size_of
from couler_py.backends.argo.split.parts import PART, PARTS
from couler_py.backends.argo.verify import verify
from couler_py.ir import Workflow
from couler_py.ir.diagnostics import DiagnosticError
from couler_py.ir.model import Handler, Schedule, Task
from couler_py.ir.pod import VolumeClaim
from couler_py.passes.split import Budget, SplitError
from tests.conformance.podless import act, workflow

JSON = dict[str, Any]


def joined(count: int, extra: Sequence[Task] = ()) -> Workflow:
    """A row of groups of ten tasks: each task reads two of the group before, so that nothing of it is a module."""
    tasks: list[Task] = []
    for number in range(count):
        group, place = divmod(number, 10)
        before = "" if not group else " ".join(f"t{(group - 1) * 10 + (place + step) % 10}" for step in (0, 1))
        tasks.append(act(f"t{number}", value=before))
    return workflow(*tasks, *extra, outputs={})


def parts_of(documents: Sequence[JSON]) -> list[JSON]:
    return [each for each in documents if each["kind"] == "WorkflowTemplate"]


def graph_of(part: JSON) -> JSON:
    templates = {each["name"]: each for each in part["spec"]["templates"]}
    called = templates[part["spec"]["entrypoint"]]["dag"]["tasks"][0]["template"]
    return templates[called]


def test_what_the_crds_refuse_is_taken_in_parts() -> None:
    whole = joined(450)
    with pytest.raises(DiagnosticError) as refused:
        couler.compile(whole, to="argo")
    assert "CLR409" in {each.code for each in refused.value.diagnostics}
    bundle = couler.compile(whole, to="argo", split="auto")
    *parts, main = bundle.documents
    assert len(parts) >= 3
    assert main["metadata"]["annotations"][PARTS].split() == [each["metadata"]["labels"][PART] for each in parts]
    assert verify(bundle.documents) == []
    for part in parts:
        assert len(graph_of(part)["dag"]["tasks"]) <= 200
        size = size_of(part)
        assert size.spec + size.status < LARGE


@pytest.mark.parametrize(
    ("budget", "measure"),
    [
        (Budget(tasks=40), lambda part: len(graph_of(part)["dag"]["tasks"])),
        (Budget(bytes=20_000), lambda part: size_of(part).spec),
        (Budget(status=120_000), lambda part: size_of(part).status),
    ],
)
def test_every_part_is_within_its_budget_as_it_is_emitted(budget: Budget, measure: Any) -> None:
    parts = parts_of(couler.compile(joined(300), to="argo", split=budget).documents)
    limit = next(value for value in (budget.tasks, budget.bytes, budget.status) if value is not None)
    assert len(parts) > 3
    assert max(map(measure, parts)) <= limit


def test_pods_are_a_budget() -> None:
    @couler.step
    def one(x: int) -> int:
        return x

    @couler.workflow
    def many(x: int = 0):  # type: ignore[no-untyped-def]
        for number in range(30):
            one(x + number)

    parts = parts_of(couler.compile(many, to="argo", split=Budget(pods=8)).documents)
    # Not [8, 8, 8, 6]: cuts that stay where they are when the workflow grows leave room in parts.
    assert [size_of(part).pods for part in parts] == [6, 8, 4, 6, 6]


def test_the_same_workflow_gives_the_same_bytes() -> None:
    budget = Budget(tasks=60)
    first, second = (couler.compile(joined(200), to="argo", split=budget).text for _ in range(2))
    assert first == second


def test_an_added_task_leaves_most_parts_their_names() -> None:
    before, after = (
        {part["metadata"]["name"] for part in parts_of(couler.compile(each, to="argo", split="tasks=80").documents)}
        for each in (joined(600), joined(600, [act("added", value="t300")]))
    )
    assert len(before) >= 8
    assert len(before - after) <= len(before) // 2


def test_a_schedule_starts_the_workflow_that_runs_the_parts() -> None:
    scheduled = msgspec.structs.replace(joined(300), schedule=Schedule(("0 3 * * *",)))
    *parts, main = couler.compile(scheduled, to="argo", split="tasks=100").documents
    assert main["kind"] == "CronWorkflow"
    assert PARTS in main["spec"]["workflowMetadata"]["annotations"]
    assert {part["kind"] for part in parts} == {"WorkflowTemplate"}
    assert verify([main]) == []


def test_exit_handlers_are_of_the_whole_run() -> None:
    handled = msgspec.structs.replace(joined(300), handlers=(Handler("tidy", "nothing"),))
    *parts, main = couler.compile(handled, to="argo", split="tasks=100").documents
    assert "onExit" in main["spec"]
    assert all("onExit" not in part["spec"] for part in parts)


def test_a_part_is_told_the_facts_of_the_whole_run() -> None:
    @couler.step
    def name(run: str, also: str) -> str:
        return run + also

    @couler.workflow
    def facts():  # type: ignore[no-untyped-def]
        for number in range(12):
            name(couler.run_info.id, str(number))

    *parts, main = couler.compile(facts, to="argo", split="tasks=8").documents
    assert {"name": "run--uid"} in parts[0]["spec"]["arguments"]["parameters"]
    assert "workflow.uid" not in str(parts[0]["spec"]["templates"])
    creating = [each["resource"]["manifest"] for each in main["spec"]["templates"] if "resource" in each]
    assert all('"value": "{{workflow.uid}}"' in each for each in creating)


def test_what_belongs_to_one_run_is_not_split() -> None:
    claimed = msgspec.structs.replace(joined(300), volume_claims=(VolumeClaim("data", "1Gi"),))
    with pytest.raises(SplitError, match="volumes are claimed for one run"):
        couler.compile(claimed, to="argo", split="tasks=100")


def test_limits_of_the_whole_run_that_each_part_has_are_told_of() -> None:
    limited = msgspec.structs.replace(joined(300), parallelism=4, deadline=600.0)
    found = [
        each for each in couler.compile(limited, to="argo", split="tasks=100").diagnostics if each.code == "CLR416"
    ]
    assert [(each.severity, each.message) for each in found] == [
        ("warning", "each part may have 4 pods at once, and 4 parts may run side by side"),
        ("warning", "each part may take as long as the whole run, from its own start"),
    ]


def run_of_parts(*phases: str) -> tuple[JSON, dict[str, JSON]]:
    """A run on the cluster with a part for each phase that its only task ended in, and the runs of these parts."""
    parts = [f"part-{number}" for number in range(len(phases))]
    nodes: dict[str, JSON] = {"whole": {"id": "whole", "name": "whole", "type": "DAG", "phase": "Failed"}}
    runs = {}
    for part, phase in zip(parts, phases, strict=True):
        inside = {"phase": "Succeeded", "boundaryID": "whole", "templateName": part}
        nodes[part] = {"id": part, "name": f"whole.{part}", "displayName": part, "type": "DAG", **inside}
        creating = {"id": f"{part}-run", "name": f"whole.{part}.run", "displayName": "run", "type": "Pod"}
        nodes[f"{part}-run"] = creating | {"phase": "Succeeded", "boundaryID": part, "templateName": f"{part}-run"}
        entry = {"id": part, "name": part, "displayName": part, "type": "DAG", "phase": "Succeeded"}
        task = {"id": "t", "name": f"{part}.t", "displayName": "t", "type": "Pod", "phase": phase, "boundaryID": part}
        status = {"phase": "Succeeded", "nodes": {part: entry, "t": task}}
        runs[part] = {"metadata": {"name": part}, "spec": {"templates": []}, "status": status}
    metadata = {"name": "whole", "annotations": {PARTS: " ".join(parts)}}
    nodes["whole"]["displayName"] = "whole"
    helpers = [{"name": f"{part}-run", "metadata": {"annotations": {ROLE: "helper"}}} for part in parts]
    whole: JSON = {"metadata": metadata, "spec": {"templates": helpers}, "status": {"phase": "Failed", "nodes": nodes}}
    return whole, runs


def test_a_retry_names_the_parts_that_stay() -> None:
    assert (
        to_run_again(*run_of_parts("Succeeded", "Failed", "Skipped")) == "displayName=run,id!=part-0-run,id!=part-2-run"
    )
    assert to_run_again(*run_of_parts("Succeeded", "Succeeded")) == ""
