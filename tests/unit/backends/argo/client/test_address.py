"""Which cluster is meant, from what is typed and from the environment as Argo's own command reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from couler_py.backends.argo.client.address import Address, authorization, find, full_url
from couler_py.backends.argo.client.runs import ArgoClient
from couler_py.backends.base import EngineUnreachableError, OptionError

TOKEN = "canary-71be0c"
KUBECONFIG = f"""
apiVersion: v1
kind: Config
clusters: [{{name: here, cluster: {{server: "https://kubernetes.example:6443"}}}}]
users: [{{name: me, user: {{token: "{TOKEN}"}}}}]
contexts:
- {{name: one, context: {{cluster: here, user: me, namespace: team-a}}}}
- {{name: two, context: {{cluster: here, user: me}}}}
current-context: one
"""


@pytest.fixture
def kubeconfig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A kubeconfig that is the only one there is, and no variable of Argo's."""
    for name in ("ARGO_SERVER", "ARGO_TOKEN", "ARGO_NAMESPACE", "ARGO_SECURE", "ARGO_INSECURE_SKIP_VERIFY"):
        monkeypatch.delenv(name, raising=False)
    path = tmp_path / "kubeconfig"
    path.write_text(KUBECONFIG)
    # The client of Kubernetes reads the variable once, when it is imported.
    monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(path))
    return path


def test_without_anything_the_kubeconfig_chooses(kubeconfig: Path) -> None:
    place = find(Address(), {})
    assert (place.first, place.namespace, place.server) == ("kubernetes", "team-a", None)
    assert place.kubernetes.configuration.host == "https://kubernetes.example:6443"


def test_a_context_has_its_own_namespace(kubeconfig: Path) -> None:
    assert find(Address(context="two"), {}).namespace == "default"


@pytest.mark.parametrize(
    ("typed", "environment", "namespace"),
    [
        ("typed", {"ARGO_NAMESPACE": "from-environment"}, "typed"),
        ("", {"ARGO_NAMESPACE": "from-environment"}, "from-environment"),
        ("", {}, "team-a"),
    ],
)
def test_the_namespace_is_typed_or_argos_or_the_contexts(
    kubeconfig: Path, typed: str, environment: dict[str, str], namespace: str
) -> None:
    assert find(Address(namespace=typed), environment).namespace == namespace


def test_a_typed_server_is_the_server_alone_and_gets_no_other_clusters_token(kubeconfig: Path) -> None:
    place = find(Address(server="https://argo.example"), {})
    assert (place.first, place.kubernetes, place.namespace) == ("server", None, "default")
    assert place.server.configuration.auth_settings()["BearerToken"]["value"] is None


def test_argo_server_chooses_the_server_with_the_kubeconfigs_token(kubeconfig: Path) -> None:
    place = find(Address(), {"ARGO_SERVER": "argo.example:2746"})
    assert (place.first, place.namespace) == ("server", "team-a")
    assert place.server.configuration.host == "https://argo.example:2746"
    assert place.server.configuration.auth_settings()["BearerToken"]["value"] == f"Bearer {TOKEN}"
    assert place.kubernetes is not None  # for what only the Kubernetes API can do


def test_argo_server_with_argo_token_needs_no_kubeconfig(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", "/nonexistent")
    place = find(Address(), {"ARGO_SERVER": "argo.example:2746", "ARGO_TOKEN": "Bearer x"})
    assert (place.first, place.kubernetes, place.namespace) == ("server", None, "default")


def test_a_typed_context_beside_argo_server_is_the_kubernetes_api(kubeconfig: Path) -> None:
    place = find(Address(context="one"), {"ARGO_SERVER": "argo.example:2746"})
    assert place.first == "kubernetes"
    assert place.server is not None  # for what only the server can do


def test_with_nothing_configured_it_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", "/nonexistent")
    with pytest.raises(EngineUnreachableError, match="set KUBECONFIG"):
        find(Address(), {})


@pytest.mark.parametrize(
    ("url", "environment", "whole"),
    [
        ("argo.example:2746", {}, "https://argo.example:2746"),
        ("argo.example:2746", {"ARGO_SECURE": "true"}, "https://argo.example:2746"),
        ("argo.example:2746", {"ARGO_SECURE": "false"}, "http://argo.example:2746"),
        ("http://argo.example:2746/", {"ARGO_SECURE": "true"}, "http://argo.example:2746"),
        ("https://argo.example", {"ARGO_BASE_HREF": "/argo/"}, "https://argo.example/argo"),
    ],
)
def test_urls_are_read_as_argos_command_does(url: str, environment: dict[str, str], whole: str) -> None:
    assert full_url(url, environment) == whole


@pytest.mark.parametrize("url", ["ftp://argo.example", "https://", f"https://me:{TOKEN}@argo.example"])
def test_what_is_no_url_of_a_server_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(OptionError) as raised:
        full_url(url, {})
    assert TOKEN not in str(raised.value)


@pytest.mark.parametrize(
    ("address", "environment", "header"),
    [
        (Address(token="typed"), {"ARGO_TOKEN": "environment"}, "Bearer typed"),
        (Address(), {"ARGO_TOKEN": "environment"}, "Bearer environment"),
        (Address(), {"ARGO_TOKEN": "Bearer environment"}, "Bearer environment"),
        (Address(), {"ARGO_TOKEN": "Basic dXNlcg=="}, "Basic dXNlcg=="),
        (Address(), {}, ""),
    ],
)
def test_the_token_is_typed_or_argos(address: Address, environment: dict[str, str], header: str) -> None:
    assert authorization(address, environment, None) == header


def test_a_token_file_is_read_again_for_every_call(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("first\n")
    place = find(Address(server="https://argo.example", token_file=str(file)), {})
    file.write_text("second\n")
    assert place.server.configuration.auth_settings()["BearerToken"]["value"] == "Bearer second"


@pytest.mark.parametrize("content", [None, f"{TOKEN}\nmore", f"{TOKEN}é"], ids=["missing", "two lines", "no ASCII"])
def test_a_token_file_that_is_none_is_said_without_what_is_in_it(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "token"
    if content is not None:
        file.write_text(content)
    with pytest.raises(OptionError) as raised:
        authorization(Address(token_file=str(file)), {}, None)
    assert TOKEN not in str(raised.value)


@pytest.mark.parametrize(
    ("address", "environment", "verifies"),
    [
        (Address(server="https://a"), {}, True),
        (Address(server="https://a", insecure=True), {}, False),
        (Address(server="https://a"), {"ARGO_INSECURE_SKIP_VERIFY": "true"}, False),
        (Address(server="https://a"), {"ARGO_INSECURE_SKIP_VERIFY": "1"}, True),
    ],
)
def test_certificates_are_verified_unless_told_otherwise(
    address: Address, environment: dict[str, str], verifies: bool
) -> None:
    assert find(address, environment).server.configuration.verify_ssl is verifies


def test_insecure_holds_for_the_kubernetes_api_too(kubeconfig: Path) -> None:
    assert find(Address(insecure=True), {}).kubernetes.configuration.verify_ssl is False


@pytest.mark.parametrize("make", [lambda **given: Address(**given), lambda **given: ArgoClient(**given)])
def test_a_client_shows_no_token(make: Any) -> None:
    assert TOKEN not in repr(make(server="https://argo.example", token=TOKEN))


def test_a_kubeconfig_that_is_not_there_is_named(kubeconfig: Path) -> None:
    with pytest.raises(EngineUnreachableError, match="there is no kubeconfig 'nope'"):
        find(Address(kubeconfig="nope"), {})
