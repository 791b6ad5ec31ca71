"""Steps in containers, with a real podman: what goes in, what comes out, and how they end."""

from __future__ import annotations

import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from couler_py.backends.local import execute
from couler_py.ir.expr import Input, Literal, TaskArtifact, Text
from couler_py.ir.model import (
    Argument,
    ArtifactArgument,
    ContainerSet,
    Function,
    InputArtifact,
    Inputs,
    OutputArtifact,
    OutputParameter,
    Outputs,
    Parameter,
    Piece,
    Task,
    Template,
    Workflow,
)
from couler_py.ir.pod import (
    Container,
    EnvVar,
    PodSettings,
    Resources,
    Templated,
    Volume,
    VolumeMount,
)
from couler_py.ir.storage import SecretRef
from couler_py.ir.types import INT, STR
from couler_py.store import runs, samples
from couler_py.store.database import connect
from couler_py.store.home import open_home
from couler_py.store.records import RunRecord
from couler_py.store.secrets import write_secret
from tests.cluster.containers import Podman
from tests.engines.local.flows import flow, graph

pytestmark = pytest.mark.cluster

PRINTED = Outputs((OutputParameter("result", STR, stdout=True),))
IMAGE = "python:3.11"


def box(script: str, **fields: object) -> Container:
    """A container that runs a shell script, away from the network."""
    return Container(IMAGE, ("sh", "-c"), (script,), **fields)  # type: ignore[arg-type]


def say(name: str, script: str, *, pod: PodSettings = PodSettings(), **fields: object) -> Template:
    """A step that gives out what its script prints."""
    return Template(name, box(script, **fields), outputs=PRINTED, pod=pod)


def run(home: Path, *templates: Template, grace: float = 1.0, **options: object) -> RunRecord:
    """Run steps side by side, each a task of its template's name."""
    tasks = [Task(each.name, each.name) for each in templates]
    return go(home, flow(*templates, graph(*tasks)), grace=grace, **options)


def go(home: Path, workflow: Workflow, **options: object) -> RunRecord:
    return execute(workflow, home=home, **({"runtime": "podman", "network": "none"} | options))  # type: ignore[arg-type]


def outputs(record: RunRecord, name: str) -> dict[str, object]:
    result = record.tasks[name].result
    assert record.tasks[name].state == "Succeeded", record.tasks[name].message
    assert result is not None
    return result.parameters


def printed(record: RunRecord, name: str) -> str:
    return str(outputs(record, name)["result"])


def first_line(record: RunRecord, name: str) -> str:
    return record.tasks[name].message.splitlines()[0]


def log(home: Path, record: RunRecord, number: int = 0) -> str:
    return sorted((home / "runs" / record.id / "attempts").glob("*/log"))[number].read_text()


