"""The command lines of podman and docker: what a container may do, and what never stands on them."""

from __future__ import annotations

from typing import Any

import pytest

from couler_py.backends.local.containers import words
from couler_py.backends.local.containers.group import Group, Member, Mount


def member(**fields: Any) -> Member:
    return Member("couler-run-0", "main", "sha256:1", "python:3.11", **fields)


def line(given: Member, runtime: str = "podman", *, beside: str = "", **fields: Any) -> list[str]:
    group = Group(runtime, runtime, "/attempt", [given], **fields)
    return words.run(group, given, variables=7, inherited=["TEXT"], beside=beside, pid_file="/attempt/process-of-0")


BOUNDS = ["--cap-drop=ALL", "--cap-add=DAC_OVERRIDE", "--security-opt=no-new-privileges"]


def test_podman_runs_a_container_bound_and_without_anything_of_this_machine() -> None:
    assert line(member(command=["sh", "-c", "true"], args=["x"])) == [
        "podman",
        "run",
        "--name=couler-run-0",
        "--pull=never",
        "--init",
        "--sig-proxy=false",
        "--log-driver=none",
        *BOUNDS,
        "--http-proxy=false",
        "--pidfile=/attempt/process-of-0",
        "--env-file=/dev/fd/7",
        "--env=TEXT",
        '--entrypoint=["sh", "-c", "true"]',
        "sha256:1",
        "x",
    ]


def test_docker_is_told_a_command_word_by_word() -> None:
    said = line(member(command=["sh", "-c", "true"], args=["x"]), "docker")
    assert said[said.index("--entrypoint=sh") :] == ["--entrypoint=sh", "sha256:1", "-c", "true", "x"]
    assert not [word for word in said if word.startswith(("--pidfile", "--http-proxy"))]


def test_the_images_own_command_is_left_to_it() -> None:
    assert line(member(args=["serve"]))[-2:] == ["sha256:1", "serve"]
    assert not [word for word in line(member()) if word.startswith("--entrypoint")]


def test_limits_are_those_of_the_container() -> None:
    said = line(member(cpu=0.5, memory=64 * 2**20))
    assert {"--cpus=0.5", "--memory=67108864b", "--memory-swap=67108864b"} <= set(said)


@pytest.mark.parametrize(
    ("runtime", "expected"),
    [
        ("podman", ["--device=nvidia.com/gpu=0", "--device=nvidia.com/gpu=GPU-7"]),
        ("docker", ['--gpus="device=0,GPU-7"']),
    ],
)
def test_gpus_are_named_one_by_one(runtime: str, expected: list[str]) -> None:
    said = line(member(gpus=["0", "GPU-7"]), runtime)
    assert [word for word in said if word.startswith(("--device", "--gpus"))] == expected


def test_a_path_with_a_comma_stays_one_path() -> None:
    said = line(member(mounts=[Mount("/a,b", "/in", True), Mount("/v", "/out")]))
    assert [word for word in said if word.startswith("--mount")] == [
        '--mount=type=bind,"source=/a,b",target=/in,readonly',
        "--mount=type=bind,source=/v,target=/out",
    ]


def test_a_network_is_the_runtimes_own_a_named_one_that_of_another_container_or_this_machines() -> None:
    def networks(**fields: Any) -> list[str]:
        return [word for word in line(member(ports=["80:80/tcp"]), **fields) if word.startswith(("--net", "--publ"))]

    assert networks() == ["--publish=80:80/tcp"]
    assert networks(network="none") == ["--network=none", "--publish=80:80/tcp"]
    assert networks(network="none", beside="other") == ["--network=container:other"]
    assert networks(host=["network", "pid"]) == ["--network=host"]


def test_more_is_only_what_a_container_was_given() -> None:
    assert "--privileged" in line(member(privileged=True))
    said = line(member(capabilities=["CHOWN"], read_only=True, user="1000:0", directory="/w"), unlabelled=True)
    expected = {"--cap-add=CHOWN", "--read-only", "--user=1000:0", "--workdir=/w", "--security-opt=label=disable"}
    assert expected <= set(said)


def test_variables_of_several_lines_or_great_length_are_inherited_by_the_client() -> None:
    assert words.plain("A", 'x "y" #z = \\') is True
    assert [words.plain("A", text) for text in ("a\nb", "a\r", "x" * 60_001)] == [False, False, False]


def test_who_is_taken_away_gets_no_time_to_end() -> None:
    assert words.remove("podman", "podman", ["a"]) == ["podman", "rm", "--force", "--volumes", "--time=0", "a"]
    assert words.remove("docker", "docker", ["a"]) == ["docker", "rm", "--force", "--volumes", "a"]
