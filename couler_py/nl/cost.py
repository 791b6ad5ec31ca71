"""What drafts cost: tokens and calls counted as the server counts them, and money by a table of prices.

Prices are US dollars for a million tokens, in and out. `PRICES` are list prices of OpenAI's (openai.com/api/pricing,
read in 2025); a file of one's own (`--prices`, `$COULER_PRICES`: TOML lines as `"gpt-4.1" = [2.0, 8.0]`) goes first.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path

from couler_py.ir.diagnostics import CoulerError
from couler_py.nl.draft import Cost

PRICES: dict[str, tuple[float, float]] = {
    "gpt-4o": (2.5, 10.0),
    "gpt-4o-mini": (0.15, 0.6),
    "gpt-4.1": (2.0, 8.0),
    "gpt-4.1-mini": (0.4, 1.6),
    "gpt-4.1-nano": (0.1, 0.4),
    "gpt-5": (1.25, 10.0),
    "gpt-5-mini": (0.25, 2.0),
    "gpt-5-nano": (0.05, 0.4),
    "o3": (2.0, 8.0),
    "o4-mini": (1.1, 4.4),
}

CHARACTERS = 4
"""Characters of a token where the server doesn't count: OpenAI's rule of thumb for English."""


class PricesError(CoulerError):
    """A file of prices that can't be read, with the place."""


class Account:
    """What the calls of one draft took so far."""

    def __init__(self) -> None:
        self.tokens_in = 0
        self.tokens_out = 0
        self.calls = 0
        self.seconds = 0.0

    def add(self, tokens_in: int, tokens_out: int, seconds: float) -> None:
        """Count a call, also one that failed: what was sent then is counted, for a server may ask for it."""
        self.tokens_in += tokens_in
        self.tokens_out += tokens_out
        self.calls += 1
        self.seconds += seconds

    def cost(self, price: tuple[float, float] | None) -> Cost:
        """All of it, with the money where the price is known."""
        dollars = None
        if price is not None or not self.calls:
            each = price or (0.0, 0.0)
            dollars = (self.tokens_in * each[0] + self.tokens_out * each[1]) / 1_000_000
        return Cost(self.tokens_in, self.tokens_out, self.calls, self.seconds, dollars)


def estimate(text: str) -> int:
    """The tokens of a text, where nobody counted them.

    >>> estimate("load the data")
    4
    """
    return -(-len(text) // CHARACTERS)


def price_of(name: str, *, here: bool, own: Mapping[str, tuple[float, float]]) -> tuple[float, float] | None:
    """The price of a model: a dated name (`gpt-4.1-2025-04-14`) has that of its family.

    A model on this machine costs nothing. None where no price is known.

    >>> price_of("gpt-4.1-2025-04-14", here=False, own={})
    (2.0, 8.0)
    >>> price_of("unheard-of", here=False, own={}) is None
    True
    """
    for table in (own, PRICES):
        fitting = [known for known in table if name == known or name.startswith(f"{known}-")]
        exact = [known for known in fitting if name == known or name.removeprefix(f"{known}-")[:1].isdigit()]
        if exact:
            return table[max(exact, key=len)]
    return (0.0, 0.0) if here else None


def own_prices(path: str | Path | None = None) -> dict[str, tuple[float, float]]:
    """The prices of a user's file: the one given, else `$COULER_PRICES`, else none.

    Raises `PricesError` for a file that isn't there or says something else.
    """
    chosen = path or os.environ.get("COULER_PRICES")
    if not chosen:
        return {}
    file = Path(chosen)
    try:
        table = tomllib.loads(file.read_text())
    except OSError as error:
        raise PricesError(f"{file}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PricesError(f"{file} is no TOML: {error}") from error
    return {name: _pair(value, file, name) for name, value in table.items()}


def _pair(value: object, file: Path, name: str) -> tuple[float, float]:
    if isinstance(value, list) and len(value) == 2 and all(type(each) in (int, float) and each >= 0 for each in value):
        return float(value[0]), float(value[1])
    raise PricesError(f'{file}: "{name}" needs two prices, for a million tokens in and out, as [2.0, 8.0]')
