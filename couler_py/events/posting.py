"""One POST of JSON over HTTP."""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import urlsplit

from couler_py import __version__
from couler_py.events.places import RefusedError, UnreachableError, shown

AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Answers after which the same request may succeed later (RFC 9110; 425 is RFC 8470, 429 RFC 6585)."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    # What is signed, or sent with a token, goes where it was meant to go.
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def post(url: str, body: bytes, headers: dict[str, str], timeout: float) -> None:
    """Send some JSON. Raises `RefusedError` for an answer that won't change, `UnreachableError` for all else."""
    if urlsplit(url).scheme not in ("http", "https"):
        raise RefusedError(f"{shown(url)} is no http or https address")
    whole = {"content-type": "application/json", "user-agent": f"couler-py/{__version__}", **headers}
    request = urllib.request.Request(url, body, whole, method="POST")  # noqa: S310 - the scheme was looked at
    try:
        urllib.request.build_opener(_NoRedirect).open(request, timeout=timeout).close()  # what it says isn't read
    except urllib.error.HTTPError as problem:
        problem.close()
        kind = UnreachableError if problem.code in AGAIN else RefusedError
        raise kind(f"{shown(url)} answered {problem.code}") from None
    except (OSError, ValueError, http.client.HTTPException) as problem:  # the last: what it says is no HTTP
        reason = getattr(problem, "reason", "") or repr(problem)
        raise UnreachableError(f"{shown(url)}: {reason}") from None
