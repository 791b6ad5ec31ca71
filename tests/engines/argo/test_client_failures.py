"""What goes wrong between us and a real cluster: what it says itself, and what a proxy in front of it makes of it."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from couler_py.backends.argo.client import ArgoClient
from couler_py.backends.argo.client.submission import SUBMISSION
from couler_py.backends.base import EngineUnreachableError, RunNotFoundError
from couler_py.backends.rest.failures import (
    BrokenError,
    ConflictError,
    ForbiddenError,
    RefusedError,
    UnauthorizedError,
)
from couler_py.backends.rest.pacing import Pacing
from tests.cluster.argo import Namespace
from tests.cluster.fixtures import Cluster
from tests.engines.argo.doors import DOORS, account, door, end, holding, nothing, talking, token_of, until
from tests.engines.argo.proxy import Proxy, Trouble, proxied

pytestmark = pytest.mark.cluster

WRONG = "canary-no-such-token-5c1f"


def at_once(**more: Any) -> Pacing:
    """Pacing that waits for nothing: the other side's answers are what is tested."""
    return Pacing(sleep=lambda _: None, **more)


# ---- what the cluster says


@pytest.fixture(scope="module")
def stranger(namespace: Namespace) -> str:
    """The token of an account without any right."""
    return account(namespace, "stranger")


def as_whom(way: str, token: str, cluster: Cluster, namespace: Namespace, folder: Path) -> ArgoClient:
    if way == "server":
        return door(way, cluster, namespace, token=token)
    return ArgoClient(namespace=namespace.name, kubeconfig=kubeconfig(cluster, folder, token=token))


def kubeconfig(cluster: Cluster, folder: Path, *, token: str = "", server: str = "") -> Path:
    """The cluster's kubeconfig with another token, or another address."""
    config = yaml.safe_load(cluster.kubeconfig.read_text())
    if token:
        config["users"][0]["user"] = {"token": token}
    if server:
        config["clusters"][0]["cluster"] = {"server": server}
    path = folder / "kubeconfig"
    path.write_text(yaml.safe_dump(config))
    return path


@pytest.mark.parametrize("way", DOORS)
def test_a_wrong_token_is_not_accepted_and_not_shown(
    way: str, cluster: Cluster, namespace: Namespace, tmp_path: Path
) -> None:
    runs = as_whom(way, WRONG, cluster, namespace, tmp_path)
    with pytest.raises(UnauthorizedError, match="token isn't accepted") as raised:
        list(runs.list())
    assert WRONG not in "".join(traceback.format_exception(raised.value)) + repr(runs)


@pytest.mark.parametrize("way", DOORS)
def test_a_refusal_names_the_rule_to_add(
    way: str, cluster: Cluster, namespace: Namespace, stranger: str, tmp_path: Path
) -> None:
    runs = as_whom(way, stranger, cluster, namespace, tmp_path)
    rule = f'missing in a Role in {namespace.name}: {{apiGroups: ["argoproj.io"], resources: [workflows], verbs: [%s]}}'
    with pytest.raises(ForbiddenError) as raised:
        runs.send([nothing()])
    assert rule % "create" in str(raised.value)
    with pytest.raises(ForbiddenError) as raised:
        list(runs.list())
    assert rule % "list" in str(raised.value)
    assert stranger not in "".join(traceback.format_exception(raised.value))


@pytest.mark.parametrize("way", DOORS)
def test_a_document_that_is_refused_says_why(way: str, cluster: Cluster, namespace: Namespace) -> None:
    wrong = nothing()
    del wrong["spec"]["entrypoint"]
    wrong["spec"]["templates"][0]["steps"][0][0]["template"] = "nowhere"
    wrong["spec"]["templates"] = [{"name": "main", "parallelism": -3, "resource": {"action": "explode"}}]
    with pytest.raises(RefusedError, match=r"refused \(4\d\d\): .+"):
        door(way, cluster, namespace).send([wrong])


