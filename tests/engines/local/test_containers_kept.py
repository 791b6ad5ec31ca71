"""Containers are never left behind: whoever is killed, stopped or taken away, and whatever the runtime is called."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from couler_py.backends.argo import load
from couler_py.backends.local import api, execute
from couler_py.backends.local.runs import garbage
from couler_py.ir import DiagnosticError
from couler_py.ir.model import Task, Template, Workflow
from couler_py.ir.pod import Container, PodSettings, Templated, Volume, VolumeMount
from tests.cluster.containers import Podman
from tests.engines.local.conftest import Drivers
from tests.engines.local.flows import flow, graph
from tests.engines.local.test_containers import IMAGE, box, first_line, go, printed, run, say

pytestmark = pytest.mark.cluster


@pytest.fixture
def podman_runs(podman: Podman, monkeypatch: pytest.MonkeyPatch) -> None:
    """Engines in processes of their own run their steps with podman."""
    monkeypatch.setenv("TEST_ENGINE_RUNTIME", "podman")


def wait_for(podman: Podman, run_id: str, count: int = 1) -> list[str]:
    """The names of the containers of a run once that many run."""
    while True:
        found = podman("ps", "--filter", f"label=dev.couler.run={run_id}", "--format", "{{.Names}}").split()
        if len(found) == count:
            return found
        time.sleep(0.1)


def waiting(home: Path) -> Workflow:
    """A run whose only step waits for a file in a volume, and says how often it began."""
    shared = Volume("v", Templated({"persistentVolumeClaim": {"claimName": "v"}}))
    body = box("echo x >> /v/began; until [ -e /v/go ]; do sleep 0.1; done", mounts=(VolumeMount("v", "/v"),))
    (home / "volumes" / "v").mkdir(parents=True)
    return flow(Template("a", body, pod=PodSettings(volumes=(shared,))), graph(Task("a", "a")))


def began(home: Path) -> int:
    return len((home / "volumes" / "v" / "began").read_text().split())


def test_a_step_goes_on_when_its_engine_is_killed_and_is_not_run_again(
    podman: Podman, home: Path, drivers: Drivers, podman_runs: None
) -> None:
    first = drivers.run(waiting(home))
    first.until(kind="id")
    wait_for(podman, first.run)
    first.kill()
    (home / "volumes" / "v" / "go").touch()
    assert drivers.resume(first.run).finish()["status"] == "Succeeded"
    assert (began(home), podman.names(first.run)) == (1, [])


def conductors(home: Path) -> list[int]:
    """The processes that conduct attempts of a home."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if any(b"conduct import main" in word for word in words) and os.fsencode(home) in words[-2]:
                found.append(int(folder.name))
    return found


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def test_what_is_left_when_engine_and_conductor_were_killed_is_taken_away_before_the_step_runs_again(
    podman: Podman, home: Path, drivers: Drivers, podman_runs: None
) -> None:
    first = drivers.run(waiting(home))
    first.until(kind="id")
    [name] = wait_for(podman, first.run)
    [conductor] = conductors(home)
    warden = parent(conductor)
    first.kill()
    os.kill(warden, signal.SIGKILL)
    os.kill(conductor, signal.SIGKILL)
    assert podman.names(first.run) == [name]
    (home / "volumes" / "v" / "go").touch()
    assert drivers.resume(first.run).finish()["status"] == "Succeeded"
    assert (began(home), podman.names(first.run)) == (2, [])


def test_a_killed_conductor_leaves_no_container_and_its_attempt_failed(
    podman: Podman, home: Path, drivers: Drivers, podman_runs: None
) -> None:
    driver = drivers.run(waiting(home))
    driver.until(kind="id")
    wait_for(podman, driver.run)
    for conductor in conductors(home):
        os.kill(conductor, signal.SIGKILL)
    assert driver.finish()["status"] == "Failed"
    assert first_line(api.load(driver.run, home=home), "a") == "ended by signal SIGKILL"
    assert podman.names(driver.run) == []


def test_a_container_that_somebody_takes_away_fails_its_step(
    podman: Podman, home: Path, drivers: Drivers, podman_runs: None
) -> None:
    driver = drivers.run(waiting(home))
    driver.until(kind="id")
    [name] = wait_for(podman, driver.run)
    podman("rm", "--force", "--time=0", name)
    assert driver.finish()["status"] == "Failed"
    assert first_line(api.load(driver.run, home=home), "a") == f"the container {name} was taken away while it ran"


def test_a_stopped_run_asks_its_containers_to_end_and_leaves_none(
    podman: Podman, home: Path, drivers: Drivers, podman_runs: None
) -> None:
    step = box(
        "trap 'echo asked > /v/asked; exit 0' TERM; while :; do sleep 0.1; done", mounts=(VolumeMount("v", "/v"),)
    )
    volume = Volume("v", Templated({"persistentVolumeClaim": {"claimName": "v"}}))
    template = Template("a", step, pod=PodSettings(volumes=(volume,)))
    driver = drivers.run(flow(template, graph(Task("a", "a"))))
    driver.until(kind="id")
    wait_for(podman, driver.run)
    driver.send(signal.SIGINT)
    assert driver.finish()["status"] == "Stopped"
    assert podman.names(driver.run) == []
    assert (home / "volumes" / "v" / "asked").exists()


