"""What processes use, as the system says it: of whole sessions, or of all that descends from a process."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")
TICK = 1.0 / os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


class Use(NamedTuple):
    """What processes use together: processor seconds so far, and resident bytes now."""

    cpu: float
    memory: int

    def plus(self, other: Use) -> Use:
        """Both together."""
        return Use(self.cpu + other.cpu, self.memory + other.memory)


NOTHING = Use(0.0, 0)


def uses(sessions: Collection[int], roots: Collection[int] = ()) -> dict[int, Use]:
    """What the processes of each session use, and each process of `roots` with all its descendants.

    By the id of the process that leads the session, or that all descend from. One pass over all processes.
    """
    return _of_proc(sessions, roots) if PROC.joinpath("self").is_dir() else _of_ps(sessions)


def _of_proc(sessions: Collection[int], roots: Collection[int]) -> dict[int, Use]:
    """From /proc/PID/stat (proc_pid_stat(5)): parent, session, user and system ticks, those of children that were
    waited for, and resident pages."""
    found: dict[int, Use] = {}
    parents: dict[int, int] = {}
    others: dict[int, Use] = {}
    for entry in os.scandir(PROC):
        if not entry.name.isdigit():
            continue
        try:
            with open(f"{entry.path}/stat", "rb") as file:
                # The second field is a name in parentheses, which may hold anything.
                fields = file.read().rpartition(b")")[2].split()
        except OSError:  # it has just ended
            continue
        session = int(fields[3])
        if session not in sessions and not roots:
            continue
        use = Use(TICK * sum(map(int, fields[11:15])), PAGE * int(fields[21]))
        if session in sessions:
            found[session] = found.get(session, NOTHING).plus(use)
        else:
            parents[int(entry.name)], others[int(entry.name)] = int(fields[1]), use
    for pid, use in others.items():
        root = _above(pid, parents, roots)
        if root:
            found[root] = found.get(root, NOTHING).plus(use)
    return found


def _above(pid: int, parents: Mapping[int, int], roots: Collection[int]) -> int:
    """The root that a process descends from, which may be itself; 0 where there is none."""
    while pid and pid not in roots:
        pid = parents.get(pid, 0)
    return pid


def _of_ps(sessions: Collection[int]) -> dict[int, Use]:
    """From `ps`, where there is no /proc (macOS): by process group, as sessions have no number there."""
    listed = subprocess.run(
        ["ps", "-axo", "pgid=,time=,rss="], capture_output=True, text=True, check=False, env={"LC_ALL": "C"}
    )
    found: dict[int, Use] = {}
    for line in listed.stdout.splitlines():
        group, clock, resident = line.split()
        if int(group) in sessions:
            found[int(group)] = found.get(int(group), NOTHING).plus(Use(seconds(clock), 1024 * int(resident)))
    return found


def seconds(clock: str) -> float:
    """Processor time as `ps` writes it.

    >>> seconds("1:02.50"), seconds("2-03:04:05")
    (62.5, 183845.0)
    """
    days, _, rest = clock.rpartition("-")
    total = 0.0
    for part in rest.split(":"):
        total = total * 60 + float(part)
    return total + 86400 * int(days or 0)
