"""Calls of a server that fails: what is repeated, what isn't, and what is said."""

from __future__ import annotations

import logging
import pickle
import socket
import traceback

import pytest

from couler_py.backends.base import EngineUnreachableError
from couler_py.backends.rest.failures import (
    ApiError,
    BrokenError,
    BusyError,
    ConflictError,
    CutOffError,
    ForbiddenError,
    MissingError,
    NoAnswerError,
    NotUnderstoodError,
    RefusedError,
    UnauthorizedError,
    UnclearError,
    Words,
)
from couler_py.backends.rest.request import Request
from tests.unit.backends.argo.client.server import TOKEN, Answer, Scripted, scripted

READ = Request("GET", "/things", "read things")
MAKE = Request("POST", "/things", "make a thing", body={"kind": "Thing"})
AGAIN = Request("POST", "/things", "make a thing", body={"kind": "Thing"}, again=True)

DOWN = Answer(503, b"down")
CUT = Answer(cut=True)
GOOD = Answer(body=b'{"good": true}')


@pytest.mark.parametrize(
    "failing", [DOWN, Answer(500), Answer(502), Answer(504), CUT, Answer(body=b"<html>")], ids=repr
)
def test_reading_is_repeated_until_it_works(failing: Answer) -> None:
    with scripted(failing, failing, GOOD) as (http, server):
        assert http.call(READ) == {"good": True}
        assert server.methods == ["GET"] * 3


def test_pauses_grow_and_attempts_are_bounded() -> None:
    with scripted(DOWN) as (http, server):
        with pytest.raises(BrokenError, match=r"read things .*failed \(503\): down"):
            http.call(READ)
        assert server.methods == ["GET"] * 4
        assert server.slept == [0.25, 0.5, 1.0]


@pytest.mark.parametrize("failing", [DOWN, CUT], ids=["503", "cut"])
def test_a_change_that_may_be_made_twice_is_repeated(failing: Answer) -> None:
    with scripted(failing, GOOD) as (http, server):
        assert http.call(AGAIN) == {"good": True}
        assert server.methods == ["POST", "POST"]


def test_a_change_that_may_not_be_made_twice_is_sent_once_and_said_to_be_unclear() -> None:
    with scripted(CUT) as (http, server):
        with pytest.raises(UnclearError, match="whether it was done isn't known"):
            http.call(MAKE)
        assert server.methods == ["POST"]


def test_an_answer_that_breaks_off_is_no_answer() -> None:
    with scripted(Answer(body=b'{"good": tr', length=400)) as (http, server):
        with pytest.raises(CutOffError, match="broke off"):
            http.call(READ)
        assert len(server.seen) == 4


def test_a_500_of_a_change_is_final() -> None:
    """The Argo server says 500 of calls that are wrong themselves."""
    with scripted(Answer(500, b'{"code": 2, "message": "no suspend nodes matching"}')) as (http, server):
        with pytest.raises(BrokenError, match="no suspend nodes matching"):
            http.call(AGAIN)
        assert server.methods == ["POST"]


def test_429_waits_as_long_as_the_server_wants_whatever_the_call() -> None:
    busy = Answer(429, b"{}", {"Retry-After": "7"})
    with scripted(busy, busy, GOOD) as (http, server):
        assert http.call(MAKE) == {"good": True}
        assert server.slept == [7.0, 7.0]


def test_429_is_bounded_in_attempts_and_in_patience() -> None:
    with scripted(Answer(429, b"{}", {"Retry-After": "86400"})) as (http, server):
        with pytest.raises(BusyError, match="429"):
            http.call(READ)
        assert server.slept == [60.0, 60.0, 60.0]


