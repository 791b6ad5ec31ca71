"""The past instants of a schedule on this machine, each once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Generator, Sequence
from datetime import datetime
from pathlib import Path

import pytest

from couler_py import api
from couler_py.backends.base import Instant
from couler_py.backends.local.client import LocalClient
from couler_py.cli.load import load

FLOW = """
import time
from datetime import datetime
from pathlib import Path

import couler_py as couler


@couler.step
def day(place: str, scheduled: datetime) -> str:
    with (Path(place) / "ran").open("a") as file:
        file.write(f"{scheduled:%d}\\n")
    while (Path(place) / "hold").exists():
        time.sleep(0.1)
    if (Path(place) / f"{scheduled:%d}").exists():
        raise ValueError("as told")
    return f"{scheduled:%d}"


@couler.workflow(schedule="0 3 * * *", timezone="Europe/Berlin")
def daily(place: str = PLACE):
    return day(place, couler.run_info.scheduled_time)
"""


@pytest.fixture
def flow(tmp_path: Path) -> Path:
    file = tmp_path / "flow.py"
    file.write_text(FLOW.replace("PLACE", repr(str(tmp_path))))
    return file


def program(*words: str) -> list[str]:
    return [sys.executable, "-m", "couler_py.cli", *words]


def environment(folder: Path) -> dict[str, str]:
    return os.environ | {"COULER_HOME": str(folder / "home")}


def couler(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(program(*words), capture_output=True, text=True, cwd=folder, env=environment(folder))


def backfill(flow: Path, begin: str, end: str, *more: str) -> tuple[int, dict[str, str]]:
    done = couler(flow.parent, "backfill", str(flow), "--from", begin, "--to", end, "--json", *more)
    assert done.stdout, done.stderr
    return done.returncode, {each["at"][8:10]: each["status"] for each in json.loads(done.stdout)}


def ran(flow: Path) -> list[str]:
    return sorted((flow.parent / "ran").read_text().split())


def test_each_instant_runs_once_however_often_it_is_asked_for(flow: Path) -> None:
    first, then = (dict.fromkeys(days, "Succeeded") for days in (("01", "02", "03"), ("02", "03", "04")))
    assert backfill(flow, "2026-01-01", "2026-01-03", "--parallel", "3") == (0, first)
    assert backfill(flow, "2026-01-02", "2026-01-04") == (0, then)
    assert ran(flow) == ["01", "02", "03", "04"]


def test_two_at_the_same_time_run_no_instant_twice(flow: Path) -> None:
    words = ("backfill", str(flow), "--from", "2026-01-01", "--to", "2026-01-04")
    both = [
        subprocess.Popen(
            program(*words), stderr=subprocess.PIPE, text=True, cwd=flow.parent, env=environment(flow.parent)
        )
        for _ in range(2)
    ]
    said = [each.communicate()[1] for each in both]
    assert [each.returncode for each in both] == [0, 0], said
    assert ran(flow) == ["01", "02", "03", "04"]


def test_a_schedule_that_counts_from_its_start_has_no_past(flow: Path) -> None:
    flow.write_text(flow.read_text().replace("0 3 * * *", "@every 5m"))
    done = couler(flow.parent, "backfill", str(flow), "--from", "2026-01-01", "--to", "2026-01-04")
    assert (done.returncode, "'@every 5m' has no past instants" in done.stderr) == (2, True)


def test_an_instant_that_was_run_by_hand_is_left_out(flow: Path) -> None:
    assert couler(flow.parent, "run", str(flow), "--at", "2026-01-02T03:00:00+01:00").returncode == 0
    assert backfill(flow, "2026-01-01", "2026-01-02")[0] == 0
    assert ran(flow) == ["01", "02"]


def test_what_failed_stays_so_until_it_is_asked_for(flow: Path) -> None:
    (flow.parent / "02").touch()
    assert backfill(flow, "2026-01-01", "2026-01-03") == (1, {"01": "Succeeded", "02": "Failed", "03": "Succeeded"})
    (flow.parent / "02").unlink()
    assert backfill(flow, "2026-01-01", "2026-01-03")[1]["02"] == "Failed"
    assert backfill(flow, "2026-01-01", "2026-01-03", "--failed")[1]["02"] == "Succeeded"
    assert ran(flow) == ["01", "02", "02", "03"]


def test_ctrl_c_ends_what_runs_and_the_same_command_goes_on(flow: Path) -> None:
    hold = flow.parent / "hold"
    hold.touch()
    words = ("backfill", str(flow), "--from", "2026-01-01", "--to", "2026-01-02")
    with subprocess.Popen(
        program(*words), stderr=subprocess.PIPE, text=True, cwd=flow.parent, env=environment(flow.parent)
    ) as running:
        assert running.stderr is not None
        begun = next(line for line in running.stderr if "Running" in line)
        running.send_signal(signal.SIGINT)
        said = running.stderr.read()
    assert "daily-at-20260101T020000Z" in begun
    assert "stopped; the same command goes on with what is left" in said
    assert running.returncode == 130
    hold.unlink()
    assert backfill(flow, "2026-01-01", "2026-01-02") == (0, {"01": "Succeeded", "02": "Succeeded"})
    assert ran(flow).count("02") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--from", "2026-01-02", "--to", "2026-01-01"), "--from 2026-01-02 comes after --to 2026-01-01"),
        (("--from", "soon", "--to", "2026-01-01"), "--from 'soon' is no time; write it as 2026-01-01"),
    ],
)
def test_what_makes_no_sense_is_refused(flow: Path, words: tuple[str, ...], said: str) -> None:
    done = couler(flow.parent, "backfill", str(flow), *words)
    assert done.returncode != 0
    assert said in done.stderr


def test_a_workflow_without_a_schedule_has_no_past(tmp_path: Path) -> None:
    file = tmp_path / "flow.py"
    file.write_text(FLOW.replace("PLACE", "''").replace('(schedule="0 3 * * *", timezone="Europe/Berlin")', ""))
    done = couler(tmp_path, "backfill", str(file), "--from", "2026-01-01", "--to", "2026-01-02")
    assert done.returncode == 2
    assert "has no schedule: @couler.workflow(schedule=" in done.stderr


def begun(flow: Path) -> Generator[Sequence[Instant], None, None]:
    """A backfill of three instants, of which the first is being worked on until `hold` is gone."""
    (flow.parent / "hold").touch()
    span = (datetime.fromisoformat(f"2026-01-0{day}T03:00+01:00").timestamp() for day in (1, 3))
    told = LocalClient(str(flow.parent / "home")).backfill(api.compile(load(str(flow)).model, to="local"), *span)
    assert [each.status for each in next(told)] == ["Pending"] * 3
    assert [each.status for each in next(told)] == ["Running", "Pending", "Pending"]
    return told


def test_ctrl_c_while_its_words_are_read_ends_it_too(flow: Path) -> None:
    told = begun(flow)
    found = [told.throw(KeyboardInterrupt()), *told]
    assert [each.status for each in found[-1]] == ["Stopped", "Pending", "Pending"]


def test_where_nobody_listens_any_longer_it_ends(flow: Path) -> None:
    told = begun(flow)
    told.close()
    for thread in threading.enumerate():
        if thread.name.startswith("couler backfill"):
            thread.join()
    assert [each.status for each in LocalClient(str(flow.parent / "home")).list()] == ["Stopped"]
