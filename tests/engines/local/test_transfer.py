"""Files from and to places outside: a real S3 server, git, HTTP, the workflow itself, this machine."""

from __future__ import annotations

import base64
import http.server
import os
import subprocess
import tarfile
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import ClassVar

import boto3
import pytest
from moto.server import ThreadedMotoServer

from couler_py.backends.local import execute
from couler_py.backends.local.journal import Event
from couler_py.backends.local.lifecycle import prepare, run_to_end
from couler_py.ir.model import (
    ArtifactArgument,
    InputArtifact,
    Inputs,
    OutputArtifact,
    OutputParameter,
    Outputs,
    Task,
    Template,
)
from couler_py.ir.pod import Container
from couler_py.ir.storage import S3, Git, HTTPLocation, LocalPath, RawData, SecretRef, Storage
from couler_py.ir.types import STR
from couler_py.store.home import open_home
from couler_py.store.records import RunRecord
from couler_py.store.secrets import write_secret
from tests.engines.local.flows import flow, graph, shell

LIST = "cd {0} 2>/dev/null && find . -type f | sort | xargs cat || cat {0}"


def read(storage: Storage, home: Path, place: Path) -> RunRecord:
    """Run a step that prints the artifact that lies at a place."""
    body = Container("x", ("sh",), ("-c", LIST.format(place)))
    template = Template(
        "read",
        body,
        Inputs(artifacts=(InputArtifact("data", str(place)),)),
        Outputs((OutputParameter("result", STR, stdout=True),)),
    )
    task = Task("a", "read", artifacts=(ArtifactArgument("data", storage=storage),))
    return execute(flow(template, graph(task)), home=home)


def text_of(record: RunRecord) -> str:
    result = record.tasks["a"].result
    assert result is not None
    assert record.status == "Succeeded", record.tasks["a"].message
    text = result.parameters["result"]
    assert isinstance(text, str)
    return text


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    server = ThreadedMotoServer("127.0.0.1", 0)
    server.start()
    host, port = server.get_host_and_port()
    yield f"{host}:{port}"
    server.stop()


def bucket(endpoint: str, key: str) -> S3:
    return S3(key, "data", endpoint, "us-east-1", True, SecretRef("s3", "access"), SecretRef("s3", "secret"))


def test_raw_data_is_the_content(home: Path, tmp_path: Path) -> None:
    assert text_of(read(RawData("{{x}} $(y)"), home, tmp_path / "in")) == "{{x}} $(y)"


