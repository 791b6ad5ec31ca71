"""The processes of a job on one machine: started, told who they are, listened to, and ended with all they started."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from typing import Any

from couler_py.runner.launch.watching import Watch, carrying

LOOK = 0.1  # seconds between looks at the processes
TAIL = 25  # lines of a rank that failed


class StoppedError(Exception):
    """Somebody wants the job to end."""


class Member:
    """A process of the job whose output is passed on, and of which the last lines are kept."""

    def __init__(self, name: str, command: list[str], more: dict[str, str], prefix: str = ""):
        self.name = name
        self.last: deque[bytes] = deque(maxlen=TAIL)
        self.written = 0
        self.mark = "COULER_MEMBER=" + more["COULER_MEMBER"]
        both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        self.process = subprocess.Popen(command, env={**os.environ, **more}, start_new_session=True, **both)  # type: ignore[call-overload]
        self.reader = threading.Thread(target=self.pass_on, args=(prefix.encode(),), daemon=True)
        self.reader.start()

    def pass_on(self, prefix: bytes) -> None:
        for line in self.process.stdout:
            self.last.append(line)
            self.written += len(line)
            sys.stdout.buffer.write(prefix + line)
            sys.stdout.buffer.flush()

    def tell(self) -> None:
        """Show its last lines."""
        lines = [line.decode(errors="replace").rstrip("\n") for line in self.last]
        say("\n".join([f"the last lines of {self.name}:", *lines]))

    def end(self, kind: signal.Signals) -> None:
        if self.process.poll() is None:
            self.process.send_signal(kind)

    def left_behind(self) -> None:
        """End what it started and has left: agents give each of their processes a session of its own."""
        killed: set[int] = set()
        while new := self.marked() - killed:  # until nobody is new: who was killed may have started others
            killed |= new
            for pid in new:
                with contextlib.suppress(OSError):  # it has ended
                    os.kill(pid, signal.SIGKILL)

    def marked(self) -> set[int]:
        """The processes whose environment says that they are this member's."""
        return carrying([self.mark])


class Job:
    """What is to run, and what is known of it. `commands` are that of the job, and those of its roles that have one."""

    def __init__(self, spec: dict[str, Any], commands: list[list[str]], folder: str):
        self.spec = spec
        self.roles: list[tuple[str, int]] = []
        self.commands: list[list[str]] = []
        roles = spec["roles"] or [{"name": "worker", "nodes": spec["nodes"]}]
        for role, own in zip(roles, commands[1:] or [[]], strict=True):
            self.roles += [(role["name"], index) for index in range(role["nodes"])]
            self.commands += [own or commands[0]] * role["nodes"]
        self.folder = folder
        self.watch = Watch(spec["patience"])
        self.losses = 0
        self.hangs = 0
        self.nodes, self.processes = spec["nodes"], spec["processes"]
        self.world = self.nodes * self.processes
        self.members: dict[int, Member] = {}
        self.started = 0
        self.stopping = False

    def start(self, number: int, what: str, command: list[str], more: dict[str, str], prefix: str = "") -> None:
        """Start a process; `what` it is called where a person is told of it."""
        self.started += 1
        name = f"{self.folder}:{self.started}"
        told = {"COULER_PLANNED_WORLD": str(self.world), "COULER_MEMBER": name, **more}
        if sys.platform == "linux":
            told.setdefault("GLOO_SOCKET_IFNAME", os.environ.get("GLOO_SOCKET_IFNAME", "lo"))
        threads = max(1, (os.cpu_count() or 1) // self.world)
        told.setdefault("OMP_NUM_THREADS", os.environ.get("OMP_NUM_THREADS", str(threads)))
        self.members[number] = Member(what, command, told, prefix)

    def end_all(self, patience: float = 10.0) -> None:
        """End every member: asked first, killed when it takes too long."""
        members = list(self.members.values())
        for each in members:
            each.end(signal.SIGTERM)
        until = time.monotonic() + patience
        while any(each.process.poll() is None for each in members) and time.monotonic() < until:
            time.sleep(LOOK)
        for each in members:
            each.end(signal.SIGKILL)
            each.process.wait()
            each.left_behind()
            each.reader.join(timeout=5)
        self.members.clear()

    def look(self) -> None:
        """Wait a moment. Raises `StoppedError`, and `HungError` where nothing of the job does anything."""
        if self.stopping:
            raise StoppedError
        members = self.members.values()
        for pid in self.watch.look([each.mark for each in members], sum(each.written for each in members)):
            say(f"the process {pid} was stopped for {self.watch.patience:g} seconds, and is killed")
        time.sleep(LOOK)

    def again(self) -> bool:
        """Whether all may begin again."""
        self.losses += 1
        if self.losses > self.spec["restarts"]:
            return False
        say(f"all begin again: restart {self.losses} of {self.spec['restarts']}")
        return True


def say(text: str) -> None:
    print(f"couler: {text}", file=sys.stderr, flush=True)


def how(code: int) -> str:
    """How a process ended, in words."""
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
