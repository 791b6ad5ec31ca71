"""The fixtures `cluster`, `namespace` and `s3`: a real Kubernetes with Argo, a namespace of this run, an object store.

Processes of one run (pytest-xdist) share what the first of them made, through a folder named by $COULER_TEST_RUN. What
the run made, and only that, is taken away when it ends; a cluster that was up before is left up.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cluster.argo import Namespace

HERE = Path(__file__).resolve().parent
SCRIPT = HERE / "cluster"
BUCKET = "couler-test"


@dataclass(frozen=True)
class Cluster:
    """Where the cluster is; `machine` is our address as its pods see it, None on a cluster that is somebody else's."""

    kubeconfig: Path
    argo_server: str | None
    machine: str | None
    path: str

    @property
    def environment(self) -> dict[str, str]:
        """For programs such as kubectl and argo."""
        return {**os.environ, "KUBECONFIG": str(self.kubeconfig), "PATH": self.path}


@dataclass(frozen=True)
class ObjectStore:
    """An S3 endpoint, `host:port`, that this process and the cluster's pods both reach."""

    endpoint: str
    bucket: str
    access_key: str
    secret_key: str

    def client(self) -> Any:
        """A boto3 client."""
        import boto3

        return boto3.client(
            "s3",
            endpoint_url=f"http://{self.endpoint}",
            aws_access_key_id=self.access_key,
            aws_secret_access_key=self.secret_key,
            region_name="us-east-1",
        )


# ---- the life of a run


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        os.environ["COULER_TEST_RUN"] = tempfile.mkdtemp(prefix="couler-test-")


def pytest_unconfigure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        return
    run = run_folder()
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, run)
        stack.callback(stop_cluster, run)
        stack.callback(stop_store, run)
        stack.callback(delete_namespace, run)


def run_folder() -> Path:
    return Path(os.environ["COULER_TEST_RUN"])


