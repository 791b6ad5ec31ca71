"""What a run tells others: everything once, whoever works on it, and nothing that could harm it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from couler_py.backends.local import execute
from couler_py.backends.local.api import retry
from couler_py.ir.model import After, OutputArtifact, Outputs, Task, Template
from couler_py.ir.pod import Container, EnvVar
from couler_py.ir.storage import SecretRef
from couler_py.store.home import open_home
from couler_py.store.secrets import set_key
from tests.engines.local.conftest import Drivers
from tests.engines.local.flows import flow, graph, shell


@pytest.fixture(autouse=True)
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that events go to."""
    file = tmp_path / "events.jsonl"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("COULER_EVENTS_FILES", str(file))
    monkeypatch.setenv("COULER_EVENTS_OPENLINEAGE_FILE", str(tmp_path / "lineage.jsonl"))
    monkeypatch.setenv("COULER_EVENTS_PROMETHEUS", str(tmp_path / "prom"))
    return file


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def seen(file: Path) -> list[tuple[str, str]]:
    return [(each.get("task", ""), each["kind"]) for each in lines(file)]


def test_a_run_and_its_tasks_are_told_from_beginning_to_end(home: Path, told: Path, tmp_path: Path) -> None:
    make = Template(
        "make",
        Container("x", ("sh",), ("-c", "printf hi > out")),
        outputs=Outputs(artifacts=(OutputArtifact("o", "out"),)),
    )
    fails = shell("fails", "exit 3")
    work = graph(Task("a", "make"), Task("b", "fails", after=(After("a"),)), Task("c", "make", after=(After("b"),)))
    record = execute(flow(make, fails, work), home=home)
    assert record.status == "Failed"
    assert seen(told) == [
        ("", "started"),
        ("a", "started"),
        ("a", "succeeded"),
        ("b", "started"),
        ("b", "failed"),
        ("c", "blocked"),
        ("", "failed"),
    ]
    found = lines(told)
    assert found[2]["artifacts"][0]["size"] == 2
    assert found[4]["message"] == "exit code 3"
    assert {each["run"] for each in found} == {record.id}
    lineage = [(each["job"]["name"], each["eventType"]) for each in lines(tmp_path / "lineage.jsonl")]
    assert lineage == [
        ("flow", "START"),
        ("flow.a", "START"),
        ("flow.a", "COMPLETE"),
        ("flow.b", "START"),
        ("flow.b", "FAIL"),
        ("flow", "FAIL"),
    ]
    assert 'couler_run_success{workflow="flow"} 0' in (tmp_path / "prom" / "couler-flow.prom").read_text()


def test_a_retried_run_tells_only_what_is_new(home: Path, told: Path, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    work = graph(Task("a", "ok"), Task("b", "once", after=(After("a"),)))
    record = execute(flow(shell("ok", "true"), shell("once", f"[ -e {mark} ]"), work), home=home)
    first = len(lines(told))
    mark.touch()
    assert retry(record.id, home=home).status == "Succeeded"
    assert seen(told)[first:] == [("", "started"), ("b", "started"), ("b", "succeeded"), ("", "succeeded")]
    ids = [each["id"] for each in lines(told)]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("state", ["Running", "Succeeded"])
def test_a_run_whose_engine_is_killed_tells_everything_and_nothing_twice(
    drivers: Drivers, told: Path, state: str
) -> None:
    tasks = [Task(f"t{number}", "work", after=(After(f"t{number - 1}"),) if number else ()) for number in range(6)]
    driver = drivers.run(flow(shell("work", "true"), graph(*tasks)))
    driver.until(kind="task", path="t3", state=state)
    driver.kill()
    assert drivers.resume(driver.run).finish()["status"] == "Succeeded"
    found = lines(told)
    ids = [each["id"] for each in found]
    again = [each for each in found if ids.count(each["id"]) > 1]
    assert len(ids) - len(set(ids)) <= 1, again  # the kill may fall between a delivery and its note
    for number in range(6):
        ends = {each["id"] for each in found if each.get("task") == f"t{number}" and each["kind"] == "succeeded"}
        assert len(ends) == 1
    assert len({each["id"] for each in found if "task" not in each}) == 2


def test_no_secret_is_told(home: Path, told: Path, tmp_path: Path) -> None:
    set_key(open_home(home), "api", "token", "hush-hush-hush")
    body = Container("x", ("sh",), ("-c", "echo $T >&2; exit 1"), env=(EnvVar("T", SecretRef("api", "token")),))
    execute(flow(Template("fails", body), graph(Task("a", "fails"))), home=home)
    assert lines(told)
    for file in (told, tmp_path / "lineage.jsonl", *home.glob("runs/*/events/*")):
        assert "hush" not in file.read_text()


def test_places_that_are_not_there_change_nothing(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("COULER_EVENTS_FILES", str(tmp_path / "file" / "inside"))
    monkeypatch.setenv("COULER_EVENTS_PROMETHEUS", str(tmp_path / "file" / "prom"))
    monkeypatch.setenv("COULER_EVENTS_WEBHOOKS", '[{url = "http://127.0.0.1:9/hook?key=hush"}]')
    record = execute(flow(shell("ok", "true"), graph(Task("a", "ok"))), home=home)
    assert record.status == "Succeeded"
    said = capsys.readouterr().err
    assert f"events for http://127.0.0.1:9/…: 4 events wait: `couler events {record.id} --send`" in said
    assert "events for " + str(tmp_path / "file" / "inside") in said
    assert "the numbers of the run can't be written: Not a directory" in said
    assert "hush" not in said


def test_without_settings_nothing_is_kept(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FILES", "OPENLINEAGE_FILE", "PROMETHEUS"):
        monkeypatch.delenv(f"COULER_EVENTS_{name}")
    record = execute(flow(shell("ok", "true"), graph(Task("a", "ok"))), home=home)
    assert not (home / "runs" / record.id / "events").exists()
