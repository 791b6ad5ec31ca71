"""How a container ended, in words: what its exit code alone can't say. Standard library only."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from couler_py.backends.local.containers.group import Group, Member

# What the process that `--init` puts before a step says when it can't start it: podman's catatonit, docker's tini.
NOT_STARTED = re.compile(r"failed to exec pid1: (?P<catatonit>.*)|\[FATAL +tini[^]]*\] exec .* failed: (?P<tini>.*)")
NOT_FOUND, NOT_EXECUTABLE = 127, 126  # as shells say it
KILLED = 137
SPACE = "no space left on device"


@dataclasses.dataclass(frozen=True)
class Verdict:
    """An exit code; where more is known, why, in the words of an attempt's record."""

    code: int
    reason: str = ""
    message: str = ""
    oom: bool = False

    @property
    def good(self) -> bool:
        return self.code == 0 and not self.reason

    def of(self, who: str) -> Verdict:
        """The verdict of one of several containers."""
        if self.good:
            return self
        return dataclasses.replace(self, message=f"{who}: {self.message or f'exit code {self.code}'}")

    def record(self) -> dict[str, Any]:
        """The members of the record that differ from those of a process that ended by itself."""
        if not self.message:
            return {}
        found: dict[str, Any] = {"message": self.message, "exit": self.code}
        return found | ({"reason": self.reason} if self.reason else {}) | ({"oom": True} if self.oom else {})


def verdict(
    group: Group, member: Member, code: int, said: str, state: dict[str, Any], oom: bool, ending: bool
) -> Verdict:
    """What became of a container. `said` is the end of what came on standard error, its client's own words among it."""
    if code == 0:
        return Verdict(0)
    failed = NOT_STARTED.search(said)
    if failed is not None:
        return _not_started(group, member, failed["catatonit"] or failed["tini"])
    if not state:
        if code == 125:
            return Verdict(code, "error", f"the container could not be made: {_last_words(said)}")
        if ending:
            return Verdict(code)
        return Verdict(code, "error", f"the container {member.name} was taken away while it ran")
    if str(state.get("StartedAt", "")).startswith("0001-"):
        return _not_started(group, member, str(state.get("Error") or _last_words(said)))
    if oom and code == KILLED:
        limit = f"its limit of {amount(member.memory)}" if member.memory else "what this machine has"
        return Verdict(code, "", f"out of memory: it needed more than {limit} (exit code {code})", oom=True)
    return Verdict(code)


def _not_started(group: Group, member: Member, why: str) -> Verdict:
    program = member.command[0] if member.command else "the image's own command"
    low = why.lower()
    if "exec format error" in low:
        message = (
            f"{program!r} of the image {member.shown} is for another kind of processor: use an image for this machine's"
        )
        return Verdict(NOT_EXECUTABLE, "error", message)
    if "not found" in low or "no such file" in low:
        if group.python:
            message = (
                f"the image {member.shown} has no {program!r}: a Python step needs an image with Python, as python:3.11"
            )
        elif member.directory and "chdir" in low:
            message = f"the image {member.shown} has no folder {member.directory} to work in"
        else:
            message = f"the image {member.shown} has no program {program!r}"
        return Verdict(NOT_FOUND, "error", message)
    if "permission denied" in low:
        return Verdict(NOT_EXECUTABLE, "error", f"{program!r} of the image {member.shown} can't be executed: {why}")
    return Verdict(NOT_EXECUTABLE, "error", f"the container could not be started: {why}")


def _last_words(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower() or "docker:" in line.lower()]
    last = (errors or lines or ["the runtime doesn't say why"])[-1].removeprefix("Error: ")
    if SPACE in last:
        return f"{last}: make room where the runtime keeps its containers"
    return last


def amount(size: int) -> str:
    """A number of bytes as Kubernetes writes it.

    >>> amount(64 * 2**20), amount(1000)
    ('64Mi', '1000')
    """
    for power, unit in ((4, "Ti"), (3, "Gi"), (2, "Mi"), (1, "Ki")):
        if size % 1024**power == 0:
            return f"{size // 1024**power}{unit}"
    return str(size)
