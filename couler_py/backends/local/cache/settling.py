"""Which cached outputs stay when a run has ended: the policy of the settings, held to their budget.

While a run goes on nothing is let go. What is let go afterwards is forgotten by the cache alone: a file stays as long
as a run refers to it, so no task that was given a result loses it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence

from couler_py.passes.cache.forecast import expected
from couler_py.passes.cache.policies import POLICIES
from couler_py.passes.cache.shelf import Kept, Shelf
from couler_py.passes.cache.trace import Artifact
from couler_py.settings import Settings, size_of
from couler_py.store import cache
from couler_py.store.cache import Entry
from couler_py.store.database import transaction
from couler_py.store.traces import Traced, recent, traced

RUNS = 30
"""So many of the newest runs say what the next one will ask for."""


def settle(connection: sqlite3.Connection, settings: Settings, run: str) -> list[Entry]:
    """Let go what the budget has no room for, now that a run has ended. Gives what went."""
    policy, budget = settings.cache.policy, settings.cache.budget
    if policy == "all" or (policy != "none" and not budget):
        return []
    with transaction(connection):
        entries = cache.entries(connection)
        if policy != "none" and sum(each.size for each in entries) <= size_of(budget):
            return []
        seen = traced(connection, recent(connection, RUNS))
        asked = {key for (key,) in connection.execute("SELECT key FROM lookups WHERE run=?", (run,))}
        gone = _chosen(connection, entries, seen, policy, size_of(budget or "0"), run, asked)
        cache.forget(connection, [each.key for each in gone])
    return gone


def surplus(connection: sqlite3.Connection, budget: int, policy: str) -> list[Entry]:
    """The cached outputs that a budget in bytes has no room for, by a policy. Forgets nothing."""
    entries = cache.entries(connection)
    if policy == "all" or sum(each.size for each in entries) <= budget:
        return []
    return _chosen(None, entries, traced(connection, recent(connection, RUNS)), policy, budget, "", ())


def _chosen(
    connection: sqlite3.Connection | None,
    entries: Sequence[Entry],
    seen: Traced,
    name: str,
    budget: int,
    run: str,
    asked: Collection[str],
) -> list[Entry]:
    """What a policy lets go; with a connection, what it wants to remember is written."""
    policy = POLICIES[name]()
    artifacts = seen.artifacts | {each.key: _artifact(each, seen) for each in entries}
    kept = {each.key: Kept(artifacts[each.key], each.created, each.used, each.hits + 1, each.rank) for each in entries}
    made = [each.key for each in sorted(entries, key=lambda each: (each.created, each.key)) if each.run == run]
    held = {key: each for key, each in kept.items() if key not in set(made)}
    if sum(each.artifact.size for each in held.values()) > budget:  # less room than there was: all are looked at anew
        made, held = sorted(kept, key=lambda key: (kept[key].used, key)), {}
    shelf = Shelf(budget, held, artifacts, expected(artifacts, seen.runs))
    if connection is not None:
        shelf.age = cache.age(connection, name)
        for key in sorted(held.keys() & set(asked), key=lambda key: (kept[key].used, key)):
            policy.used(shelf, kept[key])
    policy.offered(shelf, [kept[key] for key in made])
    if connection is not None:
        changed = {each.key: kept[each.key].rank for each in entries if kept[each.key].rank != each.rank}
        cache.ranked(connection, changed)
        cache.aged(connection, name, shelf.age)
    return [each for each in entries if each.key not in shelf.held]


def _artifact(entry: Entry, seen: Traced) -> Artifact:
    known = seen.artifacts.get(entry.key)
    inputs, step = (known.inputs, known.step) if known is not None else ((), entry.step)
    return Artifact(entry.key, entry.size, entry.seconds or (known.seconds if known is not None else 0.0), inputs, step)