def test_another_servers_url_is_said(namespace: Namespace, cluster: Cluster) -> None:
    runs = ArgoClient(
        namespace=namespace.name,
        server=cluster_url(cluster),
        token=token_of(cluster),
        insecure=True,
    )
    with pytest.raises(RunNotFoundError, match="could not find the requested resource"):
        runs.status(f"argo:{namespace.name}/x")


def cluster_url(cluster: Cluster) -> str:
    return str(yaml.safe_load(cluster.kubeconfig.read_text())["clusters"][0]["cluster"]["server"])


def test_a_certificate_that_nobody_signed_is_not_trusted(namespace: Namespace, cluster: Cluster) -> None:
    runs = ArgoClient(namespace=namespace.name, server=cluster_url(cluster), token=token_of(cluster))
    with pytest.raises(EngineUnreachableError, match="--certificate-authority"):
        list(runs.list())


# ---- with trouble in between


@pytest.fixture(scope="module")
def proxies(cluster: Cluster) -> Iterator[dict[str, Proxy]]:
    authority = yaml.safe_load(cluster.kubeconfig.read_text())["clusters"][0]["cluster"]["certificate-authority"]
    with proxied(cluster_url(cluster), authority) as api, proxied(cluster.argo_server or "") as server:
        yield {"kubernetes": api, "server": server}


@pytest.fixture(params=DOORS)
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def proxy(way: str, proxies: dict[str, Proxy]) -> Iterator[Proxy]:
    found = proxies[way]
    found.troubles, found.seen, found.forwarded = [], [], []
    yield found
    found.troubles = []


@pytest.fixture
def runs(way: str, proxy: Proxy, cluster: Cluster, namespace: Namespace, tmp_path: Path) -> ArgoClient:
    """A client that knows the cluster only through the proxy."""
    if way == "server":
        return door(way, cluster, namespace, server=proxy.url, pacing=at_once())
    file = kubeconfig(cluster, tmp_path, server=proxy.url)
    return ArgoClient(namespace=namespace.name, kubeconfig=file, pacing=at_once())


def making(method: str, path: str) -> bool:
    return method == "POST"


def reading(method: str, path: str) -> bool:
    return method == "GET"


def watching(method: str, path: str) -> bool:
    return "watch=true" in path or "workflow-events" in path


def logging(method: str, path: str) -> bool:
    return "/log?" in path


@pytest.mark.parametrize(
    "trouble",
    [
        Trouble(making, status=429, headers={"Retry-After": "1"}),
        Trouble(making, status=503),
        Trouble(making),
        Trouble(making, after=True),
        Trouble(making, after=True, status=504),
        Trouble(making, cut=20),
    ],
    ids=["429", "503", "lost on the way", "answer lost", "504 but done", "answer cut"],
)
def test_a_run_is_started_once_whatever_becomes_of_the_answer(
    trouble: Trouble,
    runs: ArgoClient,
    proxy: Proxy,
    cluster: Cluster,
    namespace: Namespace,
    way: str,
    request: pytest.FixtureRequest,
) -> None:
    document = nothing()
    document["metadata"]["labels"]["once"] = label = f"{way}-{request.node.callspec.id}".replace(" ", "-")
    trouble.times = 1
    proxy.troubles = [trouble]
    run = runs.send([document])[0]
    # The Argo server lists what it has heard of, a little later: a second run could be missing, and the first.
    there = door("kubernetes", cluster, namespace)
    assert [each.run for each in there.list(labels=f"once={label}")] == [run]
    assert [method for method, _ in proxy.seen].count("POST") == 2


def test_a_name_that_is_somebody_elses_is_a_conflict_also_after_a_lost_answer(
    runs: ArgoClient, proxy: Proxy, way: str
) -> None:
    document = nothing()
    document["metadata"] = {"name": f"theirs-{way}", "annotations": {SUBMISSION: "somebody"}}
    first = runs._door.create("Workflow", runs.namespace, document)
    proxy.troubles = [Trouble(making)]
    with pytest.raises(ConflictError):
        runs.send([document])
    assert runs.document(f"argo:{runs.namespace}/theirs-{way}")["metadata"]["uid"] == first["metadata"]["uid"]


