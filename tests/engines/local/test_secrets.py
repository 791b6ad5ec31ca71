"""A secret reaches the steps that declare it, and shows in nothing that is kept of a run."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from couler_py.backends.local import execute, logs
from couler_py.backends.local.journal import Event
from couler_py.ir import DiagnosticError
from couler_py.ir.model import (
    Function,
    Http,
    InputArtifact,
    Inputs,
    OutputArtifact,
    Outputs,
    Piece,
    Task,
    Template,
)
from couler_py.ir.pod import Container, EnvVar, Templated, Volume, VolumeMount
from couler_py.ir.storage import S3, SecretRef
from couler_py.store import runs
from couler_py.store.database import connect
from couler_py.store.home import open_home
from couler_py.store.secrets import set_key
from tests.engines.local.flows import flow, graph, shell

SECRET = "s3cr3t/vâlue&more"
TOKEN = EnvVar("TOKEN", SecretRef("api", "token"))


@pytest.fixture(autouse=True)
def kept(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    set_key(open_home(home), "api", "token", SECRET)


def traces(home: Path, *shown: bytes) -> list[str]:
    """The files of a home that hold any of some texts, but those of the secrets themselves."""
    connect(open_home(home)).execute("PRAGMA wal_checkpoint(TRUNCATE)").connection.close()
    files = [file for file in home.rglob("*") if file.is_file() and "secrets" not in file.parts]
    return [str(file) for file in files if any(text in file.read_bytes() for text in shown)]


def test_no_form_of_a_secret_is_in_a_log(home: Path) -> None:
    code = """
import base64, json, os, sys, urllib.parse
token = os.environ["TOKEN"]
for form in (token, base64.b64encode(b"user:" + token.encode()).decode(), urllib.parse.quote(token), json.dumps(token)):
    print(form)
for char in token:  # in pieces, as they come
    os.write(1, char.encode())
print()
print(token.encode().hex(), file=sys.stderr)
"""
    body = Container("x", ("python3",), ("-c", code), env=(TOKEN,))
    record = execute(flow(Template("use", body), graph(Task("it", "use"))), home=home)
    assert record.status == "Succeeded"
    lines = [line.text for line in logs(record.id, "it", home=home)]
    assert sorted(line.count("***") for line in lines) == [1] * 6
    assert traces(home, SECRET.encode(), b"s3cr3t", SECRET.encode().hex().encode()) == []


def test_no_message_of_a_failure_shows_a_secret(home: Path) -> None:
    source = "def use() -> None:\n    import os\n    raise ValueError('no access for ' + os.environ['TOKEN'])\n"
    step = Template("use", Function("use", (Piece(source, "step.py", 1),), env=(TOKEN,)))
    record = execute(flow(step, graph(Task("it", "use"))), home=home)
    assert record.status == "Failed"
    assert "no access for ***" in record.tasks["it"].message
    assert traces(home, SECRET.encode(), b"s3cr3t") == []


def test_no_metric_that_a_step_logs_shows_a_secret(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not to those who watch it run, not in what is kept, and not in what is told elsewhere."""
    for name in ("FILES", "OPENLINEAGE_FILE", "PROMETHEUS"):
        monkeypatch.setenv(f"COULER_EVENTS_{name}", str(tmp_path / "told" / name))
    source = """
def use() -> None:
    import os, couler_py as couler
    couler.log_metric(os.environ["TOKEN"], 1.0)
    couler.log_metric("of " + os.environ["TOKEN"], 2.0)
    couler.log_metric("loss", 3.0)
    while not os.path.exists(GO):
        pass
""".replace("GO", repr(str(tmp_path / "go")))
    seen: list[str] = []

    def watch(event: Event) -> None:
        if event.kind == "metric":
            seen.append(event.data["name"])
            (tmp_path / "go").touch()

    step = Template("use", Function("use", (Piece(source, "step.py", 1),), env=(TOKEN,)))
    record = execute(flow(step, graph(Task("it", "use"))), home=home, observers=[watch])
    assert record.status == "Succeeded", record.tasks["it"].message
    assert seen == ["***", "of ***", "loss"]
    with closing(connect(open_home(home))) as connection:
        kept = runs.metrics(connection, record.id)
    assert kept == {"it": {"***": ((0.0, 1.0),), "of ***": ((0.0, 2.0),), "loss": ((0.0, 3.0),)}}
    assert traces(home, SECRET.encode(), b"s3cr3t") == []
    assert [path for path in (tmp_path / "told").rglob("*") if path.is_file() and b"s3cr3t" in path.read_bytes()] == []


