"""What goes wrong between us and a cluster, each said so that a person knows what to do.

None of these texts ever holds a token: what a server answers is shown without it (`Http`).
"""

from __future__ import annotations

import re
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
        return Said(body.decode("utf-8", "replace").strip()[:LONGEST])
    if not isinstance(found, dict):
        return Said(str(found)[:LONGEST])
    inner = found.get("error")
    if isinstance(inner, dict):  # of a stream
        found = {"code": inner.get("grpc_code", 0), "message": inner.get("message", "")}
    details = found.get("details")
    return Said(
        str(found.get("message") or found.get("error") or "")[:LONGEST],
        str(found.get("reason") or ""),
        int(found["code"]) if isinstance(found.get("code"), int) else 0,
        details if isinstance(details, dict) else {},
    )


def failure(status: int, said: Said, call: str, *, after: float | None = None) -> ApiError:
    """The error for a status that isn't a success; `call` is what was asked for and of whom."""
    given: dict[str, Any] = {"status": status, "reason": said.reason, "said": said.message, "after": after}
    words = f": {said.message}" if said.message else ""
    if status == 401:
        return UnauthorizedError(
            f"{call}: the token isn't accepted (401){words}; a new one comes from `kubectl create token ACCOUNT`, your "
            "cluster's login, or `argo auth token`, and is given by --token-file, ARGO_TOKEN or the kubeconfig",
            **given,
        )
    if status == 403:
        return ForbiddenError(f"{call}: not allowed (403){words}{_rule(said.message)}", **given)
    if status == 404:
        return MissingError(f"{call}: not found (404){words}", **given)
    if status == 409:
        return ConflictError(f"{call}: conflict (409){words}", **given)
    if status == 410:
        return ExpiredError(f"{call}: expired (410){words}", **given)
    if status == 429:
        return BusyError(f"{call}: too many requests (429), also after waiting{words}; try again later", **given)
    if status >= 500:
        return BrokenError(f"{call}: the server failed ({status}){words}", **given)
    if 300 <= status < 400:
        return NotUnderstoodError(
            f"{call}: redirected ({status}) instead of answered; is the URL right, and http or https?", **given
        )
    return RefusedError(f"{call}: refused ({status}){words}", **given)


_KUBERNETES = re.compile(
    r'cannot (?P<verb>\w+) resource "(?P<resource>[\w./-]+)" in API group "(?P<group>[\w.-]*)"'
    r'(?: in the namespace "(?P<namespace>[\w.-]+)")?'
)
_SERVER = re.compile(r'not allowed to (?P<verb>\w+) (?P<resource>\w+) in namespace "(?P<namespace>[\w.-]*)"')


def _rule(message: str) -> str:
    """The rule that a refusal asks for, as one would write it into a Role; nothing where it doesn't say."""
    found = _KUBERNETES.search(message) or _SERVER.search(message)
    if found is None:
        return ""
    given = found.groupdict()
    group = given.get("group", "argoproj.io")
    where = f"a Role in {given['namespace']}" if given.get("namespace") else "a ClusterRole"
    resource, verb = given["resource"], given["verb"]
    rule = f'{{apiGroups: ["{group}"], resources: [{resource}], verbs: [{verb}]}}'
    return f"; missing in {where}: {rule}{_source(resource, verb)}"


def _source(resource: str, verb: str) -> str:
    """Who prints a rule, or asks for it. What is printed is for submitting and steering, through the Kubernetes API."""
    if resource == "pods":
        return " (through the Argo server, logs list and watch pods with your rights, and retry deletes them)"
    if resource in ("workflows", "pods/log") or verb in ("get", "create", "update", "patch"):
        return " (`couler rbac argo FILE --submitter` prints all that submitting and steering FILE needs)"
    return ""
