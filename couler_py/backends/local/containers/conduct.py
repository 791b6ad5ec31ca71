"""The conductor: the process of an attempt that runs in containers. Standard library only.

It makes the containers of a `Group`, waits for them, takes the outputs, and takes the containers away. Its exit code
is that of the step; what that can't say goes into the file `verdict` of the attempt's folder. SIGTERM asks the
containers to end. Whoever kills the conductor leaves its containers to `orphans.py`.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from pathlib import Path

from couler_py.backends.local.containers import group as groups
from couler_py.backends.local.containers import outcome, outputs, probes, words
from couler_py.backends.local.containers.group import Group, Member
from couler_py.backends.local.containers.outcome import Verdict
from couler_py.backends.local.containers.running import Containers

STOPPED = Verdict(143)  # as of a process that SIGTERM ended


def conduct(group: Group, containers: Containers) -> Verdict:
    """Run a whole group. Nothing of it is left when this returns, unless the runtime itself no longer works."""
    try:
        _make_folders(group)
        found = _initialise(group, containers) or _together(group, containers)
        _own(group, containers)
        if found.good or group.salvage:
            found = outputs.take(group, found, containers.clients.environment)
        return found
    finally:
        if containers.remove(*group.members):
            Path(group.folder, groups.FILE).unlink()


def _make_folders(group: Group) -> None:
    for folder in group.folders:
        path = Path(folder.path)
        if folder.make:
            path.mkdir(parents=True, exist_ok=True)
        path.chmod(folder.mode)
        if folder.owner >= 0:
            os.chown(path, folder.owner, -1)


def _own(group: Group, containers: Containers) -> None:
    """Make ours what containers have written as other users: where podman isn't root's, those are no users of ours."""
    places = [place for place in (group.left, str(Path(group.folder, "volumes"))) if place and Path(place).exists()]
    if group.runtime == "podman" and os.geteuid() != 0 and places:
        containers.clients.call(words.own(group, places))


def _initialise(group: Group, containers: Containers) -> Verdict | None:
    """Run what comes before, one after the other; gives the verdict of one that failed."""
    for member in group.init:
        found = STOPPED
        if not containers.asked_to_end:
            containers.start(member)
            containers.through(member)
            found = _verdict(group, containers, member)
        if not found.good:
            return found.of(f"the init container {member.called}")
    return None


def _together(group: Group, containers: Containers) -> Verdict:
    for member in group.sidecars:
        containers.start(member)
        containers.begun(member)
    found = _main(group, containers)
    for member in group.sidecars:
        containers.stop(member)
    containers.through(*group.sidecars)
    return found


def _main(group: Group, containers: Containers) -> Verdict:
    """Run the members of `main`, each when those that it waits for have ended well."""
    waiting = list(group.main)
    going: dict[str, int] = {}  # and how often each may be tried again
    ended: dict[str, Verdict] = {}
    while waiting or going:
        for member in [each for each in waiting if set(each.waits) <= ended.keys()]:
            waiting.remove(member)
            if containers.asked_to_end or not all(ended[name].good for name in member.waits):
                ended[member.called] = STOPPED
                continue
            containers.start(member)
            going[member.called] = group.retries
            if group.daemon:
                _announce(group, containers, member)
        over = [each for each in group.main if each.called in going and each.name in containers.ended]
        for member in over:
            found = _verdict(group, containers, member)
            if not found.good and going[member.called] and not containers.asked_to_end:
                going[member.called] -= 1
                containers.remove(member)
                containers.start(member)
                continue
            del going[member.called]
            ended[member.called] = found.of(member.called) if len(group.main) > 1 else found
        if going and not over:
            containers.turn()
    return next((each for each in ended.values() if not each.good), Verdict(0))


def _announce(group: Group, containers: Containers, member: Member) -> None:
    """Say that a daemon serves, as soon as it does, and where."""
    if not containers.begun(member):
        return
    where = probes.address(group, member, containers.clients)
    if member.probe is not None:
        containers.pause(member.probe.delay)
        while not probes.serves(group, member, member.probe, where, containers.clients):
            containers.pause(member.probe.period)
            if containers.asked_to_end or member.name not in containers.running:
                return
    _write(group, groups.READY, {"address": where})


def _verdict(group: Group, containers: Containers, member: Member) -> Verdict:
    client = containers.ended[member.name]
    code = client.code or 0
    state = containers.state(member) if code else {}
    said = client.said.decode("utf-8", "replace")
    oom = containers.ran_out_of_memory(member, state)
    return outcome.verdict(group, member, code, said, state, oom=oom, ending=containers.asked_to_end)


def _write(group: Group, name: str, data: object) -> None:
    path = Path(group.folder, name)
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(data), encoding="utf-8")
    temporary.rename(path)


def main() -> None:
    """Conduct the group of the attempt's folder that the command line names."""
    group = groups.from_json(Path(sys.argv[1], groups.FILE).read_text(encoding="utf-8"))
    containers = Containers(group, os.environ)
    found = conduct(group, containers)
    record = found.record()
    if record and not containers.asked_to_end:
        _write(group, "verdict", record)
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    sys.exit(found.code)
