"""Starting a run so that the call may be sent twice and the run is started once.

Kubernetes makes up a name on each call, so a call that was cut off can't be told from one that never arrived. We make
up the name ourselves, as Kubernetes would, and leave a mark in the document: where the name is taken, the mark says
whether by us.
"""

from __future__ import annotations

import secrets
import uuid

from couler_py.backends.argo.client.door import Door
from couler_py.backends.rest.failures import ConflictError, MissingError
from couler_py.backends.rest.request import JSON

SUBMISSION = "couler.dev/submission"
"""The annotation with the mark."""

LETTERS = "bcdfghjklmnpqrstvwxz2456789"
"""What Kubernetes makes names of: nothing that reads as a word, no two signs that look alike."""

LONGEST, ADDED = 63, 5
TRIES = 5


def start(door: Door, namespace: str, document: JSON) -> JSON:
    """Create a run; gives it as the cluster has it, or as it was sent where the door only rehearses.

    Raises `ConflictError` where a run of that fixed name is there and isn't ours.
    """
    mark = uuid.uuid4().hex
    for attempt in range(1, TRIES + 1):
        sent = marked(document, mark)
        try:
            return door.create("Workflow", namespace, sent, again=True) or sent
        except ConflictError:
            if (there := _ours(door, namespace, sent, mark)) is not None:
                return there
            if document["metadata"].get("name") or attempt == TRIES:
                raise
    raise AssertionError("the last try returns or raises")


def _ours(door: Door, namespace: str, sent: JSON, mark: str) -> JSON | None:
    try:
        there = door.get("Workflow", namespace, sent["metadata"]["name"])
    except MissingError:  # refused for another reason, or gone meanwhile
        return None
    return there if there["metadata"].get("annotations", {}).get(SUBMISSION) == mark else None


def marked(document: JSON, mark: str) -> JSON:
    """The document with a name and a mark."""
    metadata = document["metadata"]
    name = metadata.get("name") or generated(metadata.get("generateName", ""))
    annotations = {**(metadata.get("annotations") or {}), SUBMISSION: mark}
    return document | {"metadata": metadata | {"name": name, "annotations": annotations}}


def generated(beginning: str) -> str:
    """A new name that begins so."""
    return beginning[: LONGEST - ADDED] + "".join(secrets.choice(LETTERS) for _ in range(ADDED))
