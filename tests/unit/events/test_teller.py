"""Events reach their places whole and in order; no place can hold a run up, fail it, or lose what it doesn't take."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from couler_py.events.model import Event, identity
from couler_py.events.outbox import Outbox
from couler_py.events.places import Hook, JsonLines, UnreachableError, shown, signature
from couler_py.events.teller import Left, Teller, deliver, left
from couler_py.settings import Webhook


class Receiver:
    """A server that keeps what it is sent. `answers` are the status codes of its next answers, then 204."""

    def __init__(self) -> None:
        self.requests: list[tuple[dict[str, str], bytes]] = []
        self.answers: list[int] = []
        self.arrived = threading.Semaphore(0)
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                outer.requests.append(({key.lower(): value for key, value in self.headers.items()}, body))
                code = outer.answers.pop(0) if outer.answers else 204
                self.send_response(code)
                if code == 302:
                    self.send_header("location", outer.url + "/elsewhere")
                self.send_header("content-length", "0")
                self.end_headers()
                outer.arrived.release()

            def log_message(self, *_: object) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    @property
    def ids(self) -> list[str]:
        return [json.loads(body)["id"] for _, body in self.requests]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.server.shutdown()
    made.server.server_close()


def event(number: int, kind: str = "started", task: str = "a") -> Event:
    return Event(f"id-{number}", float(number), kind, "run-x", "flow", task)  # type: ignore[arg-type]


def secret(name: str) -> str:
    return {"hook/key": "hush", "hook/whsec": "whsec_" + base64.b64encode(b"bytes").decode()}[name]


def told(outbox: Outbox, *places: object, events: int = 5) -> tuple[Left, ...]:
    teller = Teller(outbox, places)  # type: ignore[arg-type]
    for number in range(events):
        teller.tell(event(number))
    return teller.close(patience=60)


def test_events_reach_files_and_webhooks_in_order(tmp_path: Path, receiver: Receiver) -> None:
    file = tmp_path / "events.jsonl"
    assert told(Outbox(tmp_path / "o"), JsonLines(str(file)), Hook(Webhook(url=receiver.url), secret)) == ()
    expected = [f"id-{number}" for number in range(5)]
    assert [json.loads(line)["id"] for line in file.read_text().splitlines()] == expected
    assert receiver.ids == expected


def test_a_webhook_is_signed_as_the_standard_says(tmp_path: Path, receiver: Receiver) -> None:
    told(Outbox(tmp_path / "o"), Hook(Webhook(url=receiver.url, secret="hook/key"), secret), events=1)
    [(headers, body)] = receiver.requests
    signed = f"id-0.{headers['webhook-timestamp']}.".encode() + body
    expected = base64.b64encode(hmac.new(b"hush", signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{expected}"
    assert headers["webhook-id"] == "id-0"
    assert headers["content-type"] == "application/json"
    assert json.loads(body) == {
        "id": "id-0",
        "time": "1970-01-01T00:00:00.000Z",
        "kind": "started",
        "run": "run-x",
        "workflow": "flow",
        "task": "a",
    }


def test_the_example_of_the_standard_is_signed_alike() -> None:
    # https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
    secret_ = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    found = signature(secret_, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", b'{"test": 2432232314}')
    assert found == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_only_what_is_asked_for_is_sent(tmp_path: Path, receiver: Receiver) -> None:
    outbox = Outbox(tmp_path / "o")
    outbox.add([event(0), event(1, "failed"), event(2, "failed", "")])
    hook = Hook(Webhook(url=receiver.url, only=("failed",), tasks=False), secret)
    assert deliver(outbox, hook, 0, {}) == 3
    assert receiver.ids == ["id-2"]


def test_a_place_that_fails_for_a_moment_is_asked_again(
    tmp_path: Path, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("couler_py.events.teller.FIRST_WAIT", 0.01)
    receiver.answers = [503, 429]
    teller = Teller(Outbox(tmp_path / "o"), [Hook(Webhook(url=receiver.url), secret)])
    teller.tell(event(0))
    assert all(receiver.arrived.acquire(timeout=60) for _ in range(3))
    assert teller.close(patience=60) == ()
    assert receiver.ids == ["id-0"] * 3


@pytest.mark.parametrize("code", [400, 401, 302])
def test_an_event_that_is_refused_is_noted_and_the_next_one_sent(tmp_path: Path, receiver: Receiver, code: int) -> None:
    receiver.answers = [code]
    outbox = Outbox(tmp_path / "o")
    assert told(outbox, Hook(Webhook(url=receiver.url), secret), events=2) == (
        Left(receiver.url, 0, 1, f"{receiver.url} answered {code}"),
    )
    assert receiver.ids == ["id-0", "id-1"]


def test_what_can_not_be_delivered_waits_and_is_delivered_later(tmp_path: Path, receiver: Receiver) -> None:
    outbox = Outbox(tmp_path / "o")
    hook = Hook(Webhook(url=receiver.url), secret)
    receiver.server.shutdown()
    receiver.server.server_close()
    [undone] = told(outbox, hook)
    assert (undone.place, undone.waiting, undone.refused) == (receiver.url, 5, 0)
    again = Receiver()
    hook._settings = Webhook(url=again.url)
    reopened = Outbox(tmp_path / "o")
    assert deliver(reopened, hook, reopened.delivered(hook.name), {}) == 5
    assert left(reopened, [hook]) == ()
    assert again.ids == [f"id-{number}" for number in range(5)]
    again.server.shutdown()


def test_a_place_that_never_answers_holds_nothing_up(tmp_path: Path) -> None:
    waiting = HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)  # takes connections, reads nothing
    url = f"http://127.0.0.1:{waiting.server_port}"
    teller = Teller(Outbox(tmp_path / "o"), [Hook(Webhook(url=url, timeout=60.0), secret)])
    for number in range(1000):
        teller.tell(event(number))
    [undone] = teller.close(patience=0.1)
    assert undone.waiting == 1000
    waiting.server_close()


@pytest.mark.parametrize(
    "said", [b"garbage\r\n\r\n", b"HTTP/1.1 2x4 no\r\n\r\n", b"HTTP/1.1 200 " + b"x" * 70_000, b""]
)
def test_a_place_that_answers_what_is_no_http_is_asked_again(said: bytes, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            channel, _ = server.accept()
            with channel:
                channel.recv(1 << 16)
                channel.sendall(said)

        threading.Thread(target=answer, daemon=True).start()
        outbox = Outbox(tmp_path / "o")
        outbox.add([event(0)])
        hook = Hook(Webhook(url=f"http://127.0.0.1:{server.getsockname()[1]}"), secret)
        with pytest.raises(UnreachableError, match=r"^http://127.0.0.1:\d+: ."):
            deliver(outbox, hook, 0, {})


def test_an_event_is_kept_and_delivered_once_whoever_tells_it(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    for _ in range(3):  # engines one after the other
        told(Outbox(tmp_path / "o"), JsonLines(str(file)), events=4)
    assert len(file.read_text().splitlines()) == 4


def test_half_a_line_of_an_engine_that_was_killed_is_left_out(tmp_path: Path) -> None:
    outbox = Outbox(tmp_path / "o")
    outbox.add([event(0), event(1)])
    log = tmp_path / "o" / "all.jsonl"
    os.truncate(log, log.stat().st_size - 5)
    again = Outbox(tmp_path / "o")
    assert [each.id for each in again.events] == ["id-0"]
    again.add([event(1)])
    assert [each.id for each in Outbox(tmp_path / "o").events] == ["id-0", "id-1"]


def test_a_secret_that_is_missing_is_said_and_ends_nothing(tmp_path: Path, receiver: Receiver) -> None:
    from couler_py.store.secrets import SecretNotFoundError

    def missing(name: str) -> str:
        raise SecretNotFoundError(f"there is no secret {name!r}")

    hook = Hook(Webhook(url=receiver.url, secret="a/b"), missing)
    assert told(Outbox(tmp_path / "o"), hook, events=1) == (Left(receiver.url, 0, 1, "there is no secret 'a/b'"),)
    assert receiver.requests == []


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://x/y"])
def test_only_http_is_spoken(tmp_path: Path, url: str) -> None:
    [undone] = told(Outbox(tmp_path / "o"), Hook(Webhook(url=url), secret), events=1)
    assert "is no http or https address" in undone.reason


def test_an_address_is_shown_without_its_secrets() -> None:
    assert shown("https://me:pass@hooks.example.com/services/T0/secret?x=1") == "https://hooks.example.com/…"
    assert shown("https://hooks.example.com") == "https://hooks.example.com"


def test_ids_are_stable_and_apart() -> None:
    assert identity("r", "a", "failed", 1) == identity("r", "a", "failed", 1)
    assert len({identity("r", "a", kind, ends) for kind in ("started", "failed") for ends in (0, 1)}) == 4
