"""Steps that misbehave, and trouble that comes from outside of a run."""

from __future__ import annotations

import itertools
import os
import random
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from couler_py.backends.local import execute, logs, retry
from couler_py.backends.local.api import load
from couler_py.ir.expr import TaskArtifact, TaskOutput
from couler_py.ir.model import After, ArtifactArgument, InputArtifact, Inputs, OutputArtifact, Outputs, Task, Template
from couler_py.ir.pod import Container
from couler_py.ir.types import INT
from couler_py.store import content, runs
from tests.engines.local.conftest import Drivers, integrity, processes_of
from tests.engines.local.flows import flow, graph, shell


@pytest.fixture(autouse=True)
def named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is started on this home is found again by `processes_of`."""
    monkeypatch.setenv("TEST_ENGINE_HOME", str(home))


def program(name: str, source: str, **options: object) -> Template:
    """A step that runs a Python program."""
    return Template(name, Container("x", (sys.executable, "-c", source)), **options)  # type: ignore[arg-type]


def alone(step: Template) -> object:
    return flow(step, graph(Task("a", step.name)))


def text_of(home: Path, run: str) -> str:
    return "\n".join(line.text for line in logs(run, home=home))


def test_a_step_that_ignores_sigterm_is_killed_after_its_grace(home: Path) -> None:
    step = shell("stubborn", "trap '' TERM; while true; do sleep 0.05; done", timeout=0.2)
    record = execute(flow(step, graph(Task("a", "stubborn"))), home=home, grace=0.2)
    assert record.status == "Failed"
    assert "timed out after 0.2 seconds" in record.tasks["a"].message
    assert processes_of(home) == {}


DAEMON = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        if LEAVE:
            os.execve("/bin/sleep", ["sleep", "600"], {**os.environ})
        time.sleep(600)
    os._exit(0)
os.wait()
print("served")
"""


@pytest.mark.parametrize("leave", [False, True])
def test_a_daemon_that_a_step_has_forked_ends_with_it(leave: bool, home: Path) -> None:
    """It forks twice and has a session of its own, as daemons do."""
    step = program("fork", DAEMON.replace("LEAVE", str(leave)))
    record = execute(flow(step, graph(Task("a", "fork"))), home=home)
    assert record.status == "Succeeded"
    assert text_of(home, record.id) == "served"
    assert processes_of(home) == {}


@pytest.mark.parametrize("name", ["verdict", "log", "record.tmp"])
def test_a_pipe_in_the_folder_of_an_attempt_is_not_waited_for(name: str, home: Path) -> None:
    """The warden looks after all steps of a run: what one has put in its way must not stop the others."""
    source = f"""
import contextlib, os
path = os.path.join(os.environ["COULER_ATTEMPT"], {name!r})
with contextlib.suppress(FileNotFoundError):
    os.unlink(path)
os.mkfifo(path)
raise SystemExit(3)
"""
    record = execute(flow(program("odd", source), graph(Task("a", "odd"))), home=home)
    assert record.tasks["a"].message == "exit code 3"
    assert text_of(home, record.id) == ""
    assert processes_of(home) == {}


@pytest.mark.parametrize("name", ["record", "record.tmp", "verdict", "log", "stop"])
def test_a_folder_in_the_folder_of_an_attempt_changes_nothing(name: str, home: Path) -> None:
    place = f"$COULER_ATTEMPT/{name}"
    odd = shell("odd", f"rm -f {place}; mkdir -p {place}/in; chmod 000 {place}/in; echo 5", output=INT)
    record = execute(flow(odd, graph(Task("a", "odd"), outputs={"n": TaskOutput("a", "result")})), home=home)
    assert (record.status, record.outputs) == ("Succeeded", {"n": 5})
    assert load(record.id, home=home).outputs == {"n": 5}


@pytest.mark.parametrize("instead", ["true", "touch $COULER_ATTEMPT", "ln -s / $COULER_ATTEMPT"])
def test_a_step_that_takes_the_folder_of_its_attempt_away_fails_and_is_told_so(instead: str, home: Path) -> None:
    step = shell("odd", f"rm -rf $COULER_ATTEMPT; {instead}; echo 5", output=INT)
    record = execute(flow(step, graph(Task("a", "odd"))), home=home)
    assert record.status == "Failed"
    assert "the step has deleted or replaced the folder of its attempt" in record.tasks["a"].message
    assert retry(record.id, home=home).status == "Failed"
    assert processes_of(home) == {}


