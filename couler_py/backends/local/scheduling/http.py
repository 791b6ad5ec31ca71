"""A request made by the engine itself."""

from __future__ import annotations

import asyncio
import http.client
import ssl
import urllib.error
import urllib.request

from couler_py.backends.local.context import VALUE_LIMIT, Call, Context
from couler_py.backends.local.imported.scope import ImportedScope
from couler_py.backends.local.scope import TaskFailure
from couler_py.ir.model import Http
from couler_py.ir.storage import SecretRef
from couler_py.store import runs
from couler_py.store.records import Result
from couler_py.store.secrets import SecretNotFoundError, read_key

DEFAULT_TIMEOUT = 30.0  # seconds; Argo's own (workflow/executor/http)


async def run(context: Context, made: Call, body: Http) -> Result:
    """Make the request. A status outside 200–299 is a failure; the output `result` is the answer's text."""
    await context.gate.enter()
    context.journal.began(made.path)
    scope = context.scope(made)
    try:
        headers = {
            name: read_key(context.home, value.name, value.key) if isinstance(value, SecretRef) else scope.text(value)
            for name, value in body.headers
        }
    except SecretNotFoundError as error:
        raise TaskFailure(str(error)) from None
    url = scope.text(body.url)
    if not url.startswith(("http://", "https://")):
        raise TaskFailure(f"{url!r} is no address of HTTP")
    content = scope.text(body.body).encode()
    request = urllib.request.Request(url, data=content or None, headers=headers, method=body.method)  # noqa: S310
    context.journal.event("note", made.path, text=f"{body.method} {url}")
    began = runs.now()
    status, text = await asyncio.to_thread(_send, request, body.timeout or DEFAULT_TIMEOUT, body.insecure)
    context.journal.event("note", made.path, text=f"answered {status} after {runs.now() - began:.1f} s")
    if isinstance(scope, ImportedScope) and body.success_condition:
        if not scope.answered(body.success_condition, status, text):
            return Result("Failed", message=f"{url} answered {status}, and {body.success_condition} is false")
    elif not 200 <= status < 300:
        raise TaskFailure(f"{url} answered {status}: {text[:500]}")
    names = [output.name for output in made.template.outputs.parameters]
    return Result("Succeeded", dict.fromkeys(names, text))


def _send(request: urllib.request.Request, timeout: float, insecure: bool) -> tuple[int, str]:
    context = ssl.create_default_context()
    if insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    try:
        with urllib.request.urlopen(request, timeout=timeout, context=context) as answer:  # noqa: S310
            return answer.status, _text(answer.read(VALUE_LIMIT + 1))
    except urllib.error.HTTPError as error:
        return error.code, _text(error.read(VALUE_LIMIT))
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise TaskFailure(f"{request.full_url} can't be reached: {error}") from None


def _text(data: bytes) -> str:
    if len(data) > VALUE_LIMIT:
        raise TaskFailure(
            f"the answer is longer than the {VALUE_LIMIT} bytes that a value can have: fetch it in a step"
        )
    return data.decode("utf-8", "replace")
