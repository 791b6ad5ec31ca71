"""A run as a folder that can be mailed, and a folder from elsewhere, which may hold anything."""

from __future__ import annotations

import gzip
import io
import json
import os
import tarfile
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from couler_py.backends.base import NotOffered, RunNotFoundError
from couler_py.backends.local import execute
from couler_py.backends.local.client import LocalClient
from couler_py.backends.local.runs.exported import ExportedClient
from couler_py.backends.local.runs.exporting import write
from couler_py.ir.expr import TaskArtifact, TaskOutput
from couler_py.ir.model import OutputArtifact, OutputParameter, Outputs, Task, Template, Workflow
from couler_py.ir.pod import Container, EnvVar
from couler_py.ir.storage import SecretRef
from couler_py.ir.types import INT
from couler_py.store.exports import ExportError
from couler_py.store.home import open_home
from couler_py.store.secrets import write_secret
from tests.engines.local.flows import flow, graph, shell

SECRET = "hush-hush-4711"


def made(tmp_path: Path) -> Workflow:
    """A step that writes a line, a value and a file, and one that fails."""
    file = f"{tmp_path}/made.txt"
    step = Template(
        "make",
        Container("busybox", ("sh",), ("-c", f"echo a line >&2; echo content > {file}; echo 5")),
        outputs=Outputs((OutputParameter("n", INT, stdout=True),), (OutputArtifact("f", path=file),)),
    )
    outputs = Outputs(
        (OutputParameter("n", INT, value=TaskOutput("a", "n")),), (OutputArtifact("f", value=TaskArtifact("a", "f")),)
    )
    return flow(step, msgspec.structs.replace(graph(Task("a", "make")), outputs=outputs))


@pytest.fixture
def run(home: Path, tmp_path: Path) -> str:
    record = execute(made(tmp_path), home=home)
    assert record.status == "Succeeded", record.message
    return record.id


def export(home: Path, run: str, target: Path) -> Path:
    write(run, LocalClient(home).workflow(run), target, home=home, source="# source", page="<p>page</p>")
    return target


@pytest.mark.parametrize("name", ["folder", "folder.tar.gz"])
def test_what_was_exported_is_read_back(name: str, home: Path, tmp_path: Path, run: str) -> None:
    with ExportedClient(export(home, run, tmp_path / name)) as client:
        here = LocalClient(home).status(run)
        there = client.status(run)
        assert there.tasks == here.tasks
        assert (there.run, there.status, there.outputs["n"]) == (run, "Succeeded", 5)
        assert sorted(line.text for line in client.logs(run, "a")) == ["5", "a line"]
        assert client.workflow(run) == LocalClient(home).workflow(run)
        files = client.artifacts(run)
        assert {key: Path(path).read_text() for key, path in files.items()} == {"a/f": "content\n", "f": "content\n"}


def test_a_folder_says_by_itself_what_is_in_it(home: Path, tmp_path: Path, run: str) -> None:
    folder = export(home, run, tmp_path / "folder")
    assert sorted(path.name for path in folder.iterdir()) == [
        "files",
        "logs",
        "report.html",
        "run.json",
        "samples.json",
        "workflow.json",
        "workflow.py",
    ]
    assert str(home) not in (folder / "run.json").read_text()


@pytest.mark.parametrize("text", ['{"a": [[1e308, 0, 0]]}', '{"a": [[0, -1, 0]]}', "[]", "["])
def test_samples_that_nobody_can_have_taken_are_refused(text: str, home: Path, tmp_path: Path, run: str) -> None:
    folder = export(home, run, tmp_path / "folder")
    (folder / "samples.json").write_text(text)
    with ExportedClient(folder) as client, pytest.raises(ExportError, match="holds no samples"):
        client.report(run)


def test_a_folder_without_samples_is_read_too(home: Path, tmp_path: Path, run: str) -> None:
    folder = export(home, run, tmp_path / "folder")
    (folder / "samples.json").unlink()
    with ExportedClient(folder) as client:
        assert [each.looks for task in client.report(run).tasks for each in task.tries] == [()]


