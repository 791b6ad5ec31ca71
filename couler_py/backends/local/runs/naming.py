"""Which run is meant: by its id, by the beginning of it, or by how long ago it was begun (`@last`, `@2`)."""

from __future__ import annotations

import difflib
import re

from couler_py.backends.base import RunNotFoundError
from couler_py.store.database import connect
from couler_py.store.home import Home

_BACK = re.compile(r"@(last|[1-9][0-9]*)")
NAMED = 5  # so many runs are named where it isn't clear which


def find(home: Home, text: str) -> str:
    """The id of the run that is meant. Raises `RunNotFoundError` where there is none, or not only one.

    `@last`, or `@1`, is the run that was begun last, `@2` the one before.
    """
    connection = connect(home)
    try:
        known = [row[0] for row in connection.execute("SELECT id FROM runs ORDER BY created DESC, id")]
    finally:
        connection.close()
    if text in known:
        return text
    back = _BACK.fullmatch(text)
    if back is not None:
        place = 1 if back[1] == "last" else int(back[1])
        if place > len(known):
            raise RunNotFoundError(f"there is no run {text} in {home.path}: it has {_count(len(known))}")
        return str(known[place - 1])
    begun = [each for each in known if text and each.startswith(text)]
    if len(begun) == 1:
        return str(begun[0])
    if begun:
        more = f" and {len(begun) - NAMED:,} more" if len(begun) > NAMED else ""
        raise RunNotFoundError(f"{text!r} may be {', '.join(begun[:NAMED])}{more}: type more of it")
    near = difflib.get_close_matches(text, known, n=1)
    hint = f"; did you mean {near[0]}?" if near else "; `couler runs` lists them"
    raise RunNotFoundError(f"there is no run {text!r} in {home.path}{hint}")


def _count(number: int) -> str:
    return "none" if number == 0 else "one" if number == 1 else f"{number:,}"
