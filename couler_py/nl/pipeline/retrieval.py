"""What of the lake goes into a prompt: for each step the entries that fit it, as lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from couler_py.nl.lake.entries import Found
from couler_py.nl.lake.looking import all_entries
from couler_py.nl.lake.ranking import search
from couler_py.nl.pipeline.options import Options
from couler_py.nl.pipeline.shapes import Module
from couler_py.nl.privacy import clean

OWN = 20
"""Entries of the user's own that may be sent for one description; they are named before the first call."""

EACH, MOST = 1, 8
LONGEST = 1200
"""Entries for a step and in one prompt, and characters of an entry that is sent with its source."""


def candidates(text: str, options: Options) -> tuple[Found, ...]:
    """The steps that may be shown for a description: of the user's own those that fit it, and all that are shipped."""
    steps = [each for each in all_entries(options.lake) if each.entry.kind == "step"]
    own = search(text, [each for each in steps if each.own], OWN, options.embeddings)
    return (*own, *(each for each in steps if not each.own))


def known_for(steps: Sequence[Module], found: Sequence[Found], embeddings: Any = None) -> tuple[Found, ...]:
    """The entries that fit steps of a plan, each once; a user's own go before shipped ones that fit as well."""
    chosen: dict[str, Found] = {}
    for step in steps:
        query = f"{step.name} {step.does}"
        own = search(query, [each for each in found if each.own], EACH, embeddings)
        for each in own or search(query, found, EACH, embeddings):
            chosen.setdefault(each.entry.key, each)
    return tuple(chosen.values())[:MOST]


def shown(found: Found, *, source: bool) -> str:
    """An entry as it stands in a prompt."""
    line = found.entry.line()
    if source and found.entry.pieces:
        return f"{line}\n{clean(found.entry.pieces[-1]).text[:LONGEST]}"
    return line
