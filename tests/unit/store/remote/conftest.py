"""A bucket of a server in this process, homes, and stores that lose patience at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto.server import ThreadedMotoServer

from couler_py.store.home import Home, open_home
from couler_py.store.remote import Remote, parse
from couler_py.store.remote.work import Patience

IMPATIENT = Patience(tries=4, first=0.001, longest=0.002)
KEYS = {
    "AWS_ACCESS_KEY_ID": "a",
    "AWS_SECRET_ACCESS_KEY": "b",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of a server that speaks S3, and believes every signature."""
    running = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    yield f"http://{host}:{port}"
    running.stop()


@pytest.fixture
def client(server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """A boto3 client of the server, to which this test's environment points; its bucket `data` is empty."""
    for name, value in (KEYS | {"AWS_ENDPOINT_URL": server}).items():
        monkeypatch.setenv(name, value)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    made = boto3.client("s3")
    made.create_bucket(Bucket="data")
    for found in made.list_objects_v2(Bucket="data").get("Contents", ()):
        made.delete_object(Bucket="data", Key=found["Key"])
    return made


@pytest.fixture(params=["folder", "s3"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty store of each kind that this machine has."""
    if request.param == "folder":
        return str(tmp_path / "store")
    request.getfixturevalue("client")
    return "s3://data/some/prefix"


Opener = Callable[..., Remote]


@pytest.fixture
def store(url: str, tmp_path: Path) -> Iterator[Opener]:
    """Opens the store for a home, by default the only one."""
    yield from opener(url, tmp_path)


def opener(url: str, tmp_path: Path) -> Iterator[Opener]:
    opened: list[Remote] = []

    def open_one(home: str = "home", patience: Patience = IMPATIENT) -> Remote:
        remote = Remote(parse(url), home_of(tmp_path, home), patience)
        opened.append(remote)
        remote.open()
        return remote

    yield open_one
    for remote in opened:
        remote.close()


@pytest.fixture
def bucket(client: Any, tmp_path: Path) -> Iterator[Opener]:
    """Opens a store in the bucket `data`."""
    yield from opener("s3://data", tmp_path)


def home_of(tmp_path: Path, name: str = "home") -> Home:
    return open_home(tmp_path / name)
