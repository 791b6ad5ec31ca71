"""Following a run to its end, whatever happens to the connection meanwhile."""

from __future__ import annotations

from collections.abc import Iterator

from couler_py.backends.argo.client.door import Door
from couler_py.backends.argo.status import run_phase
from couler_py.backends.base import FINISHED
from couler_py.backends.rest.failures import BrokenError, BusyError, CutOffError, ExpiredError, NoAnswerError
from couler_py.backends.rest.request import JSON

PASSING = (NoAnswerError, CutOffError, BrokenError, BusyError)
"""What may be over in a moment: the run goes on meanwhile, and so do we."""


def changes(door: Door, namespace: str, name: str) -> Iterator[JSON]:
    """The run as it stands, and again each time it has changed, until it has ended or is gone.

    Each version is given once. A connection that breaks is made anew, with longer and longer waits while nothing comes,
    as often as the pacing allows; a version that the cluster has forgotten is read again.

    Raises the `ApiError` that came last.
    """
    seen, failed = "", 0
    while True:
        try:
            workflow = door.get("Workflow", namespace, name)
            if (version := _version(workflow)) != seen:
                seen = version
                yield workflow
            if run_phase(workflow) in FINISHED:
                return
            for event in door.events(namespace, name, seen):
                failed = 0
                if event.kind == "DELETED":
                    return
                if (version := _version(event.workflow)) != seen:
                    seen = version
                    yield event.workflow
                if run_phase(event.workflow) in FINISHED:
                    return
        except ExpiredError:
            failed += 1
            if failed > door.http.pacing.attempts:
                raise
        except PASSING as error:
            failed += 1
            if failed >= door.http.pacing.attempts:
                raise
            door.http.pacing.pause(failed, error.after)


def _version(workflow: JSON) -> str:
    return str(workflow["metadata"].get("resourceVersion", ""))
