"""Where events go: files, webhooks, receivers of OpenLineage."""

from __future__ import annotations

import base64
import fcntl
import hashlib
import hmac
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

import msgspec

from couler_py.events.model import Event
from couler_py.settings import EventSettings, Webhook


class RefusedError(Exception):
    """The place will never take this event."""


class UnreachableError(Exception):
    """The place takes nothing at the moment."""


class Place(Protocol):
    """One receiver. `name` says which, without anything secret."""

    name: str

    def wants(self, event: Event) -> bool:
        """Whether it is told of this event."""
        ...

    def send(self, event: Event) -> None:
        """Deliver one event. Raises `RefusedError` and `UnreachableError`."""
        ...


class JsonLines:
    """A file that each event is appended to as one line. Several runs may write to the same."""

    def __init__(self, path: str):
        self.name = path
        self._path = Path(path)

    def wants(self, event: Event) -> bool:
        return True

    def send(self, event: Event) -> None:
        line = json.dumps(event.as_json(), separators=(",", ":"), ensure_ascii=True) + "\n"
        append(self._path, line)


def append(path: Path, line: str) -> None:
    """Add a line to a file that others may add to as well. Raises `UnreachableError`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            data = line.encode()
            while data:
                data = data[os.write(handle, data) :]
        finally:
            os.close(handle)
    except OSError as problem:
        raise UnreachableError(f"{path}: {problem.strerror}") from None


class Hook:
    """A webhook: one POST of JSON for each event, signed as Standard Webhooks says.

    `webhook-id` is the event's id, by which a receiver knows what it has; `webhook-signature` is `v1,` and the base64
    of the HMAC-SHA256 of `ID.TIMESTAMP.BODY` (https://www.standardwebhooks.com, specification of 2023).
    """

    def __init__(self, settings: Webhook, secret: Callable[[str], str]):
        self.name = shown(settings.url)
        self._settings = settings
        self._secret = secret

    def wants(self, event: Event) -> bool:
        only = self._settings.only
        return (not only or event.kind in only) and (self._settings.tasks or not event.task)

    def send(self, event: Event) -> None:
        body = json.dumps(event.as_json(), separators=(",", ":")).encode()
        moment = str(int(time.time()))
        headers = {"webhook-id": event.id, "webhook-timestamp": moment}
        if self._settings.secret:
            headers["webhook-signature"] = signature(self._secret(self._settings.secret), event.id, moment, body)
        _post(self._settings.url, body, headers, self._settings.timeout)


def signature(secret: str, name: str, moment: str, body: bytes) -> str:
    """The signature of a webhook. A secret that begins with `whsec_` is base64 behind that, as the standard has it."""
    coded = secret.removeprefix("whsec_")
    key = base64.b64decode(coded) if coded != secret else secret.encode()
    whole = f"{name}.{moment}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, whole, hashlib.sha256).digest()).decode()


class Lineage:
    """A receiver of OpenLineage events: an address, or a file of JSON lines."""

    def __init__(
        self, settings: EventSettings, event: Callable[[Event], dict[str, Any] | None], secret: Callable[[str], str]
    ):
        self._settings = settings.openlineage
        self._event = event
        self._secret = secret
        self.name = f"OpenLineage {shown(self._settings.url) or self._settings.file}"

    def wants(self, event: Event) -> bool:
        return event.kind not in ("skipped", "blocked")  # nothing ran

    def send(self, event: Event) -> None:
        made = self._event(event)
        if made is None:
            return
        if self._settings.file:
            append(Path(self._settings.file), json.dumps(made, separators=(",", ":")) + "\n")
        if self._settings.url:
            headers = {"authorization": f"Bearer {self._secret(self._settings.token)}"} if self._settings.token else {}
            _post(self._settings.url, msgspec.json.encode(made), headers, self._settings.timeout)


def _post(url: str, body: bytes, headers: dict[str, str], timeout: float) -> None:
    from couler_py.events.posting import post  # most runs send nothing

    post(url, body, headers, timeout)


def shown(url: str) -> str:
    """An address without what may be secret in it: names, passwords, what is asked for.

    >>> shown("https://user:key@hooks.example.com/services/T0/B1?token=x")
    'https://hooks.example.com/…'
    """
    parts = urlsplit(url)
    if not parts.netloc:
        return url.partition("?")[0]
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{'/…' if parts.path.strip('/') or parts.query else ''}"