def test_what_is_there_is_not_overwritten(home: Path, tmp_path: Path, run: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(FileExistsError):
        export(home, run, tmp_path / "folder")
    assert list((tmp_path / "folder").iterdir()) == []


def test_secrets_stay_here(home: Path, tmp_path: Path) -> None:
    write_secret(open_home(home), "service", {"token": SECRET})
    file = f"{tmp_path}/leak.txt"
    # The log is written by the step itself, past what hides secrets in what it prints.
    script = f"echo $TOKEN > {file}; echo 1; echo $TOKEN >> $(dirname $PWD)/log"
    step = Template(
        "leak",
        Container("busybox", ("sh",), ("-c", script), env=(EnvVar("TOKEN", SecretRef("service", "token")),)),
        outputs=Outputs((OutputParameter("n", INT, stdout=True),), (OutputArtifact("f", path=file),)),
    )
    record = execute(flow(step, graph(Task("a", "leak"))), home=home)
    assert record.status == "Succeeded", record.message
    log = next((home / "runs").glob("*/attempts/*/log"))
    assert SECRET in log.read_text()
    folder = export(home, record.id, tmp_path / "folder")
    assert not [path for path in folder.rglob("*") if path.is_file() and SECRET in path.read_text()]
    data = json.loads((folder / "run.json").read_text())
    assert [file["left_out"] for file in data["files"]] == ["it holds a secret"]


def test_an_exported_run_can_only_be_looked_at(home: Path, tmp_path: Path, run: str) -> None:
    client = ExportedClient(export(home, run, tmp_path / "folder"))
    with pytest.raises(NotOffered, match="nothing in it is executed"):
        client.retry(run)
    with pytest.raises(RunNotFoundError, match="has no task 'b'; it has a"):
        list(client.logs(run, "b"))


def changed(folder: Path, change: Callable[[dict[str, object]], object]) -> None:
    data = json.loads((folder / "run.json").read_text())
    change(data)
    (folder / "run.json").write_text(json.dumps(data))


PLACES = ["../secret", "/etc/passwd", "logs/../../x", "logs/a/../../../x", "other/file", "logs/.", "logs//x", ""]


@pytest.mark.parametrize("place", PLACES)
def test_a_log_outside_of_the_folder_is_none(place: str, home: Path, tmp_path: Path, run: str) -> None:
    folder = export(home, run, tmp_path / "folder")
    changed(folder, lambda data: data.update(logs=[{"task": "a", "attempt": 0, "place": place}]))
    with pytest.raises(ExportError, match="is no place in the folder of a run"):
        ExportedClient(folder)


def test_no_link_is_followed(home: Path, tmp_path: Path, run: str) -> None:
    folder = export(home, run, tmp_path / "folder")
    (tmp_path / "secret").write_text(SECRET)
    log = next((folder / "logs").iterdir())
    log.unlink()
    log.symlink_to(tmp_path / "secret")
    file = next((folder / "files").iterdir())
    file.unlink()
    file.symlink_to(tmp_path / "secret")
    client = ExportedClient(folder)
    with pytest.raises(ExportError, match="can't be read"):
        list(client.logs(run))
    assert client.artifacts(run) == {}
    (folder / "files").rename(tmp_path / "elsewhere")
    (folder / "files").symlink_to(tmp_path / "elsewhere")
    assert client.artifacts(run) == {}


def test_a_pipe_is_not_waited_for(home: Path, tmp_path: Path, run: str) -> None:
    folder = export(home, run, tmp_path / "folder")
    (folder / "run.json").unlink()
    os.mkfifo(folder / "run.json")
    with pytest.raises(ExportError, match="is no plain file"):
        ExportedClient(folder)


@pytest.mark.parametrize("text", ["", "{}", "[" * 100_000, '{"format": "couler-run/9"}', '{"format": 1}'])
def test_what_is_no_record_is_said(text: str, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(ExportError, match=r"run\.json"):
        ExportedClient(tmp_path)


def test_a_longer_record_than_there_can_be_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from couler_py.store import exports

    monkeypatch.setattr(exports, "LARGEST_RECORD", 10)
    (tmp_path / "run.json").write_text("x" * 11)
    with pytest.raises(ExportError, match="11 bytes long, and 10 are read at most"):
        ExportedClient(tmp_path)


def archive(path: Path, *members: tarfile.TarInfo) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for member in members:
            tar.addfile(member, io.BytesIO(b"x" * member.size))
    return path


def member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "", size: int = 0) -> tarfile.TarInfo:
    found = tarfile.TarInfo(name)
    found.type, found.linkname, found.size = kind, target, size
    return found


EVIL = {
    "above": member("../evil", size=1),
    "absolute": member("/tmp/couler-evil", size=1),
    "link": member("run/link", tarfile.SYMTYPE, "/etc/passwd"),
    "hard link": member("run/link", tarfile.LNKTYPE, "run/run.json"),
    "device": member("run/null", tarfile.CHRTYPE),
    "pipe": member("run/pipe", tarfile.FIFOTYPE),
}


@pytest.mark.parametrize("what", EVIL)
def test_an_archive_unpacks_to_files_and_folders_in_one_folder(what: str, tmp_path: Path) -> None:
    path = archive(tmp_path / "run.tar.gz", EVIL[what])
    with pytest.raises(ExportError):
        ExportedClient(path)
    assert not Path("/tmp/couler-evil").exists()
    assert not (tmp_path / "evil").exists()


def test_an_archive_with_a_header_that_would_fill_the_memory_is_left(tmp_path: Path) -> None:
    """Zeros pack to a thousandth, and the library reads a header whole."""
    odd = member("run/@PaxHeader", tarfile.XHDTYPE, size=64 << 20)
    path = tmp_path / "run.tar.gz"
    with gzip.open(path, "wb", compresslevel=1) as packed:
        packed.write(odd.tobuf(tarfile.USTAR_FORMAT))
        for _ in range(64):
            packed.write(bytes(1 << 20))
    with pytest.raises(ExportError, match="holds a header of 67,108,864 bytes"):
        ExportedClient(path)


def test_an_archive_that_grows_without_end_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from couler_py.store import exports

    monkeypatch.setattr(exports, "LARGEST_ARCHIVE", 1000)
    path = archive(tmp_path / "run.tar.gz", *(member(f"run/{number}", size=400) for number in range(3)))
    with pytest.raises(ExportError, match="unpacks to more than"):
        ExportedClient(path)


def test_what_is_cut_off_is_said(home: Path, tmp_path: Path, run: str) -> None:
    path = export(home, run, tmp_path / "run.tar.gz")
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(ExportError, match="can't be unpacked"):
        ExportedClient(path)


def test_a_failed_run_is_exported_as_well(home: Path, tmp_path: Path) -> None:
    record = execute(flow(shell("a", "echo why; exit 3"), graph(Task("a", "a"))), home=home)
    with ExportedClient(export(home, record.id, tmp_path / "f.tgz")) as client:
        assert client.status(record.id).status == "Failed"
        assert [line.text for line in client.logs(record.id)] == ["why"]