def test_a_path_of_this_machine_is_copied(home: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("here")
    assert text_of(read(LocalPath(str(tmp_path / "mine")), home, tmp_path / "in")) == "here"
    assert (tmp_path / "mine").read_text() == "here"


@pytest.mark.parametrize("place", [".", "..", "/", "home"])
def test_no_folder_with_more_in_it_is_replaced(place: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = home.parent / "outer" / "work"
    work.mkdir(parents=True)
    (work / "mine").write_text("mine")
    monkeypatch.chdir(work)
    left = OutputArtifact("out", str(work / "out"), storage=LocalPath(str(home) if place == "home" else place))
    body = Container("x", ("sh",), ("-c", f"mkdir {work}/out"))
    record = execute(
        flow(Template("write", body, outputs=Outputs(artifacts=(left,))), graph(Task("a", "write"))), home=home
    )
    assert "would be replaced with all that is in it" in record.tasks["a"].message
    assert (work / "mine").read_text() == "mine"


def test_a_pipe_in_the_place_of_a_file_fails_the_task_alone(home: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    record = read(LocalPath(str(tmp_path / "pipe")), home, tmp_path / "in")
    assert "is a pipe: what is kept is files and folders" in record.tasks["a"].message


def test_messages_leave_out_the_password_of_an_address(home: Path, tmp_path: Path) -> None:
    record = read(HTTPLocation("http://me:hidden@127.0.0.1:9/x"), home, tmp_path / "in")
    assert "http://127.0.0.1:9/x" in record.tasks["a"].message
    assert "hidden" not in record.tasks["a"].message


def test_other_steps_go_on_while_a_file_is_fetched(home: Path, tmp_path: Path) -> None:
    other_ended = threading.Event()

    class Patient(http.server.BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.send_response(200)
            self.end_headers()

        def do_GET(self) -> None:
            self.send_response(200 if other_ended.wait(30) else 500)
            self.end_headers()
            self.wfile.write(b"fetched")

        def log_message(self, *_: object) -> None:
            pass

    def note(event: Event) -> None:
        if event.task is not None and (event.path, event.task.state) == ("b", "Succeeded"):
            other_ended.set()

    place = tmp_path / "in"
    body = Container("x", ("grep",), ("fetched", str(place)))
    template = Template("read", body, Inputs(artifacts=(InputArtifact("data", str(place)),)))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Patient) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        where = HTTPLocation(f"http://127.0.0.1:{server.server_port}/x")
        first = Task("a", "read", artifacts=(ArtifactArgument("data", storage=where),))
        workflow = flow(template, shell("quick", "true"), graph(first, Task("b", "quick")))
        record = run_to_end(prepare(workflow, home=home, observers=[note]))
        server.shutdown()
    assert record.status == "Succeeded", record.message


def test_a_path_that_is_not_here_is_named(home: Path, tmp_path: Path) -> None:
    record = read(LocalPath("/no/such/file"), home, tmp_path / "in")
    assert record.tasks["a"].message == "/no/such/file is not on this machine"


def test_files_go_to_s3_and_come_back(s3: str, home: Path, tmp_path: Path) -> None:
    write_secret(open_home(home), "s3", {"access": "a", "secret": "b"})
    client = boto3.client(
        "s3", endpoint_url=f"http://{s3}", aws_access_key_id="a", aws_secret_access_key="b", region_name="us-east-1"
    )
    client.create_bucket(Bucket="data")
    place = tmp_path / "out" / "result.txt"
    body = Container("x", ("sh",), ("-c", f"printf hello > {place}"))
    for key, archive in (("plain.txt", "none"), ("packed.tgz", "")):
        output = OutputArtifact("o", str(place), storage=bucket(s3, key), archive=archive)  # type: ignore[arg-type]
        write = Template("write", body, outputs=Outputs(artifacts=(output,)))
        record = execute(flow(write, graph(Task("a", "write"))), home=home)
        assert record.status == "Succeeded", record.message
        assert text_of(read(bucket(s3, key), home, tmp_path / "in")) == "hello"
    assert client.get_object(Bucket="data", Key="plain.txt")["Body"].read() == b"hello"
    with tarfile.open(fileobj=client.get_object(Bucket="data", Key="packed.tgz")["Body"], mode="r|gz") as packed:
        assert packed.getnames() == ["content"]


def test_what_s3_does_not_have_is_named(s3: str, home: Path, tmp_path: Path) -> None:
    write_secret(open_home(home), "s3", {"access": "a", "secret": "b"})
    record = read(bucket(s3, "missing"), home, tmp_path / "in")
    assert record.tasks["a"].message.startswith("the artifact can't be fetched from s3://data/missing")


def test_a_repository_is_cloned_at_its_revision(home: Path, tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    git = ["git", "-C", str(repo), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", "init", "-q", str(repo)], check=True)
    for number in (1, 2):
        (repo / "file").write_text(f"version {number}")
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-qm", "x"], check=True)
        subprocess.run([*git, "tag", f"v{number}"], check=True)
    assert text_of(read(Git(str(repo), "v1"), home, tmp_path / "in")) == "version 1"
    assert text_of(read(Git(str(repo)), home, tmp_path / "in")) == "version 2"


def test_an_option_in_a_repositorys_place_is_no_option(home: Path, tmp_path: Path) -> None:
    record = read(Git(f"--upload-pack=touch {tmp_path}/pwned"), home, tmp_path / "in")
    assert record.tasks["a"].state == "Failed"
    assert not (tmp_path / "pwned").exists()


def test_a_file_comes_by_http(home: Path, tmp_path: Path) -> None:
    (tmp_path / "www").mkdir()
    (tmp_path / "www" / "a.txt").write_text("from afar")
    handler = partial(http.server.SimpleHTTPRequestHandler, directory=str(tmp_path / "www"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        url = f"http://127.0.0.1:{server.server_port}/a.txt"
        assert text_of(read(HTTPLocation(url), home, tmp_path / "in")) == "from afar"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def repository(path: Path) -> None:
    """A repository with a file, as a plain web server can hand it out."""
    git = ["git", "-C", str(path), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", "init", "-q", str(path)], check=True)
    (path / "file").write_text("private")
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "x"], check=True)
    subprocess.run([*git, "update-server-info"], check=True)


class Guarded(http.server.SimpleHTTPRequestHandler):
    """Hands files out to who knows the password, and notes what was asked for."""

    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        if self.headers.get("Authorization") != "Basic " + base64.b64encode(b"me:hidden").decode():
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="x"')
            self.end_headers()
            return
        super().do_GET()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[str]:
    (tmp_path / "www").mkdir()
    Guarded.asked.clear()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Guarded, directory=str(tmp_path / "www"))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_private_repository_is_cloned_with_the_secrets_that_are_named(
    guarded: str, home: Path, tmp_path: Path
) -> None:
    repository(tmp_path / "www" / "repo")
    private = Git(f"{guarded}/repo/.git", username=SecretRef("git", "user"), password=SecretRef("git", "password"))
    write_secret(open_home(home), "git", {"user": "me", "password": "hidden"})
    assert text_of(read(private, home, tmp_path / "in")) == "private"
    assert [file for file in (home / "tmp").rglob("*") if b"hidden" in file.read_bytes()] == []
    write_secret(open_home(home), "git", {"user": "me", "password": "another-hidden"})
    record = read(private, home, tmp_path / "in")
    assert f"can't be fetched from {guarded}/repo/.git" in record.tasks["a"].message
    assert "hidden" not in record.tasks["a"].message


def test_a_private_address_is_read_with_the_secrets_that_are_named(guarded: str, home: Path, tmp_path: Path) -> None:
    (tmp_path / "www" / "a.txt").write_text("private")
    write_secret(open_home(home), "web", {"user": "me", "password": "hidden"})
    private = HTTPLocation(f"{guarded}/a.txt", username=SecretRef("web", "user"), password=SecretRef("web", "password"))
    assert text_of(read(private, home, tmp_path / "in")) == "private"
    assert Guarded.asked == ["/a.txt"]  # once: a file may be large
    record = read(HTTPLocation(f"{guarded}/a.txt"), home, tmp_path / "in")
    assert "refuses these credentials" in record.tasks["a"].message


def test_a_secret_that_is_missing_is_said_so(home: Path, tmp_path: Path) -> None:
    private = Git("https://127.0.0.1:9/repo", password=SecretRef("git", "password"))
    message = read(private, home, tmp_path / "in").tasks["a"].message
    assert message.startswith("the artifact can't be fetched from https://127.0.0.1:9/repo: ")
    assert "COULER_SECRET_GIT_PASSWORD" in message
