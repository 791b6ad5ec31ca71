"""What the exit code of `couler` says. `docs/cli.md` and `couler --help` show the same table."""

from __future__ import annotations

OK = 0
FAILED = 1
USAGE = 2
UNREACHABLE = 3
NOT_FOUND = 4
BUG = 70
INTERRUPTED = 130
BROKEN_PIPE = 141

MEANINGS: dict[int, str] = {
    OK: "it worked; of `run`, `watch`, `resume` and `retry`: the run succeeded",
    FAILED: "the run failed or was stopped",
    USAGE: "wrong arguments, or errors in the workflow (nothing was run)",
    UNREACHABLE: "the engine can't be reached",
    NOT_FOUND: "there is no such run or task",
    BUG: "a bug in couler",
    INTERRUPTED: "interrupted by Ctrl-C",
    BROKEN_PIPE: "whoever read the output stopped reading",
}
"""Every exit code and what it means."""
