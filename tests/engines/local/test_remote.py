"""Runs whose artifacts go to a store: what counts as Succeeded, what comes back, what is said when it can't."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from couler_py.backends.local import execute, retry
from couler_py.backends.local.artifacts.remote import swept
from couler_py.backends.local.journal import Event
from couler_py.backends.local.lifecycle import prepare, run_to_end
from couler_py.backends.local.runs.garbage import Freed, delete
from couler_py.backends.local.runs.garbage import sweep as collect
from couler_py.ir.expr import Item, Literal, TaskArtifact
from couler_py.ir.model import (
    Argument,
    ArtifactArgument,
    Cache,
    Each,
    InputArtifact,
    Inputs,
    OutputArtifact,
    OutputParameter,
    Outputs,
    Parameter,
    Task,
    Template,
    Workflow,
)
from couler_py.ir.pod import Container
from couler_py.ir.types import ANY, STR
from couler_py.store import content
from couler_py.store.home import open_home
from couler_py.store.records import ArtifactRef, RunRecord
from couler_py.store.remote import LocationError, RemoteError, Swept
from couler_py.store.remote.location import blob_name
from tests.engines.local.flows import flow, graph, shell


def writes(script: str, place: Path, name: str = "write", inputs: tuple[str, ...] = (), **options: Any) -> Template:
    """A step that leaves the artifact `o` at a place."""
    return Template(
        name,
        Container("x", ("sh",), ("-c", script)),
        Inputs(tuple(Parameter(each, ANY) for each in inputs)),
        Outputs(artifacts=(OutputArtifact("o", str(place)),)),
        **options,
    )


def reads(script: str, place: Path, name: str = "read") -> Template:
    """A step that is given the artifact `data` at a place, and whose output is what it prints."""
    return Template(
        name,
        Container("x", ("sh",), ("-c", script)),
        Inputs(artifacts=(InputArtifact("data", str(place)),)),
        Outputs((OutputParameter("result", STR, stdout=True),)),
    )


def chain(first: Template, second: Template) -> Workflow:
    data = ArtifactArgument("data", TaskArtifact("a", "o"))
    return flow(first, second, graph(Task("a", first.name), Task("b", second.name, artifacts=(data,))))


def artifact(record: RunRecord, task: str = "a", name: str = "o") -> ArtifactRef:
    result = record.tasks[task].result
    assert result is not None
    return result.artifacts[name]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def lose(home: Path) -> None:
    """Forget what this machine keeps."""
    content.remove(str(home / "artifacts"))
    (home / "artifacts").mkdir()


def witness(path: Path) -> int:
    """How many times a step has written a letter there."""
    return len(path.read_text()) if path.exists() else 0


def test_a_task_counts_as_succeeded_when_what_it_made_is_in_the_store(home: Path, store: Path, tmp_path: Path) -> None:
    place = tmp_path / "out"
    there: list[bool] = []

    def note(event: Event) -> None:
        if event.task is not None and (event.path, event.task.state) == ("a", "Succeeded"):
            assert event.task.result is not None
            there.append((store / blob_name(event.task.result.artifacts["o"].digest)).read_bytes() == b"hello")

    workflow = flow(writes(f"printf hello > {place}", place), graph(Task("a", "write")))
    record = run_to_end(prepare(workflow, home=home, artifacts=str(store), observers=[note]))
    assert (record.status, there) == ("Succeeded", [True])


def test_a_store_of_the_settings_is_used(home: Path, store: Path, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("COULER_ARTIFACTS", str(store))
    place = tmp_path / "out"
    workflow = flow(writes(f"printf hello > {place}", place), graph(Task("a", "write")))
    record = execute(workflow, home=home)
    assert record.options["artifacts"] == f"file://{store}"
    assert (store / blob_name(artifact(record).digest)).exists()
    none = execute(workflow, home=home, artifacts="")
    assert none.options["artifacts"] == ""


def test_what_is_missing_here_comes_from_the_store(home: Path, store: Path, tmp_path: Path) -> None:
    place, fixed, made = tmp_path / "out", tmp_path / "fixed", tmp_path / "made"
    first = writes(f"printf x >> {made}; printf hello > {place}", place)
    second = reads(f"[ -e {fixed} ] && cat {tmp_path}/in", tmp_path / "in")
    record = execute(chain(first, second), home=home, artifacts=str(store))
    assert record.tasks["b"].state == "Failed"
    lose(home)
    fixed.touch()
    again = retry(record.id, home=home)
    assert again.status == "Succeeded", again.tasks["b"].message
    result = again.tasks["b"].result
    assert result is not None
    assert result.parameters == {"result": "hello"}
    assert witness(made) == 1


def test_a_folder_gathered_from_a_fan_out_comes_from_the_store(home: Path, store: Path, tmp_path: Path) -> None:
    fixed = tmp_path / "fixed"
    place = tmp_path / "out"
    body = Container("x", ("sh",), ("-c", f"mkdir -p {place} && echo hello > {place}/f"))
    write = Template(
        "write", body, Inputs((Parameter("n", ANY),)), Outputs(artifacts=(OutputArtifact("o", str(place)),))
    )
    second = reads(f"[ -e {fixed} ] && cat {tmp_path}/in/*/f", tmp_path / "in")
    fan = Task("a", "write", (Argument("n", Item()),), each=Each(Literal([1, 2, 3])))
    data = ArtifactArgument("data", TaskArtifact("a", "o"))
    workflow = flow(write, second, graph(fan, Task("b", "read", artifacts=(data,))))
    record = execute(workflow, home=home, artifacts=str(store))
    assert record.tasks["a"].state == "Succeeded", record.tasks["a"].message
    lose(home)
    fixed.touch()
    again = retry(record.id, home=home)
    assert again.status == "Succeeded", again.message
    assert again.tasks["b"].result is not None
    assert again.tasks["b"].result.parameters == {"result": "hello\nhello\nhello"}


def test_what_was_altered_never_reaches_a_step_and_is_named(home: Path, store: Path, tmp_path: Path) -> None:
    place, ran = tmp_path / "out", tmp_path / "ran"
    workflow = chain(writes(f"printf hello > {place}", place), reads(f"printf x >> {ran}; exit 1", tmp_path / "in"))
    record = execute(workflow, home=home, artifacts=str(store))
    digest = artifact(record).digest
    lose(home)
    blob = store / blob_name(digest)
    blob.chmod(0o644)
    blob.write_bytes(b"jello")
    again = retry(record.id, home=home)
    assert again.tasks["b"].message == (
        f"its input 'data' can't be had: file://{store}/{blob_name(digest)} was altered: its content is not what its "
        f"name says. Delete what is there; a made it: `couler retry {record.id} --from a` makes it anew"
    )
    assert witness(ran) == 1
    blob.unlink()
    last = retry(record.id, home=home)
    assert "isn't in the store. a made it: `couler retry" in last.tasks["b"].message
    assert retry(record.id, home=home, start=["a"]).tasks["a"].state == "Succeeded"
    assert witness(ran) == 2


def test_what_cannot_be_sent_fails_its_task_and_is_sent_later_without_running_again(
    home: Path, store: Path, tmp_path: Path
) -> None:
    place, made = tmp_path / "out", tmp_path / "made"
    # The store goes while the step runs.
    script = f"printf x >> {made}; printf hello > {place}; mv {store} {store}.away; touch {store}"
    workflow = chain(writes(script, place), reads(f"cat {tmp_path}/in", tmp_path / "in"))
    record = execute(workflow, home=home, artifacts=str(store))
    assert {path: record.tasks[path].state for path in "ab"} == {"a": "Failed", "b": "Blocked"}
    message = record.tasks["a"].message
    assert message.startswith("its output 'o' couldn't be sent: file://")
    assert f"`couler retry {record.id}` sends it again, without running the step" in message
    store.unlink()
    shutil.move(f"{store}.away", store)
    again = retry(record.id, home=home)
    assert again.status == "Succeeded", again.message
    assert witness(made) == 1
    assert (store / blob_name(artifact(again).digest)).read_bytes() == b"hello"


def test_a_step_that_is_to_run_anew_does_although_it_could_be_sent(home: Path, store: Path, tmp_path: Path) -> None:
    place, made = tmp_path / "out", tmp_path / "made"
    away = f"[ -e {store}.away ] || {{ mv {store} {store}.away; touch {store}; }}"
    workflow = flow(writes(f"printf x >> {made}; printf hello > {place}; {away}", place), graph(Task("a", "write")))
    record = execute(workflow, home=home, artifacts=str(store))
    assert record.tasks["a"].state == "Failed"
    store.unlink()
    (store.parent / "store.away").rename(store)
    (store.parent / "store.away").touch()
    assert retry(record.id, home=home, start=["a"]).status == "Succeeded"
    assert witness(made) == 2


def test_a_cached_result_whose_files_are_in_the_store_alone_is_a_hit(home: Path, store: Path, tmp_path: Path) -> None:
    place, made = tmp_path / "out", tmp_path / "made"
    first = writes(f"printf x >> {made}; mkdir -p {place}; printf hello > {place}/f", place, cache=Cache())
    workflow = chain(first, reads(f"cat {tmp_path}/in/f", tmp_path / "in"))
    assert execute(workflow, home=home, artifacts=str(store)).status == "Succeeded"
    lose(home)
    record = execute(workflow, home=home, artifacts=str(store))
    assert record.tasks["a"].cached
    assert record.tasks["b"].result is not None
    assert record.tasks["b"].result.parameters == {"result": "hello"}
    lose(home)
    shutil.rmtree(store / "sha256")
    last = execute(workflow, home=home, artifacts=str(store))
    assert (last.status, last.tasks["a"].cached) == ("Succeeded", "")
    assert witness(made) == 2


def test_a_cached_result_from_before_there_was_a_store_goes_there(home: Path, store: Path, tmp_path: Path) -> None:
    place = tmp_path / "out"
    workflow = flow(writes(f"printf hello > {place}", place, cache=Cache()), graph(Task("a", "write")))
    execute(workflow, home=home)
    record = execute(workflow, home=home, artifacts=str(store))
    assert record.tasks["a"].cached
    assert (store / blob_name(artifact(record).digest)).read_bytes() == b"hello"


def test_outputs_of_a_run_are_files_of_this_machine(home: Path, store: Path, tmp_path: Path) -> None:
    place = tmp_path / "out"
    main = graph(Task("a", "write"))
    main = Template(
        main.name, main.body, outputs=Outputs(artifacts=(OutputArtifact("made", value=TaskArtifact("a", "o")),))
    )
    record = execute(flow(writes(f"printf hello > {place}", place), main), home=home, artifacts=str(store))
    assert Path(record.outputs["made"]).read_text() == "hello"
    assert Path(record.outputs["made"]).is_relative_to(home)


# ---- refused before anything starts


def begun(home: Path) -> int:
    with closing(sqlite3.connect(home / "couler.sqlite")) as connection:
        return int(connection.execute("SELECT count(*) FROM runs").fetchone()[0])


def test_a_store_that_cannot_be_used_is_refused_before_the_run_begins(home: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RemoteError, match="file/store"):
        execute(flow(shell("x", "true"), graph(Task("a", "x"))), home=home, artifacts=f"{tmp_path}/file/store")
    assert begun(home) == 0


def test_an_address_with_a_password_is_refused_and_written_nowhere(home: Path) -> None:
    with pytest.raises(LocationError) as refused:
        execute(flow(shell("x", "true"), graph(Task("a", "x"))), home=home, artifacts="s3://me:hidden@bucket/x")
    assert "hidden" not in str(refused.value)
    for file in home.rglob("*"):
        assert not file.is_file() or b"hidden" not in file.read_bytes()


def test_no_credentials_are_recorded(home: Path, store: Path, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "very-hidden")
    place = tmp_path / "out"
    execute(flow(writes(f"echo > {place}", place), graph(Task("a", "write"))), home=home, artifacts=str(store))
    with closing(sqlite3.connect(home / "couler.sqlite")) as connection:
        options = json.loads(connection.execute("SELECT options FROM runs").fetchone()[0])
    assert options["artifacts"] == f"file://{store}"
    for file in (home / "couler.sqlite", *home.rglob("*-wal"), *home.rglob("record"), *home.rglob("log")):
        assert b"very-hidden" not in file.read_bytes()


# ---- tidying up


def test_what_no_run_of_this_home_needs_is_deleted_from_every_store_it_used(
    home: Path, store: Path, tmp_path: Path
) -> None:
    place = tmp_path / "out"
    workflow = flow(writes(f"printf hello > {place}", place), graph(Task("a", "write")))
    kept = artifact(execute(workflow, home=home, artifacts=str(store))).digest
    for url in (store, tmp_path / "second"):
        other = flow(writes(f"printf other > {place}", place), graph(Task("a", "write")))
        execute(other, home=home, artifacts=str(url))
    found = swept(open_home(home), {kept}, grace=-60.0)
    assert found == {f"file://{store}": Swept(1, 5), f"file://{tmp_path}/second": Swept(1, 5)}
    assert [file.name for file in (store / "sha256").rglob("*") if file.is_file()] == [kept[2:]]


def age(store: Path) -> None:
    """Let three days pass."""
    old = time.time() - 3 * 86_400
    for file in store.rglob("*"):
        os.utime(file, (old, old))


def test_collecting_deletes_from_stores_only_if_asked_and_only_what_is_old(
    home: Path, store: Path, tmp_path: Path
) -> None:
    place = tmp_path / "out"
    for text in ("kept", "gone"):
        workflow = flow(writes(f"printf {text} > {place}", place), graph(Task("a", "write")))
        record = execute(workflow, home=home, artifacts=str(store), name=text)
    delete("gone", home=home)
    age(store)
    young = store / blob_name(artifact(record).digest)
    os.utime(young)
    assert collect(home=home).freed.get(f"file://{store}") is None
    assert collect(home=home, stores=True).of(f"file://{store}").count == 0
    age(store)  # also the claim of what was too young
    assert collect(home=home, stores=True, dry_run=True).of(f"file://{store}") == Freed(1, 4)
    assert collect(home=home, stores=True).of(f"file://{store}") == Freed(1, 4)
    assert [file.read_text() for file in (store / "sha256").rglob("*") if file.is_file()] == ["kept"]
