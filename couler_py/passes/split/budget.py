"""What a part of a split workflow may be."""

from __future__ import annotations

import math
from typing import Any, Literal, TypeAlias

import msgspec

from couler_py.ir.diagnostics import CoulerError
from couler_py.passes.situation import PassOptionError


class Budget(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The most that a part of a split workflow may have; None is what the engine takes.

    `tasks` are those of its graph as it is emitted, what stands for other parts included; `pods` those that a run
    starts where every list that only the run knows has one item. `bytes` are of the part as the engine reads it,
    `status` of what a run of it adds, uncompressed. `slots` are the pods that can run at once, for which the parts are
    chosen, and `start` the seconds that a part needs before its first task starts. Tasks of which no earlier run is
    known count as one second.

    >>> Budget(tasks=100).slots
    16
    """

    tasks: int | None = None
    pods: int | None = None
    bytes: int | None = None
    status: int | None = None
    slots: int = 16
    start: float = 1.0

    def __post_init__(self) -> None:
        for name in ("tasks", "pods", "bytes", "status", "slots"):
            value = getattr(self, name)
            if value is not None and type(value) is not int:
                raise SplitError(f"a budget of {name} is a whole number, not {value!r}")
            if value is not None and value < 1:
                raise SplitError(f"a budget of {value} {name} holds nothing: give 1 or more")
        if not 0 <= self.start < math.inf:
            raise SplitError(f"a part can't start {self.start} seconds after it may: give 0 or more")


Split: TypeAlias = Literal["auto", "off"] | Budget


class SplitError(CoulerError, ValueError):
    """What was asked of splitting has no meaning, or a workflow can't be split so."""


class SplitOptionError(PassOptionError, SplitError):
    """What `split` is given is no budget."""


def budget_of(asked: Any) -> Budget | None:
    """What `split=` asks for; None for "off".

    A text is "auto", "off", or budgets as the command line takes them: `tasks=100,slots=8`. Raises `SplitError`.

    >>> budget_of("tasks=100,slots=8")
    Budget(tasks=100, pods=None, bytes=None, status=None, slots=8, start=1.0)
    """
    if isinstance(asked, Budget):
        return asked
    if asked is None or asked is False or asked == "off":
        return None
    if asked == "auto":
        return Budget()
    if not isinstance(asked, str) or "=" not in asked:
        raise SplitOptionError("split", asked, ': give "auto", "off", a Budget, or budgets like "tasks=100,slots=8"')
    pairs = [each.strip().partition("=")[::2] for each in asked.split(",")]
    words = dict(pairs)
    if len(words) < len(pairs):
        raise SplitOptionError("split", asked, " says one budget twice")
    known = ", ".join(Budget.__struct_fields__)
    if unknown := [name for name in words if name not in Budget.__struct_fields__]:
        raise SplitOptionError("split", asked, f": there is no budget {unknown[0]!r}; the budgets are {known}")
    limits = {name: _limit(asked, name, value) for name, value in words.items()}
    try:
        return Budget(**limits)
    except SplitError as error:
        raise SplitOptionError("split", asked, f": {error}; the budgets are {known}") from None


def _limit(asked: str, name: str, value: str) -> Any:
    try:
        return msgspec.convert(value, float if name == "start" else int, strict=False)
    except msgspec.ValidationError:
        kind = "a number" if name == "start" else "a whole number"
        raise SplitOptionError("split", asked, f": {name} is {kind}, not {value!r}") from None