def test_retry_after_may_be_a_date() -> None:
    with scripted(Answer(429, b"{}", {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}), GOOD) as (http, server):
        http.call(READ)
        assert server.slept == [0.0]


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, RefusedError),
        (401, UnauthorizedError),
        (403, ForbiddenError),
        (404, MissingError),
        (409, ConflictError),
        (422, RefusedError),
        (302, NotUnderstoodError),
    ],
)
def test_what_another_try_does_not_cure_is_said_at_once(status: int, error: type[ApiError]) -> None:
    with scripted(Answer(status, b'{"message": "because"}', {"Location": "http://127.0.0.1:1/"})) as (http, server):
        with pytest.raises(error) as raised:
            http.call(READ)
        assert raised.value.status == status
        assert len(server.seen) == 1
        assert "read things (GET /things, the server at http://127.0.0.1:" in str(raised.value)


def test_a_refused_connection_is_said_soon() -> None:
    with scripted(GOOD) as (http, server):
        pass
    with pytest.raises(NoAnswerError, match=r"nobody answers: .*refused"):
        http.call(READ)
    assert server.slept == [0.25, 0.5]


def test_a_server_that_speaks_no_tls_is_no_matter_of_trust() -> None:
    with scripted(GOOD) as (http, server):
        encrypted = server.http(http.url.replace("http://", "https://"))
        with pytest.raises(NotUnderstoodError, match=r"no TLS is spoken there; write http://"):
            encrypted.call(READ)


def test_a_silent_server_is_a_time_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        script = Scripted([])
        http = script.http(f"http://127.0.0.1:{silent.getsockname()[1]}", answer=0.05)
        with pytest.raises(CutOffError, match=r"no answer within 0.05 s"):
            http.call(READ)
        assert script.slept == [0.25, 0.5, 1.0]


def test_only_a_change_may_be_answered_with_nothing() -> None:
    with scripted(Answer(body=b"null"), Answer(204, b""), Answer(body=b"")) as (http, _):
        assert http.call(MAKE) == {}
        assert http.call(MAKE) == {}
        with pytest.raises(NotUnderstoodError, match="isn't JSON but empty"):
            http.call(READ)


def test_of_a_web_page_the_title_is_shown() -> None:
    page = b"<!doctype html>\n<html><head><TITLE>502 Bad &amp; Gateway</TITLE></head><body>much</body></html>"
    with (
        scripted(Answer(502, page)) as (http, _),
        pytest.raises(BrokenError, match=r"the server failed \(502\): a web page, '502 Bad & Gateway'$"),
    ):
        http.call(READ)


def test_what_is_no_json_is_shown_as_it_begins() -> None:
    with (
        scripted(Answer(body=b"<html>please log in</html>")) as (http, _),
        pytest.raises(NotUnderstoodError, match="isn't JSON but '<html>please log in</html>'"),
    ):
        http.call(READ)


def test_errors_that_keep_us_out_are_the_engines() -> None:
    assert issubclass(UnauthorizedError, EngineUnreachableError)
    assert issubclass(ForbiddenError, EngineUnreachableError)
    assert not issubclass(RefusedError, EngineUnreachableError)


def test_errors_survive_being_pickled() -> None:
    error = BusyError("later", status=429, reason="TooMany", said="slow down", after=3.0)
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), copy.status, copy.after) == (BusyError, "later", 429, 3.0)


# ---- the token


ECHO = TOKEN.encode()
LEAKS = [
    Answer(401, b'{"message": "bad token Bearer ' + ECHO + b'"}'),
    Answer(403, b"forbidden for " + ECHO),
    Answer(404, b'{"message": "' + ECHO + b'"}'),
    Answer(409, b'{"message": "' + ECHO + b'", "reason": "AlreadyExists"}'),
    Answer(422, b'{"error": "' + ECHO + b'"}'),
    Answer(429, ECHO, {"Retry-After": "0"}),
    Answer(500, ECHO),
    Answer(503, ECHO),
    Answer(302, ECHO, {"Location": f"http://127.0.0.1/{TOKEN}"}),
    Answer(body=ECHO),
    Answer(body=b'{"token": "' + ECHO, length=4000),
    CUT,
]


