"""What one recognised kind of failure is."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from couler_py.ir.policies import Backoff

Verdict: TypeAlias = Literal["again", "later", "no"]
"""Whether another attempt is worth it: soon, after a longer wait, or not without a change."""

WAITS: dict[Verdict, Backoff | None] = {"again": Backoff(10.0, 2.0), "later": Backoff(60.0, 2.0), "no": None}
"""How long to wait before another attempt, in seconds; it doubles with each."""


class Pattern(msgspec.Struct, frozen=True):
    """One kind of failure.

    `message` is a regular expression for a line of what was said, `words` are texts that an engine's own condition can
    look for in what it says of an attempt, `exit_codes` decide where no message does. `begun` says whether the
    program may have begun: a failure before that is safe to repeat whatever the step does. `own` marks what lies with
    the step, and not with the platform. `advice` is for the person; `source` says where the failure is described.
    """

    name: str
    system: str
    title: str
    verdict: Verdict
    advice: str
    source: str
    message: str = ""
    words: tuple[str, ...] = ()
    exit_codes: tuple[int, ...] = ()
    begun: bool = True
    own: bool = False
