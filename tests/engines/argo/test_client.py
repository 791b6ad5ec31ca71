"""Runs on a real cluster as people start and steer them: from Python, and from the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import couler_py as couler
from couler_py.api import Run, run
from couler_py.backends.argo.client import ArgoClient
from couler_py.backends.base import NotOffered, RunNotFoundError, RunStatus
from tests.cluster.argo import Namespace
from tests.cluster.fixtures import Cluster, ObjectStore
from tests.engines.argo.doors import nothing, token_of

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def client(cluster: Cluster, namespace: Namespace) -> ArgoClient:
    return ArgoClient(namespace=namespace.name, kubeconfig=cluster.kubeconfig, server=cluster.argo_server or "")


def shell(script: str, **more: Any) -> Any:
    return couler.container("debian:12", ["sh", "-c", script], **more)


def until(statuses: Iterator[RunStatus], wanted: str) -> RunStatus:
    """The first status of a watched run that is the wanted one."""
    for status in statuses:
        if status.status == wanted:
            return status
    raise AssertionError(f"never {wanted}")


@couler.step
def double(x: int) -> int:
    print(f"doubling {x}")
    return 2 * x


@couler.workflow
def twice(x: int = 5):
    return double(double(x))


def test_a_run_is_watched_read_listed_and_deleted(client: ArgoClient) -> None:
    ended = run(twice, submitter=client, parameters={"x": 3}, wait=True)
    assert (ended.status, ended.outputs) == ("Succeeded", {"result": 12})
    assert {name: task.status for name, task in ended.tasks.items()} == {"double": "Succeeded", "double-2": "Succeeded"}
    assert [(line.task, line.text) for line in ended.logs()] == [("double", "doubling 3"), ("double-2", "doubling 6")]
    assert [line.text for line in ended.logs("double-2")] == ["doubling 6"]
    assert ended.id in [each.run for each in client.list()]
    client.delete(ended.id)
    with pytest.raises(RunNotFoundError):
        client.status(ended.id)


@couler.workflow
def waiting():
    """A step that waits for a person, one behind it, and an exit handler."""
    couler.suspend(name="ask")() >> shell("echo went on", name="next")()
    couler.on_exit(shell("echo the end"), name="farewell")


def test_a_run_that_waits_goes_on_when_it_is_told_to(client: ArgoClient, cluster: Cluster) -> None:
    bare = ArgoClient(namespace=client.namespace, kubeconfig=cluster.kubeconfig)
    started = run(waiting, submitter=bare)
    until(bare.watch(started.id), "Suspended")
    with pytest.raises(NotOffered, match="has no output 'x'"):
        bare.resume(started.id, outputs={"x": 1})
    bare.resume(started.id, task="ask")
    assert started.wait().status == "Succeeded"
    assert [line.text for line in started.logs("next")] == ["went on"]
    with pytest.raises(NotOffered, match=r"nothing in .* waits"):
        bare.resume(started.id)


def test_a_stopped_run_runs_its_exit_handler_and_a_terminated_one_does_not(client: ArgoClient) -> None:
    stopped, ended = (run(waiting, submitter=client) for _ in range(2))
    for each in (stopped, ended):
        until(client.watch(each.id), "Suspended")
    client.stop(stopped.id)
    client.terminate(ended.id)
    assert (stopped.wait().status, ended.wait().status) == ("Stopped", "Stopped")
    assert stopped.tasks["onExit/farewell"].status == "Succeeded"
    assert "onExit/farewell" not in ended.tasks


@couler.workflow
def pausing():
    couler.suspend("1s", name="wait")() >> shell("echo went on", name="next")()


def test_a_suspended_run_starts_nothing_until_it_is_resumed(client: ArgoClient) -> None:
    started = run(pausing, submitter=client)
    client.suspend(started.id)
    status = until(client.watch(started.id), "Suspended")
    assert "next" not in {task.name for task in status.tasks if task.status == "Succeeded"}
    client.resume(started.id)
    assert started.wait().status == "Succeeded"


@couler.workflow
def approval():
    answer = couler.suspend(outputs={"yes": bool, "who": str}, name="ask")()
    inputs = {"yes": bool, "who": str}
    say = couler.script("debian:12", 'echo "$yes by $who"', inputs=inputs, outputs={"said": couler.stdout()})
    return say(yes=answer.yes, who=answer.who)


def test_a_person_gives_values_with_an_approval(client: ArgoClient) -> None:
    started = run(approval, submitter=client)
    until(client.watch(started.id), "Suspended")
    client.resume(started.id, outputs={"yes": True, "who": "Ada"})
    assert started.wait().outputs == {"result": "true by Ada"}


@couler.workflow
def again():
    """The second step fails until somebody turns a switch."""
    test = shell('test "$GOOD" = yes', env={"GOOD": couler.ConfigMapRef("switch", "good")}, name="second")
    shell("echo done", name="first")() >> test()


def test_retry_runs_what_failed_and_keeps_what_succeeded(client: ArgoClient, namespace: Namespace) -> None:
    switch = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "switch"}, "data": {"good": "no"}}
    namespace.submit(switch)
    started = run(again, submitter=client, wait=True)
    assert started.status == "Failed"
    before = started.tasks["first"].finished
    namespace.core.patch_namespaced_config_map("switch", namespace.name, {"data": {"good": "yes"}})
    retried = Run(client, client.retry(started.id)).wait()
    assert retried.status == "Succeeded"
    assert retried.tasks["first"].finished == before
    with pytest.raises(NotOffered, match=r"nothing in .* waits"):
        client.resume(started.id)


@couler.step
def leave() -> Path:
    path = Path("left.txt")
    path.write_text("left here")
    return path


@couler.workflow
def leaving():
    leave()


def test_artifacts_are_found_in_their_store(client: ArgoClient, s3: ObjectStore) -> None:
    ended = run(leaving, submitter=client, wait=True)
    key = dict(client.artifacts(ended.id))["leave/result"]
    assert key in [each["Key"] for each in s3.client().list_objects_v2(Bucket=s3.bucket)["Contents"]]


def test_a_secret_of_the_program_reaches_the_step_and_nothing_else(client: ArgoClient) -> None:
    secret = couler.create_secret({"PASSWORD": "hunter2"})

    @couler.workflow
    def secretive():
        shell('printf %s "$PASSWORD" | wc -c', secrets=[secret])()

    started = run(secretive, submitter=client, wait=True)
    assert [line.text for line in started.logs()] == ["7"]
    stored = client.document(started.id)  # what anybody who may read runs sees
    assert "hunter2" not in json.dumps(stored)


FILE = """
import couler_py as couler

