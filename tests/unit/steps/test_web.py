"""Requests to a real server, and what of secrets is sent, followed and said."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from couler_py.steps import http, notify


class Server(ThreadingHTTPServer):
    """Answers by its paths, and remembers what it was asked."""

    asked: list[tuple[str, str, dict[str, str], bytes]]


class Handler(BaseHTTPRequestHandler):
    server: Server

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.asked.append((self.command, self.path, dict(self.headers), body))
        status = {"/moved": 302, "/missing": 404, "/made": 201}.get(self.path.partition("?")[0], 200)
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/found")
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(b'{"answer": 42}' if status != 404 else b"no such thing")

    do_GET = do_POST = answer

    def log_message(self, *words: Any) -> None:
        pass


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.chdir(tmp_path)
    found = Server(("127.0.0.1", 0), Handler)
    found.asked = []
    thread = threading.Thread(target=found.serve_forever, args=(0.01,))
    thread.start()
    yield found
    found.shutdown()
    thread.join()
    found.server_close()


@pytest.fixture
def url(server: Server) -> str:
    return f"http://127.0.0.1:{server.server_address[1]}"


def test_the_answer_is_a_file_with_its_status(server: Server, url: str) -> None:
    found = http(f"{url}/made", "POST", {"name": "é"})
    assert (found.status, found.media, json.loads(found.body.read_text())) == (201, "application/json", {"answer": 42})
    method, path, headers, body = server.asked[0]
    assert (method, path, headers["Content-Type"]) == ("POST", "/made", "application/json")
    assert json.loads(body) == {"name": "é"}


def test_a_text_is_sent_as_it_is(server: Server, url: str) -> None:
    http(url, "POST", "a=1", headers={"Content-Type": "text/plain"})
    assert (server.asked[0][2]["Content-Type"], server.asked[0][3]) == ("text/plain", b"a=1")


def test_another_status_is_an_error_that_names_the_url_without_its_query(url: str, server: Server) -> None:
    with pytest.raises(RuntimeError) as failed:
        http(f"{url}/missing?key=hidden")
    assert str(failed.value) == f"{url}/missing answered 404: no such thing"
    assert http(f"{url}/missing", expect=[404]).status == 404


def test_a_secret_header_is_sent_and_follows_no_redirect(
    server: Server, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_TOKEN", "hidden")
    http(f"{url}/moved", secret_headers={"Authorization": "API_TOKEN"})
    assert [(path, headers.get("Authorization")) for _, path, headers, _ in server.asked] == [
        ("/moved", "hidden"),
        ("/found", None),
    ]


def test_what_is_missing_or_no_url_is_named(url: str) -> None:
    with pytest.raises(ValueError, match=r"no environment variable API_TOKEN.*with_options\(secrets="):
        http(url, secret_headers={"Authorization": "API_TOKEN"})
    with pytest.raises(ValueError, match=r"file:///etc/passwd is no URL of HTTP"):
        http("file:///etc/passwd")


def test_nobody_there_is_an_error_that_names_the_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RuntimeError, match=r"^http://127\.0\.0\.1:9/x can't be reached: .*refused"):
        http("http://127.0.0.1:9/x")


def test_a_webhook_is_told_and_its_url_is_never_said(server: Server, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAT_URL", f"{url}/hidden")
    assert notify("done", url_variable="CHAT_URL", fields={"channel": "ml"}) == 200
    assert json.loads(server.asked[0][3]) == {"text": "done", "channel": "ml"}
    monkeypatch.setenv("CHAT_URL", f"{url}/missing")
    with pytest.raises(RuntimeError) as failed:
        notify("done", url_variable="CHAT_URL", key="content")
    assert str(failed.value) == "the URL in CHAT_URL answered 404: no such thing"
    assert json.loads(server.asked[1][3]) == {"content": "done"}


def test_notify_takes_one_place() -> None:
    with pytest.raises(ValueError, match="either a url or a url_variable"):
        notify("done")
