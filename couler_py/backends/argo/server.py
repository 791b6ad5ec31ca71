"""What only the Argo server can do: retrying, and giving outputs to what waits."""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any

from couler_py.backends.base import EngineUnreachableError


class Server:
    """One Argo server, by its URL and the token of the cluster's user."""

    def __init__(self, url: str, token: str):
        self.url = url.rstrip("/")
        self._token = token

    @classmethod
    def found(cls, url: str, api: Any) -> Server | None:
        """The server at `url` or of `ARGO_SERVER` (with `ARGO_SECURE`), None where neither names one."""
        url = url or os.environ.get("ARGO_SERVER", "")
        if not url:
            return None
        if "://" not in url:
            secure = os.environ.get("ARGO_SECURE", "true").lower() != "false"
            url = f"{'https' if secure else 'http'}://{url}"
        keys = api.configuration.api_key  # newer clients call it BearerToken
        token = os.environ.get("ARGO_TOKEN") or keys.get("BearerToken") or keys.get("authorization") or ""
        return cls(url, token)

    def retry(self, namespace: str, name: str) -> None:
        """Run the failed tasks of a run again."""
        self._put(namespace, name, "retry", {"name": name, "namespace": namespace})

    def resume(self, namespace: str, name: str, node: str) -> None:
        """Let one waiting node go on."""
        selector = f"id={node}"
        self._put(namespace, name, "resume", {"name": name, "namespace": namespace, "nodeFieldSelector": selector})

    def set_outputs(self, namespace: str, name: str, node: str, outputs: Mapping[str, str]) -> None:
        """Supply outputs of one waiting node."""
        body = {
            "name": name,
            "namespace": namespace,
            "nodeFieldSelector": f"id={node}",
            "outputParameters": json.dumps(dict(outputs)),
        }
        self._put(namespace, name, "set", body)

    def _put(self, namespace: str, name: str, verb: str, body: Mapping[str, Any]) -> None:
        url = f"{self.url}/api/v1/workflows/{namespace}/{name}/{verb}"
        if not url.startswith(("http://", "https://")):
            raise EngineUnreachableError(f"{self.url} is no URL of an Argo server")
        headers = {"Content-Type": "application/json"} | ({"Authorization": self._token} if self._token else {})
        request = urllib.request.Request(url, json.dumps(body).encode(), headers, method="PUT")  # noqa: S310 - checked above
        try:
            with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310
                response.read()
        except urllib.error.HTTPError as error:
            raise EngineUnreachableError(
                f"the Argo server refused to {verb} {namespace}/{name}: {error.read().decode()}"
            ) from None
        except urllib.error.URLError as error:
            raise EngineUnreachableError(f"no Argo server at {self.url}: {error.reason}") from None
