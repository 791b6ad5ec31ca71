"""What a training finds of its memory and its bounds, from files as the kernel writes them."""

from __future__ import annotations

import resource
from pathlib import Path
from types import SimpleNamespace

import pytest

from couler_py.steps.checkpoint.peers import Alone
from couler_py.steps.dlrm import guarding
from couler_py.steps.dlrm.__main__ import NEEDS, explain
from couler_py.steps.dlrm.guarding import PAGE, Bound, Guard, NeedsMemoryError, Short, bounds, parts, used

CONTAINER = Bound("the container's", 100.0 * PAGE)


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in the place of the kernel's, of a container without a bound."""
    monkeypatch.setattr(guarding, "CGROUP", tmp_path)
    monkeypatch.setattr(guarding, "STATM", tmp_path / "statm")
    monkeypatch.delenv("LOCAL_WORLD_SIZE", raising=False)
    (tmp_path / "memory.max").write_text("max\n")
    return tmp_path


def has(kernel: Path, resident: int, shared: int = 0) -> None:
    """This process's pages."""
    (kernel / "statm").write_text(f"{10 * resident} {resident} {shared} 1 0 5 0\n")


def contains(kernel: Path, anonymous: int, files: tuple[int, int] = (0, 0)) -> None:
    """The container's pages; of files, those that were read once and those that were read again."""
    (kernel / "memory.max").write_text(f"{100 * PAGE}\n")
    (kernel / "memory.current").write_text(f"{(anonymous + sum(files)) * PAGE}\n")
    (kernel / "memory.stat").write_text(f"anon 1\ninactive_file {files[0] * PAGE}\nactive_file {files[1] * PAGE}\n")


def looked(guard: Guard, kernel: Path, readings: list[int]) -> list[Short | None]:
    """What each look says where this process has so many pages."""
    found = []
    for step, resident in enumerate(readings, 1):
        has(kernel, resident)
        found.append(guard.look(step, 10.0 * step))
    return found


def test_memory_that_jumps_once_and_stays_does_not_end_a_training(kernel: Path) -> None:
    guard = Guard(10_000, 1, Alone(), limit=100.0 * PAGE)
    assert looked(guard, kernel, [60, 60, 60, 60, 60, *[81] * 95]) == [None] * 100
    assert guard.decisions == []


def test_memory_that_jumps_for_several_reasons_does_not_end_a_training(kernel: Path) -> None:
    guard = Guard(10_000, 1, Alone(), limit=100.0 * PAGE)
    assert looked(guard, kernel, [60, 60, 60, 60, 70, 70, 70, 80, 80, *[80] * 40, 81, *[81] * 40]) == [None] * 90


def test_what_is_foretold_does_not_follow_a_jump(kernel: Path) -> None:
    guard = Guard(200, 1, Alone(), limit=100.0 * PAGE)
    assert looked(guard, kernel, [60, 60, 60, 60, 60, 81, 81, 82, 82, *[83] * 11]) == [None] * 20


def test_memory_that_grows_after_a_jump_ends_a_training_before_it_is_full(kernel: Path) -> None:
    guard = Guard(10_000, 1, Alone(), limit=100.0 * PAGE)
    found = looked(guard, kernel, [40, 40, 40, 40, 60, 60, 60, *range(61, 100)])
    ended = next(number for number, each in enumerate(found) if each is not None)
    assert 61 + 3 <= [40, 40, 40, 40, 60, 60, 60, *range(61, 100)][ended] < 100
    assert guard.decisions[0].choice == "save, and begin again with the memory that is needed"


def test_what_is_above_its_limit_already_ends_a_training(kernel: Path) -> None:
    found = looked(Guard(10_000, 1, Alone(), limit=100.0 * PAGE), kernel, [120, 120, 120])
    assert [each is None for each in found] == [True, True, False]


def test_speed_is_that_between_looks(kernel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([1000.0, 1001.0, 1002.0])  # made long before the first look, as tables are loaded meanwhile
    guard = Guard(10_000, 1, Alone(), limit=100.0 * PAGE)
    monkeypatch.setattr(guarding, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    looked(guard, kernel, [120, 120, 120])
    assert guard.decisions[0].inputs["rows a second"] == 10.0


def test_bounds_are_those_that_there_are(kernel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unbound = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    monkeypatch.setattr(resource, "getrlimit", lambda _: unbound)
    assert bounds() == ()
    contains(kernel, 10)
    assert bounds(7.0) == (Bound("the task's", 7.0), CONTAINER)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1 << 40, 1 << 41))
    assert bounds() == (Bound("the address space's", float(1 << 40)), CONTAINER)


def test_what_is_read_from_files_fills_no_container(kernel: Path) -> None:
    contains(kernel, 30, files=(40, 25))
    assert used(CONTAINER) == 30 * PAGE


def test_a_container_is_shared_by_the_ranks_of_a_node_and_by_others(
    kernel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contains(kernel, 50)
    has(kernel, resident=18, shared=8)
    assert parts(CONTAINER) == (10 * PAGE, 40 * PAGE)
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "4")
    assert parts(CONTAINER) == (40 * PAGE, 10 * PAGE)
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "8")
    assert parts(CONTAINER) == (50 * PAGE, 0)
    assert parts(Bound("the task's", 1.0)) == (18 * PAGE, 0)


def contained(kernel: Path, own: list[int], others: list[int]) -> list[Short | None]:
    """What each look says where this process and others have so many pages of a container of 100."""
    contains(kernel, own[0] + others[0])
    guard, found = Guard(10_000, 1, Alone()), []
    for step, (mine, theirs) in enumerate(zip(own, others, strict=True), 1):
        contains(kernel, mine + theirs)
        has(kernel, mine)
        found.append(guard.look(step, 10.0 * step))
    return found


def test_the_growth_of_others_is_not_foretold(kernel: Path) -> None:
    assert contained(kernel, [20] * 70, list(range(5, 75))) == [None] * 70


def test_a_training_whose_container_others_fill_is_ended(kernel: Path) -> None:
    *before, short = contained(kernel, [20] * 6, [50, 50, 50, 50, 79, 80])
    assert before == [None] * 5
    assert short is not None
    assert (short.bound, short.reports) == (CONTAINER, 0.0)
    assert short.needed == pytest.approx((20 * 1.15 + 80) * PAGE / 0.9)


def test_growth_is_held_against_what_others_leave(kernel: Path) -> None:
    found = contained(kernel, list(range(10, 50)), [50] * 40)
    ended = next(number for number, each in enumerate(found) if each is not None)
    assert 40 <= 10 + ended < 50


class Gathering(Alone):
    """The first rank, which notes what is written when the others hear of it."""

    def __init__(self, out: Path):
        self._out, self.found = out, ""

    def gather(self, value: object) -> list[object]:
        self.found = (self._out / NEEDS).read_text()
        return [value]


def test_no_rank_fails_before_it_is_written_why(tmp_path: Path) -> None:
    ranks = Gathering(tmp_path / "trained")
    explain(NeedsMemoryError("out of memory: more"), tmp_path / "trained", ranks)
    assert ranks.found == "out of memory: more"
