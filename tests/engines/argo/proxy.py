"""A proxy in front of a real server that makes trouble on demand: the rest goes through untouched."""

from __future__ import annotations

import http.client
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit


@dataclass
class Trouble:
    """What happens to the next `times` requests for which `when` holds (method, path with query).

    With `status` the server isn't asked. `after` asks it and then answers with that status, or with nothing. `cut` ends
    the answer after so many bytes, `quietly` as if it were whole.
    """

    when: Callable[[str, str], bool]
    times: int = 1
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    after: bool = False
    cut: int | None = None
    quietly: bool = False


class Proxy:
    """`troubles` may be changed at any time; `seen` are the requests that arrived, `forwarded` those that went on."""

    def __init__(self, target: str, authority: str | None = None):
        self.target = urlsplit(target)
        self.context = ssl.create_default_context(cafile=authority) if self.target.scheme == "https" else None
        if self.context is not None:
            self.context.check_hostname = False
        self.troubles: list[Trouble] = []
        self.seen: list[tuple[str, str]] = []
        self.forwarded: list[tuple[str, str]] = []
        self.url = ""
        self._lock = threading.Lock()

    def trouble(self, method: str, path: str) -> Trouble | None:
        with self._lock:
            self.seen.append((method, path))
            for each in self.troubles:
                if each.times and each.when(method, path):
                    each.times -= 1
                    return each
        return None

    def connection(self) -> http.client.HTTPConnection:
        host, port = self.target.hostname or "", self.target.port
        if self.context is not None:
            return http.client.HTTPSConnection(host, port, context=self.context, timeout=120)
        return http.client.HTTPConnection(host, port, timeout=120)


@contextmanager
def proxied(target: str, authority: str | None = None) -> Iterator[Proxy]:
    """A proxy of a server, by its URL and the file with whom to trust there."""
    proxy = Proxy(target, authority)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(proxy))
    server.daemon_threads = True
    proxy.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(proxy: Proxy) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            trouble = proxy.trouble(self.command, self.path)
            if trouble is not None and (trouble.status or trouble.cut is None) and not trouble.after:
                self.refuse(trouble)
                return
            response = self.forward(body)
            if trouble is not None and trouble.after:
                response.read()
                self.refuse(trouble)
                return
            self.pass_on(response, trouble)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

        def refuse(self, trouble: Trouble) -> None:
            if not trouble.status:
                return  # the connection ends without an answer
            self.send_response(trouble.status)
            for name, value in trouble.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(trouble.body)

        def forward(self, body: bytes) -> http.client.HTTPResponse:
            proxy.forwarded.append((self.command, self.path))
            connection = proxy.connection()
            kept = {name: value for name, value in self.headers.items() if name not in ("Host", "Connection")}
            connection.request(self.command, self.path, body or None, kept)
            return connection.getresponse()

        def pass_on(self, response: http.client.HTTPResponse, trouble: Trouble | None) -> None:
            self.send_response(response.status)
            length = response.headers.get("Content-Length")
            # HTTP/1.0 to the client: without a length the end of the connection is the end of the answer.
            if trouble is not None and trouble.cut is not None and not trouble.quietly:
                length = "1000000"
            for name, value in response.headers.items():
                if name not in ("Transfer-Encoding", "Connection", "Content-Length"):
                    self.send_header(name, value)
            if length and not (trouble is not None and trouble.quietly):
                self.send_header("Content-Length", length)
            self.end_headers()
            left = trouble.cut if trouble is not None else None
            while left is None or left > 0:
                chunk = response.read1(65536 if left is None else left)
                if not chunk:
                    return
                self.wfile.write(chunk)
                self.wfile.flush()
                left = None if left is None else left - len(chunk)

        def log_message(self, *_: Any) -> None:
            pass

        def handle_one_request(self) -> None:
            try:
                super().handle_one_request()
            except (BrokenPipeError, ConnectionResetError):  # the client had enough
                self.close_connection = True

    return Handler
