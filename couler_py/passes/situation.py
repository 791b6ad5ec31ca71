"""What a pass is given besides the workflow, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from couler_py.ir.diagnostics import CoulerError
from couler_py.ir.model import Source, Template, Workflow
from couler_py.passes.history import History
from couler_py.settings import Settings

if TYPE_CHECKING:
    from couler_py.passes.split.scale import Scale


class LoweredJob(msgspec.Struct, frozen=True):
    """What a job of several nodes becomes: templates, of which the first has its name, and words on it."""

    templates: tuple[Template, ...]
    what: str
    why: str = ""


class Situation(msgspec.Struct, frozen=True):
    """What a pass may know besides the workflow.

    `options` are those that the engine compiles with (`crds="full"`) and those that passes take (`split="auto"`).
    `history` is what earlier runs took; a pass that isn't asked for must not let it change what is emitted, for the
    same program has to give the same bytes. `scale` is how the engine weighs what is emitted for it, where it says so.
    `jobs` says what jobs of several nodes become, by the name of their template. Without `explain` nobody reads the
    notes of passes, which may save themselves the work.
    """

    engine: str = "local"
    version: str | None = None
    options: Mapping[str, Any] = {}
    settings: Settings = Settings()
    history: History = History()
    scale: Scale | None = None
    explain: bool = True
    jobs: Callable[[Workflow, tuple[Template, ...], Situation], Mapping[str, LoweredJob]] | None = None


def asked(options: Mapping[str, Any], name: str) -> Any:
    """What an option of a pass is given; None where it is left out, None, False or "off".

    >>> asked({"batch_fanouts": 0}, "batch_fanouts"), asked({"split": "off"}, "split"), asked({}, "split")
    (0, None, None)
    """
    given = options.get(name)
    # 0 is given, and equals False.
    return None if given is False or given == "off" else given


class PassOptionError(CoulerError, ValueError):
    """What an option of a pass is given has no meaning: `problem` goes on after it.

    >>> error = PassOptionError("batch_fanouts", "x", " is not a number of items from 2 on")
    >>> str(error), error.typed
    ("batch_fanouts='x' is not a number of items from 2 on", '--batch-fanouts x is not a number of items from 2 on')
    """

    def __init__(self, option: str, given: object, problem: str):
        super().__init__(f"{option}={given!r}{problem}")
        self.typed = f"--{option.replace('_', '-')} {given}{problem}"


class Note(msgspec.Struct, frozen=True):
    """One thing that a pass did, or offers to do: at which task or template, what, why, and what it saves."""

    place: str
    what: str
    why: str
    saves: str = ""
    source: Source | None = None


class Outcome(msgspec.Struct, frozen=True):
    """What became of a workflow in a pass, and what there is to say of it."""

    workflow: Workflow
    notes: tuple[Note, ...] = ()
