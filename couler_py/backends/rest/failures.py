"""What goes wrong between us and a server, each said so that a person knows what to do.

None of these texts ever holds a token: what a server answers is shown without it (`Http`).
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

import msgspec

from couler_py.backends.base import EngineUnreachableError
from couler_py.ir.diagnostics import CoulerError

LONGEST = 2000
"""Of what a server says, so many characters are shown."""


class ApiError(CoulerError):
    """An answer that isn't the one hoped for. `status` is the HTTP status (0: none came), `said` the server's words."""

    code = ""

    def __init__(self, message: str, *, status: int = 0, reason: str = "", said: str = "", after: float | None = None):
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.said = said
        self.after = after

    def __reduce__(self) -> Any:
        return (_rebuilt, (type(self), str(self), self.status, self.reason, self.said, self.after))


def _rebuilt(kind: type[ApiError], message: str, status: int, reason: str, said: str, after: float | None) -> ApiError:
    return kind(message, status=status, reason=reason, said=said, after=after)


class NoAnswerError(ApiError, EngineUnreachableError):
    """Nobody answers there. `sent` is whether the call may have arrived all the same."""

    code = "CLR710"
    sent = False


class CutOffError(NoAnswerError):
    """The call was sent, and its answer never came whole."""

    code = "CLR710"
    sent = True


class UntrustedError(ApiError, EngineUnreachableError):
    """The server's certificate isn't signed by anybody we trust."""

    code = "CLR723"


class UnauthorizedError(ApiError, EngineUnreachableError):
    """401: the token is missing, wrong or has run out."""

    code = "CLR711"


class ForbiddenError(ApiError, EngineUnreachableError):
    """403: the account may not do that; the message has the rule that it lacks."""

    code = "CLR712"


class MissingError(ApiError):
    """404: there is no such object, or no such API."""

    code = "CLR713"


class ConflictError(ApiError):
    """409: there is one of this name already, or somebody else changed it meanwhile."""

    code = "CLR714"


class ExpiredError(ApiError):
    """410: the version that we watch from is forgotten. Never shown: whoever watches looks again."""

    code = "CLR716"


class BusyError(ApiError, EngineUnreachableError):
    """429, again and again."""

    code = "CLR715"


class BrokenError(ApiError, EngineUnreachableError):
    """500 and above: the server has a problem of its own."""

    code = "CLR716"


class NotUnderstoodError(ApiError, EngineUnreachableError):
    """The answer isn't what an API says: cut off, or not JSON (a login page, another program's port)."""

    code = "CLR717"


class RefusedError(ApiError):
    """400 or 422: the document or the call is wrong; the message has the server's reason."""

    code = "CLR718"


class UnclearError(ApiError, EngineUnreachableError):
    """The call was cut off and can't be sent again safely: it may have been done."""

    code = "CLR719"


def _nothing(message: str) -> str:
    return ""


class Words(msgspec.Struct, frozen=True):
    """What helps where the servers of an engine refuse.

    An answer with a status among `final` isn't asked for again where something was to be changed. `lets_in` says where
    a token comes from that is accepted; `right` is what to add to a refusal (403), by its message.
    """

    engine: str = ""
    final: tuple[int, ...] = ()
    lets_in: str = ""
    right: Callable[[str], str] = _nothing


class Said(msgspec.Struct, frozen=True):
    """An error's body: Kubernetes says `reason`, the Argo server a gRPC `code`; `details` are Kubernetes'."""

    message: str = ""
    reason: str = ""
    code: int = 0
    details: dict[str, Any] = {}


def read(body: bytes) -> Said:
    """What an error's body says; text that isn't JSON is the message."""
    try:
        found = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return Said(_plain(body.decode("utf-8", "replace").strip())[:LONGEST])
    if not isinstance(found, dict):
        return Said(str(found)[:LONGEST])
    inner = found.get("error")
    if isinstance(inner, dict):  # of a stream
        found = {"code": inner.get("grpc_code", 0), "message": inner.get("message", "")}
    details = found.get("details")
    return Said(
        str(found.get("message") or found.get("error") or _detail(found.get("detail")))[:LONGEST],
        str(found.get("reason") or ""),
        int(found["code"]) if isinstance(found.get("code"), int) else 0,
        details if isinstance(details, dict) else {},
    )


def _plain(text: str) -> str:
    """A text; of a web page, which a proxy answers with, its title."""
    if not text.startswith("<"):
        return text
    title = re.search(r"<title[^>]*>\s*(.*?)\s*</title", text, re.IGNORECASE | re.DOTALL)
    return f"a web page, {html.unescape(title[1])!r}" if title else "a web page"


def _detail(detail: Any) -> str:
    """What FastAPI says: a text, an object with a message, or what is wrong in each place of the call."""
    if isinstance(detail, list):
        places = [each for each in detail if isinstance(each, dict)]
        return "; ".join(f"{'.'.join(map(str, each.get('loc', ())))}: {each.get('msg', '')}" for each in places)
    if isinstance(detail, dict):
        return str(detail.get("message") or detail)
    return str(detail or "")


def failure(status: int, said: Said, call: str, words: Words = Words(), *, after: float | None = None) -> ApiError:
    """The error for a status that isn't a success; `call` is what was asked for and of whom."""
    given: dict[str, Any] = {"status": status, "reason": said.reason, "said": said.message, "after": after}
    shown = f": {said.message}" if said.message else ""
    if status == 401:
        return UnauthorizedError(
            f"{call}: the token isn't accepted (401){shown}{'; ' if words.lets_in else ''}{words.lets_in}", **given
        )
    if status == 403:
        return ForbiddenError(f"{call}: not allowed (403){shown}{words.right(said.message)}", **given)
    if status == 404:
        return MissingError(f"{call}: not found (404){shown}", **given)
    if status == 409:
        return ConflictError(f"{call}: conflict (409){shown}", **given)
    if status == 410:
        return ExpiredError(f"{call}: expired (410){shown}", **given)
    if status == 429:
        return BusyError(f"{call}: too many requests (429), also after waiting{shown}; try again later", **given)
    if status >= 500:
        return BrokenError(f"{call}: the server failed ({status}){shown}", **given)
    if 300 <= status < 400:
        return NotUnderstoodError(
            f"{call}: redirected ({status}) instead of answered; is the URL right, and http or https?", **given
        )
    return RefusedError(f"{call}: refused ({status}){shown}", **given)
