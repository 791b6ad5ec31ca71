"""Policies, pods, schedules."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from couler_py.ir import Graph, Suspend, Template, Workflow
from couler_py.ir.model import (
    Backoff,
    Cache,
    Function,
    InputArtifact,
    Inputs,
    OutputArtifact,
    OutputParameter,
    Outputs,
    Parameter,
    RetryPolicy,
    Schedule,
    Semaphore,
)
from couler_py.ir.pod import Container, EnvVar, PodSettings, Resources, Templated, Volume, VolumeClaim, VolumeMount
from couler_py.ir.storage import Git, SecretRef
from tests.unit.passes.check.workflows import BOX, WAIT, flow, found, main, only, task, workflow


def box(**changes: Any) -> Workflow:
    """A workflow of one container, with changes to its template."""
    return workflow(main(task("t1", "box")), msgspec.structs.replace(BOX, **changes))


def container(**fields: Any) -> Workflow:
    return box(body=Container("alpine", **fields))


DATA = Volume("data", Templated({"emptyDir": {}}))


@pytest.mark.parametrize(
    ("broken", "code"),
    [
        (box(retry=RetryPolicy(-1)), "CLR280"),
        (box(retry=RetryPolicy(1, Backoff(-1.0))), "CLR281"),
        (box(retry=RetryPolicy(1, Backoff(1.0, 0.0))), "CLR281"),
        (box(timeout=0), "CLR281"),
        (box(deadline=-1), "CLR281"),
        (box(timeout=float("nan")), "CLR281"),
        (box(cache=Cache(max_age=0)), "CLR281"),
        (box(parallelism=2), "CLR285"),
        (box(locks=(Semaphore("s", 0),)), "CLR285"),
        (flow(task("t1", "wait"), deadline=0.0), "CLR281"),
        (flow(task("t1", "wait"), parallelism=0), "CLR285"),
        (workflow(main(task("t1", "wait")), Template("wait", Suspend(), timeout=1)), "CLR283"),
        (workflow(main(task("t1", "wait")), Template("wait", Suspend(-1))), "CLR281"),
        (
            workflow(main(task("t1", "inner")), Template("inner", Graph((task("t2", "wait"),)), parallelism=0), WAIT),
            "CLR285",
        ),
        (container(mounts=(VolumeMount("data", "/data"),)), "CLR291"),
        (container(env=(EnvVar("A", "1"), EnvVar("A", "2"))), "CLR293"),
        (container(env=(EnvVar("A=B", "1"),)), "CLR203"),
        (container(command=("echo", "a\0b")), "CLR229"),
        (container(env=(EnvVar("A", "\0"),)), "CLR229"),
        (box(body=Container("")), "CLR295"),
        (box(inputs=Inputs(artifacts=(InputArtifact("f", optional=True),))), "CLR296"),
        (box(outputs=Outputs(artifacts=(OutputArtifact("o", "/o", storage=Git("https://x")),))), "CLR297"),
        (box(body=Function("f", (), include=("abc",))), "CLR298"),
        (container(resources=Resources(cpu="two")), "CLR299"),
        (container(resources=Resources(memory="1 GB")), "CLR299"),
        (container(resources=Resources(memory="-1Gi")), "CLR299"),
        (container(resources=Resources(gpu=-1)), "CLR299"),
        (flow(task("t1", "wait"), volume_claims=(VolumeClaim("c", "big"),)), "CLR299"),
    ],
)
def test_settings_that_make_no_sense(broken: Workflow, code: str) -> None:
    assert only(broken).code == code


@pytest.mark.parametrize(
    "sound",
    [
        box(retry=RetryPolicy(0, Backoff(0.0, 2.0, 60.0)), timeout=0.5, deadline=60),
        container(resources=Resources("500m", "1.5Gi", "2", "", 1, ephemeral_storage="1e9", extra=(("x.y/z", "3"),))),
        box(body=Container("alpine", mounts=(VolumeMount("data", "/data"),)), pod=PodSettings(volumes=(DATA,))),
        msgspec.structs.replace(container(mounts=(VolumeMount("data", "/data"),)), volumes=(DATA,)),
    ],
)
def test_settings_that_make_sense(sound: Workflow) -> None:
    assert found(sound) == []


def test_a_retry_of_a_graph_is_noted() -> None:
    inner = Template("inner", Graph((task("t2", "wait"),)), retry=RetryPolicy(1))
    one = only(workflow(main(task("t1", "inner")), inner, WAIT))
    assert (one.code, one.severity) == ("CLR282", "note")


@pytest.mark.parametrize(
    "broken",
    [
        box(
            body=Container("a", mounts=(VolumeMount("data", "/d"), VolumeMount("data", "/d/"))),
            pod=PodSettings(volumes=(DATA,)),
        ),
        box(
            body=Container("a", mounts=(VolumeMount("data", "/d"),)),
            inputs=Inputs(artifacts=(InputArtifact("f", "/d", optional=True),)),
            pod=PodSettings(volumes=(DATA,)),
        ),
        box(outputs=Outputs((OutputParameter("a", path="/o"),), (OutputArtifact("b", "/o"),))),
        box(
            inputs=Inputs(artifacts=(InputArtifact("a", "/i", optional=True), InputArtifact("b", "/i", optional=True)))
        ),
    ],
    ids=["two mounts", "a mount over a file", "two outputs", "two inputs"],
)
def test_two_things_at_one_path(broken: Workflow) -> None:
    assert only(broken).code == "CLR292"


@pytest.mark.parametrize("name", ["PASSWORD", "DB_PASSWORD", "api_token", "AWS_SECRET_ACCESS_KEY", "OPENAI_API_KEY"])
def test_a_secret_in_the_open_is_warned_of_without_saying_it(name: str) -> None:
    one = only(container(env=(EnvVar(name, "hunter2"),)))
    assert (one.code, one.severity) == ("CLR294", "warning")
    assert "hunter2" not in one.render()


@pytest.mark.parametrize("name", ["TOKENIZERS_PARALLELISM", "TOKEN_FILE", "SECRET_NAME", "MAX_TOKEN_COUNT", "PATH"])
def test_what_only_looks_like_a_secret(name: str) -> None:
    assert found(container(env=(EnvVar(name, "x"),))) == []


def test_a_secret_by_reference() -> None:
    assert found(container(env=(EnvVar("API_TOKEN", SecretRef("api", "token")),))) == []


def scheduled(*crons: str, zone: str = "UTC", **more: Any) -> Workflow:
    return flow(task("t1", "wait"), schedule=Schedule(crons, zone), **more)


@pytest.mark.parametrize("cron", ["0 3 * * *", "*/15 9-17 * * MON-FRI", "@daily", "@every 1h30m", "0 0 ? * 1"])
def test_times_of_a_schedule(cron: str) -> None:
    assert found(scheduled(cron, zone="Europe/Berlin")) == []


@pytest.mark.parametrize("cron", ["", "daily", "0 25 * * *", "* * * *", "0 0 3 * * *", "0 0 31 2 *", "@often"])
def test_times_that_there_are_not(cron: str) -> None:
    assert only(scheduled(cron)).code == "CLR255"


def test_a_schedule_without_a_time() -> None:
    assert only(scheduled()).code == "CLR255"


@pytest.mark.parametrize("zone", ["Berlin", "", "../etc/passwd", "/etc/passwd"])
def test_time_zones_that_there_are_not(zone: str) -> None:
    assert only(scheduled("@daily", zone=zone)).code == "CLR256"


def test_nobody_is_asked_when_a_workflow_starts_by_itself() -> None:
    one = only(scheduled("@daily", parameters=(Parameter("seed"),)))
    assert (one.code, one.help) == ("CLR257", "give seed a default")


def test_a_schedules_numbers() -> None:
    assert only(flow(task("t1", "wait"), schedule=Schedule(("@daily",), keep_failed=-1))).code == "CLR281"
