"""Finding the cluster: a kubeconfig as kubectl reads it, or the pod that this runs in."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from couler_py.backends.base import EngineUnreachableError

NAMESPACE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")


def connect(
    kubeconfig: str | Path | None, context: str | None, *, insecure: bool = False, authority: str = ""
) -> tuple[Any, str]:
    """A Kubernetes client and the namespace that is used where none is named.

    `insecure` trusts every server, `authority` is a file with the certificates of whom to trust; without them it is as
    the kubeconfig says.

    Raises `EngineUnreachableError`.
    """
    client, config = library("client"), library("config")
    file = None if kubeconfig is None else str(kubeconfig)
    if file is not None and not Path(file).expanduser().is_file():
        raise EngineUnreachableError(f"no cluster: there is no kubeconfig {file!r}")
    try:
        api = config.new_client_from_config(file, context)
        contexts, active = config.list_kube_config_contexts(file)
        chosen = next((each for each in contexts if each["name"] == context), active) if context else active
        namespace = str(chosen.get("context", {}).get("namespace") or "default")
    except config.ConfigException as error:
        if file is not None or not NAMESPACE.exists():
            raise EngineUnreachableError(
                f"no cluster: {str(error).rstrip('.')}; set KUBECONFIG, or name one by --kubeconfig"
            ) from None
        config.load_incluster_config()
        api, namespace = client.ApiClient(), NAMESPACE.read_text().strip()
    if insecure or authority:
        trusting = api.configuration
        trusting.verify_ssl = not insecure
        trusting.ssl_ca_cert = authority or trusting.ssl_ca_cert
        api = client.ApiClient(trusting)
    return api, namespace


def library(name: str) -> Any:
    """A module of the Kubernetes client, which is big and so only read when a cluster is asked for.

    Raises `EngineUnreachableError` where it isn't installed.
    """
    try:
        return importlib.import_module(f"kubernetes.{name}")
    except ImportError:
        raise EngineUnreachableError("reaching a cluster needs the extra: pip install 'couler-py[argo]'") from None
