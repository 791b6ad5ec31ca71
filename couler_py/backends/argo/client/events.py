"""Reading a stream of changes, line by line: the same for both ways, but for the word around it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from couler_py.backends.argo.client.door import Event
from couler_py.backends.argo.client.words import WORDS
from couler_py.backends.rest.failures import CutOffError, Said, failure
from couler_py.backends.rest.request import JSON

LASTS = 60
"""Seconds after which we ask the server to end an answer: a connection that died without a word is noticed soon."""

ENDED = 429
"""What the Argo server says when the answer below it has ended, as it does every few minutes."""


def objects(lines: Iterable[bytes], call: str) -> Iterator[JSON]:
    """The JSON objects of a stream, one a line. Raises `CutOffError` for half of one."""
    for line in lines:
        text = line.strip().removeprefix(b"data: ")
        if not text or text.startswith(b":"):
            continue
        try:
            found = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise CutOffError(f"{call}: the answer broke off in the middle of a line") from None
        if not isinstance(found, dict):
            raise CutOffError(f"{call}: the answer has a line that is no object")
        yield found


def kubernetes_events(lines: Iterable[bytes], call: str) -> Iterator[Event]:
    """The changes that the Kubernetes API tells; one that is an error is raised."""
    for found in objects(lines, call):
        given = found.get("object")
        what = given if isinstance(given, dict) else {}
        if found.get("type") == "ERROR":
            raise failure(int(what.get("code", 500)), Said(str(what.get("message", ""))), call, WORDS)
        if found.get("type") in ("ADDED", "MODIFIED", "DELETED"):
            yield Event(found["type"], what)


def server_events(lines: Iterable[bytes], call: str) -> Iterator[Event]:
    """The changes that the Argo server tells; one that is an error is raised, the end of its own watch ends this."""
    for found in objects(lines, call):
        if "error" in found:
            if (status := _status(found["error"])) == ENDED:
                return
            raise failure(status, Said(str(found["error"].get("message", ""))), call, WORDS)
        result = found.get("result") or {}
        if result.get("type") in ("ADDED", "MODIFIED", "DELETED"):
            yield Event(result["type"], result["object"])


def _status(error: JSON) -> int:
    # An expired version has no gRPC code of its own: it comes as an internal error.
    message = str(error.get("message", ""))
    if "too old resource version" in message or "expired" in message.lower():
        return 410
    return int(error.get("http_code", 500))
