"""How large a workflow is for Argo, its run's status included."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from couler_py.backends.argo.size import LARGE, STORED, Growing, size_findings, size_of

POD = {"name": "pod", "container": {"image": "i"}}


def workflow(*templates: dict[str, Any], entrypoint: str = "main", **spec: Any) -> dict[str, Any]:
    return {
        "kind": "Workflow",
        "metadata": {"name": "w"},
        "spec": {"entrypoint": entrypoint, **spec, "templates": [*templates, POD]},
    }


def dag(*tasks: dict[str, Any], name: str = "main", **more: Any) -> dict[str, Any]:
    return {"name": name, "dag": {"tasks": list(tasks)}, **more}


def task(name: str = "a", template: str = "pod", **more: Any) -> dict[str, Any]:
    return {"name": name, "template": template, **more}


@pytest.mark.parametrize(
    ("main", "nodes", "pods"),
    [
        (dag(task("a"), task("b")), 3, 2),
        (dag(task(withItems=[1, 2, 3])), 1 + 1 + 3, 3),
        (dag(task(withParam="[1, 2]")), 1 + 1 + 2, 2),
        (dag(task(withParam="{{tasks.b.outputs.result}}")), 1 + 1 + 1, 1),
        (dag(task(withSequence={"count": "4"})), 1 + 1 + 4, 4),
        (dag(task(withSequence={"start": 5, "end": "3"})), 1 + 1 + 3, 3),
        (dag(task(withSequence={"count": "{{inputs.parameters.n}}"})), 1 + 1 + 1, 1),
        (dag(task(when="false")), 1 + 1, 0),
        (dag(task(hooks={"exit": {"template": "pod"}})), 1 + 1 + 1, 2),
        (dag(task(inline={"container": {"image": "i"}})), 1 + 1, 1),
        ({"name": "main", "steps": [[task("a"), task("b")], [task("c")]]}, 1 + 2 + 3, 3),
        ({"name": "main", "container": {"image": "i"}, "retryStrategy": {"limit": 3}}, 2, 1),
        ({"name": "main", "containerSet": {"containers": [{"name": "a"}, {"name": "b"}]}}, 1 + 2, 1),
        ({"name": "main", "suspend": {}}, 1, 0),
    ],
)
def test_the_nodes_and_pods_of_a_run(main: dict[str, Any], nodes: int, pods: int) -> None:
    size = size_of(workflow(main))
    assert (size.nodes, size.pods) == (nodes, pods)


def test_what_is_called_twice_counts_twice_and_an_exit_handler_counts() -> None:
    inner = dag(task("a"), task("b"), name="inner")
    main = dag(task("x", "inner"), task("y", "inner", withItems=[1, 2]))
    assert size_of(workflow(main, inner)).nodes == 1 + 3 + (1 + 2 * 3)
    assert size_of(workflow(main, inner, onExit="inner")).nodes == 1 + 3 + (1 + 2 * 3) + 3


def test_the_workflow_of_a_schedule_counts() -> None:
    cron = {"kind": "CronWorkflow", "spec": {"schedules": ["@daily"], "workflowSpec": workflow(dag(task()))["spec"]}}
    assert size_of(cron).nodes == 2


def test_lists_and_loops_that_only_the_run_ends_say_what_each_more_adds() -> None:
    again = dag(task("body"), task("again", "main", when="{{=x}}"), task("each", "inner", withParam="{{=y}}"))
    size = size_of(workflow(again, dag(task(), name="inner")))
    items, iterations = size.growing[1], size.growing[0]
    assert (iterations.place, iterations.why) == ("main.again", "an iteration of a template that calls itself")
    assert (items.place, items.why, items.nodes) == ("main.each", "an item of a list that only the run knows", 2)
    assert items.bytes > 900


def test_the_largest_templates_come_first() -> None:
    big = {"name": "big", "script": {"image": "i", "source": "x" * 500}}
    size = size_of(workflow(dag(task("a", "big"), task("b", "pod")), big))
    assert [part.name for part in size.largest] == ["big", "main", "pod"]
    assert size.largest[0].bytes == len(msgspec.json.encode(big))
    assert size.spec == len(msgspec.json.encode(workflow(dag(task("a", "big"), task("b", "pod")), big)))


def test_nodes_are_compressed_where_they_would_not_fit() -> None:
    few, many = (size_of(workflow(dag(task(withItems=list(range(count)))))) for count in (10, 3000))
    assert few.stored == few.spec + few.status
    assert many.spec + many.status > STORED
    assert many.stored == many.spec + many.status // 10


def test_a_small_workflow_is_no_finding() -> None:
    assert size_findings(size_of(workflow(dag(task())))) == []


def test_one_that_may_come_near_the_bound_is_warned_of_with_its_largest_templates() -> None:
    size = size_of(workflow(dag(task(withItems=list(range(14_000))))))
    assert size.stored >= LARGE
    assert size.surely < STORED
    [found] = size_findings(size)
    assert (found.code, found.severity) == ("CLR410", "warning")
    assert found.message.startswith("the workflow is 0.07 MiB of JSON and a run adds 14,002 nodes, 0.")
    assert "main (71 KiB)" in found.message


@pytest.mark.parametrize(
    "document",
    [
        workflow(dag(task()), {"name": "big", "script": {"image": "i", "source": "x" * STORED}}),
        workflow(dag(task(withItems=["x"] * 50_000))),
    ],
    ids=["its text", "its status"],
)
def test_one_that_is_surely_over_the_bound_is_refused(document: dict[str, Any]) -> None:
    assert [found.severity for found in size_findings(size_of(document))] == ["error"]


def test_conditions_count_as_held_but_not_for_a_refusal() -> None:
    inner = dag(*[task()] * 100, name="inner")
    held, unsure = (
        size_of(workflow(dag(task(template="inner")), inner)),
        size_of(workflow(dag(task(template="inner", when="{{=x}}")), inner)),
    )
    assert held.nodes == unsure.nodes == 102
    assert unsure.surely - unsure.spec < (held.surely - held.spec) / 20


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"templates": 3},
        {"templates": [None, {"name": 1}]},
        {"entrypoint": "x", "templates": [{"name": "x", "dag": []}]},
        {"entrypoint": "x", "templates": [{"name": "x", "steps": [3, [None]]}]},
    ],
)
def test_a_broken_document_has_a_size_too(spec: dict[str, Any]) -> None:
    assert size_of({"kind": "Workflow", "spec": spec}).spec > 0


def test_growing_is_data() -> None:
    assert msgspec.to_builtins(Growing("a.b", "why", 1, 2)) == {"place": "a.b", "why": "why", "nodes": 1, "bytes": 2}
