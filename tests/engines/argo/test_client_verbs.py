"""Every verb, through the Kubernetes API and through the Argo server, on a real cluster."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from couler_py.backends.argo.client import ArgoClient
from couler_py.backends.base import NotOffered, OptionError, RunNotFoundError
from couler_py.backends.rest.failures import ConflictError, MissingError
from couler_py.ir.diagnostics import CoulerError
from tests.cluster.argo import Namespace
from tests.cluster.fixtures import Cluster, ObjectStore
from tests.engines.argo.doors import (
    DOORS,
    asking,
    door,
    end,
    failing,
    holding,
    listed,
    nothing,
    talking,
    until,
    workflow,
)

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def clients(cluster: Cluster, namespace: Namespace) -> Mapping[str, ArgoClient]:
    return {way: door(way, cluster, namespace) for way in DOORS}


@pytest.fixture(scope="module")
def talks(clients: Mapping[str, ArgoClient], s3: ObjectStore) -> Mapping[str, str]:
    """A run with pods through each door, side by side, started before all tests of this module."""
    return {way: runs.send([talking()])[0] for way, runs in clients.items()}


@pytest.fixture(params=DOORS)
def way(request: pytest.FixtureRequest, talks: Mapping[str, str]) -> str:
    return str(request.param)


@pytest.fixture
def runs(way: str, clients: Mapping[str, ArgoClient]) -> ArgoClient:
    return clients[way]


# ---- steering, without pods; what has pods runs meanwhile


def test_an_approval_gets_its_outputs_and_defaults(runs: ArgoClient) -> None:
    run = runs.send([asking()])[0]
    until(runs.watch(run), "Suspended")
    with pytest.raises(CoulerError, match=r"output.* 'maybe'"):
        runs.resume(run, outputs={"maybe": "x"})
    runs.resume(run, outputs={"yes": "true", "why": "because"})
    ended = end(runs, run)
    assert (ended.status, ended.outputs) == ("Succeeded", {"yes": "true", "why": "because"})
    with pytest.raises(NotOffered, match=r"nothing in .* waits"):
        runs.resume(run)


def test_a_suspended_run_is_resumed(runs: ArgoClient) -> None:
    run = runs.send([holding()])[0]
    until(runs.watch(run), "Suspended")
    runs.suspend(run)
    assert runs.document(run)["spec"]["suspend"] is True
    runs.resume(run)
    assert end(runs, run).status == "Succeeded"


def test_a_suspended_run_can_be_ended(runs: ArgoClient) -> None:
    run = runs.send([holding()])[0]
    until(runs.watch(run), "Suspended")
    runs.suspend(run)
    runs.terminate(run)
    assert end(runs, run).status in ("Stopped", "Succeeded")


def test_stop_runs_the_exit_handler_and_terminate_does_not(runs: ArgoClient) -> None:
    stopped, ended = runs.send([holding(exit_handler=True), holding(exit_handler=True)])
    for run in (stopped, ended):
        until(runs.watch(run), "Suspended")
    runs.stop(stopped)
    runs.terminate(ended)
    assert (end(runs, stopped).status, end(runs, ended).status) == ("Stopped", "Stopped")
    handlers = [f"{run.rpartition('/')[2]}.onExit" for run in (stopped, ended)]
    names = [{node["name"] for node in runs.document(run)["status"]["nodes"].values()} for run in (stopped, ended)]
    assert [handler in found for handler, found in zip(handlers, names, strict=True)] == [True, False]


def test_what_has_ended_is_not_steered_again(runs: ArgoClient) -> None:
    run = runs.send([nothing()])[0]
    end(runs, run)
    for verb in (runs.stop, runs.terminate, runs.suspend):
        with pytest.raises(Exception, match=r"ended|shutdown|completed|suspend"):
            verb(run)


def test_retry_is_the_servers(way: str, runs: ArgoClient) -> None:
    run = runs.send([failing()])[0]
    assert end(runs, run).status == "Failed"
    if way == "kubernetes":
        with pytest.raises(NotOffered, match=r"goes through its server: --server URL"):
            runs.retry(run)
        with pytest.raises(NotOffered, match=r"goes through its server"):
            runs.resubmit(run, memoized=True)
        return
    before = runs.document(run)["metadata"]["resourceVersion"]
    runs.retry(run)
    assert end(runs, run).status == "Failed"
    assert runs.document(run)["metadata"]["resourceVersion"] != before
    again = runs.resubmit(run, memoized=True)
    assert end(runs, again).status == "Failed"


def said(value: Any) -> Any:
    """Data without the empty objects that the controller writes into a run once it has looked at it."""
    if isinstance(value, dict):
        return {key: said(item) for key, item in value.items() if item != {}}
    return [said(item) for item in value] if isinstance(value, list) else value


def test_a_resubmitted_run_is_a_new_one_like_the_old(runs: ArgoClient) -> None:
    run = runs.send([nothing()])[0]
    again = runs.resubmit(run)
    assert again != run
    assert end(runs, again).status == "Succeeded"
    old, new = runs.document(run), runs.document(again)
    assert said(new["spec"]["templates"]) == said(old["spec"]["templates"])
    assert new["metadata"]["labels"]["workflows.argoproj.io/resubmitted-from-workflow"] == old["metadata"]["name"]


def test_a_resubmitted_run_gets_other_parameters(runs: ArgoClient) -> None:
    document = nothing()
    document["spec"]["arguments"] = {"parameters": [{"name": "n", "value": "1"}, {"name": "m", "value": "2"}]}
    run = runs.send([document])[0]
    again = runs.resubmit(run, parameters={"n": "3"})
    assert end(runs, again).status == "Succeeded"
    given = runs.document(again)["spec"]["arguments"]["parameters"]
    assert {each["name"]: each["value"] for each in given} == {"n": "3", "m": "2"}
    with pytest.raises(ValueError, match="has no parameter 'other'"):
        runs.resubmit(run, parameters={"other": "1"})


def test_what_failed_is_retried_with_other_parameters(way: str, runs: ArgoClient) -> None:
    if way == "kubernetes":
        pytest.skip("retry is the server's")
    document = failing()
    document["spec"]["arguments"] = {"parameters": [{"name": "text", "value": "x"}]}
    run = runs.send([document])[0]
    assert end(runs, run).status == "Failed"
    runs.retry(run, parameters={"text": "false"})
    assert end(runs, run).parameters == {"text": "false"}


def test_a_memoized_copy_that_would_never_end_is_refused(runs: ArgoClient) -> None:
    inner = {"name": "inner", "steps": [[{"name": "b", "template": "inner", "when": "false"}]]}
    document = failing()
    document["spec"]["templates"][0]["steps"].insert(0, [{"name": "first", "template": "inner"}])
    document["spec"]["templates"].append(inner)
    run = runs.send([document])[0]
    assert end(runs, run).status == "Failed"
    with pytest.raises(NotOffered, match=rf"would never end: .* the graph 'first' .*`couler retry {run}` goes on"):
        runs.resubmit(run, memoized=True)


def test_runs_are_listed_by_their_labels_newest_first_and_deleted(way: str, runs: ArgoClient) -> None:
    documents = [nothing(), nothing()]
    for document in documents:
        document["metadata"]["labels"]["only"] = way
    made = [runs.send([document])[0] for document in documents]
    for run in made:
        end(runs, run)
    found = listed(runs, f"only={way}", lambda all_of_them: {each.status for each in all_of_them} == {"Succeeded"})
    assert {each.run for each in found} == set(made)
    assert {(each.status, each.workflow, each.tasks) for each in found} == {("Succeeded", "nothing", ())}
    runs.delete(made[0])
    with pytest.raises(RunNotFoundError, match="there is no run"):
        runs.status(made[0])
    with pytest.raises(RunNotFoundError):
        runs.delete(made[0])
    assert [each.run for each in listed(runs, f"only={way}", lambda left: len(left) == 1)] == [made[1]]


def test_a_run_of_a_fixed_name_is_started_once(way: str, runs: ArgoClient) -> None:
    document = nothing()
    document["metadata"] = {"name": f"fixed-{way}"}
    runs.send([document])
    with pytest.raises(ConflictError, match=r"conflict \(409\)"):
        runs.send([document])


# ---- what the cluster keeps


def template(name: str, kind: str = "WorkflowTemplate", **spec: Any) -> dict[str, Any]:
    return nothing() | {"kind": kind, "metadata": {"name": name}} | {"spec": nothing()["spec"] | spec}


def test_templates_are_made_replaced_listed_and_deleted(way: str, runs: ArgoClient) -> None:
    stored, name = runs.stored("WorkflowTemplate"), f"kept-{way}"
    assert stored.create(template(name, parallelism=3)) == name
    with pytest.raises(ConflictError):
        stored.create(template(name))
    stored.apply(template(name))
    assert "parallelism" not in stored.get(name)["spec"]
    assert name in [each["metadata"]["name"] for each in stored.all()]
    reference = workflow("of-template", {"name": "unused"}) | {"spec": {"workflowTemplateRef": {"name": name}}}
    assert end(runs, runs.send([reference])[0]).status == "Succeeded"
    stored.delete(name)
    with pytest.raises(MissingError):
        stored.get(name)


def test_templates_of_the_cluster_too(way: str, runs: ArgoClient, namespace: Namespace) -> None:
    stored, name = runs.stored("ClusterWorkflowTemplate"), f"{namespace.name}-{way}"
    try:
        assert stored.apply(template(name, "ClusterWorkflowTemplate")) == name
        assert stored.apply(template(name, "ClusterWorkflowTemplate", parallelism=2)) == name
        assert stored.get(name)["spec"]["parallelism"] == 2
    finally:
        stored.delete(name)


def test_schedules_are_kept_paused_and_resumed(way: str, runs: ArgoClient) -> None:
    stored, name = runs.stored("CronWorkflow"), f"nightly-{way}"
    spec = {"schedules": ["0 3 * * *"], "workflowSpec": nothing()["spec"]}
    document = {"apiVersion": "argoproj.io/v1alpha1", "kind": "CronWorkflow", "metadata": {"name": name}, "spec": spec}
    assert runs.send([document]) == [f"argo:{runs.namespace}/{name}"]
    stored.suspend(name)
    assert stored.get(name)["spec"]["suspend"] is True
    stored.resume(name)
    assert not stored.get(name)["spec"].get("suspend")
    stored.apply(document)
    stored.delete(name)


# ---- pods


def test_both_doors_tell_the_same_of_a_run(clients: Mapping[str, ArgoClient], talks: Mapping[str, str]) -> None:
    for way, run in talks.items():
        assert end(clients[way], run).status == "Succeeded"
        told = [each.status(run) for each in clients.values()]
        assert len(told) == 2
        assert order_apart(told[0]) == order_apart(told[1])
        listed = [[each for each in one.list(labels="test=talking") if each.run == run] for one in clients.values()]
        assert listed[0] == listed[1]


def order_apart(status: Any) -> Any:
    return msgspec.structs.replace(status, tasks=tuple(sorted(status.tasks, key=lambda task: task.name)))


def test_logs_are_read_by_task_container_and_number(runs: ArgoClient, talks: Mapping[str, str], way: str) -> None:
    run = talks[way]
    end(runs, run)
    assert [line.text for line in runs.logs(run, "left")] == ["left 1", "left 2", "left 3"]
    assert {(line.task, line.text) for line in runs.logs(run, tail=1)} == {("left", "left 3"), ("right", "right 3")}
    assert next(iter(runs.logs(run, "right", container="side"))).text == "from the side"
    assert [line.text for line in runs.logs(run, "right", container="before")] == ["from before"]
    assert list(runs.logs(run, "right", since=3600)) == list(runs.logs(run, "right"))
    with pytest.raises(RunNotFoundError, match="has no task 'middle'"):
        list(runs.logs(run, "middle"))


def test_a_container_that_is_not_there_is_said(clients: Mapping[str, ArgoClient], talks: Mapping[str, str]) -> None:
    runs = clients["kubernetes"]
    end(runs, talks["kubernetes"])
    with pytest.raises(OptionError, match="no container 'nobody'"):
        list(runs.logs(talks["kubernetes"], container="nobody"))


def test_files_are_listed_and_fetched(
    runs: ArgoClient, talks: Mapping[str, str], way: str, tmp_path: Path, cluster: Cluster, namespace: Namespace
) -> None:
    run = talks[way]
    end(runs, run)
    assert set(runs.artifacts(run)) == {"left/folder", "left/packed", "left/plain"}
    fetched = runs.download(run, tmp_path)
    texts = {
        name: {str(path.relative_to(tmp_path)): path.read_text() for path in paths} for name, paths in fetched.items()
    }
    assert texts == {
        "left/folder": {"left/folder/e/f": "left\n"},
        "left/packed": {"left/packed/g": "g\n"},
        "left/plain": {"left/plain/g": "g\n"},
    }
    assert set(runs.download(run, tmp_path / "one", ["left/packed"])) == {"left/packed"}
    with pytest.raises(RunNotFoundError, match="has no artifact 'left/nothing'"):
        runs.download(run, tmp_path, ["left/nothing"])


def test_several_pods_are_followed_while_they_run(clients: Mapping[str, ArgoClient]) -> None:
    """Through both doors at once, from before there is a pod until the run has ended."""
    run = clients["server"].send([talking(seconds=3)])[0]
    followed = {way: each.logs(run, follow=True) for way, each in clients.items()}
    found = {way: [(line.task, line.text) for line in lines] for way, lines in followed.items()}
    for lines in found.values():
        assert sorted(lines) == sorted((side, f"{side} {number}") for side in ("left", "right") for number in (1, 2, 3))
        assert [line for line in lines if line[0] == "left"] == [("left", f"left {number}") for number in (1, 2, 3)]
    assert clients["kubernetes"].status(run).status == "Succeeded"


# ---- dry runs


def test_a_dry_run_changes_nothing_and_says_all(
    way: str, clients: Mapping[str, ArgoClient], cluster: Cluster, namespace: Namespace
) -> None:
    runs = clients[way]
    run = runs.send([holding()])[0]
    until(runs.watch(run), "Suspended")
    before = runs.document(run)
    only = door(way, cluster, namespace, dry_run=True)
    only.suspend(run)
    only.stop(run)
    only.terminate(run)
    only.resume(run)
    only.delete(run)
    made = only.send([nothing()])[0]
    only.stored("WorkflowTemplate").apply(template("not-kept"))
    assert runs.document(run) == before
    with pytest.raises(RunNotFoundError):
        runs.status(made)
    with pytest.raises(MissingError):
        runs.stored("WorkflowTemplate").get("not-kept")
    assert [each.what.split()[0] for each in only.planned] == [
        *("suspend", "stop", "terminate", "replace" if way == "kubernetes" else "resume", "delete", "create", "create"),
    ]
    runs.terminate(run)


def test_the_cluster_itself_refuses_in_a_dry_run(way: str, cluster: Cluster, namespace: Namespace) -> None:
    only = door(way, cluster, namespace, dry_run=True)
    wrong = nothing()
    wrong["spec"]["templates"][0] |= {"container": {"image": ""}, "activeDeadlineSeconds": -1, "name": "a b"}
    with pytest.raises(Exception, match=r"refused \((400|422)\)"):
        only.send([wrong])
