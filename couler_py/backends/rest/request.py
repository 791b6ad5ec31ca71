"""One call of an API as data, so that it can be sent, sent again, or only shown."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias
from urllib.parse import quote, urlencode

import msgspec

JSON: TypeAlias = dict[str, Any]
Method: TypeAlias = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
HIDDEN = "***"

MERGE_PATCH = "application/merge-patch+json"


class Request(msgspec.Struct, frozen=True):
    """A call. `what` says in words what it does, for errors.

    `again` is whether sending it twice comes to the same as sending it once. `rehearsal` is the same call as its server
    tries it without doing it; None where the server has no such thing.
    """

    method: Method
    path: str
    what: str
    query: tuple[tuple[str, str], ...] = ()
    body: JSON | None = None
    content: str = "application/json"
    again: bool = False
    rehearsal: Request | None = None

    @property
    def changes(self) -> bool:
        """Whether it changes anything."""
        return self.method != "GET"

    @property
    def target(self) -> str:
        """Path and query."""
        return f"{self.path}?{urlencode(self.query)}" if self.query else self.path

    def shown(self) -> JSON:
        """The call for people and tools, the data of secrets hidden."""
        found: JSON = {"method": self.method, "path": self.target, "what": self.what}
        if self.body is not None:
            found["body"] = hidden(self.body)
        return found


def segment(text: str) -> str:
    """A name as one segment of a path."""
    return quote(text, safe="")


def hidden(value: Any) -> Any:
    """A document without the data of secrets in it."""
    if isinstance(value, list):
        return [hidden(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("kind") == "Secret":
        return {
            key: dict.fromkeys(item, HIDDEN) if key in ("data", "stringData") and isinstance(item, dict) else item
            for key, item in value.items()
        }
    return {key: hidden(item) for key, item in value.items()}