@contextlib.contextmanager
def alone(run: Path) -> Iterator[None]:
    """Let one process of the run at a time in."""
    with (run / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


# ---- the cluster


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """The cluster that COULER_TEST_KUBECONFIG names, else our own, started if it isn't up.

    Fails, with what is missing, where there can be none: tests that need a cluster are never passed over in silence.
    """
    if "COULER_TEST_KUBECONFIG" in os.environ:
        yield cluster_of(dict(os.environ))
        return
    run = run_folder()
    with alone(run):
        if (printed := script("status")).returncode:
            printed = script("up")
            if printed.returncode:
                pytest.fail(f"no cluster: {printed.stderr}", pytrace=False)
            (run / "started").touch()
    found = cluster_of({**os.environ, **exports(printed.stdout)})
    with users(found.kubeconfig.parent) as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        yield found


SECONDS_OF_SCRIPT = 900.0


def script(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([SCRIPT, *words], capture_output=True, text=True, check=False, timeout=SECONDS_OF_SCRIPT)


def exports(text: str) -> dict[str, str]:
    """What lines such as `export NAME=VALUE  # why` set."""
    words = (shlex.split(line, comments=True) for line in text.splitlines())
    pairs = (word.split("=", 1) for line in words if line[:1] == ["export"] for word in line[1:])
    return {name: os.path.expandvars(value) for name, value in pairs}


def cluster_of(environment: dict[str, str]) -> Cluster:
    return Cluster(
        kubeconfig=Path(environment["COULER_TEST_KUBECONFIG"]),
        argo_server=environment.get("COULER_TEST_ARGO_SERVER"),
        machine=environment.get("COULER_TEST_MACHINE"),
        path=environment["PATH"],
    )


def users(home: Path) -> Any:
    """A file that every run holds shared while it uses the cluster of this folder."""
    return (home / "users").open("w")


def stop_cluster(run: Path) -> None:
    """Stop the cluster if this run started it and no other run came to use it since."""
    if not (run / "started").exists():
        return
    home = Path(exports(script("status").stdout)["COULER_TEST_KUBECONFIG"]).parent
    with users(home) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        script("down").check_returncode()


# ---- the namespace


@pytest.fixture(scope="session")
def namespace(cluster: Cluster) -> Namespace:
    """A namespace of this run, in which workflows may run under its account `default`."""
    from kubernetes import client, config

    from tests.cluster.argo import Namespace

    api = config.new_client_from_config(str(cluster.kubeconfig))
    run = run_folder()
    with alone(run):
        made = run / "namespace.json"
        if not made.exists():
            body = {"metadata": {"generateName": "couler-test-"}}
            name = client.CoreV1Api(api).create_namespace(body).metadata.name
            made.write_text(json.dumps({"name": name, "kubeconfig": str(cluster.kubeconfig)}))
            Namespace(name, api).submit((HERE / "namespace.yaml").read_text())
    return Namespace(json.loads(made.read_text())["name"], api)


def delete_namespace(run: Path) -> None:
    made = run / "namespace.json"
    if not made.exists():
        return
    from kubernetes import client, config

    where = json.loads(made.read_text())
    api = config.new_client_from_config(where["kubeconfig"])
    client.CoreV1Api(api).delete_namespace(where["name"])


# ---- the object store


@pytest.fixture(scope="session")
def s3(cluster: Cluster, namespace: Namespace) -> ObjectStore:
    """An object store that is the namespace's default place for artifacts.

    The one that COULER_TEST_S3 names (`host:port`, keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a bucket
    `couler-test` is made in it), else a server started here.
    """
    run = run_folder()
    with alone(run):
        made = run / "s3.json"
        if not made.exists():
            store = ObjectStore(
                endpoint=os.environ.get("COULER_TEST_S3", "").removeprefix("http://") or start_store(cluster, run),
                bucket=BUCKET,
                access_key=os.environ.get("AWS_ACCESS_KEY_ID", "test"),
                secret_key=os.environ.get("AWS_SECRET_ACCESS_KEY", "test"),
            )
            if BUCKET not in [each["Name"] for each in store.client().list_buckets()["Buckets"]]:
                store.client().create_bucket(Bucket=BUCKET)
            namespace.submit(*repository(store, prefix=namespace.name))
            made.write_text(json.dumps(vars(store)))
    return ObjectStore(**json.loads(made.read_text()))


# A server on a free port, which it prints once it listens.
SERVE = """
import signal, sys
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address=sys.argv[1], port=0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
signal.pause()
"""


def start_store(cluster: Cluster, run: Path) -> str:
    if cluster.machine is None:
        pytest.fail("COULER_TEST_KUBECONFIG needs COULER_TEST_S3, an endpoint that its pods reach", pytrace=False)
    log = run / "s3.log"
    with log.open("w") as errors:
        server = subprocess.Popen(
            [sys.executable, "-c", SERVE, cluster.machine],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
        )
    (run / "s3.pid").write_text(str(server.pid))
    assert server.stdout is not None
    port = server.stdout.readline().strip()
    if not port:
        pytest.fail(f"the object store did not start: {log.read_text()}", pytrace=False)
    return f"{cluster.machine}:{port}"


def stop_store(run: Path) -> None:
    pid = run / "s3.pid"
    if pid.exists():
        with contextlib.suppress(ProcessLookupError):
            os.killpg(int(pid.read_text()), signal.SIGKILL)


def repository(store: ObjectStore, prefix: str) -> list[dict[str, Any]]:
    """The documents that make a store the default one of a namespace's workflows."""
    place = {
        "bucket": store.bucket,
        "endpoint": store.endpoint,
        "insecure": True,
        "keyFormat": prefix + "/{{workflow.name}}/{{pod.name}}",
        "accessKeySecret": {"name": "couler-test-s3", "key": "access"},
        "secretKeySecret": {"name": "couler-test-s3", "key": "secret"},
    }
    return [
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "couler-test-s3"},
            "stringData": {"access": store.access_key, "secret": store.secret_key},
        },
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": "artifact-repositories",
                "annotations": {"workflows.argoproj.io/default-artifact-repository": "default"},
            },
            "data": {"default": json.dumps({"s3": place})},
        },
    ]
