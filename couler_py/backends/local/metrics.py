"""What steps log by `couler.log_metric`: told while they run, remembered when they have ended."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from couler_py.backends.local.context import Context
from couler_py.store.masking import mask

OUTPUTS, FILE = "outputs", "metrics.jsonl"


class _Metric(msgspec.Struct):
    name: str
    value: float | Literal["NaN", "Infinity", "-Infinity"]
    step: int | None = None


def look(context: Context) -> None:
    """Tell who watches what running steps have logged since the last look."""
    if not context.journal.watched:
        return
    for path, name in context.running.items():
        folder = context.attempts / name
        hidden = context.hidden.get(name, ())
        for metric in _new(context, folder):
            context.journal.tell("metric", path, metric | {"name": mask(metric["name"], hidden)})


def remember(context: Context, path: str, folder: Path) -> None:
    """Write all that an attempt has logged to the record of its run, at once: who sees its end sees them too.

    By now its warden has hidden secrets in it.
    """
    if not os.path.lexists(f"{folder}/{OUTPUTS}/{FILE}"):
        return
    for metric in _new(context, folder):
        context.journal.tell("metric", path, metric)
    context.metrics_read.pop(folder, None)
    logged = list(_new(context, folder))
    context.metrics_read.pop(folder, None)
    for metric in logged:
        context.journal.event("metric", path, quiet=True, attempt=folder.name, **metric)
    if logged:
        context.journal.flush()


def _new(context: Context, folder: Path) -> Iterator[dict[str, Any]]:
    logged = folder / OUTPUTS / FILE
    try:
        if not logged.is_file():  # a pipe that the step has made would be waited for
            return
        with logged.open("rb") as file:
            file.seek(context.metrics_read.get(folder, 0))
            data = file.read()
    except FileNotFoundError:
        return
    whole = data[: data.rfind(b"\n") + 1]
    context.metrics_read[folder] = context.metrics_read.get(folder, 0) + len(whole)
    for line in whole.splitlines():
        metric = _metric(line)
        if metric is not None:
            yield metric


def _metric(line: bytes) -> dict[str, Any] | None:
    """A metric as `log_metric` writes it; None for what the step has put there by other means."""
    try:
        return msgspec.to_builtins(msgspec.json.decode(line, type=_Metric))  # type: ignore[no-any-return]
    except (msgspec.DecodeError, RecursionError):
        return None
