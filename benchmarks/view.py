"""What watching a run costs: steps that do nothing, with the live view on a terminal, as lines, and unwatched."""

from __future__ import annotations

import os
import pty
import sys
import tempfile
import threading
import time
from typing import Any

import couler_py as couler
from couler_py.backends.base import backend
from couler_py.backends.local.client import LocalClient
from couler_py.cli.live import follow

STEPS = 1000
MOST = 0.02  # of the time of a run


def workflow(steps: int) -> Any:
    """Containers that don't wait for each other and run `true`; on this engine, a process each."""
    with couler.Workflow("nothing") as made:
        true = couler.container("alpine:3", ["true"], name="nothing")
        for _ in range(steps):
            true()
    return couler.build(made)


def measure(rounds: int, scale: int = 1) -> dict[str, Any]:
    """By way of watching: seconds of the run, and the share of them that the watching thread worked, the best."""
    steps = STEPS // scale
    bundle = backend("local").compile(workflow(steps))
    found = {}
    print(f"\nWatching a run of {steps} steps that do nothing")
    for name in ("unwatched", "lines", "terminal"):
        seconds, share = min(_run(bundle, name) for _ in range(rounds))
        found[name] = {"seconds": seconds, "share": share}
        print(f"  {name:12}{seconds:8.2f} s  of which watching {100 * share:.2f} %")
    return found


def verdicts(found: dict[str, Any] | None) -> list[tuple[str, str, bool]]:
    """What is promised about watching."""
    if found is None:
        return []
    share = found["terminal"]["share"]
    return [(f"watching takes less than {MOST:.0%} of a run", f"{share:.2%}", share < MOST)]


def _run(bundle: Any, how: str) -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as home:
        client = LocalClient(home)
        began = time.monotonic()
        run = client.submit(bundle, runtime="process")
        worked = time.thread_time()
        if how == "unwatched":
            for _ in client.changes(run):
                worked = time.thread_time()  # hearing of it isn't counted here
        elif how == "terminal":
            _on_terminal(lambda: follow(client.changes(run)))
        else:
            before, sys.stderr = sys.stderr, open(os.devnull, "w")  # noqa: SIM115
            follow(client.changes(run))
            sys.stderr = before
        worked = time.thread_time() - worked
        seconds = time.monotonic() - began
    return seconds, worked / seconds


def _on_terminal(action: Any) -> None:
    ours, theirs = pty.openpty()
    reader = threading.Thread(target=_drain, args=(ours,), daemon=True)
    reader.start()
    before, environ = sys.stderr, dict(os.environ)
    sys.stderr = os.fdopen(theirs, "w")
    os.environ.update(TERM="xterm-256color", COLUMNS="110", LINES="40")
    os.environ.pop("CI", None)
    try:
        action()
    finally:
        sys.stderr.close()
        sys.stderr = before
        os.environ.clear()
        os.environ.update(environ)
    reader.join()


def _drain(handle: int) -> None:
    try:
        while os.read(handle, 1 << 16):
            pass
    except OSError:  # the other end was closed
        os.close(handle)


if __name__ == "__main__":
    measure(2)
