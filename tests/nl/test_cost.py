"""What drafts cost, by a table of prices that the user may write."""

from __future__ import annotations

from pathlib import Path

import pytest

from couler_py.nl.cost import Account, PricesError, own_prices, price_of
from couler_py.nl.models import ModelError, model_of, parse


def test_tokens_of_both_directions_have_their_price():
    account = Account()
    account.add(1_000_000, 500_000, 2.0)
    account.add(0, 0, 1.0)
    cost = account.cost((2.0, 8.0))
    assert (cost.calls, cost.seconds, cost.dollars) == (2, 3.0, 6.0)


def test_a_model_of_this_machine_costs_nothing_and_an_unknown_one_nobody_knows():
    assert price_of("llama", here=True, own={}) == (0.0, 0.0)
    assert price_of("llama", here=False, own={}) is None


def test_a_family_is_no_prefix():
    assert price_of("gpt-4o-mini-2024-07-18", here=False, own={}) == (0.15, 0.6)
    assert price_of("gpt-4o-audio", here=False, own={}) is None


def test_a_file_of_prices_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / "prices.toml"
    file.write_text('"gpt-4.1" = [1, 2]\nours = [0.5, 0.5]\n')
    monkeypatch.setenv("COULER_PRICES", str(file))
    own = own_prices()
    assert price_of("gpt-4.1", here=False, own=own) == (1.0, 2.0)
    assert price_of("ours", here=False, own=own) == (0.5, 0.5)


@pytest.mark.parametrize("text", ["x = ", "m = 1", "m = [1]", "m = [1, -2]", 'm = ["1", 2]', "m = [true, 1]"])
def test_a_file_that_says_something_else_is_named(tmp_path: Path, text: str):
    (tmp_path / "p.toml").write_text(text)
    with pytest.raises(PricesError, match=r"p\.toml"):
        own_prices(tmp_path / "p.toml")
    with pytest.raises(PricesError):
        own_prices(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("gpt-4", "names no model"),
        ("openai:", "which model"),
        ("openai:gpt-4.1", "OPENAI_API_KEY"),
        ("ftp://x/v1", "names no model"),
        ("http://bob:secret@x/v1", "holds no password"),
        ("http:///v1", "no address"),
    ],
)
def test_a_spec_that_names_no_model(spec: str, why: str):
    with pytest.raises(ModelError, match=why) as caught:
        parse(spec, {})
    assert "secret" not in str(caught.value)


def test_an_object_that_is_no_model():
    with pytest.raises(ModelError, match="is no model"):
        model_of(42)  # type: ignore[arg-type]
