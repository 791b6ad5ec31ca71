"""Metrics as events of TensorBoard, where COULER_TENSORBOARD names the folder that they go to."""

from __future__ import annotations

import os
from typing import Any, Dict, Tuple

WRITERS: Dict[Tuple[int, str], Any] = {}  # the writer of a process (children have their own) and a folder
COUNTS: Dict[Tuple[int, str], int] = {}  # how often a process has logged a metric without saying at which step


def write_scalar(name: str, value: float, step: int | None) -> None:
    """Write a metric as a scalar of TensorBoard, if that is asked for; of several ranks each to a folder of its own.

    One without a step has the number of times that it was logged before. Raises `ModuleNotFoundError` where the package
    `tensorboard` isn't there.
    """
    folder = os.environ.get("COULER_TENSORBOARD", "")
    if not folder:
        return
    if os.environ.get("WORLD_SIZE", "1") != "1":
        folder = os.path.join(folder, "rank-" + os.environ.get("RANK", "0"))
    writer = WRITERS.get((os.getpid(), folder))
    if writer is None:
        try:
            from tensorboard.summary import Writer
        except ModuleNotFoundError as problem:
            hint = 'COULER_TENSORBOARD asks for events, which need tensorboard: add packages=["tensorboard"]'
            raise ModuleNotFoundError(hint, name=problem.name) from problem
        writer = WRITERS[os.getpid(), folder] = Writer(folder)
    count = COUNTS.get((os.getpid(), name), 0)
    if step is None:
        COUNTS[os.getpid(), name] = count + 1
    writer.add_scalar(name, value, count if step is None else step)
    writer.flush()
