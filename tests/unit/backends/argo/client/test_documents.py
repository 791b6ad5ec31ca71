"""Documents that are made from others: names and marks, approvals, resubmissions, parameters, replacements."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from couler_py.backends.argo.client.applying import in_place_of
from couler_py.backends.argo.client.approving import all_done, approved
from couler_py.backends.argo.client.naming import called, fnv32a, pod_name, split
from couler_py.backends.argo.client.parameters import as_values, typed, with_values
from couler_py.backends.argo.client.resubmitting import copy_of, repeated_for_ever
from couler_py.backends.argo.client.submission import LETTERS, SUBMISSION, generated, marked
from couler_py.backends.base import NotOffered, OptionError, RunNotFoundError

JSON = dict[str, Any]


# ---- names


@given(st.text("abcdefghijklmnopqrstuvwxyz-", max_size=80))
def test_a_made_up_name_is_as_kubernetes_makes_them(beginning: str) -> None:
    name = generated(beginning)
    assert len(name) <= 63
    assert name.startswith(beginning[:58])
    assert set(name[-5:]) <= set(LETTERS)


def test_a_document_is_called_by_its_name_or_by_the_beginning_of_one() -> None:
    assert called({"metadata": {"name": "hello", "generateName": "hi-"}}) == "hello"
    assert called({"metadata": {"generateName": "hi-"}}) == "hi-…"


def test_a_mark_changes_nothing_else() -> None:
    document = {"kind": "Workflow", "metadata": {"generateName": "a-", "annotations": {"x": "y"}}, "spec": {"z": 1}}
    sent = marked(document, "mark")
    assert sent["metadata"].pop("name").startswith("a-")
    assert sent == {
        "kind": "Workflow",
        "metadata": {"generateName": "a-", "annotations": {"x": "y", SUBMISSION: "mark"}},
        "spec": {"z": 1},
    }
    assert marked({"metadata": {"name": "fixed"}}, "mark")["metadata"]["name"] == "fixed"


@pytest.mark.parametrize(("text", "value"), [("", 0x811C9DC5), ("a", 0xE40C292C), ("foobar", 0xBF9CF968)])
def test_fnv_is_as_published(text: str, value: int) -> None:
    assert fnv32a(text) == value


def test_pods_are_named_as_the_controller_names_them() -> None:
    run: JSON = {"metadata": {"name": "hello-x7d2p"}}
    node = {"id": "hello-x7d2p-3026036892", "name": "hello-x7d2p[0].a", "templateName": "say"}
    assert pod_name(run, node) == f"hello-x7d2p-say-{fnv32a('hello-x7d2p[0].a')}"
    assert pod_name(run, {"id": "hello-x7d2p", "name": "hello-x7d2p", "templateName": "say"}) == "hello-x7d2p"
    elsewhere = node | {"templateRef": {"name": "lib", "template": "other"}}
    assert pod_name(run, elsewhere).startswith("hello-x7d2p-other-")
    old = {"metadata": {"name": "hello-x7d2p", "annotations": {"workflows.argoproj.io/pod-name-format": "v1"}}}
    assert pod_name(old, node) == "hello-x7d2p-3026036892"
    assert len(pod_name(run, node | {"templateName": "t" * 300})) <= 253


def test_a_run_has_namespace_and_name() -> None:
    assert split("argo:team-a/flow-1") == ("team-a", "flow-1")


@pytest.mark.parametrize("run", ["flow-1", "local:a/b", "argo:flow-1", "argo:/x", "argo:a/", "argo:a/b/c"])
def test_what_is_no_run_on_argo_is_said(run: str) -> None:
    with pytest.raises(RunNotFoundError, match="argo:NAMESPACE/NAME"):
        split(run)


# ---- approvals


def waiting(**more: Any) -> JSON:
    parameters = [
        {"name": "yes", "valueFrom": {"supplied": {}}, "globalName": "decision"},
        {"name": "why", "valueFrom": {"supplied": {}, "default": "none"}},
    ]
    nodes = {
        "n1": {"id": "n1", "type": "Suspend", "phase": "Running", "outputs": {"parameters": parameters}},
        "n2": {"id": "n2", "type": "Suspend", "phase": "Running"},
    }
    return {"metadata": {"name": "w"}, "spec": {}, "status": {"nodes": nodes, **more}}


def test_an_approval_succeeds_with_its_outputs_and_defaults() -> None:
    made = approved(waiting(), {"n1": {"yes": "true"}})["status"]
    node = made["nodes"]["n1"]
    assert node["phase"] == "Succeeded"
    assert node["finishedAt"].endswith("Z")
    assert node["outputs"]["parameters"] == [
        {"name": "yes", "globalName": "decision", "value": "true"},
        {"name": "why", "value": "none"},
    ]
    assert made["outputs"]["parameters"] == [{"name": "decision", "value": "true"}]
    assert made["nodes"]["n2"]["phase"] == "Running"


def test_packed_nodes_are_packed_again() -> None:
    plain = waiting()
    packed = base64.b64encode(gzip.compress(json.dumps(plain["status"].pop("nodes")).encode())).decode()
    plain["status"] |= {"compressedNodes": packed}
    made = approved(plain, {"n2": {}})
    assert "nodes" not in made["status"]
    assert all_done(made, {"n2": {}})
    assert not all_done(made, {"n1": {}})


@pytest.mark.parametrize(
    ("given_", "says"),
    [({"n1": {}}, "needs a value for its output 'yes'"), ({"n1": {"yes": "1", "no": "2"}}, "has no output 'no'")],
)
def test_outputs_that_are_missing_or_unknown_are_said(given_: dict[str, dict[str, str]], says: str) -> None:
    with pytest.raises(NotOffered, match=says):
        approved(waiting(), given_)


def test_nodes_in_a_database_need_the_server() -> None:
    with pytest.raises(NotOffered, match="--server"):
        approved(waiting(offloadNodeStatusVersion="fnv:1"), {"n1": {}})


# ---- new from old


def test_a_resubmission_keeps_what_is_not_of_the_run() -> None:
    old = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {
            "name": "flow-abcde",
            "generateName": "flow-",
            "namespace": "team-a",
            "uid": "1",
            "resourceVersion": "2",
            "managedFields": [],
            "labels": {"team": "a", "workflows.argoproj.io/phase": "Failed", "workflows.argoproj.io/completed": "true"},
            "annotations": {"note": "n", SUBMISSION: "old"},
        },
        "spec": {"entrypoint": "main", "shutdown": "Stop", "suspend": True, "activeDeadlineSeconds": 0},
        "status": {"phase": "Failed"},
    }
    assert copy_of(old, {}) == {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {
            "generateName": "flow-",
            "namespace": "team-a",
            "labels": {"team": "a", "workflows.argoproj.io/resubmitted-from-workflow": "flow-abcde"},
            "annotations": {"note": "n"},
        },
        "spec": {"entrypoint": "main"},
    }


def failed(**nodes: JSON) -> JSON:
    """A run that failed, with these nodes in its graph, by the ends of their names."""
    named = {end: {"name": f"flow-x{end}", "displayName": end.lstrip("."), **node} for end, node in nodes.items()}
    root = {"name": "flow-x", "displayName": "flow-x", "type": "Steps", "phase": "Failed"}
    return {"metadata": {"name": "flow-x"}, "status": {"phase": "Failed", "nodes": {"": root, **named}}}


@pytest.mark.parametrize("kind", ["DAG", "Steps", "TaskGroup"])
def test_a_graph_that_ended_in_a_failed_run_keeps_a_memoized_copy_from_ending(kind: str) -> None:
    assert repeated_for_ever(failed(**{".a": {"type": kind, "phase": "Succeeded"}})) == "a"


@pytest.mark.parametrize(
    "nodes",
    [
        {},
        {".a": {"type": "Pod", "phase": "Succeeded"}},
        {".a": {"type": "DAG", "phase": "Failed"}},
        {".a": {"type": "StepGroup", "phase": "Succeeded"}},
        {".onExit": {"type": "Steps", "phase": "Succeeded"}},
    ],
    ids=["none", "a pod", "one that failed", "a group of steps", "the exit handler"],
)
def test_other_nodes_do_not(nodes: JSON) -> None:
    assert repeated_for_ever(failed(**nodes)) == ""


def test_a_resubmitted_run_gets_other_values() -> None:
    old = document({"name": "n", "value": "1"}, {"name": "m", "value": "2"})
    old |= {"apiVersion": "argoproj.io/v1alpha1", "metadata": {"name": "flow-x", "namespace": "team-a"}}
    made = copy_of(old, {"n": "3"})
    assert made["spec"]["arguments"]["parameters"] == [{"name": "n", "value": "3"}, {"name": "m", "value": "2"}]


def test_what_is_typed_for_a_run_is_written_by_its_types() -> None:
    run = document({"name": "n", "value": "1"}, {"name": "words", "value": '["a"]'})
    run["metadata"]["annotations"] = {"couler.dev/parameters": '{"words": {"type": "list", "item": {"type": "any"}}}'}
    assert typed(run, {"n": "03", "words": '["b", "c"]'}) == {"n": "03", "words": '["b","c"]'}
    assert typed(document({"name": "words", "value": "x"}), {"words": '["b", "c"]'}) == {"words": '["b", "c"]'}
    with pytest.raises(ValueError, match="has no parameter 'other'; its parameters are n, words"):
        typed(run, {"other": "1"})


def document(*parameters: JSON, **spec: Any) -> JSON:
    return {"kind": "Workflow", "metadata": {}, "spec": {"arguments": {"parameters": list(parameters)}, **spec}}


def test_parameters_of_written_documents_are_text() -> None:
    made = with_values(document({"name": "n", "value": 1}, {"name": "m", "value": "x"}), {"n": "03"})
    assert made["spec"]["arguments"]["parameters"] == [{"name": "n", "value": "03"}, {"name": "m", "value": "x"}]


def test_a_value_takes_the_place_of_where_it_came_from() -> None:
    made = with_values(document({"name": "n", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "k"}}}), {"n": "1"})
    assert made["spec"]["arguments"]["parameters"] == [{"name": "n", "value": "1"}]


def test_a_parameter_that_is_not_there_is_an_error_unless_a_stored_template_may_have_it() -> None:
    with pytest.raises(ValueError, match="has no parameter 'other'; its parameters are n"):
        with_values(document({"name": "n"}), {"other": "1"})
    made = with_values(document(workflowTemplateRef={"name": "lib"}), {"other": "1"})
    assert made["spec"]["arguments"]["parameters"] == [{"name": "other", "value": "1"}]


def test_the_runs_of_a_schedule_get_the_values() -> None:
    inner = document({"name": "n", "value": "1"})["spec"]
    cron = {
        "kind": "CronWorkflow",
        "metadata": {"name": "c"},
        "spec": {"schedules": ["* * * * *"], "workflowSpec": inner},
    }
    made = with_values(cron, {"n": "2"})["spec"]
    assert made["schedules"] == ["* * * * *"]
    assert made["workflowSpec"]["arguments"]["parameters"] == [{"name": "n", "value": "2"}]


def test_a_value_outside_its_enum_is_an_error() -> None:
    with pytest.raises(OptionError, match="'n' is one of a, b"):
        with_values(document({"name": "n", "enum": ["a", "b"]}), {"n": "c"})


def test_what_replaces_a_secret_keeps_the_keys_of_others() -> None:
    there = {"metadata": {"resourceVersion": "7"}, "data": {"theirs": "dGhlaXJz"}}
    mine = {"kind": "Secret", "metadata": {"name": "s"}, "stringData": {"mine": "x"}}
    made = in_place_of(there, mine)
    assert made["data"] == {"theirs": "dGhlaXJz"}
    assert made["stringData"] == {"mine": "x"}
    assert made["metadata"]["resourceVersion"] == "7"


def test_texts_for_a_document_that_couler_emitted_are_read_by_the_types_it_notes() -> None:
    types = {"n": {"type": "scalar", "name": "int"}}
    workflow: JSON = {
        "metadata": {"annotations": {"couler.dev/parameters": json.dumps(types)}},
        "spec": {"arguments": {"parameters": [{"name": "n", "value": "1"}, {"name": "text", "value": "a"}]}},
    }
    sent = with_values(workflow, as_values(workflow, {"n": "3", "text": "3"}))
    assert sent["spec"]["arguments"]["parameters"] == [{"name": "n", "value": "3"}, {"name": "text", "value": "3"}]
