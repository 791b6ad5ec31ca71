"""The paths of tasks: as the engine tells them apart, and as every engine's runs show them.

Inside, "~1" after a graph or loop stands for its second attempt, and "!" before the name of a handler. Outside
there are neither: the last attempt is shown, and handlers are inside "onExit".
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from couler_py.store.records import TaskRecord

_ATTEMPT = re.compile(r"~\d+")
_AROUND = re.compile(r"(?P<task>.*?)(~(?P<attempt>\d+))?")
_INSIDE = re.compile(r"[/#]")


def shown(path: str) -> str:
    """The path as others know it.

    >>> shown("graph~1/map[3]/train"), shown("!notify")
    ('graph/map[3]/train', 'onExit/notify')
    """
    path = _ATTEMPT.sub("", path).removeprefix("/")
    return f"onExit/{path[1:]}" if path.startswith("!") else path


def maker(cached: str) -> str:
    """Who made what a task used, as others know it: `RUN/TASK`; "" where it made it itself.

    >>> maker("flow-x2b4c:graph~1/train")
    'flow-x2b4c/graph/train'
    """
    run, _, path = cached.partition(":")
    return f"{run}/{shown(path)}" if run else ""


def last_attempts(tasks: Mapping[str, TaskRecord]) -> dict[str, TaskRecord]:
    """The tasks by their paths, without those of earlier attempts of what is around them."""
    if not any(task.attempts > 1 and task.kind in ("graph", "loop") for task in tasks.values()):
        return dict(tasks)
    return {path: task for path, task in tasks.items() if _is_last(path, tasks)}


def _is_last(path: str, tasks: Mapping[str, TaskRecord]) -> bool:
    ends = [found.start() for found in _INSIDE.finditer(path)]
    if path[:1] not in ("", "~", "!", "#"):
        ends.append(0)  # the entrypoint is around everything, and its path is empty
    for end in ends:
        found = _AROUND.fullmatch(path[:end])
        assert found is not None
        around = tasks.get(found["task"])
        if around is None or around.kind not in ("graph", "loop"):
            continue
        if int(found["attempt"] or 0) != max(around.attempts, 1) - 1:
            return False
    return True
