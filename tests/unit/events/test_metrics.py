"""The numbers of a run are what Prometheus reads."""

from __future__ import annotations

import re
from pathlib import Path

from couler_py.events.metrics import text, write
from couler_py.store.records import AttemptRecord, RunRecord, TaskRecord

RUN = RunRecord(
    "flow-x",
    'a "b"\\c\nd',
    "Failed",
    {},
    0.0,
    100.0,
    finished=109.5,
    seconds=9.5,
    tasks={
        "": TaskRecord("", "graph", "main", "Failed", started=100.0, finished=109.0),
        "a": TaskRecord("a", "function", "a", "Succeeded", started=100.0, finished=104.0, cached="other:a"),
        "b": TaskRecord("b", "function", "b", "Failed", started=104.0, finished=109.0),
    },
)
ATTEMPTS = [AttemptRecord(0, "Failed", cpu=1.5, memory=2048.0), AttemptRecord(1, "Failed", cpu=0.25, memory=1024.0)]
LINE = re.compile(r'[a-z_]+\{workflow="a \\"b\\"\\\\c\\nd"(,[a-z]+="[^"]*")*\} [0-9.e+-]+')


def test_every_line_is_one_of_the_text_format() -> None:
    lines = text(RUN, ATTEMPTS).splitlines()
    assert [line for line in lines if not line.startswith("# ") and not LINE.fullmatch(line)] == []
    names = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"couler_run_[a-z_]+", name) for name in names)


def test_the_numbers_are_those_of_the_run() -> None:
    found = {}
    for line in text(RUN, ATTEMPTS).splitlines():
        if not line.startswith("#"):
            series, _, value = line.rpartition(" ")
            found[series.replace(r'workflow="a \"b\"\\c\nd"', "").replace("{,", "{").replace("{}", "")] = float(value)
    assert found == {
        'couler_run_info{run="flow-x",status="Failed"}': 1,
        "couler_run_success": 0,
        "couler_run_start_time_seconds": 100,
        "couler_run_end_time_seconds": 109.5,
        "couler_run_duration_seconds": 9.5,
        'couler_run_tasks{state="succeeded"}': 1,
        'couler_run_tasks{state="failed"}': 1,
        **{
            f'couler_run_tasks{{state="{state}"}}': 0
            for state in ("skipped", "blocked", "stopped", "pending", "running", "suspended")
        },
        "couler_run_cached_tasks": 1,
        "couler_run_attempts": 2,
        "couler_run_task_seconds": 9,
        "couler_run_cpu_seconds": 1.75,
        "couler_run_max_memory_bytes": 2048,
    }


def test_a_workflow_has_one_file_inside_the_folder(tmp_path: Path) -> None:
    path = write(tmp_path / "prom", RunRecord("x", "../../etc", "Succeeded", {}, 0.0, 0.0), [])
    assert path == tmp_path / "prom" / "couler-.._.._etc.prom"
    assert [each.name for each in (tmp_path / "prom").iterdir()] == [path.name]
