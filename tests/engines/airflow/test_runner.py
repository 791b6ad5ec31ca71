"""The program of the image `runner` on an S3 server: as it stands, and inside the image."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import boto3
import pytest
from moto.server import ThreadedMotoServer

from tests.cluster.containers import RUNNER, Podman, runner_image

KEYS = {"AWS_ACCESS_KEY_ID": "reader", "AWS_SECRET_ACCESS_KEY": "hidden", "AWS_DEFAULT_REGION": "us-east-1"}
Runs: TypeAlias = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """An S3 server with the bucket `files`."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    address = f"http://{host}:{port}"
    client(address).create_bucket(Bucket="files")
    yield address
    server.stop()


def client(endpoint: str) -> Any:
    return boto3.client(
        "s3",
        endpoint_url=endpoint,
        aws_access_key_id="reader",
        aws_secret_access_key="hidden",
        region_name="us-east-1",
    )


@pytest.fixture
def here(endpoint: str) -> Runs:
    """The program, run by this interpreter. Its store is named in the environment, as the secret of a pod does it."""
    environment = os.environ | KEYS | {"FSSPEC_S3_ENDPOINT_URL": endpoint}

    def run(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
        program = [sys.executable, str(RUNNER / "files.py"), *words]
        return subprocess.run(program, env=environment | more, capture_output=True, text=True, check=False)

    return run


def moves(*pairs: tuple[Any, Path], **more: Any) -> str:
    return json.dumps([{"place": place, "path": str(path), **more} for place, path in pairs])


def test_a_file_and_a_folder_go_there_and_come_back(here: Runs, tmp_path: Path) -> None:
    (tmp_path / "out" / "folder" / "inner").mkdir(parents=True)
    (tmp_path / "out" / "file").write_text("some text")
    (tmp_path / "out" / "folder" / "inner" / "x").write_text("x")
    (tmp_path / "ready").touch()
    places = {name: f"s3://files/there/{name}" for name in ("file", "folder", "nothing")}
    out = [(place, tmp_path / "out" / name) for name, place in places.items()]
    kept = here("keep", str(tmp_path / "ready"), moves(*out))
    assert kept.returncode == 0, kept.stderr
    back = [(places[name], tmp_path / "in" / name) for name in ("file", "folder")]
    brought = here("bring", moves(*back))
    assert brought.returncode == 0, brought.stderr
    assert (tmp_path / "in" / "file").read_text() == "some text"
    assert (tmp_path / "in" / "folder" / "inner" / "x").read_text() == "x"


def test_nothing_is_kept_before_the_mark_is_there(here: Runs, endpoint: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("early")
    place = [("s3://files/late/file", tmp_path / "file")]
    program = [sys.executable, str(RUNNER / "files.py"), "keep", str(tmp_path / "ready"), moves(*place)]
    running = subprocess.Popen(program, env=os.environ | KEYS | {"FSSPEC_S3_ENDPOINT_URL": endpoint})
    (tmp_path / "file").write_text("late")
    assert "Contents" not in client(endpoint).list_objects_v2(Bucket="files", Prefix="late/")
    (tmp_path / "ready").touch()
    assert running.wait() == 0
    assert client(endpoint).get_object(Bucket="files", Key="late/file")["Body"].read() == b"late"


def test_a_named_store_has_its_own_endpoint_and_keys(endpoint: str, here: Runs, tmp_path: Path) -> None:
    client(endpoint).put_object(Bucket="files", Key="named/x", Body=b"named")
    place = {"@uri": "s3://files/named/x", "@options": {"endpoint_url": endpoint}}
    found = here(
        "bring",
        moves((place, tmp_path / "x"), env={"key": "COULER_STORE_0", "secret": "COULER_STORE_1"}),
        FSSPEC_S3_ENDPOINT_URL="http://127.0.0.1:9",
        AWS_ACCESS_KEY_ID="",
        COULER_STORE_0="reader",
        COULER_STORE_1="hidden",
    )
    assert found.returncode == 0, found.stderr
    assert (tmp_path / "x").read_text() == "named"
    assert "hidden" not in found.stdout + found.stderr


def test_what_is_not_there_fails_and_is_named(here: Runs, tmp_path: Path) -> None:
    found = here("bring", moves(("s3://files/missing", tmp_path / "x")))
    assert found.returncode == 1
    assert "s3://files/missing" in found.stdout
    assert "does not exist" in found.stderr


@pytest.mark.cluster
def test_the_image_moves_files(podman: Podman, endpoint: str, tmp_path: Path) -> None:
    image = runner_image(podman)
    (tmp_path / "ready").touch()
    (tmp_path / "file").write_text("from a pod")
    settings = KEYS | {"FSSPEC_S3_ENDPOINT_URL": endpoint}
    variables = [word for name, value in settings.items() for word in ("--env", f"{name}={value}")]

    def run(*words: str) -> None:
        mounted = ["--volume", f"{tmp_path}:/couler"]
        podman("run", "--rm", "--network", "host", *mounted, *variables, image, *words)

    run("keep", "/couler/ready", moves(("s3://files/image/file", Path("/couler/file"))))
    run("bring", moves(("s3://files/image/file", Path("/couler/back"))))
    assert (tmp_path / "back").read_text() == "from a pod"
