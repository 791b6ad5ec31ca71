"""The paths of a process outside its folder: held while its attempt lasts, with the folders that it alone needs."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

from couler_py.backends.local.scope import TaskFailure
from couler_py.store import locks

SHORTEST, LONGEST = 0.005, 0.1  # seconds between two tries for paths that somebody else holds


@contextlib.asynccontextmanager
async def holding(request: dict[str, Any]) -> AsyncIterator[list[int]]:
    """Wait for the paths of an attempt and hold them; gives the descriptors that do.

    A folder that isn't there yet belongs to the attempt that needs it: it is held too, and taken away after it. What
    is there is looked at again once all is held, since an attempt before may just have taken its own away.

    Raises `TaskFailure` where a path would replace what isn't ours.
    """
    alone, shared, fresh, within = (
        request.pop(name) for name in ("lock_paths", "shared_paths", "fresh_paths", "folders_of")
    )
    pause = SHORTEST
    while True:
        folders = absent(within)
        held = locks.try_paths([*alone, *folders], shared)
        if held is not None and absent(within) == folders:
            break
        locks.release(held or [])
        await asyncio.sleep(pause)
        pause = min(pause * 2, LONGEST)
    try:
        for path in fresh:
            if os.path.lexists(path):
                raise TaskFailure(
                    f"{path} exists on this machine, and a step that runs as a process would replace it: move it away, "
                    "or give the step a path below /tmp"
                )
        request["clean"] += folders
        yield held
    finally:
        locks.release(held)


def absent(paths: Iterable[str]) -> list[str]:
    """The outermost folders that some paths lack, sorted."""
    lacking = [[folder for folder in Path(path).parents if not os.path.lexists(folder)] for path in paths]
    return sorted({str(folders[-1]) for folders in lacking if folders})
