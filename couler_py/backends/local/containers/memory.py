"""Whether the kernel killed a container for its memory, where the runtime can't tell. Standard library only.

Docker, and podman with cgroups v2, say so in the state of a container. With cgroups v1 podman says false, because the
group is gone before it looks. There this watches the group while the container runs: the kernel writes to an eventfd
as soon as memory runs out, before it kills (Documentation/admin-guide/cgroup-v1/memory.rst, "OOM Control").
"""

from __future__ import annotations

import contextlib
import os
import re
import time

V1 = "/sys/fs/cgroup/memory"
LONGEST = 0.2  # seconds between the kernel's notice and its kill
KILLED = re.compile(r"^oom_kill (\d+)$", re.MULTILINE)


def needed(runtime: str) -> bool:
    """Whether a runtime's own word isn't to be relied on here."""
    return runtime == "podman" and os.path.exists(os.path.join(V1, "memory.limit_in_bytes"))


class Watch:
    """Watches one container, from when its process is there. `killed` once the kernel has killed in it for memory."""

    def __init__(self, pid_file: str):
        self.pid_file = pid_file
        self.killed = False
        self.event: int | None = None
        self._control: int | None = None

    def begin(self) -> bool:
        """Begin, if the container has a process by now; whether it is watched. Called until it is."""
        if self.event is not None:
            return True
        try:
            with open(self.pid_file) as file:
                pid = int(file.read())
            with open(f"/proc/{pid}/cgroup") as file:
                path = next(line.split(":", 2)[2].strip() for line in file if line.split(":", 2)[1] == "memory")
            folder = V1 + path
            self._control = os.open(os.path.join(folder, "memory.oom_control"), os.O_RDONLY | os.O_CLOEXEC)
            event = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
            with open(os.path.join(folder, "cgroup.event_control"), "w") as file:
                file.write(f"{event} {self._control}")
        except (OSError, ValueError, StopIteration):
            return False  # it hasn't begun, or is over
        self.event = event
        self.look()
        return True

    def happened(self) -> None:
        """The kernel has told that memory ran out, or that the group is gone: look which."""
        assert self.event is not None
        with contextlib.suppress(BlockingIOError):
            os.eventfd_read(self.event)
        end = time.monotonic() + LONGEST
        while self.look() and not self.killed and time.monotonic() < end:
            time.sleep(0.002)

    def look(self) -> bool:
        """Read the count of kills; whether the group is still there."""
        assert self._control is not None
        try:
            found = KILLED.search(os.pread(self._control, 4096, 0).decode())
        except OSError:
            return False
        self.killed = self.killed or (found is not None and int(found[1]) > 0)
        return True

    def close(self) -> None:
        for handle in (self.event, self._control):
            if handle is not None:
                os.close(handle)
