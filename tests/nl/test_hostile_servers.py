"""A server that redirects, babbles, breaks the protocol or says keys back: an error that says so, and nothing more."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from couler_py.nl.calls import Calls, Limits
from couler_py.nl.models import ModelError, model_of
from tests.nl.protocol import Refuses, Says, serving

KEY = "open-sesame-0042"
QUICK = Limits(backoff=0.001, call=20.0, total=40.0)


@contextmanager
def raw(answer: bytes) -> Iterator[tuple[str, list[bytes]]]:
    """A server that says these bytes to whoever comes, whatever is asked, and keeps what it was sent."""
    came: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    came.append(connection.recv(65536))
                    connection.sendall(answer)

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1", came
        server.shutdown(socket.SHUT_RDWR)


def whole(body: bytes, status: str = "200 OK", headers: str = "") -> bytes:
    return f"HTTP/1.1 {status}\r\n{headers}Content-Length: {len(body)}\r\n\r\n".encode() + body


def test_the_key_goes_to_no_server_that_the_first_one_names(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COULER_MODEL_KEY", KEY)
    listing = whole(b'{"data": [{"id": "thief"}]}')
    with raw(listing) as (other, came), raw(whole(b"", "302 Found", f"Location: {other}/models\r\n")) as (url, _):
        with pytest.raises(ModelError, match="answers 302"):
            model_of(url)
        assert came == []


def test_the_text_goes_to_no_server_that_the_first_one_names():
    with (
        serving(Says("{}")) as other,
        serving(Refuses(307, headers={"Location": f"{other.url}/chat/completions"})) as server,
        pytest.raises(ModelError, match="refuses"),
    ):
        Calls(model_of(server.url), QUICK).ask("be brief", "plan", {}, name="plan")
    assert other.requests == []


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"\x00\xff nothing of HTTP\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{",
        whole(b"[" * 100_000),
        whole(b'{"data": ' + b" " * 1_000_000),
        whole(b'{"data": [{"id": "a\\u001b[31m"}]}'),
        whole(b'{"data": [{"id": "' + b"a" * 300 + b'"}]}'),
        whole(b'{"data": [{"id": null}]}'),
        whole(b"nobody", f"401 the key {KEY} is wrong"),
    ],
    ids=["nothing", "noise", "cut", "deep", "long", "control", "long name", "no name", "key"],
)
def test_a_list_of_models_that_is_none_is_an_error_that_names_the_server(
    answer: bytes, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COULER_MODEL_KEY", KEY)
    with raw(answer) as (url, _), pytest.raises(ModelError, match=url) as caught:
        model_of(url)
    assert KEY not in str(caught.value)


def test_no_piece_of_a_key_is_left_where_an_error_is_cut(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COULER_MODEL_KEY", KEY)
    for long in range(200, 300, 5):
        with serving(Refuses(403, "x " * (long // 2) + KEY)) as server, pytest.raises(ModelError) as caught:
            Calls(model_of(f"m@{server.url}"), QUICK).ask("be brief", "plan", {}, name="plan")
        assert KEY[:6] not in str(caught.value)


def test_a_reply_that_says_the_key_back_is_read_without_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COULER_MODEL_KEY", KEY)
    with serving(Says(f'{{"a": "{KEY}"}}')) as server:
        reply = Calls(model_of(server.url), QUICK).ask("be brief", "plan", {}, name="plan")
    assert reply.text == '{"a": "***"}'


def test_a_proxy_of_openais_own_variable_is_used(monkeypatch: pytest.MonkeyPatch):
    with raw(whole(b"")) as (proxy, came):
        monkeypatch.setenv("OPENAI_PROXY", proxy.removesuffix("/v1"))
        with pytest.raises(ModelError):
            Calls(model_of("m@http://models.invalid/v1"), QUICK).ask("be brief", "plan", {}, name="plan")
    assert came[0].startswith(b"POST http://models.invalid/v1/chat/completions")
