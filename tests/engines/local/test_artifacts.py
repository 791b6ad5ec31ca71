"""Artifacts that are deleted or altered behind our back: found, named, made anew. What a step keeps stays as it is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from couler_py.backends.local import execute
from couler_py.backends.local.lifecycle import run_to_end
from couler_py.backends.local.runs.taking_up import prepare_again
from couler_py.ir import Workflow
from couler_py.ir.expr import TaskArtifact
from couler_py.ir.model import (
    After,
    ArtifactArgument,
    Function,
    InputArtifact,
    Inputs,
    OutputArtifact,
    OutputParameter,
    Outputs,
    Piece,
    Task,
    Template,
)
from couler_py.ir.pod import Container
from couler_py.ir.types import STR
from couler_py.store import content
from couler_py.store.records import RunRecord
from tests.engines.local.conftest import processes_of
from tests.engines.local.flows import flow, graph, shell


def handed_on(between: str, reader: str) -> Workflow:
    """A file that one step makes and another one reads, after something has happened to the store."""
    make = Template(
        "make",
        Container("x", ("sh",), ("-c", "printf good > made")),
        outputs=Outputs(artifacts=(OutputArtifact("file", "made"),)),
    )
    given = Inputs(artifacts=(InputArtifact("data", "data"),))
    outputs = Outputs((OutputParameter("result", STR),))
    if reader == "python":
        body: Function | Container = Function(
            "read", (Piece("def read(data) -> str:\n    return data.read_text()"),), "one"
        )
    else:
        body = Container("x", ("cat",), ("data",))
        outputs = Outputs((OutputParameter("result", STR, stdout=True),))
    read = Template("read", body, given, outputs)
    argument = ArtifactArgument("data", TaskArtifact("make", "file"))
    tasks = (
        Task("make", "make"),
        Task("between", "between", after=(After("make"),)),
        Task("read", "read", artifacts=(argument,), after=(After("between"),)),
    )
    return flow(make, shell("between", between), read, graph(*tasks))


def blob_of(record: RunRecord, home: Path) -> Path:
    result = record.tasks["make"].result
    assert result is not None
    return Path(content.blob_path(str(home / "artifacts"), result.artifacts["file"].digest))


@pytest.mark.parametrize("reader", ["python", "command"])
@pytest.mark.parametrize("harm", ["rm -f", "chmod 644 {} && printf evil >"])
def test_a_lost_artifact_is_named_and_made_anew(harm: str, reader: str, home: Path, tmp_path: Path) -> None:
    once = tmp_path / "once"
    digest = content.keep_bytes(str(tmp_path), b"good")["digest"]
    blob = content.blob_path(str(home / "artifacts"), digest)
    script = f"[ -e {once} ] || {{ touch {once}; {harm.format(blob)} {blob}; }}"
    record = execute(handed_on(script, reader), home=home)
    message = record.tasks["read"].message
    assert "its input 'data' can't be had" in message
    assert blob in message
    assert message.endswith(f"make made it: `couler retry {record.id} --from make` makes it anew")
    assert not Path(blob).exists()
    prepared = prepare_again(record.id, home=home, failed_too=True, start=("make",))
    again = run_to_end(prepared)
    assert again.status == "Succeeded", again.message
    result = again.tasks["read"].result
    assert result is not None
    assert result.parameters == {"result": "good"}


def test_what_a_step_left_running_can_write_to_no_kept_file(home: Path, tmp_path: Path) -> None:
    """A process that nobody can tell whose it is lives on while another step runs, with the output open."""
    ready, pid = tmp_path / "ready", tmp_path / "pid"
    os.mkfifo(ready)
    stray = f"exec 3>>made; env -i setsid sh -c 'echo $$ > {pid}; read x < {ready}; echo more >&3; echo > {ready}' &"
    outputs = Outputs(artifacts=(OutputArtifact("file", "made"),))
    away = f"while [ ! -s {pid} ]; do sleep 0.01; done"  # before that, it can be told whose it is
    make = Template("make", Container("x", ("sh",), ("-c", f"printf good > made; {stray} {away}")), outputs=outputs)
    beside = shell(
        "beside", f"while [ ! -s {pid} ]; do sleep 0.01; done; while [ ! -e {tmp_path}/end ]; do sleep 0.01; done"
    )
    write = shell("write", f"echo > {ready}; read x < {ready}; touch {tmp_path}/end")
    tasks = (Task("beside", "beside"), Task("make", "make"), Task("write", "write", after=(After("make"),)))
    record = execute(flow(make, beside, write, graph(*tasks)), home=home)
    assert record.status == "Succeeded", record.message
    assert blob_of(record, home).read_bytes() == b"good"
    assert not Path(f"/proc/{pid.read_text().strip()}").exists()
    assert processes_of(home) == {}
