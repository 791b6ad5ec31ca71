"""The containers of one group while they run: started, ended, watched, taken away. Standard library only."""

from __future__ import annotations

import contextlib
import json
import os
import re
import tempfile
from collections.abc import Mapping
from typing import Any

from couler_py.backends.local.containers import memory, words
from couler_py.backends.local.containers.clients import PAUSE, Client, Clients, named, to
from couler_py.backends.local.containers.group import ENVIRONMENT, PROCESS, Group, Member

TRIES = 5  # at taking containers away
# What the runtimes say when a container was to share the network of one that has ended: podman, runc, podman, docker.
ALONE = re.compile(
    rb"cannot get namespace path|namespace path: lstat|share net namespace|join network of a non running|"
    rb"No such container"
)
KEPT = ("COULER_ATTEMPT",)  # by which whoever supervises the conductor knows its processes


def apart(environment: Mapping[str, str], count: int) -> tuple[dict[str, str], list[dict[str, str]]]:
    """The conductor's environment without what is its containers', and the variables of each of them."""
    own = {name: value for name, value in environment.items() if not name.startswith("COULER_") or name in KEPT}
    theirs: list[dict[str, str]] = [{} for _ in range(count)]
    for name, value in environment.items():
        if name.startswith(ENVIRONMENT):
            number, _, variable = name.removeprefix(ENVIRONMENT).partition("_")
            theirs[int(number)][variable] = value
    return own, theirs


class Containers:
    """What runs of a group. `running` holds the clients that are attached, `ended` those that were, by container."""

    def __init__(self, group: Group, environment: Mapping[str, str]):
        self.group = group
        own, self._variables = apart(environment, len(group.members))
        self.clients = Clients(own)
        self.running: dict[str, Client] = {}
        self.ended: dict[str, Client] = {}
        self._watches: dict[str, memory.Watch] = {}
        self._stops: dict[str, Client] = {}

    @property
    def asked_to_end(self) -> bool:
        """Whether somebody wants the attempt to end."""
        return self.clients.asked_to_end

    def start(self, member: Member) -> None:
        """Make a container and let it run, on the network of those of its group that run already."""
        beside = next((each.name for each in self.group.members if self.begun(each)), "")
        self._run(member, beside)
        if beside and not self.begun(member):
            ended = self.ended.get(member.name)
            if ended is not None and ALONE.search(ended.said):
                self.remove(member)  # the other one has ended in between
                self._run(member, "")

    def _run(self, member: Member, beside: str) -> None:
        # Only the result's own standard output is this process's.
        number = self.group.members.index(member)
        variables = self._variables[number]
        lines = {name: value for name, value in variables.items() if words.plain(name, value)}
        inherited = {name: value for name, value in variables.items() if name not in lines}
        pid_file = os.path.join(self.group.folder, f"{PROCESS}{number}")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(pid_file)
        if member.memory and memory.needed(self.group.runtime):
            self._watches[member.name] = memory.Watch(pid_file)
        plain = member is self.group.result
        with tempfile.TemporaryFile(dir=self.group.folder) as file:  # it has no name: nobody else can open it
            text = "".join(f"{name}={value}\n" for name, value in lines.items())
            file.write(text.encode("utf-8", "surrogateescape"))
            file.flush()
            file.seek(0)
            self.running[member.name] = self.clients.start(
                words.run(
                    self.group,
                    member,
                    variables=file.fileno(),
                    inherited=sorted(inherited),
                    beside=beside,
                    pid_file=pid_file,
                ),
                more=inherited,
                keep=(file.fileno(),),
                out=None if plain else named(2, member.called),
                said=to(2) if plain else named(2, member.called),
            )
        self.ended.pop(member.name, None)

    def stop(self, member: Member) -> None:
        """Ask a container to end. `turn` asks again until it has: it may only be about to be made."""
        if member.name in self.running:
            command = words.stop(self.group, member.name, self.group.grace)
            self._stops[member.name] = self.clients.start(command, out=lambda _: None)

    def turn(self) -> None:
        """Wait for what happens next, and see to what has ended, is to end, or is to be watched."""
        unwatched = [name for name, watch in self._watches.items() if name in self.running and watch.event is None]
        self.clients.turn(PAUSE if unwatched or self._stops else None)
        for name in unwatched:
            watch = self._watches[name]
            if watch.begin() and watch.event is not None:
                self.clients.watch(watch.event, watch.happened)
        self._note()
        for member in self.group.members:
            asked = self._stops.get(member.name)
            if self.asked_to_end if asked is None else asked.code is not None:
                self.stop(member)

    def _note(self) -> None:
        for name in [name for name, client in self.running.items() if client.code is not None]:
            self.ended[name] = self.running.pop(name)
            self._stops.pop(name, None)

    def pause(self, seconds: float) -> None:
        """Let some seconds pass, or less when the attempt is to end."""
        self.clients.pause(seconds)
        self._note()

    def through(self, *members: Member) -> None:
        """Wait until some containers have ended."""
        while any(member.name in self.running for member in members):
            self.turn()

    def begun(self, member: Member) -> bool:
        """Wait until a container runs; False for one that has ended by then, or is to end."""
        while member.name in self.running and not self.asked_to_end:
            if self.state(member).get("Status") == "running":
                return True
            self.pause(PAUSE)
        return False

    def state(self, member: Member) -> dict[str, Any]:
        """What the runtime says of a container; nothing of one that it doesn't have."""
        called = self.clients.call(words.state(self.group, member.name))
        found: dict[str, Any] = json.loads(called.out) if called.code == 0 else {}
        return found

    def ran_out_of_memory(self, member: Member, state: dict[str, Any]) -> bool:
        """Whether the kernel has killed in a container for its memory."""
        watch = self._watches.get(member.name)
        return bool(state.get("OOMKilled")) or (watch is not None and watch.killed)

    def remove(self, *members: Member) -> bool:
        """Take containers away, whatever they do; whether they are gone."""
        names = [each.name for each in members if each.name in self.running or each.name in self.ended]
        for _ in range(TRIES):
            # Those that joined the network of another go before it.
            left = [name for name in reversed(names) if not self._gone(name)]
            if not left:
                return True
            self.pause(PAUSE)
        return False

    def _gone(self, name: str) -> bool:
        called = self.clients.call(words.remove(self.group.runtime, self.group.program, [name]))
        gone = called.code == 0 or "no such container" in called.said.lower()
        if gone and name in self.running:
            self.clients.wait(self.running[name])
        return gone
