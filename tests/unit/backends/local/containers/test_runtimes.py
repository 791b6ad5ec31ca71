"""Which runtime a run gets: what was asked for, the settings, and who wrote the workflow."""

from __future__ import annotations

from pathlib import Path

import pytest

import couler_py as couler
from couler_py.backends.local.containers.runtimes import choose, working
from couler_py.dsl.building import written_here
from couler_py.ir import DiagnosticError, from_json, to_json


@pytest.fixture
def clients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all of the PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def install(folder: Path, name: str, script: str = "exit 0") -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def codes(refused: pytest.ExceptionInfo[DiagnosticError]) -> list[str]:
    return [each.code for each in refused.value.diagnostics]


def test_a_program_of_this_process_is_trusted_with_processes_and_nothing_else_is(clients: Path) -> None:
    assert choose(None, None, trusted=True) == "process"
    assert choose("process", None, trusted=False) == "process"
    with pytest.raises(DiagnosticError) as refused:
        choose(None, None, trusted=False)
    assert codes(refused) == ["CLR708"]


def test_podman_comes_before_docker(clients: Path) -> None:
    install(clients, "docker")
    assert choose(None, None, trusted=False) == "docker"
    install(clients, "podman")
    assert [choose(asked, None, trusted=True) for asked in ("container", "docker")] == ["podman", "docker"]


def test_a_setting_holds_unless_it_lets_what_is_not_trusted_run_as_processes(clients: Path) -> None:
    install(clients, "podman")
    assert choose(None, "podman", trusted=True) == "podman"
    assert choose(None, "process", trusted=False) == "podman"
    assert choose("process", "podman", trusted=True) == "process"


def test_a_runtime_that_is_not_there_or_unknown_is_an_error(clients: Path) -> None:
    with pytest.raises(DiagnosticError) as refused:
        choose("docker", None, trusted=True)
    assert codes(refused) == ["CLR621"]
    with pytest.raises(ValueError, match="runtime is one of process, podman, docker, container, not 'vm'"):
        choose("vm", None, trusted=True)


def test_a_runtime_that_does_not_work_says_why_in_its_own_words(clients: Path) -> None:
    install(clients, "docker", "echo 'Cannot connect to the Docker daemon' >&2; exit 1")
    with pytest.raises(DiagnosticError, match=r"docker is installed and doesn't work(.|\n)*Cannot connect"):
        working("docker")


def test_ir_counts_as_written_here_where_a_program_of_this_process_built_it() -> None:
    @couler.workflow
    def pause() -> None:
        couler.suspend("1s")()

    built = couler.build(pause)
    assert (written_here(pause), written_here(built)) == (True, True)
    assert written_here(from_json(to_json(built))) is False


def test_ir_that_was_read_is_not_run_as_processes_unasked(
    clients: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COULER_HOME", str(tmp_path / "home"))

    @couler.workflow
    def pause() -> None:
        couler.suspend(0.01)()

    read = from_json(to_json(couler.build(pause)))
    with pytest.raises(DiagnosticError) as refused:
        couler.run(read)
    assert codes(refused) == ["CLR708"]
    assert couler.run(read, runtime="process").status == "Succeeded"