def test_no_message_about_an_output_shows_a_secret(home: Path) -> None:
    set_key(open_home(home), "plain", "word", "s3cr3tword")
    body = Container(
        "x", ("sh",), ("-c", "mkdir out; mkfifo out/$WORD"), env=(EnvVar("WORD", SecretRef("plain", "word")),)
    )
    step = Template("use", body, outputs=Outputs(artifacts=(OutputArtifact("o", "out"),)))
    record = execute(flow(step, graph(Task("it", "use"))), home=home)
    assert record.status == "Failed"
    assert "/out/*** is a pipe" in record.tasks["it"].message
    assert traces(home, b"s3cr3t") == []


def test_a_step_that_declares_no_secret_finds_none(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COULER_SECRET_OTHER_KEY", "hush-hush")
    record = execute(flow(shell("look", "env; exit 0"), graph(Task("it", "look"))), home=home)
    text = "\n".join(line.text for line in logs(record.id, "it", home=home))
    assert "hush-hush" not in text
    assert SECRET not in text


def test_a_secret_of_the_environment_reaches_the_step_that_declares_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COULER_SECRET_API_TOKEN", "of-the-environment")
    body = Container("x", ("sh",), ("-c", '[ "$TOKEN" = of-the-environment ]'), env=(TOKEN,))
    record = execute(flow(Template("use", body), graph(Task("it", "use"))), home=home)
    assert record.status == "Succeeded"


def test_a_secret_as_a_file_is_its_owners_alone_and_gone_with_the_step(home: Path, tmp_path: Path) -> None:
    place = tmp_path / "secret"
    script = f'[ "$(stat -Lc %a {place}/token)" = 400 ]'
    body = Container("x", ("sh",), ("-c", script), mounts=(VolumeMount("v", str(place)),))
    volume = Volume("v", Templated({"secret": {"secretName": "api"}}))
    record = execute(flow(Template("use", body), graph(Task("it", "use")), volumes=(volume,)), home=home)
    assert record.status == "Succeeded", record.tasks["it"].message
    assert not place.exists()
    assert traces(home, SECRET.encode(), json.dumps(SECRET).encode()) == []


ABSENT = SecretRef("nowhere", "key")
TEMPLATES = [
    Template("use", Container("x", ("true",), env=(EnvVar("A", ABSENT),))),
    Template("use", Container("x", ("true",), mounts=(VolumeMount("v", "/tmp/nowhere"),))),
    Template("use", Http("http://127.0.0.1:1", headers=(("Authorization", ABSENT),))),
    Template(
        "use",
        Container("x", ("true",)),
        Inputs(artifacts=(InputArtifact("a", "/tmp/a", S3("k", access_key=ABSENT)),)),
    ),
]


@pytest.mark.parametrize("template", TEMPLATES)
def test_nothing_starts_without_a_secret_that_a_step_needs(home: Path, template: Template) -> None:
    volume = Volume("v", Templated({"secret": {"secretName": "nowhere"}}))
    with pytest.raises(DiagnosticError) as refused:
        execute(flow(template, graph(Task("it", "use")), volumes=(volume,)), home=home)
    [finding] = [each for each in refused.value.diagnostics if each.severity == "error"]
    assert finding.code == "CLR604"
    assert finding.message.startswith("there is no secret 'nowhere': `couler secrets set nowhere ")
    assert not list((home / "runs").iterdir())