def test_a_step_finds_its_image_and_what_it_declares_and_nothing_of_this_machine(
    podman: Podman, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOT_YOURS", "1")
    own = (EnvVar("A", " a\n$B `c` "), EnvVar("LD_PRELOAD", ""), EnvVar("BIG", "x" * 90_000))
    script = (
        'printf "%s|" "$A" "${#BIG}" "$NOT_YOURS" "$COULER_RUN_ATTEMPT"; id -u; ls -d /work /root/.cache 2>/dev/null'
    )
    record = run(home, say("a", f"{script}; grep -E 'CapEff|NoNewPrivs' /proc/self/status; ls /sys/class/net", env=own))
    assert printed(record, "a").split("|") == [
        " a\n$B `c` ",
        "90000",
        "",
        "0",
        "0\nCapEff:\t0000000000000002\nNoNewPrivs:\t1\nlo",
    ]
    assert podman.names(record.id) == []


MADE = """
from typing import NamedTuple
from pathlib import Path

class Made(NamedTuple):
    n: int
    text: Path
    folder: Path
"""
MAKE = """
def make(x: int):
    import couler_py
    couler_py.log_metric("loss", 0.5, 1)
    Path("text").write_text("t" * x)
    Path("folder/in").mkdir(parents=True)
    Path("folder/in/side").write_text("deep")
    return Made(x + 1, Path("text"), Path("folder"))
"""
READ = """
def read(text, folder):
    return text.read_text() + (folder / "in" / "side").read_text()
"""


def test_a_python_step_gets_values_and_files_and_gives_them_back(podman: Podman, home: Path) -> None:
    make = Template(
        "make",
        Function("make", (Piece(MADE, "step.py", 1), Piece(MAKE, "step.py", 20)), returns="fields"),
        Inputs((Parameter("x", INT),)),
        Outputs((OutputParameter("n", INT),), (OutputArtifact("text"), OutputArtifact("folder"))),
    )
    read = Template(
        "read",
        Function("read", (Piece(READ, "step.py", 1),), returns="one"),
        Inputs(artifacts=(InputArtifact("text"), InputArtifact("folder"))),
        Outputs((OutputParameter("result", STR),)),
    )
    files = tuple(ArtifactArgument(name, TaskArtifact("a", name)) for name in ("text", "folder"))
    tasks = (Task("a", "make", (Argument("x", Literal(3)),)), Task("b", "read", artifacts=files))
    record = go(home, flow(make, read, graph(*tasks)))
    assert printed(record, "b") == "tttdeep"
    assert outputs(record, "a") == {"n": 4}
    with closing(connect(open_home(home))) as connection:
        assert runs.metrics(connection, record.id) == {"a": {"loss": ((1.0, 0.5),)}}


def test_files_go_to_and_come_from_any_path_of_an_image(podman: Podman, home: Path) -> None:
    write = "mkdir /made; echo 1 > /made/x; ln -s x /made/link; echo 7 > /value; ln -s /value /opt/value; echo noise"
    writer = Template(
        "write",
        box(write),
        outputs=Outputs(
            (OutputParameter("n", INT, path="/opt/value"), OutputParameter("no", STR, path="/none", default="d")),
            (OutputArtifact("made", path="/made"), OutputArtifact("none", path="/nothing", optional=True)),
        ),
    )
    reader = Template(
        "read",
        box("cat /usr/share/given/link; echo more > /usr/share/given/x || echo read-only"),
        Inputs(artifacts=(InputArtifact("made", path="/usr/share/given"),)),
        PRINTED,
    )
    given = Task("r", "read", artifacts=(ArtifactArgument("made", TaskArtifact("w", "made")),))
    record = go(home, flow(writer, reader, graph(Task("w", "write"), given)))
    assert printed(record, "r") == "1\nread-only"
    assert outputs(record, "w") == {"n": 7, "no": "d"}


@pytest.mark.parametrize(
    ("script", "output", "message"),
    [
        ("true", "/none", "the output 'o' was not written: /none is not there in the container"),
        ("mkdir /o; ln -s /etc /o/l", "/o", "the output 'o' (/o) can't be taken: the link l leads out of it, to /etc"),
        ("mkfifo /o", "/o", "the output 'o' (/o) can't be taken: it is neither a file nor a folder"),
    ],
)
def test_an_output_that_can_not_be_taken_is_named(
    podman: Podman, home: Path, script: str, output: str, message: str
) -> None:
    step = Template("a", box(script), outputs=Outputs(artifacts=(OutputArtifact("o", path=output),)))
    assert first_line(run(home, step), "a").startswith(message)


LINK = """
def a():
    import os
    os.symlink("{place}", "/tmp/couler/outputs/result")
    os._exit(0)
"""


def test_what_a_python_step_leaves_can_not_lead_out_of_its_container(podman: Podman, home: Path) -> None:
    (home.parent / "precious").write_text("of this machine")
    body = Function("a", (Piece(LINK.format(place=home.parent / "precious"), "step.py", 1),), returns="one")
    record = run(home, Template("a", body, outputs=Outputs((OutputParameter("result", STR),))))
    assert first_line(record, "a") == "the output 'result' (/tmp/couler/outputs/result) can't be taken: it is no file"


def test_how_a_container_ends_is_told_apart(podman: Podman, home: Path) -> None:
    record = run(
        home,
        Template("seven", box("exit 7")),
        Template("shell", box("nosuch")),
        Template("absent", Container(IMAGE, ("nosuch",))),
        Template("folder", Container(IMAGE, ("/etc",))),
        Template("no-python", Function("f", (Piece("def f(): pass", "s.py", 1),), command=("python9",))),
        Template("hungry", Container(IMAGE, ("python", "-c", "bytearray(10**9)"), resources=Resources(memory="64Mi"))),
        Template("slow", box("sleep 60"), timeout=1.0),
        Template("never", Container("localhost/none:1", ("true",), pull_policy="Never")),
        Template("offline", Container("localhost:1/none:1", ("true",))),
    )
    found = {name: first_line(record, name) for name in record.tasks if name}
    assert found.pop("offline").startswith("the image localhost:1/none:1 can't be had: ")
    assert found.pop("never").startswith(
        "the image localhost/none:1 is not here, and its pull policy is Never: try `podman"
    )
    assert found == {
        "seven": "exit code 7",
        "shell": "exit code 127",
        "absent": "the image python:3.11 has no program 'nosuch'",
        "folder": "'/etc' of the image python:3.11 can't be executed: Permission denied",
        "no-python": "the image python:3.11 has no 'python9': a Python step needs an image with Python, as python:3.11",
        "hungry": "out of memory: it needed more than its limit of 64Mi (exit code 137)",
        "slow": "timed out after 1 seconds",
    }
    assert podman.names(record.id) == []


SERVE = """
import http.server, os
os.chdir("/shared")
http.server.HTTPServer(("", 8000), http.server.SimpleHTTPRequestHandler).serve_forever()
"""
ASK = """
import time, urllib.request
for _ in range(400):
    try:
        print(urllib.request.urlopen("http://127.0.0.1:8000/x").read().decode())
        break
    except OSError:
        time.sleep(0.05)
"""


def test_init_containers_and_sidecars_share_network_and_volumes_with_the_step(podman: Podman, home: Path) -> None:
    shared = (VolumeMount("v", "/shared"),)
    pod = PodSettings(
        volumes=(Volume("v", Templated({"emptyDir": {}})),),
        init_containers=(
            box("echo first > /shared/x; echo said", name="one", mounts=shared),
            box("echo second >> /shared/x", name="two", mounts=shared),
        ),
        sidecars=(Container(IMAGE, ("python", "-c", SERVE), name="web", mounts=shared),),
    )
    step = Template("a", Container(IMAGE, ("python", "-c", ASK)), outputs=PRINTED, pod=pod)
    record = run(home, step)
    assert printed(record, "a") == "first\nsecond\n"
    assert "one | said" in log(home, record)
    assert podman.names(record.id) == []


def test_an_init_container_that_fails_keeps_the_step_from_starting(podman: Podman, home: Path) -> None:
    pod = PodSettings(init_containers=(box("exit 4", name="prepare"),))
    record = run(home, say("a", "echo ran", pod=pod))
    assert first_line(record, "a") == "the init container prepare: exit code 4"


def test_the_containers_of_a_set_run_in_order_and_main_gives_the_outputs(podman: Podman, home: Path) -> None:
    shared = (VolumeMount("v", "/w"),)
    body = ContainerSet(
        (
            box("echo a > /w/a", name="a"),
            box("echo b > /w/b", name="b"),
            box("cat /w/a /w/b; echo 5 > /tmp/n", name="main"),
        ),
        (("main", ("a", "b")),),
        shared,
    )
    left = Outputs((OutputParameter("result", STR, stdout=True), OutputParameter("n", INT, path="/tmp/n")))
    pod = PodSettings(volumes=(Volume("v", Templated({"emptyDir": {}})),))
    record = run(home, Template("set", body, outputs=left, pod=pod))
    assert outputs(record, "set") == {"result": "a\nb", "n": 5}


def test_what_waits_for_a_failed_container_of_a_set_does_not_start(podman: Podman, home: Path) -> None:
    body = ContainerSet((box("exit 3", name="a"), box("echo ran", name="main")), (("main", ("a",)),))
    record = run(home, Template("set", body))
    assert first_line(record, "set") == "a: exit code 3"
    assert "ran" not in log(home, record)


def test_secrets_reach_a_step_as_variables_and_files_of_its_user_and_never_its_log(podman: Podman, home: Path) -> None:
    write_secret(open_home(home), "db", {"password": "correct horse"})
    pod = PodSettings(
        volumes=(Volume("s", Templated({"secret": {"secretName": "db"}})),),
        extra=Templated({"securityContext": {"runAsUser": 1000}}),
    )
    script = """
echo "$P" >&2
cat /s/password >&2
stat -L -c '%a %u %s' /s/password
id -u
touch /s/x || echo read-only
"""
    step = say("a", script, pod=pod, env=(EnvVar("P", SecretRef("db", "password")),), mounts=(VolumeMount("s", "/s"),))
    record = run(home, step)
    assert printed(record, "a").splitlines() == ["400 1000 13", "1000", "read-only"]
    assert log(home, record).count("***") >= 2
    assert "correct horse" not in log(home, record)
    assert not [path for path in home.rglob("password") if path.is_file()]


def test_the_working_folder_and_values_in_arguments_and_the_images_own_command(podman: Podman, home: Path) -> None:
    step = Template(
        "a",
        Container(IMAGE, ("sh", "-c"), ('pwd; printf %s "$0"', Text((Input("x"),))), working_dir="/usr/lib"),
        Inputs((Parameter("x", STR),)),
        PRINTED,
    )
    nasty = '"$(id)" \'; {{x}}\n--privileged'
    own = Template("own", Container(IMAGE, args=("sh", "-c", "echo from the image")), outputs=PRINTED)
    tasks = (Task("a", "a", (Argument("x", Literal(nasty)),)), Task("own", "own"))
    record = go(home, flow(step, own, graph(*tasks)))
    assert printed(record, "a") == f"/usr/lib\n{nasty}"
    assert printed(record, "own") == "from the image"


def test_two_runs_at_once_do_not_meet(podman: Podman, home: Path) -> None:
    record = run(home, *(say(f"s{number}", f"echo {number}; hostname >&2") for number in range(3)))
    assert [printed(record, f"s{number}") for number in range(3)] == ["0", "1", "2"]


BUSY = """
import os, time
held = bytearray(64 << 20)
while time.process_time() < 0.3:
    pass
open("/w/busy", "w").close()
while not os.path.exists("/w/seen"):
    time.sleep(0.05)
"""


def seen(connection: sqlite3.Connection, busy: Path) -> bool:
    """Whether the engine has looked at what the one run uses since a file was made."""
    runs_here = [name for (name,) in connection.execute("SELECT id FROM runs")] if busy.exists() else []
    found = [samples.load_in_use(connection, name) for name in runs_here]
    return any(each is not None and each.time > busy.stat().st_mtime for each in found)


def test_what_containers_use_is_seen_and_counted(podman: Podman, home: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    pod = PodSettings(volumes=(Volume("w", Templated({"hostPath": {"path": str(shared)}})),))
    busy = Container(IMAGE, ("python3", "-c"), (BUSY,), mounts=(VolumeMount("w", "/w"),))
    with ThreadPoolExecutor(1) as pool:
        going = pool.submit(run, home, Template("busy", busy, pod=pod), allow_host=True)
        connection = connect(open_home(home))
        while not going.done() and not seen(connection, shared / "busy"):
            time.sleep(0.05)
        (shared / "seen").touch()
        record = going.result()
    assert record.status == "Succeeded", first_line(record, "busy")
    ((_, attempt),) = runs.load_attempts(connection, record.id)
    connection.close()
    assert attempt.cpu is not None
    assert attempt.cpu >= 0.3
    assert attempt.memory is not None
    assert attempt.memory >= 64 << 20