@pytest.mark.parametrize("answer", LEAKS, ids=lambda answer: f"{answer.status}-{answer.cut}-{answer.length}")
@pytest.mark.parametrize("request_", [READ, MAKE, AGAIN], ids=["read", "make", "again"])
def test_a_token_is_in_no_error_even_where_the_server_repeats_it(
    answer: Answer, request_: Request, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with scripted(answer) as (http, server):
        with pytest.raises(ApiError) as raised:
            http.call(request_)
        assert server.seen[0].headers["Authorization"] == f"Bearer {TOKEN}"
    error = raised.value
    shown = [str(error), repr(error), repr(error.args), error.said, "".join(traceback.format_exception(error))]
    shown += [repr(http), *(record.getMessage() for record in caplog.records)]
    assert [text for text in shown if TOKEN in text] == []


def test_a_token_is_in_no_error_of_a_connection_that_fails() -> None:
    with scripted(Answer(headers={"Connection": "close"})) as (http, _):
        http.call(READ)
    with pytest.raises(NoAnswerError) as raised:
        http.call(READ)
    assert TOKEN not in "".join(traceback.format_exception(raised.value))


# ---- dry runs


def test_a_dry_run_sends_the_rehearsal_and_notes_the_call() -> None:
    rehearsal = Request("POST", "/things", "make a thing", (("dryRun", "All"),), {"kind": "Thing"})
    call = Request("POST", "/things", "make a thing", body={"kind": "Thing"}, rehearsal=rehearsal)
    with scripted(GOOD, rehearse=True) as (http, server):
        http.call(call)
        assert [each.path for each in server.seen] == ["/things?dryRun=All"]
        assert http.planned == [call]


def test_a_dry_run_of_what_cannot_be_rehearsed_sends_nothing() -> None:
    with scripted(GOOD, rehearse=True) as (http, server):
        assert http.call(MAKE) == {}
        assert http.call(READ) == {"good": True}
        assert server.methods == ["GET"]
        assert http.planned == [MAKE]


def test_secrets_are_hidden_where_a_call_is_shown() -> None:
    body = {"kind": "List", "items": [{"kind": "Secret", "data": {"a": "c2VjcmV0"}, "stringData": {"b": "secret"}}]}
    shown = Request("POST", "/secrets", "keep a secret", body=body).shown()
    assert shown["body"]["items"] == [{"kind": "Secret", "data": {"a": "***"}, "stringData": {"b": "***"}}]


def test_a_token_that_is_not_accepted_is_renewed_once_even_for_a_change() -> None:
    asked: list[int] = []
    refused = Answer(401, b'{"detail": "expired"}')
    with scripted(refused, GOOD, renew=lambda: asked.append(1) is None) as (http, server):
        assert http.call(MAKE) == {"good": True}
        assert (server.methods, asked) == (["POST", "POST"], [1])
    with scripted(refused, renew=lambda: asked.append(1) is None) as (http, server):
        with pytest.raises(UnauthorizedError, match=r"\(401\): expired"):
            http.call(READ)
        assert (server.methods, asked) == (["GET", "GET"], [1, 1])
    with scripted(refused, renew=lambda: False) as (http, server):
        with pytest.raises(UnauthorizedError):
            http.call(READ)
        assert server.methods == ["GET"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"detail": "no such DAG"}', "no such DAG"),
        (b'{"detail": [{"loc": ["body", "conf"], "msg": "Field required"}]}', "body.conf: Field required"),
        (b'{"detail": {"message": "has errors"}}', "has errors"),
    ],
)
def test_what_fastapi_says_is_said(body: bytes, said: str) -> None:
    with scripted(Answer(422, body)) as (http, _), pytest.raises(RefusedError, match=rf"refused \(422\): {said}$"):
        http.call(READ)


def test_a_500_is_final_for_changes_only_where_the_engine_means_it_so() -> None:
    with scripted(Answer(500), GOOD, words=Words()) as (http, server):
        assert http.call(AGAIN) == {"good": True}
        assert server.methods == ["POST", "POST"]
    with scripted(Answer(500), GOOD) as (http, server):
        with pytest.raises(BrokenError):
            http.call(AGAIN)
        assert server.methods == ["POST"]
