"""What became of a container, as its exit code, its state and its client's words tell."""

from __future__ import annotations

from typing import Any

import pytest

from couler_py.backends.local.containers.group import Group, Member
from couler_py.backends.local.containers.outcome import Verdict, verdict

RAN = {"Status": "exited", "StartedAt": "2026-05-01T03:00:00Z"}
NEVER = {"Status": "created", "StartedAt": "0001-01-01T00:00:00Z"}


def told(
    code: int, said: str = "", state: dict[str, Any] = RAN, *, oom: bool = False, ending: bool = False, **fields: Any
) -> Verdict:
    member = Member("couler-x-0", "main", "1", "busybox", ["tool"], memory=2**26, **fields)
    return verdict(Group("podman", "podman", "/a", [member]), member, code, said, state, oom=oom, ending=ending)


def test_an_exit_code_is_all_that_there_is_to_say_of_a_program_that_ended() -> None:
    assert [told(code) for code in (0, 7, 125, 127, 137)] == [Verdict(code) for code in (0, 7, 125, 127, 137)]


def test_memory_that_ran_out_is_told_apart_from_a_kill() -> None:
    message = "out of memory: it needed more than its limit of 64Mi (exit code 137)"
    assert told(137, oom=True) == Verdict(137, "", message, oom=True)
    assert told(1, oom=True) == Verdict(1)


@pytest.mark.parametrize(
    ("code", "said", "state", "exit_code", "message"),
    [
        (1, "ERROR (catatonit:6): failed to exec pid1: No such file or directory", RAN, 127, "has no program 'tool'"),
        (127, "[FATAL tini (7)] exec tool failed: No such file or directory", RAN, 127, "has no program 'tool'"),
        (127, 'Error: runc: exec: "tool": executable file not found in $PATH', NEVER, 127, "has no program 'tool'"),
        (1, "failed to exec pid1: Permission denied", RAN, 126, "can't be executed: Permission denied"),
        (1, "failed to exec pid1: Exec format error", RAN, 126, "is for another kind of processor"),
        (125, "Error: creating container: no space left on device", {}, 125, "make room where the runtime keeps"),
        (137, "", {}, 137, "the container couler-x-0 was taken away while it ran"),
    ],
)
def test_what_never_ran_is_no_exit_code_of_the_program(
    code: int, said: str, state: dict[str, Any], exit_code: int, message: str
) -> None:
    found = told(code, said, state)
    assert (found.code, found.reason, message in found.message) == (exit_code, "error", True)


def test_who_was_asked_to_end_was_not_taken_away_by_others() -> None:
    assert told(137, "", {}, ending=True) == Verdict(137)


def test_one_of_several_containers_is_named() -> None:
    assert Verdict(3).of("a") == Verdict(3, "", "a: exit code 3")
    assert Verdict(0).of("a") == Verdict(0)
