"""What is said of the workflow: volumes, tolerations, DNS, names, schedules. Peers' rows of Couler's API."""

from collections import OrderedDict
from typing import Any

import pytest

import couler_py.argo as couler
from couler_py.dsl.problems import RecordingError
from couler_py.ir.model import Schedule, Ttl
from couler_py.ir.pod import Dns, DnsOption, PodSettings, Templated, Toleration, Volume, VolumeClaim
from tests.unit.dsl.verbs.programs import built, message_of, say


def test_a_volume_that_is_an_existing_claim() -> None:
    couler.add_volume(couler.Volume("work", "my-claim"))
    say()
    assert built().volumes == (Volume("work", Templated({"persistentVolumeClaim": {"claimName": "my-claim"}})),)


def test_a_volume_of_another_kind() -> None:
    nfs = {"nfs": {"server": "nas", "path": "/data"}}
    couler.add_volume(couler.Volume("nas", source=nfs))
    say()
    assert built().volumes == (Volume("nas", Templated(nfs)),)


@pytest.mark.parametrize("sources", [{}, {"claim_name": "a", "secret": "b"}])
def test_a_volume_has_one_source(sources: dict[str, Any]) -> None:
    with pytest.raises(RecordingError, match="sources"):
        couler.Volume("v", **sources)


def test_each_run_gets_a_volume_of_its_own() -> None:
    couler.create_workflow_volume(couler.VolumeClaimTemplate("work", ["ReadWriteMany"], "10Gi"))
    say(volume_mounts=[couler.VolumeMount("work", "/work")])
    assert built().volume_claims == (VolumeClaim("work", "10Gi", ("ReadWriteMany",)),)
    assert built().volumes == ()


def test_a_mounted_volume_that_nobody_added_is_an_empty_folder() -> None:
    say(volume_mounts=[couler.VolumeMount("scratch", "/scratch")])
    assert built().volumes == (Volume("scratch", Templated({"emptyDir": {}})),)


@pytest.mark.parametrize(
    "add",
    [
        lambda: couler.add_volume(couler.Volume("work", "claim")),
        lambda: couler.create_workflow_volume(couler.VolumeClaimTemplate("work")),
    ],
)
def test_a_mounted_volume_may_be_added_later(add: Any) -> None:
    say(volume_mounts=[couler.VolumeMount("work", "/work")])
    add()
    workflow = built()
    assert len(workflow.volumes) + len(workflow.volume_claims) == 1
    assert Volume("work", Templated({"emptyDir": {}})) not in workflow.volumes


def test_two_volumes_of_one_name_are_refused() -> None:
    couler.add_volume(couler.Volume("work", "one"))
    with pytest.raises(RecordingError, match="two different volumes"):
        couler.add_volume(couler.Volume("work", "two"))


def test_tolerations_have_values() -> None:
    couler.add_toleration(couler.Toleration("gpu", "NoSchedule", "Exists"))
    couler.add_toleration(couler.Toleration("pool", "NoExecute", "Equal", "train", 60))
    couler.add_toleration(couler.Toleration("gpu", "NoSchedule", "Exists"))
    say()
    assert built().pod.tolerations == (
        Toleration("gpu", "Exists", "", "NoSchedule"),
        Toleration("pool", "Equal", "train", "NoExecute", 60),
    )


@pytest.mark.parametrize(
    "given", [("k", "Never", "Exists"), ("k", "NoSchedule", "Is"), ("k", "NoSchedule", "Exists", "v")]
)
def test_what_is_no_toleration_is_refused(given: tuple[str, ...]) -> None:
    with pytest.raises(RecordingError):
        couler.add_toleration(couler.Toleration(*given))  # type: ignore[arg-type]


def test_image_pull_secrets() -> None:
    couler.add_image_pull_secret("registry")
    couler.add_image_pull_secret("other")
    couler.add_image_pull_secret("registry")
    say()
    assert built().pod.image_pull_secrets == ("registry", "other")


def test_dns() -> None:
    config = couler.DnsConfig(["1.1.1.1"], [couler.DnsConfigOption("ndots", "2")], ["svc.local"])
    couler.set_dns("None", config)
    say()
    assert built().pod.dns == Dns("None", ("1.1.1.1",), ("svc.local",), (DnsOption("ndots", "2"),))


