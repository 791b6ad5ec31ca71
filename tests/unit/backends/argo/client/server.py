"""A real HTTP server that answers by a script, and a client of it whose waiting is written down instead of done."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from argo_workflows import ApiClient, Configuration

from couler_py.backends.argo.client.words import WORDS
from couler_py.backends.rest.http import Http
from couler_py.backends.rest.pacing import Pacing

TOKEN = "canary-3f9c7a1e5b"


@dataclass
class Answer:
    """One answer. `length` is what the header claims, where that isn't the truth; `cut` closes without an answer."""

    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)
    length: int | None = None
    cut: bool = False


@dataclass
class Seen:
    """A request as it arrived."""

    method: str
    path: str
    body: bytes
    headers: dict[str, str]


class Scripted:
    """Answers in order; the last one again and again."""

    def __init__(self, answers: list[Answer]):
        self.answers = answers
        self.seen: list[Seen] = []
        self.slept: list[float] = []

    @property
    def methods(self) -> list[str]:
        return [each.method for each in self.seen]

    def http(self, url: str, **more: Any) -> Http:
        configuration = Configuration(host=url)
        configuration.api_key = {"BearerToken": f"Bearer {TOKEN}"}
        pacing = Pacing(attempts=4, sleep=self.slept.append, draw=lambda low, high: high)
        return Http(ApiClient(configuration), "the server", more.pop("words", WORDS), pacing=pacing, **more)


@contextmanager
def scripted(*answers: Answer, **more: Any) -> Iterator[tuple[Http, Scripted]]:
    """A server that gives these answers, and a client of it."""
    script = Scripted(list(answers))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(script))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield script.http(f"http://127.0.0.1:{server.server_address[1]}", **more), script
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def handler(script: Scripted) -> Callable[..., BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            script.seen.append(Seen(self.command, self.path, body, dict(self.headers)))
            given = script.answers.pop(0) if len(script.answers) > 1 else script.answers[0]
            if given.cut:
                self.close_connection = True
                return
            self.send_response(given.status)
            for name, value in given.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(given.body) if given.length is None else given.length))
            self.end_headers()
            self.wfile.write(given.body)
            if given.length is not None:
                self.close_connection = True

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

        def log_message(self, *_: Any) -> None:
            pass

    return Handler
