"""Templates, cron workflows and what belongs to runs: made where they are missing, else replaced whole."""

from __future__ import annotations

from couler_py.backends.argo.client.door import Door
from couler_py.backends.rest.failures import ConflictError
from couler_py.backends.rest.request import JSON

TRIES = 5


def apply(door: Door, namespace: str, document: JSON) -> JSON:
    """Make an object, or replace one of its name; gives it as the cluster has it.

    A replacement that somebody else's change came before is made again on top of that.
    """
    kind, name = document["kind"], document["metadata"]["name"]
    try:
        return door.create(kind, namespace, document) or document
    except ConflictError as error:
        if document.get("immutable"):  # of this name with another content there can be none: its name is its digest
            return document
        conflict = error
    for attempt in range(1, TRIES + 1):
        there = door.get(kind, namespace, name)
        try:
            return door.replace(kind, namespace, in_place_of(there, document)) or document
        except ConflictError as error:
            conflict = error
            door.http.pacing.pause(attempt)
    raise conflict


def in_place_of(there: JSON, document: JSON) -> JSON:
    """A document that replaces an object whole, so that nothing of the old one's stays; only what Argo noted does.

    Of a Secret the keys that were there stay: others may have put them in.
    """
    metadata = document["metadata"] | {"resourceVersion": there["metadata"]["resourceVersion"]}
    kept = {"status": there["status"]} if "status" in there else {}
    if document["kind"] == "Secret" and there.get("data"):
        kept["data"] = there["data"] | document.get("data", {})
    return document | {"metadata": metadata} | kept
