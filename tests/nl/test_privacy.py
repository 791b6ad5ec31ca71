"""What looks like a secret is taken out of what a model is sent, and counted."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from couler_py.nl.privacy import Sending, clean

SECRETS = {
    "key of OpenAI or Anthropic": "sk-proj-abcdefghijklmnop1234",
    "key of AWS": "AKIAIOSFODNN7EXAMPLE",
    "token of GitHub": "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "token of GitLab": "glpat-abcdefghij1234567890",
    "token of Slack": "xoxb-123456789012-abcdefGHIJ",
    "address of a webhook": "https://hooks.slack.com/services/T00/B00/XXXX",
    "key of Google": "AIzaSyA1234567890abcdefghijklmnopqrstuv",
    "token of Hugging Face": "hf_abcdefghijklmnopqrstuvwx",
    "JSON web token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-def_123",
    "long random text": "9f8A7xQ2mL0pZ4vK6tR1wB3y",
}


@pytest.mark.parametrize(("kind", "secret"), SECRETS.items(), ids=SECRETS.keys())
def test_a_secret_is_removed_by_its_form(kind: str, secret: str):
    found = clean(f"Load the data with {secret}, then train.")
    assert secret not in found.text
    assert found.removed == {kind: 1}
    assert found.text.endswith(", then train.") or kind == "address of a webhook"


@pytest.mark.parametrize(
    "text",
    [
        "the password is hunter2",
        "password: hunter2",
        "PASSWORD=hunter2",
        '{"api_key": "hunter2"}',
        "token = 'hunter2'",
        "Authorization: Bearer hunter2",
        "https://bob:hunter2@example.com/x",
    ],
)
def test_a_secret_is_removed_by_what_stands_before_it(text: str):
    assert "hunter2" not in clean(text).text


def test_a_private_key_is_removed_whole():
    text = "use\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----\nto log in"
    assert clean(text).text == "use\n<secret removed>\nto log in"


@pytest.mark.parametrize(
    "text",
    [
        "Load s3://lake/sales/2026/customers-of-europe.csv every night at 03:00 Europe/Berlin",
        "train logistic_regression_with_regularization and GradientBoostingClassifier",
        "tokenize the texts, then count the tokens: at most 4096",
        "notify https://example.com/api/v1/hooks/deployments on failure",
        "训练一个模型，然后评估它",
    ],
)
def test_ordinary_text_stays(text: str):
    assert clean(text).text == text


@given(st.text(max_size=80), st.sampled_from(sorted(SECRETS.values())))
@settings(max_examples=200)
def test_what_was_cleaned_is_clean(text: str, secret: str):
    once = clean(f"{text} {secret}").text
    assert secret not in once
    assert clean(once).text == once


def test_what_is_sent_is_said():
    said = Sending("m", "http://x/v1", "the prompt", ("house.train",), removed={"password": 1}).said()
    assert "to m at http://x/v1:" in said
    assert "  the prompt" in said
    assert "signatures and docstrings, no source" in said
    assert "house.train" in said
    assert "1 x password" in said
