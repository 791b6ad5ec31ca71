"""Runs on a cluster: a thin client over the Kubernetes API, and over the Argo server where only that can do it.

Needs the extra `argo`. A run is named `argo:NAMESPACE/NAME`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from couler_py.backends.argo.connection import connect, library
from couler_py.backends.argo.repository import upload
from couler_py.backends.argo.schema import PLURALS
from couler_py.backends.argo.server import Server
from couler_py.backends.argo.status import (
    PHASES,
    artifact_key,
    paths,
    run_phase,
    run_status,
    tasks,
    unpacked,
    with_parameters,
)
from couler_py.backends.argo.verify import too_large
from couler_py.backends.base import (
    FINISHED,
    Bundle,
    EngineUnreachableError,
    LogLine,
    NotOffered,
    OptionError,
    RunNotFoundError,
    RunStatus,
)
from couler_py.ir import wire
from couler_py.ir.diagnostics import CoulerError, DiagnosticError

JSON = dict[str, Any]
GROUP, VERSION = "argoproj.io", "v1alpha1"


class ArgoClient:
    """Steers runs on one cluster.

    `kubeconfig` and `context` choose it (by default as kubectl does, or the pod that this runs in), `namespace`
    holds new runs (default: the context's), `server` is the URL of the Argo server (default: `ARGO_SERVER`).

    Raises `EngineUnreachableError` where no cluster is configured.
    """

    engine = "argo"

    def __init__(
        self, *, namespace: str = "", kubeconfig: str | Path | None = None, context: str | None = None, server: str = ""
    ):
        self._api, default = connect(kubeconfig, context)
        self.namespace = namespace or default
        self._server = Server.found(server, self._api)

    # ---- starting

    def submit(self, bundle: Bundle, *, parameters: Mapping[str, Any] | None = None, **options: Any) -> str:
        """Create the documents of a bundle and start a run; a CronWorkflow or template is created or replaced.

        The option `namespace` overrides the client's.
        """
        if found := too_large(bundle.documents):
            raise DiagnosticError(found)
        main = bundle.documents[-1]
        namespace = options.pop("namespace", "") or main["metadata"].get("namespace") or self.namespace
        if options:
            raise OptionError(f"argo: submit has no option {sorted(options)[0]!r}")
        for document in bundle.documents[:-1]:
            self._replace(document, namespace)
        for name, content in bundle.blobs.items():
            if not _travels_in(bundle, name):
                self._upload(f"couler/{name}", content, namespace)
        if parameters:
            main = with_parameters(main, parameters)
        if main["kind"] != "Workflow":
            self._replace(main, namespace)
            return f"argo:{namespace}/{main['metadata']['name']}"
        client = library("client")
        try:
            created = self._custom().create_namespaced_custom_object(GROUP, VERSION, namespace, "workflows", main)
        except client.ApiException as error:
            raise _refused(error) from None
        return f"argo:{namespace}/{created['metadata']['name']}"

    def keep_secret(self, name: str, data: Mapping[str, str], namespace: str = "") -> None:
        """Keep a secret where runs can name it, with these keys besides those that it may have already.

        Pods read only secrets of their own namespace: "default", which a program doesn't choose, is the client's.
        """
        given = "" if namespace == "default" else namespace
        body = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": dict(data)}
        self._replace(body, given or self.namespace)

    def _replace(self, document: JSON, namespace: str) -> None:
        client = library("client")
        kind, name = document["kind"], document["metadata"]["name"]
        try:
            if kind == "ConfigMap":
                client.CoreV1Api(self._api).create_namespaced_config_map(namespace, document)
            elif kind == "Secret":
                client.CoreV1Api(self._api).create_namespaced_secret(namespace, document)
            elif kind == "ClusterWorkflowTemplate":
                self._custom().create_cluster_custom_object(GROUP, VERSION, PLURALS[kind], document)
            else:
                self._custom().create_namespaced_custom_object(GROUP, VERSION, namespace, PLURALS[kind], document)
        except client.ApiException as error:
            if error.status != 409:
                raise _refused(error) from None
            if kind == "ConfigMap":
                if not document.get("immutable"):  # an immutable one of this name has this content
                    client.CoreV1Api(self._api).patch_namespaced_config_map(name, namespace, document)
            elif kind == "Secret":
                client.CoreV1Api(self._api).patch_namespaced_secret(name, namespace, document)
            elif kind == "ClusterWorkflowTemplate":
                there = self._custom().get_cluster_custom_object(GROUP, VERSION, PLURALS[kind], name)
                self._custom().replace_cluster_custom_object(
                    GROUP, VERSION, PLURALS[kind], name, in_place_of(there, document)
                )
            else:
                there = self._custom().get_namespaced_custom_object(GROUP, VERSION, namespace, PLURALS[kind], name)
                self._custom().replace_namespaced_custom_object(
                    GROUP, VERSION, namespace, PLURALS[kind], name, in_place_of(there, document)
                )

    def _upload(self, key: str, content: bytes, namespace: str) -> None:
        upload(self._api, namespace, key, content)

    # ---- looking

    def status(self, run: str) -> RunStatus:
        return run_status(self._get(run), run)

    def watch(self, run: str) -> Iterator[RunStatus]:
        """The status each time it changes, until the run has ended."""
        client, watch = library("client"), library("watch")
        namespace, name = split(run)
        while True:
            workflow = self._get(run)
            current = run_status(workflow, run)
            yield current
            if current.status in FINISHED:
                return
            try:
                for event in watch.Watch().stream(
                    self._custom().list_namespaced_custom_object,
                    GROUP,
                    VERSION,
                    namespace,
                    "workflows",
                    field_selector=f"metadata.name={name}",
                    resource_version=workflow["metadata"]["resourceVersion"],
                    timeout_seconds=300,
                ):
                    current = run_status(event["raw_object"], run)
                    yield current
                    if current.status in FINISHED or event["type"] == "DELETED":
                        return
            except client.ApiException as error:
                if error.status != 410:  # the version that we watch from is forgotten: look again
                    raise _refused(error) from None

    def logs(self, run: str, task: str | None = None, *, follow: bool = False) -> Iterator[LogLine]:
        """What the pods of a run printed, in the order in which their tasks began."""
        client = library("client")
        namespace, _ = split(run)
        workflow = unpacked(self._get(run))
        known = {each.name for each in tasks(workflow)}
        if task is not None and task not in known:
            raise RunNotFoundError(f"the run {run} has no task {task!r}; it has {', '.join(sorted(known))}")
        core = client.CoreV1Api(self._api)
        for path, attempt, pod in pods(workflow):
            if task is not None and path != task and not path.startswith((f"{task}/", f"{task}[", f"{task}#")):
                continue
            try:
                response = core.read_namespaced_pod_log(
                    pod, namespace, container="main", follow=follow, _preload_content=False
                )
            except client.ApiException as error:
                if error.status == 404:
                    raise RunNotFoundError(f"the pod {pod} of {path} is gone, and what it printed with it") from None
                raise _refused(error) from None
            for line in response:
                text = line.decode("utf-8", "replace").rstrip("\n")
                own = text.startswith("time=") and " argo=true" in text  # of Argo's program around the step
                if not own:
                    yield LogLine(path, text, attempt)

    def list(self) -> Iterable[RunStatus]:
        """The runs in the client's namespace, newest first, without their tasks."""
        listed = self._custom().list_namespaced_custom_object(GROUP, VERSION, self.namespace, "workflows")
        found = sorted(listed["items"], key=lambda each: str(each["metadata"]["creationTimestamp"]), reverse=True)
        for workflow in found:
            status = workflow.get("status", {})
            status = {key: value for key, value in status.items() if key not in ("nodes", "compressedNodes")}
            yield run_status(workflow | {"status": status})

    def artifacts(self, run: str) -> Mapping[str, str]:
        """The output artifacts of a run: `TASK/NAME` to the key under which it lies in its store."""
        workflow = unpacked(self._get(run))
        found = {}
        for path, _, node in paths(workflow):
            for artifact in node.get("outputs", {}).get("artifacts", []):
                if artifact["name"] != "main-logs" and (key := artifact_key(artifact)):
                    found[f"{path}/{artifact['name']}"] = key
        return found

    # ---- steering

    def stop(self, run: str) -> None:
        """Let running steps end, start no others, run exit handlers."""
        self._patch(run, {"spec": {"shutdown": "Stop"}})

    def terminate(self, run: str) -> None:
        """End everything now, without exit handlers."""
        self._patch(run, {"spec": {"shutdown": "Terminate"}})

    def suspend(self, run: str) -> None:
        """Start no further steps until `resume`."""
        self._patch(run, {"spec": {"suspend": True}})

    def resume(self, run: str, *, outputs: Mapping[str, Any] | None = None, task: str | None = None) -> str:
        """Go on with a suspended run, or give an approval (with its outputs)."""
        workflow = unpacked(self._get(run))
        waiting = [
            (path, node)
            for path, _, node in paths(workflow)
            if node["type"] == "Suspend" and PHASES.get(node["phase"]) == "Running" and task in (None, path)
        ]
        if not workflow["spec"].get("suspend") and not waiting:
            raise NotOffered(
                f"nothing in {run} waits" + (f" at {task}" if task else "") + ": `couler runs` shows its state"
            )
        namespace, name = split(run)
        for _, node in waiting:
            if outputs:
                encoded = {
                    key: value if isinstance(value, str) else wire.to_json(value) for key, value in outputs.items()
                }
                self._need_server("giving outputs to an approval").set_outputs(namespace, name, node["id"], encoded)
            if self._server is not None:
                self._server.resume(namespace, name, node["id"])
            else:
                self._approve(run, node)
        if workflow["spec"].get("suspend"):
            self._patch(run, {"spec": {"suspend": None}})
        return run

    def _approve(self, run: str, node: JSON) -> None:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        self._patch(run, {"status": {"nodes": {node["id"]: {"phase": "Succeeded", "finishedAt": now}}}})

    def retry(self, run: str) -> str:
        """Run failed tasks again and keep those that succeeded. Needs the Argo server."""
        namespace, name = split(run)
        if run_phase(self._get(run)) not in FINISHED:
            raise NotOffered(f"{run} has not ended yet")
        self._need_server("retry").retry(namespace, name)
        return run

    def delete(self, run: str) -> None:
        client = library("client")
        namespace, name = split(run)
        try:
            self._custom().delete_namespaced_custom_object(GROUP, VERSION, namespace, "workflows", name)
        except client.ApiException as error:
            raise _missing(run, error) from None

    # ---- the cluster

    def _custom(self) -> Any:
        return library("client").CustomObjectsApi(self._api)

    def _get(self, run: str) -> JSON:
        client = library("client")
        namespace, name = split(run)
        try:
            found: JSON = self._custom().get_namespaced_custom_object(GROUP, VERSION, namespace, "workflows", name)
        except client.ApiException as error:
            raise _missing(run, error) from None
        return found

    def _patch(self, run: str, change: JSON) -> None:
        client = library("client")
        namespace, name = split(run)
        try:
            self._custom().patch_namespaced_custom_object(GROUP, VERSION, namespace, "workflows", name, change)
        except client.ApiException as error:
            raise _missing(run, error) from None

    def _need_server(self, what: str) -> Server:
        if self._server is None:
            raise NotOffered(f"{what} on Argo goes through its server: set ARGO_SERVER to its URL")
        return self._server


def in_place_of(there: JSON, document: JSON) -> JSON:
    """A document that replaces an object whole, so that nothing of the old one's stays; only what Argo noted does."""
    metadata = document["metadata"] | {"resourceVersion": there["metadata"]["resourceVersion"]}
    kept = {"status": there["status"]} if "status" in there else {}
    return document | {"metadata": metadata} | kept


def split(run: str) -> tuple[str, str]:
    """Namespace and name of a run `argo:NAMESPACE/NAME`. Raises `RunNotFoundError` for another form."""
    engine, _, rest = run.partition(":")
    namespace, _, name = rest.partition("/")
    if engine != "argo" or not namespace or not name:
        raise RunNotFoundError(f"{run!r} is no run on Argo: those are named argo:NAMESPACE/NAME")
    return namespace, name


def pods(workflow: JSON) -> Iterator[tuple[str, int, str]]:
    """The pods of a run: path, attempt, and name."""
    run = workflow["metadata"]["name"]
    for path, attempt, node in paths(workflow):
        if node["type"] == "Pod":
            number = node["id"].rsplit("-", 1)[-1]
            yield path, attempt, f"{run}-{node['templateName']}-{number}" if node["id"] != run else run


def _travels_in(bundle: Bundle, name: str) -> bool:
    digest = name.removeprefix("include/").removesuffix(".tar.gz")[:16]
    return any(each["metadata"].get("name") == f"couler-include-{digest}" for each in bundle.documents[:-1])


def _missing(run: str, error: Any) -> CoulerError:
    if error.status == 404:
        return RunNotFoundError(f"there is no run {run} on this cluster")
    return _refused(error)


def _refused(error: Any) -> EngineUnreachableError:
    return EngineUnreachableError(f"the cluster refused: {error.reason}: {error.body}")
