"""The fixtures `swift`, `swift_bucket` and `swift_url`: OpenStack Swift by its S3 interface, and a place in it.

Debian's packages, run as root on ports of this machine that nobody else uses, with all state in one temporary folder.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

PACKAGES = ["python3-swift", "swift-proxy", "swift-account", "swift-container", "swift-object", "memcached"]
BUCKET = "couler"
ACCOUNT, SECRET = "test:tester", "testing"

PROXY = """
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {proxy}
workers = 2
user = root
swift_dir = {folder}
log_address = {folder}/no-log
[pipeline:main]
pipeline = catch_errors proxy-logging cache s3api tempauth slo dlo proxy-logging proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:proxy-logging]
use = egg:swift#proxy_logging
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:{memcached}
[filter:s3api]
use = egg:swift#s3api
s3_acl = false
location = us-east-1
min_segment_size = 1048576
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
user_other_reader = looking
[filter:slo]
use = egg:swift#slo
[filter:dlo]
use = egg:swift#dlo
"""

STORAGE = """
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
workers = 1
user = root
swift_dir = {folder}
devices = {folder}/devices
mount_check = false
disable_fallocate = true
log_address = {folder}/no-log
[pipeline:main]
pipeline = {kind}-server
[app:{kind}-server]
use = egg:swift#{kind}
"""


@dataclass(frozen=True)
class Swift:
    """A running server: its S3 endpoint, and the keys of one that may do everything."""

    endpoint: str
    access_key: str = ACCOUNT
    secret_key: str = SECRET

    @property
    def environment(self) -> dict[str, str]:
        """What tells every program that speaks S3 of it."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": self.access_key,
            "AWS_SECRET_ACCESS_KEY": self.secret_key,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def at(self, endpoint: str) -> Swift:
        """The same server, reached another way."""
        return replace(self, endpoint=endpoint)

    def client(self) -> Any:
        """A boto3 client."""
        import boto3

        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            aws_access_key_id=self.access_key,
            aws_secret_access_key=self.secret_key,
            region_name="us-east-1",
        )


@pytest.fixture(scope="session")
def swift(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Swift]:
    """A server of this test run's own, installed if it is missing. Fails, with what is missing, where it can't be."""
    install()
    folder = tmp_path_factory.mktemp("swift")
    running: list[subprocess.Popen[bytes]] = []
    try:
        yield start(folder, running)
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait()


@pytest.fixture(scope="session")
def swift_bucket(swift: Swift) -> str:
    """A bucket for all tests, in which each has a prefix of its own."""
    swift.client().create_bucket(Bucket=BUCKET)
    return BUCKET


@pytest.fixture
def swift_url(swift: Swift, swift_bucket: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """An empty place on the server, to which this test's environment points."""
    for name, value in swift.environment.items():
        monkeypatch.setenv(name, value)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    return f"s3://{swift_bucket}/{secrets.token_hex(8)}"


def install() -> None:
    if shutil.which("swift-proxy-server") and shutil.which("memcached"):
        return
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        pytest.fail(f"no S3 server: {' '.join(PACKAGES)} are Debian packages that root installs", pytrace=False)
    command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *PACKAGES]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        subprocess.run(["apt-get", "update", "-qq"], check=True)
        subprocess.run(command, env=environment, check=True)


def start(folder: Path, running: list[subprocess.Popen[bytes]]) -> Swift:
    """Make the rings, start one server of each kind, wait until they answer, and make nothing else."""
    kinds = ("account", "container", "object")
    ports = dict(zip((*kinds, "proxy", "memcached"), free_ports(5), strict=True))
    (folder / "devices" / "disk").mkdir(parents=True)
    for kind in kinds:
        ring(folder, kind, ports[kind])
        (folder / f"{kind}-server.conf").write_text(STORAGE.format(folder=folder, kind=kind, port=ports[kind]))
    (folder / "proxy-server.conf").write_text(PROXY.format(folder=folder, **ports))
    commands = [["memcached", "-u", "root", "-l", "127.0.0.1", "-p", str(ports["memcached"])]]
    commands += [[f"swift-{kind}-server", str(folder / f"{kind}-server.conf")] for kind in (*kinds, "proxy")]
    for command in commands:
        with (folder / f"{command[0]}.log").open("wb") as log:
            running.append(subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL))
    for name, port in ports.items():
        wait_for(port, folder, name)
    return Swift(f"http://127.0.0.1:{ports['proxy']}")


def free_ports(count: int) -> list[int]:
    """Ports of this machine that were free a moment ago."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def ring(folder: Path, kind: str, port: int) -> None:
    builder = str(folder / f"{kind}.builder")
    for words in (
        ["create", "4", "1", "0"],
        ["add", f"r1z1-127.0.0.1:{port}/disk", "1"],
        ["rebalance"],
    ):
        subprocess.run(["swift-ring-builder", builder, *words], check=True, capture_output=True)


def wait_for(port: int, folder: Path, name: str) -> None:
    """Wait until something listens."""
    until = time.monotonic() + 60
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 5).close()
        except ConnectionRefusedError:
            if time.monotonic() > until:
                logs = "\n".join(each.read_text(errors="replace") for each in sorted(folder.glob("*.log")))
                pytest.fail(f"the {name} server of Swift didn't start:\n{logs}", pytrace=False)
            time.sleep(0.05)
        else:
            return
