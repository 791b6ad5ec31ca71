"""A secret is hidden in whatever form programs print it."""

from __future__ import annotations

import base64
import html
import json
import re
import shlex
import subprocess
import urllib.parse

import pytest
from hypothesis import given
from hypothesis import strategies as st

from couler_py.store.masking import SHORTEST, forms, mask

SECRET = "p4ss/w?rd&<'\"\\ü=" * 2
LINES = "-----BEGIN KEY-----\r\n  MIIEpAIBAAKCAQEA7bq\nzPq1+/8=\nab\n-----END KEY-----\n"


def hidden(secret: str, text: str) -> bool:
    return secret not in mask(text, forms(secret)) and "***" in mask(text, forms(secret))


@pytest.mark.parametrize(
    "written",
    [
        SECRET,
        f"-u admin:{SECRET}@host",
        urllib.parse.quote(SECRET),
        urllib.parse.quote(SECRET, safe=""),
        urllib.parse.quote_plus(SECRET),
        re.sub("%..", lambda escape: escape[0].lower(), urllib.parse.quote(SECRET, safe="")),
        json.dumps({"key": SECRET}),
        json.dumps({"key": SECRET}, ensure_ascii=False),
        json.dumps({"log": json.dumps({"key": SECRET})}),
        repr(SECRET),
        repr(SECRET.encode()),
        shlex.quote(SECRET),
        html.escape(SECRET),
        SECRET.encode().hex(),
        base64.b64encode(SECRET.encode()).decode(),
        base64.urlsafe_b64encode(SECRET.encode()).decode(),
    ],
)
def test_a_value_is_hidden_however_it_is_written(written: str) -> None:
    shown = mask(f"before {written} after", forms(SECRET))
    assert shown.startswith("before ")
    assert shown.endswith(" after")
    assert "***" in shown
    assert "p4ss" not in shown
    assert "rd&" not in shown
    assert base64.b64encode(SECRET.encode()[3:-3]).decode()[:-4] not in shown


@given(st.binary(max_size=5), st.text(min_size=SHORTEST, max_size=40), st.binary(max_size=5), st.booleans())
def test_base64_of_a_longer_text_shows_nothing_of_the_secret(
    before: bytes, secret: str, behind: bytes, urlsafe: bool
) -> None:
    encode = base64.urlsafe_b64encode if urlsafe else base64.b64encode
    whole = encode(before + secret.encode() + behind).decode()
    shown = mask(whole, forms(secret))
    kept = len(shown.replace("***", ""))
    around = len(encode(before)) + len(encode(behind)) + 4  # and the characters that mix a byte of it with another
    assert "***" in shown
    assert kept <= around


def test_wrapped_base64_is_hidden_line_by_line() -> None:
    secret = "a long secret, " * 20
    text = subprocess.run(["base64"], input=secret.encode(), capture_output=True, check=True).stdout.decode()
    assert len(text.splitlines()) > 3
    assert set(mask(text, forms(secret)).split()) == {"***"}


def test_every_line_of_a_value_is_hidden_and_short_ones_are_not() -> None:
    text = "MIIEpAIBAAKCAQEA7bq\nab\nzPq1+/8=\n"
    assert mask(text, forms(LINES)) == "***\nab\n***\n"


def test_what_a_shell_makes_of_a_value_is_hidden() -> None:
    # $(cat file) drops the last newline, an unquoted variable joins the words
    assert mask(" ".join(LINES.split("\n")), forms(LINES)).count("***") == 4
    assert mask("x token x", forms("token\n")) == "x *** x"


def test_the_trace_of_a_shell_is_hidden() -> None:
    secret = "it's a 'secret'"
    done = subprocess.run(
        ["sh", "-xc", ': "$S"'], env={"S": secret, "PATH": "/bin:/usr/bin"}, capture_output=True, text=True, check=True
    )
    assert "secret" not in mask(done.stderr, forms(secret))


@pytest.mark.parametrize("secret", ["", "abc", "ü", "\n\n", "ab\ncd\n"[:3]])
def test_what_is_too_short_is_not_hidden(secret: str) -> None:
    assert forms(secret) == []


@given(st.text(alphabet=st.characters(), min_size=SHORTEST, max_size=60))
def test_any_text_has_forms_and_none_is_short(secret: str) -> None:
    found = forms(secret)
    assert found == sorted(found, key=lambda form: (-len(form), form))
    assert all(len(form) >= SHORTEST for form in found)
    if len(secret.strip()) >= SHORTEST and secret.isprintable():
        assert hidden(secret, f"<{secret}>")


def test_a_form_inside_a_longer_one_is_hidden_with_it() -> None:
    assert mask("one two", forms("one two") + forms("two ")) == "***"
