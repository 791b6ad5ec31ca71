"""The Kubernetes API as a way to a cluster: what Argo's own command does where it has no server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from couler_py.backends.argo.client import approving, resubmitting
from couler_py.backends.argo.client.door import Entry, Event, LogOptions
from couler_py.backends.argo.client.events import LASTS, kubernetes_events
from couler_py.backends.argo.client.kinds import kind as known
from couler_py.backends.argo.client.naming import called
from couler_py.backends.argo.status import run_phase
from couler_py.backends.base import FINISHED, NotOffered
from couler_py.backends.rest.failures import ConflictError
from couler_py.backends.rest.http import Http
from couler_py.backends.rest.request import JSON, MERGE_PATCH, Method, Request, segment

PAGE = 500
CHANGES = 5
"""So often a change is tried again that somebody else's came before."""

SERVER = (
    "--server URL or ARGO_SERVER names it; `kubectl -n argo port-forward svc/argo-server 2746:2746` makes one that has "
    "no address reachable"
)


class Kubernetes:
    """One cluster by its Kubernetes API."""

    helps_with = "the Kubernetes API (--context, --kubeconfig or KUBECONFIG)"

    def __init__(self, http: Http):
        self.http = http

    def _path(self, kind: str, namespace: str, name: str = "") -> str:
        found = known(kind)
        where = f"/namespaces/{segment(namespace)}" if found.namespaced else ""
        return f"/{found.group}{where}/{found.plural}" + (f"/{segment(name)}" if name else "")

    def _change(
        self,
        method: Method,
        path: str,
        what: str,
        body: JSON | None = None,
        *,
        content: str = "application/json",
        again: bool = True,
    ) -> JSON:
        dry = Request(method, path, what, (("dryRun", "All"),), body, content, again)
        return self.http.call(Request(method, path, what, (), body, content, again, rehearsal=dry))

    def get(self, kind: str, namespace: str, name: str) -> JSON:
        return self.http.call(Request("GET", self._path(kind, namespace, name), f"get {kind} {name}"))

    def list(self, kind: str, namespace: str, labels: str = "", *, whole: bool = False) -> list[JSON]:
        found: list[JSON] = []
        more: tuple[tuple[str, str], ...] = ()
        where = (("labelSelector", labels),) if labels else ()
        while True:
            query = (("limit", str(PAGE)), *where, *more)
            page = self.http.call(Request("GET", self._path(kind, namespace), f"list {kind}s in {namespace}", query))
            found += page.get("items") or []
            following = page.get("metadata", {}).get("continue")
            if not following:
                return found
            more = (("continue", following),)

    def events(self, namespace: str, name: str, version: str) -> Iterator[Event]:
        query = (
            ("watch", "true"),
            ("fieldSelector", f"metadata.name={name}"),
            ("resourceVersion", version),
            ("timeoutSeconds", str(LASTS)),
        )
        request = Request("GET", self._path("Workflow", namespace), f"watch Workflow {name}", query)
        yield from kubernetes_events(self.http.lines(request, LASTS + 15.0), request.what)

    def create(self, kind: str, namespace: str, document: JSON, *, again: bool = False) -> JSON:
        name = called(document)
        return self._change("POST", self._path(kind, namespace), f"create {kind} {name}", document, again=again)

    def replace(self, kind: str, namespace: str, document: JSON) -> JSON:
        name = document["metadata"]["name"]
        return self._change("PUT", self._path(kind, namespace, name), f"replace {kind} {name}", document)

    def patch(self, kind: str, namespace: str, name: str, change: JSON, what: str = "change") -> JSON:
        """Merge a change into an object (RFC 7386)."""
        return self._change(
            "PATCH", self._path(kind, namespace, name), f"{what} {kind} {name}", change, content=MERGE_PATCH
        )

    def delete(self, kind: str, namespace: str, name: str) -> None:
        path, what = self._path(kind, namespace, name), f"delete {kind} {name}"
        body: JSON = {"propagationPolicy": "Background"}
        # Of a deletion with a body, Kubernetes doesn't read the query: a dry run has to be said in the body.
        dry = Request("DELETE", path, what, (), body | {"dryRun": ["All"]}, again=True)
        self.http.call(Request("DELETE", path, what, (), body, again=True, rehearsal=dry))

    # ---- steering

    def stop(self, namespace: str, name: str) -> None:
        self._shut_down(namespace, name, "Stop")

    def terminate(self, namespace: str, name: str) -> None:
        self._shut_down(namespace, name, "Terminate")

    def _shut_down(self, namespace: str, name: str, how: str) -> None:
        self._unfinished(namespace, name)
        # The controller looks at nothing of a suspended run, not even whether it is to end.
        self.patch("Workflow", namespace, name, {"spec": {"shutdown": how, "suspend": None}}, how.lower())

    def suspend(self, namespace: str, name: str) -> None:
        self._unfinished(namespace, name)
        self.patch("Workflow", namespace, name, {"spec": {"suspend": True}}, "suspend")

    def unsuspend(self, namespace: str, name: str) -> None:
        self.patch("Workflow", namespace, name, {"spec": {"suspend": None}}, "resume")

    def _unfinished(self, namespace: str, name: str) -> None:
        phase = run_phase(self.get("Workflow", namespace, name))
        if phase in FINISHED:
            raise NotOffered(f"argo:{namespace}/{name} has ended before: {phase}")

    def approve(self, namespace: str, name: str, nodes: Mapping[str, Mapping[str, str]]) -> None:
        for attempt in range(1, CHANGES + 1):
            workflow = approving.approved(self.get("Workflow", namespace, name), nodes)
            try:
                self.replace("Workflow", namespace, workflow)
            except ConflictError:
                # The controller changed it meanwhile, or our own first sending arrived after all.
                if attempt == CHANGES:
                    raise
                if approving.all_done(self.get("Workflow", namespace, name), nodes):
                    return
                self.http.pacing.pause(attempt)
            else:
                return

    def retry(self, namespace: str, name: str, parameters: Mapping[str, str], also: str = "") -> None:
        raise NotOffered(f"retry on Argo goes through its server: {SERVER}")

    def resubmit(self, namespace: str, name: str, parameters: Mapping[str, str], *, memoized: bool) -> JSON:
        if memoized:
            raise NotOffered(f"resubmit --memoized on Argo goes through its server: {SERVER}")
        made = resubmitting.copy_of(self.get("Workflow", namespace, name), parameters)
        return self.create("Workflow", namespace, made)

    def pause_cron(self, namespace: str, name: str, *, paused: bool) -> None:
        change = {"spec": {"suspend": paused}}
        self.patch("CronWorkflow", namespace, name, change, "suspend" if paused else "resume")

    # ---- what pods wrote

    def entries(self, namespace: str, name: str, pod: str, options: LogOptions) -> Iterator[Entry]:
        query = [("container", options.container), ("timestamps", "true")]
        if options.follow:
            query.append(("follow", "true"))
        if options.since is not None:
            query.append(("sinceSeconds", str(options.since)))
        if options.tail is not None:
            query.append(("tailLines", str(options.tail)))
        path = f"/api/v1/namespaces/{segment(namespace)}/pods/{segment(pod)}/log"
        request = Request("GET", path, f"read the log of pod {pod}", tuple(query))
        # A step may be silent for hours, so silence doesn't end this; that its pod is gone does, in `logs`.
        for line in self.http.lines(request, 300.0 if options.follow else 60.0):
            time, _, text = line.decode("utf-8", "replace").partition(" ")
            yield Entry(pod, time, text.rstrip("\r\n"), text.endswith("\n"))