DAEMON = """
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: daemon-}
spec:
  entrypoint: main
  templates:
  - name: main
    dag:
      tasks:
      - {name: serve, template: serve}
      - name: ask
        template: ask
        dependencies: [serve]
        arguments: {parameters: [{name: where, value: "{{tasks.serve.ip}}"}]}
  - name: serve
    daemon: true
    container:
      image: python:3.11
      command: [python, -m, http.server, "8000"]
      readinessProbe: {httpGet: {path: /etc/hostname, port: 8000}}
  - name: ask
    inputs: {parameters: [{name: where}]}
    container:
      image: python:3.11
      command: [python, -c]
      args:
      - |
        import urllib.request
        print(urllib.request.urlopen("http://{{inputs.parameters.where}}:8000/etc/hostname").status)
"""


def test_a_daemon_is_waited_for_until_it_serves_and_found_by_its_address(podman: Podman, home: Path) -> None:
    record = execute(load(DAEMON), home=home, runtime="podman", grace=1.0)
    assert record.status == "Succeeded", {name: task.message for name, task in record.tasks.items()}
    assert podman.names(record.id) == []


def test_what_asks_for_this_machine_is_refused_unless_that_is_allowed(
    podman: Podman, home: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine").write_text("of this machine")
    pod = PodSettings(volumes=(Volume("h", Templated({"hostPath": {"path": str(tmp_path)}})),), host_network=True)
    step = say("a", "cat /h/mine", pod=pod, mounts=(VolumeMount("h", "/h"),))
    with pytest.raises(DiagnosticError) as refused:
        run(home, step)
    assert [each.code for each in refused.value.diagnostics if each.severity == "error"] == ["CLR620", "CLR620"]
    assert printed(run(home, step, allow_host=True), "a") == "of this machine"


@pytest.fixture
def docker(podman: Podman, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Docker's client, served by podman."""
    if subprocess.run(["sh", "-c", "command -v docker"], capture_output=True, check=False).returncode:
        pytest.skip("docker's client is not installed here")
    place = tmp_path / "docker.sock"
    service = subprocess.Popen(["podman", "system", "service", "--time=0", f"unix://{place}"])
    monkeypatch.setenv("DOCKER_HOST", f"unix://{place}")
    while True:
        try:
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(str(place))
            break
        except OSError:
            time.sleep(0.05)
    yield
    service.terminate()
    service.wait()


def test_docker_is_told_the_same_in_its_own_words(docker: None, podman: Podman, home: Path) -> None:
    template = Template("absent", Container(IMAGE, ("nosuch",)))
    step = say("a", "echo out; echo 5 > /tmp/n; id -u", env=())
    record = go(home, flow(step, template, graph(Task("a", "a"), Task("absent", "absent"))), runtime="docker")
    assert printed(record, "a") == "out\n0"
    assert first_line(record, "absent") == "the image python:3.11 has no program 'nosuch'"
    assert podman.names(record.id) == []


def test_a_second_ctrl_c_kills_the_containers_at_once(
    podman: Podman, home: Path, drivers: Drivers, podman_runs: None
) -> None:
    step = Template("a", box("trap '' TERM; while :; do sleep 1; done"))
    driver = drivers.run(flow(step, graph(Task("a", "a"))))
    driver.until(kind="id")
    wait_for(podman, driver.run)
    driver.send(signal.SIGINT)
    driver.send(signal.SIGINT)
    assert driver.finish()["status"] == "Stopped"
    assert podman.names(driver.run) == []


@pytest.fixture
def small(podman: Podman, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A store for containers with 2 MB of room; images are those of the usual one."""
    place = tmp_path / "store"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2M", "none", str(place)], check=True)
    settings = tmp_path / "storage.conf"
    settings.write_text(
        f'[storage]\ndriver = "overlay"\ngraphroot = "{place}"\nrunroot = "{tmp_path}/run"\n'
        f'[storage.options]\nadditionalimagestores = ["{podman.home}/store"]\n'
    )
    monkeypatch.setenv("CONTAINERS_STORAGE_CONF", str(settings))
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(path: Path) -> None:
    """Take all the room that is left."""
    with path.open("wb", buffering=0) as ballast, contextlib.suppress(OSError):
        while True:
            ballast.write(bytes(4096))


def test_what_a_full_disk_keeps_from_being_taken_away_goes_with_the_run(
    podman: Podman, small: Path, home: Path
) -> None:
    record = run(home, say("fill", "head -c 5000000 /dev/zero > /big"))
    assert "No space left on device" in record.tasks["fill"].message
    fill(small / "ballast")  # whether the container that filled the store could be taken away is podman's affair
    full = run(home, say("after", "echo there"))
    assert "make room where the runtime keeps its containers" in first_line(full, "after")
    subprocess.run(["mount", "-o", "remount,size=16M", str(small)], check=True)
    assert printed(run(home, say("after", "echo there")), "after") == "there"
    for each in (record, full):
        garbage.delete(each.id, home=home)
    left = subprocess.run(["podman", "ps", "--all", "--quiet"], capture_output=True, text=True, check=True)
    assert left.stdout == ""
