"""What both ways to a cluster can do: the Kubernetes API and the Argo server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

import msgspec

from couler_py.backends.rest.http import Http
from couler_py.backends.rest.request import JSON


class Event(msgspec.Struct, frozen=True):
    """A change of a run: ADDED, MODIFIED or DELETED, and the run as it stands then."""

    kind: str
    workflow: JSON


class LogOptions(msgspec.Struct, frozen=True):
    """Which lines of which container. `since` is in seconds, `tail` a number of lines of each container."""

    container: str = "main"
    since: int | None = None
    tail: int | None = None
    follow: bool = False


class Entry(msgspec.Struct, frozen=True):
    """A line of a pod, and when it was written, as the kubelet says it (RFC 3339).

    One that isn't `whole` has no end: the answer stopped there, or the container did.
    """

    pod: str
    time: str
    text: str
    whole: bool = True


class Door(Protocol):
    """One way to a cluster. Every method raises an `ApiError`; documents are plain JSON."""

    http: Http
    helps_with: str
    """In a sentence "use …": how a person gets what this way can't do."""

    def get(self, kind: str, namespace: str, name: str) -> JSON: ...

    def list(self, kind: str, namespace: str, labels: str = "", *, whole: bool = False) -> list[JSON]:
        """All of a kind; runs without their nodes where that can be had, unless they are wanted `whole`."""
        ...

    def events(self, namespace: str, name: str, version: str) -> Iterator[Event]:
        """What becomes of a run from this version on, until the server ends the answer.

        Raises `ExpiredError` where the version is forgotten, and `CutOffError` where the answer broke off.
        """
        ...

    def create(self, kind: str, namespace: str, document: JSON, *, again: bool = False) -> JSON:
        """Make an object; with `again`, the call may be repeated: the caller knows its own by its name."""
        ...

    def replace(self, kind: str, namespace: str, document: JSON) -> JSON:
        """Replace an object whole; the document has the version that it replaces."""
        ...

    def delete(self, kind: str, namespace: str, name: str) -> None: ...

    def stop(self, namespace: str, name: str) -> None: ...

    def terminate(self, namespace: str, name: str) -> None: ...

    def suspend(self, namespace: str, name: str) -> None: ...

    def unsuspend(self, namespace: str, name: str) -> None:
        """Take back `suspend`; what waits inside the run goes on waiting."""
        ...

    def approve(self, namespace: str, name: str, nodes: Mapping[str, Mapping[str, str]]) -> None:
        """Let waiting nodes go on: by id, with these outputs."""
        ...

    def retry(self, namespace: str, name: str, parameters: Mapping[str, str], also: str = "") -> None:
        """Run what failed again, with these values (as they stand in the document) of parameters.

        `also` selects nodes that run again with all that follows them, although they succeeded.
        """
        ...

    def resubmit(self, namespace: str, name: str, parameters: Mapping[str, str], *, memoized: bool) -> JSON: ...

    def pause_cron(self, namespace: str, name: str, *, paused: bool) -> None: ...

    def entries(self, namespace: str, name: str, pod: str, options: LogOptions) -> Iterator[Entry]:
        """What one pod of a run wrote. Raises `MissingError` where it is gone."""
        ...
