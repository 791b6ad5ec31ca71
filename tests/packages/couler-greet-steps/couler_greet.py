"""A step of another package: `from couler_py.steps import greeting`."""

from __future__ import annotations

import couler_py as couler

WORDS = {"en": "hello", "fr": "bonjour"}


def words(language: str) -> str:
    """The greeting of a language."""
    if language not in WORDS:
        raise ValueError(f"there is no greeting in {language!r}, only in {', '.join(WORDS)}")
    return WORDS[language]


@couler.step
def greet(name: str, language: str = "en") -> str:
    """Greet somebody."""
    return f"{words(language)} {name}"
