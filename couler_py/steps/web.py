"""Requests of steps to servers: `http` keeps what is answered, `notify` tells a webhook. Standard library alone."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal, NamedTuple

from couler_py import step

Method = Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]


class Answer(NamedTuple):
    """The status of an answer, its media type, and its body as a file."""

    status: int
    media: str
    body: Path


def from_environment(variable: str) -> str:
    """A secret of the step. Raises `ValueError`, naming the variable, where it isn't there."""
    found = os.environ.get(variable, "")
    if not found:
        raise ValueError(
            f"there is no environment variable {variable}; give the step the secret that has it, as "
            f'.with_options(secrets=[couler.secret("web", "{variable}")])'
        )
    return found


def shown(url: str) -> str:
    """A URL without what may be secret in it: user, password, query."""
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}{parts.path}"


def send(
    url: str,
    name: str,
    method: str,
    data: bytes | None,
    headers: dict[str, str],
    secret: dict[str, str],
    timeout: float,
) -> tuple[int, str, Path]:
    """One request, whose secret headers follow no redirect. Raises `RuntimeError`, with the name of the URL."""
    import shutil
    from urllib.error import HTTPError, URLError
    from urllib.request import Request, urlopen

    if not url.startswith(("https://", "http://")):
        raise ValueError(f"{name} is no URL of HTTP: it begins with neither https:// nor http://")
    request = Request(url, data=data, method=method, headers={"User-Agent": "couler", **headers})
    for header, value in secret.items():
        request.add_unredirected_header(header, value)
    path = Path("body")
    try:
        with urlopen(request, timeout=timeout) as answer, path.open("wb") as file:
            shutil.copyfileobj(answer, file)
            return answer.status, answer.headers.get_content_type(), path
    except HTTPError as problem:
        with problem, path.open("wb") as file:
            shutil.copyfileobj(problem, file)
        return problem.code, problem.headers.get_content_type(), path
    except (URLError, OSError) as problem:
        raise RuntimeError(f"{name} can't be reached: {getattr(problem, 'reason', problem)}") from None


def expected(status: int, wanted: list[int] | None, name: str, path: Path) -> None:
    """Raises `RuntimeError`, with the beginning of the answer, for a status that wasn't wanted."""
    if status in wanted if wanted else 200 <= status < 300:
        return
    said = path.read_bytes()[:500].decode("utf-8", "replace").strip()
    raise RuntimeError(f"{name} answered {status}{': ' + said if said else ''}")


@step(effects=["web"])
def http(
    url: str,
    method: Method = "GET",
    body: Any = None,
    headers: dict[str, str] | None = None,
    secret_headers: dict[str, str] | None = None,
    expect: list[int] | None = None,
    timeout: float = 30.0,
) -> Answer:
    """Send one request; the answer's status must be one of `expect`, by default 200 to 299.

    `body` is sent as it is where it is text, else as JSON. `secret_headers` names, for each header, the environment
    variable whose value it gets: a key of a secret of the step. `timeout` is in seconds, between two bytes.

    Raises `ValueError` for a URL of another kind or a variable that isn't there, and `RuntimeError` for a server that
    can't be reached or answers otherwise.

    >>> answer = http("https://example.org/api/runs", "POST", {"name": "nightly"})  # doctest: +SKIP
    >>> ask = http.with_options(secrets=[couler.secret("api", "API_TOKEN")])  # doctest: +SKIP
    >>> answer = ask("https://example.org/api", secret_headers={"Authorization": "API_TOKEN"})  # doctest: +SKIP
    """
    import json

    data = None if body is None else (body if isinstance(body, str) else json.dumps(body)).encode()
    media = {} if body is None or isinstance(body, str) else {"Content-Type": "application/json"}
    secret = {header: from_environment(variable) for header, variable in (secret_headers or {}).items()}
    status, kind, path = send(url, shown(url), method, data, {**media, **(headers or {})}, secret, timeout)
    expected(status, expect, shown(url), path)
    return Answer(status, kind, path)


@step(retries=2, effects=["web"])
def notify(
    text: str,
    url: str = "",
    url_variable: str = "",
    fields: dict[str, Any] | None = None,
    key: str = "text",
    timeout: float = 30.0,
) -> int:
    """Tell a webhook: POST `{"text": …}` as Slack, Mattermost, Google Chat and Teams take it (Discord: key="content").

    The URL of a webhook is mostly a secret: `url_variable` names the environment variable that holds it, and nothing of
    it is ever printed. `fields` are added to the message. Gives the status of the answer.

    Raises `ValueError` where the URL or variable isn't there, and `RuntimeError` where it doesn't take the message.

    >>> tell = notify.with_options(secrets=[couler.secret("chat", "CHAT_URL")])  # doctest: +SKIP
    >>> tell("the model is out", url_variable="CHAT_URL")  # doctest: +SKIP
    """
    import json

    if bool(url) == bool(url_variable):
        raise ValueError("notify takes either a url or a url_variable")
    where = url or from_environment(url_variable)
    name = shown(url) if url else f"the URL in {url_variable}"
    data = json.dumps({key: text, **(fields or {})}).encode()
    status, _, path = send(where, name, "POST", data, {"Content-Type": "application/json"}, {}, timeout)
    expected(status, None, name, path)
    return status
