"""Engines and their runs, by the names that are typed."""

from __future__ import annotations

from couler_py.backends.base import Client, backend


def client_of(run: str) -> Client:
    """The client of the engine that a run's name says: `ID` is local, `ENGINE:NAMESPACE/NAME` another."""
    name, colon, _ = run.partition(":")
    return backend(name if colon else "local").client()
