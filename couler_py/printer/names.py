"""Identifiers: legal ones made from names of the IR, each given once in its scope."""

from __future__ import annotations

import builtins
import keyword
import re
import unicodedata
from collections.abc import Iterable

RESERVED = frozenset(dir(builtins)) | frozenset(keyword.softkwlist)
"""Names that are never given anew: source after them may mean what they mean everywhere."""


def is_identifier(name: str) -> bool:
    """Whether Python reads the text as one name, and as this one (it normalises what it reads)."""
    return name.isidentifier() and not keyword.iskeyword(name) and unicodedata.normalize("NFKC", name) == name


def identifier(name: str) -> str:
    """A name of Python's like the given text: the text itself where that is one and means nothing else.

    >>> identifier("train-svm"), identifier("map"), identifier("0day")
    ('train_svm', 'map_', 'n_0day')
    """
    found = name
    if not is_identifier(found):
        plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
        found = re.sub(r"[^a-zA-Z0-9]+", "_", plain).strip("_") or "step"
        if found[0].isdigit():
            found = f"n_{found}"
    if found in RESERVED or keyword.iskeyword(found):
        found += "_"
    return found


def camel(name: str) -> str:
    """The name of a class made from any text.

    >>> camel("train-result")
    'TrainResult'
    """
    words = [word for word in re.split(r"[^a-zA-Z0-9]+", identifier(name)) if word]
    return "".join(word[0].upper() + word[1:] for word in words) or "Value"


class Names:
    """The names of one scope, and those of the scopes around it that must not be hidden."""

    def __init__(self, taken: Iterable[str] = (), around: Names | None = None):
        self._taken = set(taken)
        self._around = around
        self._counts: dict[str, int] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._taken or (self._around is not None and name in self._around)

    def take(self, name: str) -> str:
        """Claim exactly this name."""
        self._taken.add(name)
        return name

    def free(self, *wanted: str) -> str:
        """Claim the first of these that is free, else the last with a number."""
        found = [identifier(name) for name in wanted]
        for name in found:
            if name not in self:
                return self.take(name)
        number = self._counts.get(found[-1], 1) + 1
        while f"{found[-1]}_{number}" in self:
            number += 1
        self._counts[found[-1]] = number
        return self.take(f"{found[-1]}_{number}")

    def copy(self) -> Names:
        """The names as they stand."""
        found = Names(self._taken, self._around)
        found._counts = dict(self._counts)
        return found

    def restore(self, before: Names) -> None:
        """Forget what was claimed since `before` was copied."""
        self._taken, self._counts = set(before._taken), dict(before._counts)

    def inner(self) -> Names:
        """The names of a function inside this scope."""
        return Names(around=self)
