"""One question to a model over HTTP: what is sent, tried again, cut off, counted, kept and never said."""

from __future__ import annotations

from pathlib import Path

import pytest

from couler_py.nl.calls import Calls, Limits
from couler_py.nl.models import ModelError, model_of
from couler_py.nl.replies import Replies
from tests.nl.protocol import Refuses, Says, serving

SCHEMA = {"type": "object"}
QUICK = Limits(backoff=0.001, call=20.0, total=40.0)


def ask(calls: Calls) -> str:
    return calls.ask("be brief", "plan", SCHEMA, name="plan").text


def test_a_reply_is_streamed_and_its_tokens_are_counted_by_the_server():
    with serving(Says('{"a": 1}')) as server:
        calls = Calls(model_of(server.url), QUICK)
        assert ask(calls) == '{"a": 1}'
    cost = calls.account.cost((1.0, 10.0))
    assert (cost.tokens_in, cost.tokens_out, cost.calls) == (100, 20, 1)
    assert cost.dollars == pytest.approx(300 / 1_000_000)
    assert server.requests[0]["stream"] is True
    assert server.requests[0]["model"] == "scripted"  # the first that the server lists


def test_the_schema_and_a_limit_of_tokens_go_with_the_question():
    with serving(Says("{}")) as server:
        ask(Calls(model_of(server.url), Limits(tokens=77)))
    asked = server.requests[0]["response_format"]
    assert asked == {"type": "json_schema", "json_schema": {"name": "plan", "schema": SCHEMA}}
    assert server.requests[0]["max_tokens"] == 77


def test_a_server_that_knows_no_schemas_is_asked_without():
    with serving(Refuses(400, "response_format is not supported"), Says("{}")) as server:
        assert ask(Calls(model_of(server.url), QUICK)) == "{}"
    assert "response_format" not in server.requests[1]


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503])
def test_what_may_pass_is_tried_again(status: int):
    with serving(Refuses(status), Refuses(status), Says("{}")) as server:
        calls = Calls(model_of(server.url), QUICK)
        assert ask(calls) == "{}"
    assert calls.account.calls == 3


@pytest.mark.parametrize("status", [401, 403, 404])
def test_what_will_not_pass_is_not_tried_again(status: int):
    with serving(Refuses(status)) as server, pytest.raises(ModelError, match="refuses"):
        ask(Calls(model_of(server.url), QUICK))
    assert len(server.requests) == 1


def test_an_account_without_money_is_not_asked_again():
    with serving(Refuses(429, "quota", code="insufficient_quota")) as server, pytest.raises(ModelError, match="quota"):
        ask(Calls(model_of(server.url), QUICK))
    assert len(server.requests) == 1


def test_attempts_have_an_end():
    with serving(Refuses(503)) as server, pytest.raises(ModelError, match="asked 4 times"):
        ask(Calls(model_of(server.url), QUICK))
    assert len(server.requests) == 4


def test_a_server_may_ask_for_a_pause():
    heard: list[str] = []
    with serving(Refuses(429, headers={"Retry-After": "0.05"}), Says("{}")) as server:
        assert ask(Calls(model_of(server.url), QUICK, said=heard.append)) == "{}"
    assert any(text.startswith("again in 0 s") for text in heard)


def test_a_pause_longer_than_allowed_is_an_error():
    with serving(Refuses(429, headers={"Retry-After": "3600"})) as server, pytest.raises(ModelError, match="3600 s"):
        ask(Calls(model_of(server.url), QUICK))
    assert len(server.requests) == 1


def test_a_connection_that_breaks_in_the_middle_is_tried_again():
    with serving(Says('{"a": 1}', breaks=True), Says('{"a": 2}')) as server:
        calls = Calls(model_of(server.url), QUICK)
        assert ask(calls) == '{"a": 2}'
    assert calls.account.calls == 2


def test_a_server_that_falls_silent_is_given_up():
    limits = Limits(silence=30.0, call=0.3, attempts=2, backoff=0.001)
    with serving(Says('{"a": 1}', stalls=True)) as server, pytest.raises(ModelError, match="takes too long"):
        ask(Calls(model_of(server.url), limits))
    assert len(server.requests) == 2


def test_all_calls_together_have_an_end():
    limits = Limits(call=0.3, total=0.5, attempts=50, backoff=0.001)
    with serving(Says("{}", stalls=True)) as server, pytest.raises(ModelError, match=r"within the 0\.5 s"):
        ask(Calls(model_of(server.url), limits))


def test_a_reply_that_its_limit_cut_says_so():
    with serving(Says('{"a": ', cut=True)) as server:
        reply = Calls(model_of(server.url), QUICK).ask("s", "p", SCHEMA, name="x")
    assert reply.cut


def test_a_reply_without_end_is_cut():
    with serving(Says("x" * 10_000)) as server:
        reply = Calls(model_of(server.url), Limits(characters=100)).ask("s", "p", SCHEMA, name="x")
    assert (len(reply.text), reply.cut) == (100, True)


def test_where_nobody_counts_tokens_they_are_estimated():
    with serving(Says("x" * 40, counts=False)) as server:
        calls = Calls(model_of(server.url), QUICK)
        calls.ask("s" * 40, "p" * 40, SCHEMA, name="x")
    cost = calls.account.cost(None)
    assert (cost.tokens_in, cost.tokens_out, cost.dollars) == (20, 10, None)


def test_nobody_there():
    with serving(Says("{}")) as server:
        model = model_of(f"m@{server.url}")
    with pytest.raises(ModelError, match="doesn't answer, asked 4 times"):
        ask(Calls(model, QUICK))
    with pytest.raises(ModelError, match="doesn't answer"):
        model_of(server.url)


def test_a_kept_reply_costs_nothing(tmp_path: Path):
    with serving(Says("{}"), Says("other")) as server:
        first = Calls(model_of(server.url), QUICK, Replies(tmp_path))
        first.keep(first.ask("s", "p", SCHEMA, name="x"))
        again = Calls(model_of(server.url), QUICK, Replies(tmp_path))
        assert again.ask("s", "p", SCHEMA, name="x").text == "{}"
        assert again.account.cost((1.0, 1.0)).calls == 0
        assert again.ask("s", "another", SCHEMA, name="x").text == "other"


def test_the_key_is_sent_and_never_said(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "kq-very-private")
    with serving(Refuses(401, "Incorrect API key provided: kq-very-private")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        model = model_of("openai:gpt-4.1-mini")
        with pytest.raises(ModelError) as caught:
            ask(Calls(model, QUICK))
    assert server.keys == ["Bearer kq-very-private"]
    assert "kq-very-private" not in str(caught.value)
    assert "kq-very-private" not in repr(model)


def test_another_server_gets_no_key_of_openai(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "kq-very-private")
    with serving(Says("{}")) as server:
        ask(Calls(model_of(server.url), QUICK))
    assert server.keys == ["Bearer none"]