@couler.step
def hello(name: str) -> str:
    print("hello", name)
    return name.upper()

@couler.workflow
def greeting(name: str = "world"):
    return hello(name)
"""


def test_the_command_line_submits_lists_and_shows(cluster: Cluster, namespace: Namespace, tmp_path: Path) -> None:
    (tmp_path / "greeting.py").write_text(FILE)
    config = kubeconfig_of(cluster, namespace, tmp_path)

    def command(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "couler_py.cli", *words],
            cwd=tmp_path,
            env={**os.environ, "KUBECONFIG": str(config), "COULER_HOME": str(tmp_path / "home")},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    where = ("-n", namespace.name)
    name = command("submit", "greeting.py", "--to", "argo", *where, "-p", "name=Ada").strip()
    assert name.startswith(f"argo:{namespace.name}/greeting-")
    watched = json.loads(command("watch", name, "--json"))
    assert (watched["status"], watched["outputs"]) == ("Succeeded", {"result": "ADA"})
    assert command("logs", name) == "hello: hello Ada\n"
    assert name in [each["run"] for each in json.loads(command("runs", "--engine", "argo", "--json"))]

    # A schedule is kept, and there is no run to wait for.
    (tmp_path / "daily.py").write_text(FILE.replace("@couler.workflow", '@couler.workflow(schedule="0 3 1 1 *")'))
    assert command("submit", "daily.py", "--to", "argo", *where, "--wait").strip() == f"argo:{namespace.name}/greeting"
    kept = yaml.safe_load(command("cron", "get", "greeting"))
    assert kept["spec"]["schedules"] == ["0 3 1 1 *"]
    assert "managedFields" not in kept["metadata"]
    command("cron", "delete", "greeting")

    # The same through the Argo server alone, from a file of Argo's own: no kubeconfig is there.
    (tmp_path / "nothing.yaml").write_text(yaml.safe_dump(nothing()))
    (tmp_path / "token").write_text(token_of(cluster))
    config.unlink()
    server = ("--server", cluster.argo_server or "", "--token-file", "token")
    shown = command("submit", "nothing.yaml", "--to", "argo", *where, *server, "--dry-run")
    assert "serverDryRun" not in shown
    assert "the cluster would take it" in shown
    plain = command("submit", "nothing.yaml", "--to", "argo", *where, *server).strip()
    assert json.loads(command("watch", plain, "--json", *server))["status"] == "Succeeded"
    again = command("resubmit", plain, *server).strip()
    listed = json.loads(command("runs", *server, "--namespace", namespace.name, "-l", "test=nothing", "--json"))
    assert {plain, again} <= {each["run"] for each in listed}
    assert yaml.safe_load(command("get", plain, *server))["metadata"]["name"] == plain.rpartition("/")[2]


def kubeconfig_of(cluster: Cluster, namespace: Namespace, folder: Path) -> Path:
    """The cluster's kubeconfig with this namespace as the one of its context."""
    config = yaml.safe_load(cluster.kubeconfig.read_text())
    for context in config["contexts"]:
        context["context"]["namespace"] = namespace.name
    made = folder / "kubeconfig"
    made.write_text(yaml.safe_dump(config))
    return made


def test_a_template_that_is_replaced_keeps_nothing_of_the_old_one(client: ArgoClient) -> None:
    @couler.workflow(name="replaced")
    def watched(x: int = 5):
        couler.on_exit(shell("true", name="tidy"))
        return double(x)

    @couler.workflow(name="replaced")
    def unwatched(x: int = 5):
        return double(x)

    for flow in (watched, unwatched):
        client.submit(flow.compile("argo", kind="WorkflowTemplate", name="replaced"))
    found = client.stored("WorkflowTemplate").get("replaced")
    assert "onExit" not in found["spec"]
    assert [template["name"] for template in found["spec"]["templates"]] == ["replaced", "double"]