@pytest.mark.parametrize("policy", ["Sometimes", "None"])
def test_a_dns_policy_that_cannot_be_is_refused(policy: str) -> None:
    with pytest.raises(RecordingError):
        couler.set_dns(policy)


def test_the_name_is_the_one_that_is_given() -> None:
    couler.config_workflow(name="My_Flow")
    say()
    workflow = built()
    assert (workflow.name, workflow.entrypoint) == ("My_Flow", "My_Flow")


def test_a_name_that_no_engine_takes_is_shown_and_replaced() -> None:
    couler.config_workflow(name="Hello World!")
    say()
    workflow = built()
    assert (workflow.display, workflow.name) == ("Hello World!", "Hello-World")


def test_without_a_name_it_is_that_of_the_file() -> None:
    couler.run_container("a")
    assert built().name == "test_settings"


def test_a_name_salter_makes_the_name() -> None:
    couler.config_defaults(name_salter=lambda name: f"{name}-1")
    couler.config_workflow(name="flow")
    say()
    assert built().name == "flow-1"


def test_the_user_is_a_label() -> None:
    couler.config_workflow(user_id="alice")
    say()
    assert built().labels == (("couler_job_user", "alice"),)


def test_a_user_that_is_no_label_is_an_annotation() -> None:
    couler.config_workflow(user_id="alice@example.com")
    say()
    workflow = built()
    assert (workflow.labels, workflow.annotations) == ((), (("couler_job_user", "alice@example.com"),))


def test_times_are_seconds() -> None:
    couler.config_workflow(timeout=3600, time_to_clean=3600 * 1.5)
    say()
    workflow = built()
    assert (workflow.deadline, workflow.ttl) == (3600.0, Ttl(after_completion=5400))


def test_the_service_account_of_one_workflow_and_of_all() -> None:
    couler.config_defaults(service_account="all")
    say()
    assert built().pod == PodSettings(service_account="all")
    couler.config_workflow(service_account="one")
    assert built().pod == PodSettings(service_account="one")


def test_parallelism_is_of_the_workflow() -> None:
    couler.config_workflow(parallelism=4)
    say()
    assert built().parallelism == 4


def test_a_cron_config_with_the_defaults() -> None:
    couler.config_workflow(cron_config={"schedule": "0 3 * * *"})
    say()
    assert built().schedule == Schedule(("0 3 * * *",), "UTC", "Allow", 10.0, 3, 1, False)


def test_a_whole_cron_config() -> None:
    couler.config_workflow(
        cron_config=OrderedDict(
            schedule="*/5 * * * *",
            concurrency_policy='"Forbid"',
            successful_jobs_history_limit=1,
            failed_jobs_history_limit=2,
            starting_deadline_seconds=30,
            suspend="true",
            timezone="Asia/Shanghai",
        )
    )
    say()
    assert built().schedule == Schedule(("*/5 * * * *",), "Asia/Shanghai", "Forbid", 30.0, 1, 2, True)


@pytest.mark.parametrize("text", ["false", False])
def test_suspend_false_is_false(text: Any) -> None:
    couler.config_workflow(cron_config={"schedule": "0 3 * * *", "suspend": text})
    say()
    assert built().schedule is not None
    assert built().schedule.suspended is False  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "cron",
    [
        {},
        "0 3 * * *",
        {"schedule": "every day"},
        {"schedule": "0 3 * * *", "timezone": "Mars/Base"},
        {"schedule": "0 3 * * *", "suspend": "maybe"},
        {"schedule": "0 3 * * *", "concurrency_policy": "Sometimes"},
        {"schedule": "0 3 * * *", "zone": "UTC"},
    ],
)
def test_a_cron_config_that_is_none_is_refused(cron: Any) -> None:
    with pytest.raises(RecordingError, match="CLR181"):
        couler.config_workflow(cron_config=cron)


def test_a_cluster_config_file_is_refused_and_not_run(tmp_path: Any) -> None:
    file = tmp_path / "cluster.py"
    file.write_text("raise SystemExit('ran')")
    with pytest.raises(RecordingError) as error:
        couler.config_workflow(cluster_config_file=str(file))
    assert "couler.add_toleration" in message_of(error)


@pytest.mark.parametrize("given", [{"name": ""}, {"timeout": "soon"}, {"time_to_clean": -1}, {"service_account": ""}])
def test_settings_that_are_none_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(RecordingError, match="CLR181"):
        couler.config_workflow(**given)
