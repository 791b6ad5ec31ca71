"""Which cluster is meant, and how it is reached: from what is typed, the environment, and the kubeconfig.

What is typed wins. `--server` alone is the Argo server alone; `--context` or `--kubeconfig` is the Kubernetes API.
Where neither is typed, ARGO_SERVER chooses the server, as for Argo's own command, else the kubeconfig the cluster.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import msgspec

from couler_py.backends.base import EngineUnreachableError, OptionError
from couler_py.backends.rest.addresses import parts_of
from couler_py.backends.rest.tokens import token_in


class Address(msgspec.Struct, frozen=True):
    """What was typed. `token` is never printed; `token_file` is read for every call, as tokens are renewed."""

    namespace: str = ""
    kubeconfig: str = ""
    context: str = ""
    server: str = ""
    token: str = ""
    token_file: str = ""
    insecure: bool = False
    authority: str = ""

    def __repr__(self) -> str:
        shown = {each: getattr(self, each) for each in self.__struct_fields__ if each != "token"}
        return f"Address({', '.join(f'{name}={value!r}' for name, value in shown.items() if value)})"


class Place(msgspec.Struct, frozen=True):
    """Where to go: the generated clients of the Kubernetes API and of the Argo server, and the namespace of new runs.

    `first` is the one that is used for all that it can do.
    """

    namespace: str
    first: str
    kubernetes: Any = None
    server: Any = None


def find(address: Address, environment: Mapping[str, str] = os.environ) -> Place:
    """The place that is meant.

    Raises `EngineUnreachableError` where none is configured, `OptionError` for a URL or a token file that is none.
    """
    from couler_py.backends.argo.client import kubeconfig

    url = address.server or environment.get("ARGO_SERVER", "")
    typed_cluster = bool(address.kubeconfig or address.context)
    alone = bool(url) and not typed_cluster
    own_token = bool(address.token or address.token_file or environment.get("ARGO_TOKEN"))
    cluster, default = None, "default"
    # A server that has its token needs no kubeconfig, and one that happens to lie about may be another cluster's.
    if not (alone and (own_token or address.server)):
        try:
            cluster, default = kubeconfig.connect(
                address.kubeconfig or None,
                address.context or None,
                insecure=address.insecure,
                authority=address.authority,
            )
        except EngineUnreachableError:
            if not alone:
                raise
    namespace = address.namespace or environment.get("ARGO_NAMESPACE", "") or default
    server = _server(url, address, environment, cluster) if url else None
    return Place(namespace, "server" if alone else "kubernetes", cluster, server)


def _server(url: str, address: Address, environment: Mapping[str, str], cluster: Any) -> Any:
    try:
        from argo_workflows import ApiClient, Configuration
    except ImportError:
        raise EngineUnreachableError("the Argo server needs the extra: pip install 'couler-py[argo]'") from None

    whole = full_url(url, environment)
    if not address.authority and environment.get("SSL_CERT_FILE"):
        authority: str | None = environment["SSL_CERT_FILE"]
    else:
        authority = address.authority or None
    made = Configuration(host=whole, ssl_ca_cert=authority)
    made.verify_ssl = not (address.insecure or environment.get("ARGO_INSECURE_SKIP_VERIFY") == "true")
    parts = urlsplit(whole)
    if (proxy := getproxies().get(parts.scheme)) and not proxy_bypass(parts.hostname or ""):
        made.proxy = proxy
    made.refresh_api_key_hook = lambda configuration: configuration.api_key.update(
        BearerToken=authorization(address, environment, cluster)
    )
    made.api_key = {"BearerToken": authorization(address, environment, cluster)}
    return ApiClient(made)


def full_url(url: str, environment: Mapping[str, str]) -> str:
    """The URL of a server, as Argo's own command reads it: `HOST:PORT` is https unless ARGO_SECURE is "false".

    Raises `OptionError` for what is no URL.
    """
    if "://" not in url:
        url = f"{'http' if environment.get('ARGO_SECURE') == 'false' else 'https'}://{url}"
    parts_of(url, "argo", "the URL of the Argo server has a password in it: give a token by --token-file instead")
    return url.rstrip("/") + environment.get("ARGO_BASE_HREF", "").rstrip("/")


def authorization(address: Address, environment: Mapping[str, str], cluster: Any) -> str:
    """The header `Authorization`: what was typed, ARGO_TOKEN, else the kubeconfig's token. Empty where there is none.

    Raises `OptionError` for a token file that can't be read, without what is in it.
    """
    if address.token_file:
        token = token_in(address.token_file, "argo").strip()
    else:
        token = address.token or environment.get("ARGO_TOKEN", "")
    if not token and cluster is not None:
        setting = cluster.configuration.auth_settings().get("BearerToken")
        token = str(setting["value"] or "") if setting else ""
    if any(sign in token for sign in "\r\n\0"):
        raise OptionError("argo: the token has line breaks in it")
    return token if not token or token.startswith(("Bearer ", "Basic ")) else f"Bearer {token}"
