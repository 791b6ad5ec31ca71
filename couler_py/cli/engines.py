"""Engines and their runs, by the names that are typed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from couler_py import api
from couler_py.backends.base import Bundle, Client, backend
from couler_py.cli.errors import UsageError
from couler_py.ir.model import Workflow


def compile_for(workflow: Workflow, target: str, options: Mapping[str, Any]) -> Bundle:
    """Compile, with a wrong option said as such. Raises what `couler_py.compile` raises, and `UsageError`."""
    try:
        return api.compile(workflow, to=target, **options)
    except TypeError as error:
        # An engine names itself where it doesn't know an option or a value of one; anything else is a bug.
        if str(error).startswith((f"{target.partition('@')[0]}:", "compile(")):
            raise UsageError(str(error)) from error
        raise


def client_of(run: str) -> Client:
    """The client of the engine that a run's name says: `ID` is local, `ENGINE:NAMESPACE/NAME` another."""
    name, colon, _ = run.partition(":")
    return backend(name if colon else "local").client()
