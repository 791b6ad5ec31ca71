"""Runs on one cluster. A run is named `argo:NAMESPACE/NAME`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from couler_py.backends.argo.client import artifacts, logs, parts, store, submission
from couler_py.backends.argo.client.address import Address, find
from couler_py.backends.argo.client.applying import apply
from couler_py.backends.argo.client.door import Door, LogOptions
from couler_py.backends.argo.client.kinds import kind as known
from couler_py.backends.argo.client.kubernetes import Kubernetes
from couler_py.backends.argo.client.naming import split
from couler_py.backends.argo.client.parameters import typed, with_values
from couler_py.backends.argo.client.resubmitting import repeated_for_ever
from couler_py.backends.argo.client.server import Server
from couler_py.backends.argo.client.stored import Stored
from couler_py.backends.argo.client.watching import changes
from couler_py.backends.argo.client.words import WORDS
from couler_py.backends.argo.status import PHASES, paths, run_phase, run_status, unpacked
from couler_py.backends.argo.verify import too_large
from couler_py.backends.base import (
    FINISHED,
    Bundle,
    LogLine,
    NotOffered,
    OptionError,
    RunNotFoundError,
    RunStatus,
)
from couler_py.backends.rest.failures import MissingError
from couler_py.backends.rest.http import Http
from couler_py.backends.rest.pacing import Pacing
from couler_py.backends.rest.request import JSON, Request
from couler_py.ir import wire
from couler_py.ir.diagnostics import DiagnosticError


class ArgoClient:
    """Steers runs on one cluster.

    `server` is the URL of an Argo server, `token` or `token_file` what lets us in there: with them no kubeconfig is
    needed. `kubeconfig` and `context` choose a cluster by its Kubernetes API (by default as kubectl does, or the pod
    that this runs in). Without any, ARGO_SERVER chooses. `namespace` holds new runs (default: ARGO_NAMESPACE, or the
    context's). `insecure` trusts every server, `authority` is a file of certificates to trust. With `dry_run` nothing
    is changed: `planned` holds what would have been sent, and the cluster says whether it would take it where it can.

    Raises `EngineUnreachableError` where no cluster is configured.
    """

    engine = "argo"

    def __init__(
        self,
        *,
        namespace: str = "",
        kubeconfig: str | Path | None = None,
        context: str | None = None,
        server: str = "",
        token: str = "",
        token_file: str | Path = "",
        insecure: bool = False,
        authority: str | Path = "",
        dry_run: bool = False,
        pacing: Pacing | None = None,
    ):
        address = Address(
            namespace=namespace,
            kubeconfig=str(kubeconfig or ""),
            context=context or "",
            server=server,
            token=token,
            token_file=str(token_file),
            insecure=insecure,
            authority=str(authority),
        )
        place = find(address)
        self.namespace = place.namespace
        doors: dict[str, Door] = {}
        if place.kubernetes is not None:
            name = "the Kubernetes API"
            doors["kubernetes"] = Kubernetes(Http(place.kubernetes, name, WORDS, pacing=pacing, rehearse=dry_run))
        if place.server is not None:
            doors["server"] = Server(Http(place.server, "the Argo server", WORDS, pacing=pacing, rehearse=dry_run))
        self._door = doors.pop(place.first)
        self._other = next(iter(doors.values()), None)
        self.dry_run = dry_run

    def __repr__(self) -> str:
        return f"ArgoClient(namespace={self.namespace!r}, {self._door.http.name})"

    @property
    def planned(self) -> Sequence[Request]:
        """What a dry run would have sent, in order."""
        return [*self._door.http.planned, *(self._other.http.planned if self._other else [])]

    # ---- starting

    def submit(self, bundle: Bundle, *, parameters: Mapping[str, Any] | None = None, **options: Any) -> str:
        """Create the documents of a bundle and start a run; a CronWorkflow or template is created or replaced.

        The option `namespace` overrides the client's. Gives the name of the last.
        """
        namespace = options.pop("namespace", "")
        if options:
            raise OptionError(f"argo: submit has no option {sorted(options)[0]!r}")
        if found := too_large(bundle.documents):
            raise DiagnosticError(found)
        for name, content in bundle.blobs.items():
            if not _travels_in(bundle, name):
                where = self._where(bundle.documents[-1], namespace)
                store.upload(self._for("ConfigMap"), where, f"couler/{name}", content)
        return self.send(bundle.documents, parameters=parameters, namespace=namespace)[-1]

    def send(
        self, documents: Sequence[JSON], *, parameters: Mapping[str, Any] | None = None, namespace: str = ""
    ) -> Sequence[str]:
        """Send documents as they are: runs are started, with these parameters, and everything else made or replaced.

        Gives the names, `argo:NAMESPACE/NAME`, in the order of the documents.
        """
        # What runs refer to comes first, wherever it stands; nothing is sent where one document is none of ours.
        for document in documents:
            known(document.get("kind", ""))
        ready = {
            index: with_values(document, parameters or {})
            for index, document in enumerate(documents)
            if document["kind"] == "Workflow" or (parameters and index == len(documents) - 1)
        }
        found: dict[int, str] = {}
        for index in sorted(range(len(documents)), key=lambda index: documents[index]["kind"] == "Workflow"):
            document = ready.get(index, documents[index])
            where = self._where(document, namespace)
            door = self._for(document["kind"])
            made = (submission.start if document["kind"] == "Workflow" else apply)(door, where, document)
            found[index] = f"argo:{where}/{made['metadata']['name']}"
        return [found[index] for index in range(len(documents))]

    def keep_secret(self, name: str, data: Mapping[str, str], namespace: str = "") -> None:
        """Keep a secret where runs can name it, with these keys besides those that it may have already.

        Pods read only secrets of their own namespace: "default", which a program doesn't choose, is the client's.
        """
        given = "" if namespace == "default" else namespace
        body = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": dict(data)}
        apply(self._for("Secret"), given or self.namespace, body)

    def _where(self, document: JSON, namespace: str) -> str:
        own = str(document["metadata"].get("namespace") or "")
        if own and namespace and own != namespace:
            raise OptionError(f"argo: the document says the namespace {own!r}, and {namespace!r} was asked for")
        return namespace or own or self.namespace

    def _for(self, kind: str) -> Door:
        """The door for a kind: the Argo server has only Argo's own."""
        if isinstance(self._door, Server) and not known(kind).server and self._other is not None:
            return self._other
        return self._door

    # ---- looking

    def status(self, run: str) -> RunStatus:
        workflow = self.document(run)
        return parts.as_one(run_status(workflow, run), parts.runs_of_parts(self._door, workflow))

    def document(self, run: str) -> JSON:
        """The object of a run as the cluster has it, its nodes readable."""
        namespace, name = split(run)
        try:
            return unpacked(self._door.get("Workflow", namespace, name))
        except MissingError as error:
            raise _missing(run, error) from None

    def documents(self, run: str) -> Sequence[JSON]:
        """The object of a run and, where it runs in parts, those of the runs of its parts."""
        workflow = self.document(run)
        return [workflow, *map(unpacked, parts.runs_of_parts(self._door, workflow).values())]

    def watch(self, run: str) -> Iterator[RunStatus]:
        """The status each time it changes, until the run has ended."""
        namespace, name = split(run)
        try:
            for workflow in changes(self._door, namespace, name):
                if parts.is_split(workflow):
                    yield from parts.watched(self._door, workflow, run)
                    return
                yield run_status(workflow, run)
        except MissingError as error:
            raise _missing(run, error) from None

    def logs(
        self,
        run: str,
        task: str | None = None,
        *,
        follow: bool = False,
        container: str = "main",
        since: int | None = None,
        tail: int | None = None,
    ) -> Iterator[LogLine]:
        """What the pods of a run printed, in the order in which their tasks began; followed, as it comes from all.

        `container` is main, init, wait, or the name of another one of the pods; `since` is in seconds, `tail` the last
        lines of each pod.
        """
        namespace, name = split(run)
        try:
            chosen = LogOptions(container, since, tail, follow)
            workflow = self._door.get("Workflow", namespace, name)
            if parts.is_split(workflow):
                yield from parts.lines(self._door, workflow, task, chosen)
                return
            yield from logs.lines(self._door, namespace, name, task, chosen)
        except MissingError as error:
            raise _missing(run, error) from None

    def list(self, *, labels: str = "", namespace: str = "") -> Iterable[RunStatus]:
        """The runs of a namespace (default: the client's), newest first, without their tasks.

        `labels` is a label selector, as "team=a,stage!=test".
        """
        found = self._door.list("Workflow", namespace or self.namespace, labels)
        for workflow in sorted(found, key=lambda each: str(each["metadata"]["creationTimestamp"]), reverse=True):
            status = workflow.get("status") or {}
            status = {key: value for key, value in status.items() if key not in ("nodes", "compressedNodes")}
            yield run_status({"spec": {}} | workflow | {"status": status})

    def artifacts(self, run: str) -> Mapping[str, str]:
        """The output artifacts of a run: `TASK/NAME` to the key under which it lies in its store."""
        return {each.full: each.key for each in artifacts.listed(self.document(run))}

    def download(self, run: str, folder: str | Path, names: Iterable[str] = ()) -> dict[str, Sequence[Path]]:
        """Fetch artifacts of a run below a folder: all, or those named (`TASK`, `TASK/NAME`, `TASK/main-logs`).

        Gives the files by `TASK/NAME`. Raises `RunNotFoundError` for a name that the run doesn't have.
        """
        workflow = self.document(run)
        wanted = list(names)
        known_ones = list(artifacts.listed(workflow, logs=bool(wanted)))
        for name in wanted:
            if not any(name in (each.full, each.path) for each in known_ones):
                listing = ", ".join(each.full for each in known_ones) or "none"
                raise RunNotFoundError(f"the run {run} has no artifact {name!r}; it has {listing}")
        chosen = [each for each in known_ones if not wanted or each.full in wanted or each.path in wanted]
        door = self._door if isinstance(self._door, Server) or self._other is None else self._other
        return {each.full: artifacts.download(door, workflow, each, Path(folder)) for each in chosen}

    # ---- steering

    def stop(self, run: str) -> None:
        """Let running steps end, start no others, run exit handlers."""
        self._steer(run, self._door.stop)
        self._steer_parts(run, self._door.stop)

    def terminate(self, run: str) -> None:
        """End everything now, without exit handlers."""
        self._steer(run, self._door.terminate)
        self._steer_parts(run, self._door.terminate)

    def suspend(self, run: str) -> None:
        """Start no further steps until `resume`."""
        self._steer(run, self._door.suspend)
        self._steer_parts(run, self._door.suspend)

    def resume(self, run: str, *, outputs: Mapping[str, Any] | None = None, task: str | None = None) -> str:
        """Go on with a suspended run, or give an approval (with its outputs)."""
        workflow = self.document(run)
        if self._resumed_in_parts(workflow, outputs, task):
            return run
        waiting = [
            node
            for path, _, node in paths(workflow)
            if node["type"] == "Suspend" and PHASES.get(node["phase"]) == "Running" and task in (None, path)
        ]
        suspended = bool(workflow["spec"].get("suspend"))
        if not suspended and not waiting:
            raise NotOffered(
                f"nothing in {run} waits" + (f" at {task}" if task else "") + ": `couler runs` shows its state"
            )
        namespace, name = split(run)
        if waiting:
            encoded = {
                key: value if isinstance(value, str) else wire.to_json(value) for key, value in (outputs or {}).items()
            }
            self._door.approve(namespace, name, {node["id"]: encoded for node in waiting})
        if suspended:
            self._door.unsuspend(namespace, name)
        return run

    def _resumed_in_parts(self, workflow: JSON, outputs: Mapping[str, Any] | None, task: str | None) -> bool:
        """Go on with what waits in parts of a run; whether anything did."""
        found = False
        for inside, part in parts.placed(task, parts.runs_of_parts(self._door, workflow)):
            if run_phase(part) == "Suspended":
                metadata = part["metadata"]
                self.resume(f"argo:{metadata['namespace']}/{metadata['name']}", outputs=outputs, task=inside)
                found = True
        if found and workflow["spec"].get("suspend"):
            self._door.unsuspend(workflow["metadata"]["namespace"], workflow["metadata"]["name"])
        return found

    def retry(self, run: str, *, parameters: Mapping[str, str] | None = None) -> str:
        """Run failed tasks again and keep those that succeeded. Needs the Argo server.

        Of a run in parts, each part in which a task failed runs again as a whole, and so do those that follow it.
        `parameters` are other values, as they are typed. Raises `ValueError` for one that the run doesn't have.
        """
        document = self.document(run)
        if run_phase(document) not in FINISHED:
            raise NotOffered(f"{run} has not ended yet")
        values = typed(document, parameters or {})
        door = self._other if isinstance(self._other, Server) else self._door
        also = parts.to_run_again(document, parts.runs_of_parts(self._door, document))
        self._steer(run, lambda namespace, name: door.retry(namespace, name, values, also))
        return run

    def resubmit(self, run: str, *, memoized: bool = False, parameters: Mapping[str, str] | None = None) -> str:
        """Start a new run like this one; `memoized` keeps what succeeded in it (through the Argo server).

        `parameters` are other values, as they are typed. Raises `ValueError` for one that the run doesn't have, and
        `NotOffered` where a memoized copy would never end.
        """
        namespace, name = split(run)
        document = self.document(run)
        values = typed(document, parameters or {})
        if memoized and (graph := repeated_for_ever(document)):
            raise NotOffered(
                f"a memoized copy of {run} would never end: Argo 4.0 waits without end for the graph {graph!r} in it, "
                f"which has ended; `couler retry {run}` goes on in the same run"
            )
        door = self._other if memoized and isinstance(self._other, Server) else self._door
        try:
            made = door.resubmit(namespace, name, values, memoized=memoized)
        except MissingError as error:
            raise _missing(run, error) from None
        return f"argo:{namespace}/{made['metadata']['name'] if made else name}"

    def delete(self, run: str) -> None:
        self._steer(run, lambda namespace, name: self._door.delete("Workflow", namespace, name))

    def _steer(self, run: str, verb: Any) -> None:
        namespace, name = split(run)
        try:
            verb(namespace, name)
        except MissingError as error:
            raise _missing(run, error) from None

    def _steer_parts(self, run: str, verb: Any) -> None:
        """Do to the runs of parts that haven't ended what was done to the run that they belong to."""
        workflow = self.document(run)
        for part in parts.runs_of_parts(self._door, workflow).values():
            if run_phase(part) not in FINISHED:
                verb(part["metadata"]["namespace"], part["metadata"]["name"])

    # ---- templates and schedules

    def stored(self, kind: str) -> Stored:
        """The templates (`WorkflowTemplate`, `ClusterWorkflowTemplate`) or `CronWorkflow`s of the cluster."""
        return Stored(kind, self._door, self.namespace)


def _travels_in(bundle: Bundle, name: str) -> bool:
    digest = name.removeprefix("include/").removesuffix(".tar.gz")[:16]
    return any(each["metadata"].get("name") == f"couler-include-{digest}" for each in bundle.documents[:-1])


def _missing(run: str, error: MissingError) -> RunNotFoundError:
    return RunNotFoundError(f"there is no run {run} on this cluster" if _of_run(error) else str(error))


def _of_run(error: MissingError) -> bool:
    # Where the API itself is missing (no Argo, the wrong server), saying so helps more.
    return "not found" in error.said and "the server could not find" not in error.said
