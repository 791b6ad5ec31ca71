"""`couler_py.argo`: Couler's own import line, its `run`, and programs written for Couler, run on this machine."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

import couler_py.argo as couler
from couler_py import api
from couler_py.dsl.problems import RecordingError
from couler_py.dsl.verbs.state import implicit
from couler_py.ir.diagnostics import DiagnosticError
from tests.unit.dsl.verbs.programs import say, write

SIGNATURES = {
    "run_container": "image command args output input env env_from secret resources timeout retry step_name "
    "image_pull_policy pool enable_ulogfs daemon volume_mounts working_dir node_selector cache parallelism",
    "run_script": "image command source args output input env secret resources timeout retry step_name "
    "image_pull_policy pool enable_ulogfs daemon volume_mounts working_dir node_selector cache",
    "run_job": "manifest success_condition failure_condition timeout retry step_name pool env action "
    "set_owner_reference cache",
    "run_canned_step": "name args inputs outputs step_name cache",
    "when": "condition function",
    "equal": "pre post",
    "not_equal": "pre post",
    "bigger": "pre post",
    "smaller": "pre post",
    "bigger_equal": "pre post",
    "smaller_equal": "pre post",
    "concurrent": "function_list subtasks",
    "exec_while": "condition inner_while",
    "dag": "dependency_graph",
    "set_dependencies": "step_function dependencies",
    "set_exit_handler": "status exit_handler",
    "create_parameter_artifact": "path is_global",
    "create_local_artifact": "path is_global",
    "create_s3_artifact": "path bucket accesskey_id accesskey_secret key endpoint is_global insecure",
    "create_oss_artifact": "path bucket accesskey_id accesskey_secret key endpoint is_global",
    "create_secret": "secret_data namespace name dry_run use_existing artifact_secret",
    "obtain_secret": "secret_keys namespace name",
    "config_defaults": "name_salter service_account",
    "config_workflow": "name user_id timeout time_to_clean cluster_config_file cron_config service_account",
    "set_dns": "dns_policy dns_config",
    "delete": "name namespace config_file context client_configuration persist_config grace_period_seconds "
    "propagation_policy",
    "run": "submitter",
    "Cache": "name key max_age",
    "Volume": "name claim_name",
    "VolumeMount": "name mount_path",
    "VolumeClaimTemplate": "claim_name access_modes size",
    "Toleration": "key effect operator",
    "DnsConfig": "nameservers options searches",
    "ArgoSubmitter": "namespace config_file context client_configuration persist_config",
}


@pytest.mark.parametrize(("name", "parameters"), SIGNATURES.items(), ids=SIGNATURES)
def test_the_signature_is_coulers(name: str, parameters: str) -> None:
    wanted = parameters.split()
    assert list(inspect.signature(getattr(couler, name)).parameters)[: len(wanted)] == wanted


def test_every_public_name_is_there() -> None:
    assert [name for name in couler.__all__ if not hasattr(couler, name)] == []


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COULER_HOME", str(tmp_path / "home"))


def statuses(run: api.Run) -> dict[str, str]:
    return {name: task.status for name, task in run.tasks.items() if "[" not in name and "#" not in name}


def printed(run: api.Run) -> dict[str, str]:
    return {line.task: line.text for line in run.logs()}


def heads_code() -> None:
    print("heads")


def add_one(x: int) -> int:
    return x + 1


def test_the_coin_flip_runs_here() -> None:
    result = couler.run_script("python:3.11", source=heads_code, step_name="flip")
    couler.when(couler.equal(result, "heads"), lambda: say("it was heads", name="heads"))
    couler.when(couler.equal(result, "tails"), lambda: say("it was tails", name="tails"))
    say("done", name="done")
    run = couler.run()
    assert statuses(run) == {"flip": "Succeeded", "heads": "Succeeded", "tails": "Skipped", "done": "Succeeded"}
    assert printed(run)["heads"] == "it was heads"


def test_a_producer_hands_its_value_to_a_consumer(tmp_path: Path) -> None:
    made = write(str(tmp_path / "t1.txt"), name="producer")
    couler.run_container("a", ["echo"], made, step_name="consumer")
    assert printed(couler.run())["consumer"] == "A"


def test_numbers_are_compared_as_numbers_here() -> None:
    nine = couler.run_script("python:3.11", source="print(9)", step_name="nine")
    couler.when(couler.bigger(nine, 10), lambda: say(name="bigger"), otherwise=lambda: say(name="smaller"))
    assert statuses(couler.run()) == {"nine": "Succeeded", "bigger": "Skipped", "smaller": "Succeeded"}


def test_map_gathers_its_results_here() -> None:
    found = couler.map(lambda x: couler.run_script("a", source=add_one, args=[x], step_name="add"), [1, 2, 3])
    couler.run_container("a", ["echo"], found, step_name="show")
    assert printed(couler.run())["show"] == "[2,3,4]"


def test_a_loop_that_ends_at_once_runs_once_here() -> None:
    couler.exec_while(couler.equal("tails"), lambda: couler.run_script("a", source=heads_code, step_name="flip"))
    run = couler.run()
    assert [name for name in run.tasks if "#" in name] == ["flip-loop#1"]


def test_text_with_arguments_finds_them_here() -> None:
    couler.run_script("a", command="sh", source='echo "$1-$2"', args=["x y", 2], step_name="shell")
    couler.run_script("a", source="import sys; print(sys.argv[1:])", args=["x y", 2], step_name="python")
    found = printed(couler.run())
    assert (found["shell"], found["python"]) == ("x y-2", "['x y', '2']")


def test_a_secret_reaches_its_step_and_no_log() -> None:
    secret = couler.create_secret({"PASSWORD": "hunter2-hunter2"})
    couler.run_container(
        "a", ["sh", "-c", 'test "$PASSWORD" = hunter2-hunter2 && echo "$PASSWORD"'], secret=secret, step_name="use"
    )
    run = couler.run()
    assert run.status == "Succeeded"
    assert "hunter2" not in printed(run)["use"]


def test_a_dag_of_depends_runs_here() -> None:
    def passes(name: str) -> Any:
        return couler.run_container("a", ["true"], step_name=name)

    couler.set_dependencies(lambda: passes("A"), dependencies=None)
    couler.set_dependencies(lambda: couler.run_container("a", ["false"], step_name="C"), dependencies="A")
    couler.set_dependencies(lambda: passes("either"), dependencies="A && (C.Succeeded || C.Failed)")
    couler.set_dependencies(lambda: passes("never"), dependencies="A && C")
    assert statuses(couler.run()) == {"A": "Succeeded", "C": "Failed", "either": "Succeeded", "never": "Blocked"}


def test_run_closes_the_workflow_and_a_new_one_begins() -> None:
    say(name="one")
    couler.run()
    assert implicit() is None
    say(name="two")
    assert list(couler.run().tasks) == ["two"]


def test_run_closes_the_workflow_also_where_it_is_wrong() -> None:
    couler.config_workflow(name="empty")
    with pytest.raises(DiagnosticError):
        couler.run()
    assert implicit() is None


def test_run_takes_a_submitter_or_its_class() -> None:
    class Nowhere(Exception):
        pass

    class Submitter:
        def client(self) -> Any:
            raise Nowhere

    for given in (Submitter, Submitter()):
        say(name="one")
        with pytest.raises(Nowhere):
            couler.run(given)


def test_the_default_submitter_is_used_where_none_is_given() -> None:
    class Nowhere(Exception):
        pass

    class Submitter:
        def client(self) -> Any:
            raise Nowhere

    couler.set_default_submitter(Submitter)
    try:
        say(name="one")
        with pytest.raises(Nowhere):
            couler.run()
    finally:
        couler.set_default_submitter(None)


def test_run_only_records_while_the_command_loads_a_file() -> None:
    submitter = couler.ArgoSubmitter(namespace="argo")
    with api.loading() as recorded:
        say(name="one")
        couler.run(submitter, parameters={"x": 1})
    assert [(each.workflow.name, each.submitter, each.parameters) for each in recorded] == [
        ("programs", submitter, {"x": 1})
    ]


def test_the_document_is_argos_and_leaves_the_workflow_open() -> None:
    couler.config_workflow(name="flow")
    say("hello", name="A")
    document = couler.workflow_yaml()
    assert (document["kind"], document["spec"]["entrypoint"]) == ("Workflow", "flow")
    assert implicit() is not None


def test_what_isnt_offered_says_what_to_do() -> None:
    with pytest.raises(RecordingError, match=r"couler\.run\(\)"):
        couler.DockerSubmitter()
    with pytest.raises(RecordingError, match="context="):
        couler.ArgoSubmitter(client_configuration={})
    with pytest.raises(RecordingError, match="kubectl delete workflow"):
        couler.delete("x", grace_period_seconds=0)
    couler.init_yaml_dump()
