"""Logs within a bound: what stays, what is said of the rest, and how they are read meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest

from couler_py.backends.local import execute
from couler_py.backends.local.api import logs
from couler_py.backends.local.runs.logbounds import MARK, cut, shorten
from couler_py.backends.local.runs.logfiles import _new
from tests.engines.local.flows import flow, shell


def numbered(count: int, start: int = 0) -> bytes:
    return b"".join(b"line %06d\n" % number for number in range(start, start + count))


def test_a_log_within_its_bound_stays_as_it_is(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(numbered(10))
    assert not shorten(log, 120)
    assert log.read_bytes() == numbered(10)
    assert not shorten(tmp_path / "nothing", 120)


def test_what_a_step_puts_in_the_place_of_its_log_is_let_be(tmp_path: Path) -> None:
    other, gone = tmp_path / "other", tmp_path / "gone"
    other.write_bytes(numbered(1000))
    (tmp_path / "log").symlink_to(other)
    gone.touch()  # a file in the place of the folder
    assert not shorten(tmp_path / "log", 4000)
    assert not shorten(gone / "log", 4000)
    assert other.read_bytes() == numbered(1000)


def test_the_beginning_and_the_end_stay_in_whole_lines(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(numbered(1000))
    assert shorten(log, 4000)
    head, gone, tail = MARK.split(log.read_bytes())
    assert numbered(1000).startswith(head + b"\n")
    assert numbered(1000).endswith(tail)
    assert tail.startswith(b"line ")
    assert len(head) + len(tail) + int(gone) == 12_000
    assert len(log.read_bytes()) < 4000


def test_one_that_goes_on_is_cut_again_at_the_same_place(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(numbered(1000))
    shorten(log, 4000)
    first = MARK.split(log.read_bytes())[0]
    with log.open("ab") as file:
        file.write(numbered(1000, 1000))
    shorten(log, 4000)
    head, gone, tail = MARK.split(log.read_bytes())
    assert head == first
    assert tail.endswith(b"line 001999\n")
    assert len(head) + len(tail) + int(gone) == 24_000


def test_a_log_without_lines_is_cut_as_well(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"x" * 10_000)
    shorten(log, 4000)
    head, gone, tail = MARK.split(log.read_bytes())
    assert (len(head), int(gone), len(tail)) == (2000, 7000, 1000)


def test_who_follows_a_log_goes_on_behind_what_was_taken_out(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(numbered(1000))
    read: dict[str, int] = {}
    parts: dict[str, bytes] = {}
    assert len(list(_new(log, "a", 0, read, parts, last=False))) == 1000
    shorten(log, 4000)
    found = [line.text for line in _new(log, "a", 0, read, parts, last=False)]
    assert found[1].startswith("=== couler: ")
    assert found[-1] == "line 000999"
    assert cut(log) == len(MARK.split(log.read_bytes())[0])


def test_a_step_that_prints_too_much_keeps_its_last_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COULER_LOGS_LIMIT", "100kB")
    step = shell("talk", "echo first; seq 100000; echo last")
    record = execute(flow(step), home=tmp_path)
    assert record.status == "Succeeded"
    lines = [line.text for line in logs(record.id, home=tmp_path)]
    assert (lines[0], lines[-1]) == ("first", "last")
    assert sum(map(len, lines)) < 100_000
    assert len([line for line in lines if "were left out here" in line]) == 1
