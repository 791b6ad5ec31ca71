"""The Argo server as a way to a cluster: nothing but its URL and a token is needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from couler_py.backends.argo.client.door import Entry, Event, LogOptions
from couler_py.backends.argo.client.events import LASTS, objects, server_events
from couler_py.backends.argo.client.kinds import kind as known
from couler_py.backends.argo.client.naming import called
from couler_py.backends.argo.client.words import WORDS
from couler_py.backends.base import NotOffered
from couler_py.backends.rest.failures import Said, failure
from couler_py.backends.rest.http import Http
from couler_py.backends.rest.request import JSON, Method, Request, segment

PAGE = 500
LISTED = "metadata,items.metadata,items.spec.shutdown,items.spec.suspend,items.spec.arguments," + ",".join(
    f"items.status.{field}" for field in ("phase", "startedAt", "finishedAt", "message", "progress")
)
"""Of the runs in a list: what is shown. With their nodes a list of them may have a hundred times the size."""


class Server:
    """One Argo server."""

    helps_with = "the Argo server (--server or ARGO_SERVER)"

    def __init__(self, http: Http):
        self.http = http

    def _path(self, kind: str, namespace: str, *rest: str) -> str:
        found = known(kind)
        if not found.server:
            raise NotOffered(
                f"the Argo server makes no {kind}s: name the cluster by --context or KUBECONFIG beside ARGO_SERVER, or "
                "`kubectl apply` it yourself"
            )
        where = [segment(namespace)] if found.namespaced else []
        return "/".join(["/api/v1", found.server, *where, *map(segment, rest)])

    def get(self, kind: str, namespace: str, name: str) -> JSON:
        return self.http.call(Request("GET", self._path(kind, namespace, name), f"get {kind} {name}"))

    def list(self, kind: str, namespace: str, labels: str = "", *, whole: bool = False) -> list[JSON]:
        found: list[JSON] = []
        where = (("listOptions.labelSelector", labels),) if labels else ()
        fields = (("fields", LISTED),) if kind == "Workflow" and not whole else ()
        pages = (("listOptions.limit", str(PAGE)),) if kind == "Workflow" else ()  # of others it knows no pages
        more: tuple[tuple[str, str], ...] = ()
        while True:
            query = (*pages, *where, *fields, *more)
            page = self.http.call(Request("GET", self._path(kind, namespace), f"list {kind}s in {namespace}", query))
            found += page.get("items") or []
            following = (page.get("metadata") or {}).get("continue")
            if not following or not pages:
                return found
            more = (("listOptions.continue", following),)

    def events(self, namespace: str, name: str, version: str) -> Iterator[Event]:
        query = (
            ("listOptions.fieldSelector", f"metadata.name={name}"),
            ("listOptions.resourceVersion", version),
            ("listOptions.timeoutSeconds", str(LASTS)),
        )
        path = f"/api/v1/workflow-events/{segment(namespace)}"
        request = Request("GET", path, f"watch Workflow {name}", query)
        yield from server_events(self.http.lines(request, LASTS + 15.0), request.what)

    def create(self, kind: str, namespace: str, document: JSON, *, again: bool = False) -> JSON:
        found, path = known(kind), self._path(kind, namespace)
        what = f"create {kind} {called(document)}"
        body = {"namespace": namespace, found.field: document}
        dry = None
        if kind == "Workflow":
            dry = Request("POST", path, what, (), body | {"serverDryRun": True}, again=again)
        return self.http.call(Request("POST", path, what, (), body, again=again, rehearsal=dry))

    def replace(self, kind: str, namespace: str, document: JSON) -> JSON:
        name = document["metadata"]["name"]
        body = {"name": name, "namespace": namespace, known(kind).field: document}
        # The document has a version, so a second sending changes nothing: it is a conflict.
        return self._put(self._path(kind, namespace, name), f"replace {kind} {name}", body, again=True)

    def delete(self, kind: str, namespace: str, name: str) -> None:
        self.http.call(Request("DELETE", self._path(kind, namespace, name), f"delete {kind} {name}", again=True))

    # ---- steering

    def stop(self, namespace: str, name: str) -> None:
        self._shut_down("stop", namespace, name)

    def terminate(self, namespace: str, name: str) -> None:
        self._shut_down("terminate", namespace, name)

    def _shut_down(self, verb: str, namespace: str, name: str) -> None:
        self._steer(verb, namespace, name, again=True)
        # The controller looks at nothing of a suspended run, not even whether it is to end.
        if self.get("Workflow", namespace, name)["spec"].get("suspend"):
            self.unsuspend(namespace, name)

    def suspend(self, namespace: str, name: str) -> None:
        self._steer("suspend", namespace, name, again=True)

    def unsuspend(self, namespace: str, name: str) -> None:
        # Without a node it lets everything go on that waits at that moment, so once is not twice.
        self._steer("resume", namespace, name)

    def approve(self, namespace: str, name: str, nodes: Mapping[str, Mapping[str, str]]) -> None:
        for node, outputs in nodes.items():
            selector = f"id={node}"
            if outputs:
                given = msgspec.json.encode(dict(outputs)).decode()
                self._steer("set", namespace, name, nodeFieldSelector=selector, outputParameters=given)
            self._steer("resume", namespace, name, nodeFieldSelector=selector)

    def retry(self, namespace: str, name: str, parameters: Mapping[str, str], also: str = "") -> None:
        more: dict[str, Any] = {"restartSuccessful": True, "nodeFieldSelector": also} if also else {}
        self._steer("retry", namespace, name, **_given(parameters), **more)

    def resubmit(self, namespace: str, name: str, parameters: Mapping[str, str], *, memoized: bool) -> JSON:
        return self._steer("resubmit", namespace, name, memoized=memoized, **_given(parameters))

    def pause_cron(self, namespace: str, name: str, *, paused: bool) -> None:
        verb = "suspend" if paused else "resume"
        body = {"name": name, "namespace": namespace}
        self._put(self._path("CronWorkflow", namespace, name, verb), f"{verb} CronWorkflow {name}", body, again=True)

    def _steer(self, verb: str, namespace: str, name: str, *, again: bool = False, **more: Any) -> JSON:
        body = {"name": name, "namespace": namespace, **more}
        return self._put(self._path("Workflow", namespace, name, verb), f"{verb} Workflow {name}", body, again=again)

    def _put(self, path: str, what: str, body: JSON, *, again: bool) -> JSON:
        method: Method = "PUT"
        return self.http.call(Request(method, path, what, (), body, again=again))

    # ---- what pods wrote, and their files

    def entries(self, namespace: str, name: str, pod: str, options: LogOptions) -> Iterator[Entry]:
        query = [("podName", pod), ("logOptions.container", options.container), ("logOptions.timestamps", "true")]
        if options.follow:
            query.append(("logOptions.follow", "true"))
        if options.since is not None:
            query.append(("logOptions.sinceSeconds", str(options.since)))
        if options.tail is not None:
            query.append(("logOptions.tailLines", str(options.tail)))
        request = Request("GET", self._path("Workflow", namespace, name, "log"), f"read the log of {pod}", tuple(query))
        lines = self.http.lines(request, 300.0 if options.follow else 60.0)
        for found in objects(lines, request.what):
            if "error" in found:
                error = found["error"]
                raise failure(
                    int(error.get("http_code", 500)), Said(str(error.get("message", ""))), request.what, WORDS
                )
            entry = found.get("result") or {}
            time, _, text = str(entry.get("content", "")).partition(" ")
            yield Entry(str(entry.get("podName", pod)), time, text)

    def artifact(self, namespace: str, name: str, node: str, artifact: str, inside: str = "") -> Iterator[bytes]:
        """A file among the artifacts of a run, or (with a path that ends in "/") a page that lists a folder."""
        place = ["artifact-files", namespace, "workflows", name, node, "outputs", artifact]
        path = "/" + "/".join(map(segment, place))
        if inside:
            path += "/" + "/".join(map(segment, inside.lstrip("/").split("/")))
        return self.http.content(Request("GET", path, f"read the artifact {artifact}"))


def _given(parameters: Mapping[str, str]) -> dict[str, Any]:
    return {"parameters": [f"{name}={value}" for name, value in parameters.items()]} if parameters else {}
