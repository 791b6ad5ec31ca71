"""A server that speaks the protocol of OpenAI's chat completions, and answers by a script, right or wrong."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Says:
    """A streamed reply. `cut` ends it by the limit on tokens, `breaks` by closing the connection in the middle."""

    text: str
    cut: bool = False
    breaks: bool = False
    counts: bool = True
    stalls: bool = False  # it says the first part, and then nothing more


@dataclass
class Refuses:
    """An error by its status, with headers."""

    status: int
    message: str = "no"
    headers: dict[str, str] = field(default_factory=dict)
    code: str | None = None


class Server:
    """`script` is used up from the front; its last answer stays. `requests` are the bodies that came."""

    def __init__(self, script: Sequence[Says | Refuses]):
        self.script = list(script)
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.gone = threading.Event()
        self.url = ""

    def next(self) -> Says | Refuses:
        return self.script.pop(0) if len(self.script) > 1 else self.script[0]


@contextmanager
def serving(*script: Says | Refuses) -> Iterator[Server]:
    state = Server(script)
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), _handler(state))
    httpd.daemon_threads = True
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    state.url = f"http://127.0.0.1:{httpd.server_address[1]}/v1"
    try:
        yield state
    finally:
        state.gone.set()
        httpd.shutdown()
        httpd.server_close()


def _handler(state: Server) -> Callable[..., BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: Any) -> None:
            pass

        def do_GET(self) -> None:
            self._whole(200, {"data": [{"id": "scripted"}]})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.requests.append(body)
            state.keys.append(self.headers.get("Authorization", ""))
            answer = state.next()
            if isinstance(answer, Refuses):
                error = {"message": answer.message, "code": answer.code, "type": None, "param": None}
                self._whole(answer.status, {"error": error}, answer.headers)
            else:
                self._stream(answer)

        def _whole(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def _stream(self, answer: Says) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            middle = len(answer.text) // 2
            self._part({"role": "assistant", "content": answer.text[:middle]})
            if answer.breaks:
                self.close_connection = True
                return
            if answer.stalls:
                state.gone.wait(60)
                self.close_connection = True
                return
            self._part({"content": answer.text[middle:]})
            self._part({}, "length" if answer.cut else "stop")
            if answer.counts:
                self._event(
                    {"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}}
                )
            self._chunk(b"data: [DONE]\n\n")
            self._chunk(b"")

        def _part(self, delta: dict[str, Any], reason: str | None = None) -> None:
            self._event({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})

        def _event(self, value: dict[str, Any]) -> None:
            whole = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "scripted", **value}
            self._chunk(b"data: " + json.dumps(whole).encode() + b"\n\n")

        def _chunk(self, data: bytes) -> None:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()

    return Handler
