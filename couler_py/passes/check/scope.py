"""What an expression may refer to, by where it stands."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from couler_py.ir.model import Task
from couler_py.ir.types import Type
from couler_py.passes.check.facts import Facts, Signature
from couler_py.passes.check.findings import Findings, Place

ALWAYS_KNOWN = frozenset({"id", "name", "namespace", "scheduled_time", "start"})
IN_STEPS = ALWAYS_KNOWN | {"attempt"}
IN_HANDLERS = ALWAYS_KNOWN | {"status", "failures", "duration"}


class Called(msgspec.Struct, frozen=True):
    """A task as others see it. `signature` is None where what it calls isn't known here."""

    task: Task
    signature: Signature | None
    item: Type | None = None


class Scope(msgspec.Struct):
    """The names that one expression can see.

    None for a group of names means that expressions there can't refer to any: `tasks` of the same
    graph, `own` outputs, the `item` of a fan-out. `what` names the expression in messages.
    """

    facts: Facts
    findings: Findings
    place: Place
    what: str
    inputs: Signature | None = None
    tasks: Mapping[str, Called] | None = None
    own: Signature | None = None
    item: Type | None = None
    run: frozenset[str] = ALWAYS_KNOWN
    last_retry: bool = False
    paths: bool = False
    too_deep: bool = False