def test_a_server_that_stays_broken_is_said_after_a_few_tries(runs: ArgoClient, proxy: Proxy) -> None:
    proxy.troubles = [Trouble(reading, times=99, status=502, body=b"<html>bad gateway</html>")]
    with pytest.raises(BrokenError, match=r"\(502\): a web page"):
        runs.status(f"argo:{runs.namespace}/x")
    assert len(proxy.seen) == 6


def test_a_watch_goes_on_through_everything(runs: ArgoClient, proxy: Proxy, way: str) -> None:
    """Dropped and cut answers, in the middle of a line, forgotten versions, a broken server: the end is seen."""
    run = runs.send([holding()])[0]
    gone = b'{"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old resource version"}}\n'
    if way == "server":
        gone = b'{"error":{"grpc_code":13,"http_code":500,"message":"too old resource version: 1 (2)"}}\n'
    proxy.troubles = [
        Trouble(watching, status=200, body=gone),
        Trouble(watching, status=410, body=b'{"message": "expired"}'),
        Trouble(watching, cut=100),
        Trouble(watching, cut=300, quietly=True),
        Trouble(watching, status=500),
        Trouble(watching, status=429, headers={"Retry-After": "0"}),
        Trouble(reading, status=503),
        Trouble(watching),
    ]
    statuses = runs.watch(run)
    until(statuses, "Suspended")
    runs.resume(run)
    assert end(runs, run).status == "Succeeded"
    assert [status.status for status in statuses][-1] == "Succeeded"


def test_steering_is_repeated_where_that_comes_to_the_same(runs: ArgoClient, proxy: Proxy) -> None:
    run = runs.send([holding()])[0]
    until(runs.watch(run), "Suspended")
    changing = ("PUT", "PATCH")
    proxy.troubles = [Trouble(lambda method, _: method in changing, after=True)]
    runs.suspend(run)
    proxy.troubles = [Trouble(lambda method, _: method in changing, after=True)]
    runs.terminate(run)
    assert end(runs, run).status in ("Stopped", "Succeeded")
    proxy.troubles = [Trouble(lambda method, _: method == "DELETE")]
    runs.delete(run)
    with pytest.raises(RunNotFoundError):
        runs.status(run)


def test_logs_go_on_where_they_broke_off(runs: ArgoClient, proxy: Proxy) -> None:
    """Each line once and in order, though three answers end early, one of them as if it were whole."""
    run = runs.send([talking(seconds=3)])[0]
    proxy.troubles = [Trouble(logging, cut=90), Trouble(logging, cut=120, quietly=True), Trouble(logging, status=503)]
    lines = [(line.task, line.text) for line in runs.logs(run, "left", follow=True)]
    assert lines == [("left", f"left {number}") for number in (1, 2, 3)]


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 400), st.booleans())
def test_logs_are_whole_wherever_they_are_cut(
    finished: ArgoClient, cuts: Proxy, talked: str, place: int, quietly: bool
) -> None:
    cuts.troubles = [Trouble(logging, cut=place), Trouble(logging, cut=place // 2)]
    lines = [line.text for line in finished.logs(talked, "left", follow=True)]
    assert lines == ["left 1", "left 2", "left 3"]


@pytest.fixture(scope="module")
def cuts(proxies: dict[str, Proxy]) -> Proxy:
    return proxies["kubernetes"]


@pytest.fixture(scope="module")
def finished(
    cuts: Proxy, cluster: Cluster, namespace: Namespace, tmp_path_factory: pytest.TempPathFactory
) -> ArgoClient:
    file = kubeconfig(cluster, tmp_path_factory.mktemp("finished"), server=cuts.url)
    return ArgoClient(namespace=namespace.name, kubeconfig=file, pacing=at_once())


@pytest.fixture(scope="module")
def talked(finished: ArgoClient, cuts: Proxy) -> str:
    cuts.troubles = []
    run = finished.send([talking(seconds=1)])[0]
    end(finished, run)
    return run