def test_a_link_in_the_place_of_a_record_is_not_followed(home: Path, tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("kept")
    link = f"ln -s {tmp_path}/precious $COULER_ATTEMPT/record.tmp"
    assert execute(flow(shell("odd", link), graph(Task("a", "odd"))), home=home).status == "Succeeded"
    assert (tmp_path / "precious").read_text() == "kept"


def test_a_step_that_forges_its_record_and_kills_who_looks_after_it_is_lost(home: Path) -> None:
    odd = "echo forged > $COULER_ATTEMPT/record; kill -9 $PPID; sleep 60"
    record = execute(flow(shell("odd", odd), graph(Task("a", "odd"))), home=home)
    assert record.status == "Failed"
    assert "its warden ended without a record" in record.tasks["a"].message
    assert processes_of(home) == {}


def test_a_step_that_closes_what_it_writes_to_and_reads_what_nobody_sends(home: Path) -> None:
    source = "import os, sys; assert sys.stdin.read() == ''; os.close(1); os.close(2)"
    assert execute(flow(program("odd", source), graph(Task("a", "odd"))), home=home).status == "Succeeded"


@pytest.mark.parametrize("size", [8 << 20, pytest.param(1 << 30, marks=pytest.mark.soak)])
def test_a_step_that_prints_much_harms_nobody(size: int, home: Path) -> None:
    source = f"import sys\nfor _ in range({size} >> 16): sys.stdout.write('x' * 65535 + '\\n')"
    other = shell("other", "echo 7", output=INT)
    tasks = (Task("much", "much"), Task("other", "other", after=(After("much"),)))
    record = execute(flow(program("much", source), other, graph(*tasks)), home=home)
    assert record.status == "Succeeded"
    assert all(line.text for line in itertools.islice(logs(record.id, "much", home=home), 10))


def test_what_is_not_utf_8_is_shown_as_far_as_it_goes(home: Path) -> None:
    noise = random.Random(1).randbytes(1000).replace(b"\n", b" ")
    source = f"import sys; sys.stdout.buffer.write(b'before\\n' + {noise!r} + b'\\nafter\\n')"
    record = execute(flow(program("noise", source), graph(Task("a", "noise"))), home=home)
    assert record.status == "Succeeded"
    lines = text_of(home, record.id).split("\n")
    assert (lines[0], lines[-1]) == ("before", "after")
    assert "\ufffd" in "".join(lines)


def test_an_output_that_is_not_utf_8_is_said(home: Path) -> None:
    step = shell("noise", "printf '\\377\\376'", output=INT)
    record = execute(flow(step, graph(Task("a", "noise"))), home=home)
    assert record.status == "Failed"
    assert "is not UTF-8 text" in record.tasks["a"].message


def test_a_step_may_write_to_a_pipe_that_nobody_reads(home: Path, tmp_path: Path) -> None:
    """It waits for ever, as it would anywhere, and its time-out ends it."""
    os.mkfifo(tmp_path / "pipe")
    record = execute(flow(shell("a", f"echo x > {tmp_path}/pipe", timeout=0.3), graph(Task("a", "a"))), home=home)
    assert record.status == "Failed"
    assert processes_of(home) == {}


def handing_on(tmp_path: Path, witness: Path) -> object:
    """A file goes from `make` to `read`, which fails as long as there is no `go`."""
    made, read = tmp_path / "made", Path("/tmp") / tmp_path.name / "read"
    make = Template(
        "make",
        Container("x", ("sh",), ("-c", f"echo make >> {witness}; echo precious > {made}")),
        outputs=Outputs(artifacts=(OutputArtifact("o", str(made)),)),
    )
    reader = Template(
        "read",
        Container("x", ("sh",), ("-c", f"[ -e {tmp_path}/go ] && cat {read}")),
        Inputs(artifacts=(InputArtifact("d", str(read)),)),
    )
    given = (ArtifactArgument("d", TaskArtifact("make", "o")),)
    return flow(make, reader, graph(Task("make", "make"), Task("read", "read", artifacts=given)))


@pytest.mark.parametrize("harm", ["deleted", "altered", "altered alike"])
def test_a_file_that_was_harmed_behind_our_back_is_found_and_named(harm: str, home: Path, tmp_path: Path) -> None:
    witness = tmp_path / "witness"
    record = execute(handing_on(tmp_path, witness), home=home)  # type: ignore[arg-type]
    assert record.status == "Failed"
    made = record.tasks["make"].result
    assert made is not None
    blob = Path(content.blob_path(str(home / "artifacts"), made.artifacts["o"].digest))
    facts = blob.stat()
    blob.chmod(0o644)
    blob.unlink() if harm == "deleted" else blob.write_text("worthles\n" if harm == "altered alike" else "")
    if harm == "altered alike":  # same length and same times
        os.utime(blob, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    (tmp_path / "go").touch()
    again = retry(record.id, home=home)
    assert again.status == "Failed"
    assert str(blob) in again.tasks["read"].message or made.artifacts["o"].digest in again.tasks["read"].message
    assert "precious" not in text_of(home, again.id)


def test_a_store_that_another_writes_to_is_waited_for(drivers: Drivers) -> None:
    """The other one keeps it from all writing, longer than any batch of changes takes."""
    step = shell("a", "true")
    first = drivers.run(flow(step, graph(Task("a", "a"))))
    assert first.finish()["status"] == "Succeeded"
    with closing(sqlite3.connect(drivers.home / "couler.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        second = drivers.run(flow(step, graph(Task("a", "a"))))
        waiting = drivers.run(flow(step, graph(Task("a", "a"))))
        other.execute("COMMIT")
    assert second.finish()["status"] == "Succeeded"
    assert waiting.finish()["status"] == "Succeeded"
    assert integrity(drivers.home) == "ok"


def test_a_clock_that_goes_backwards_loses_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look at it shows a minute less: deadlines, durations and states stay what they are."""
    begin = runs.now()
    looks = itertools.count()
    monkeypatch.setattr(runs, "now", lambda: begin - 60.0 * next(looks))
    one = shell("one", "echo 1", output=INT, timeout=600)
    tasks = (Task("a", "one"), Task("b", "one", after=(After("a"),)))
    record = execute(flow(one, graph(*tasks), deadline=3600), home=home)
    assert record.status == "Succeeded"
    assert record.seconds >= 0
    assert [record.tasks[name].state for name in "ab"] == ["Succeeded", "Succeeded"]
    assert integrity(home) == "ok"
