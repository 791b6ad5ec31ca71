"""Runs cases on engines and says how they ended, in the same words for each."""

from __future__ import annotations

import contextlib
import io
import tarfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
import yaml

import couler_py as couler
from couler_py.backends.base import RunStatus
from couler_py.ir import DiagnosticError, Workflow, to_builtins, wire
from couler_py.ir.graph import templates_by_name
from tests.conformance.case import Case, Never, NotYet

if TYPE_CHECKING:
    from tests.cluster.argo import Namespace
    from tests.cluster.fixtures import Cluster, ObjectStore


HANDLERS = "onExit/"
"""How the names of handlers of the run begin."""


@dataclass(frozen=True)
class Result:
    """A run that has ended, its artifacts read."""

    status: str
    tasks: Mapping[str, str]
    outputs: Mapping[str, Any]
    attempts: Mapping[str, int]
    messages: Mapping[str, str]


def check(case: Case, result: Result) -> None:
    """Compare a run with what the case says. Tasks that a case doesn't name may only be inside those it does."""
    named = {name: state for name, state in result.tasks.items() if name in case.tasks or not set("/[#") & set(name)}
    assert named == case.tasks, result.messages
    assert result.status == case.status, result.messages
    if case.status == "Succeeded":
        assert comparable(result.outputs) == comparable(case.outputs)
    assert {name: result.attempts.get(name) for name in case.attempts} == case.attempts


def comparable(value: Any) -> Any:
    """The value with NaN made equal to itself, and numbers and booleans kept apart."""
    if isinstance(value, Mapping):
        return {key: comparable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [comparable(item) for item in value]
    return type(value).__name__, repr(value)


def check_refused(case: Case, engine: str) -> bool:
    """Whether the engine must refuse the case; fails if it then doesn't, or with another code than the case names."""
    expected = case.refused.get(engine)
    if not isinstance(expected, NotYet | Never):
        return False
    with pytest.raises(DiagnosticError) as refused:
        couler.compile(case.build(), to=engine)
    errors = {found.code for found in refused.value.diagnostics if found.severity == "error"}
    assert errors == {expected.code}
    return True


def result_of(status: RunStatus, workflow: Workflow, read: Callable[[str], Any]) -> Result:
    """A run as an engine's `RunStatus` tells it; `read` gives the content of an artifact."""
    entry = templates_by_name(workflow)[workflow.entrypoint]
    files = {artifact.name for artifact in entry.outputs.artifacts}
    tasks = [task for task in status.tasks if not task.name.startswith(HANDLERS)]
    return Result(
        status=status.status,
        tasks={task.name: task.status for task in tasks},
        outputs={name: read(value) if name in files else value for name, value in status.outputs.items()},
        attempts={task.name: task.attempts for task in tasks},
        messages={"run": status.message} | {task.name: task.message for task in status.tasks if task.message},
    )


# ---- local


def run_local(case: Case, **options: Any) -> Result:
    """The case on the local engine, with the store that COULER_HOME names; `options` are those of the run."""
    workflow = case.build()
    with contextlib.redirect_stdout(io.StringIO()):
        run = couler.run(workflow, parameters=case.parameters, **({"runtime": "process"} | options))
    return result_of(run.refresh(), workflow, lambda place: content(Path(place)))


def content(path: Path) -> Any:
    """The text of a file; of a folder, the texts by relative path."""
    if path.is_dir():
        found = sorted(each for each in path.rglob("*") if each.is_file())
        return {each.relative_to(path).as_posix(): each.read_text() for each in found}
    return path.read_text()


# ---- argo


def run_argo(
    cases: Iterable[Case], namespace: Namespace, s3: ObjectStore, cluster: Cluster, at_once: int, seconds: float
) -> dict[str, Result | Exception]:
    """The cases on Argo, `at_once` side by side, each through its YAML text; of one that was refused, the error.

    They are sent by the client that people use, through the Kubernetes API; how they stand is asked of both ways, which
    have to say the same.
    """
    from tests.engines.argo.doors import DOORS, door

    clients = [door(way, cluster, namespace) for way in DOORS]

    def submit(given: Sequence[dict[str, Any]]) -> str:
        return clients[0].send(given)[-1].rpartition("/")[2]

    def told(name: str) -> RunStatus | Exception:
        first, second = (in_order(each.status(f"argo:{namespace.name}/{name}")) for each in clients)
        return first if first == second else AssertionError(f"the two ways differ: {first} and {second}")

    workflows = {case.name: case.build() for case in cases}
    documents: dict[str, list[dict[str, Any]]] = {}
    found: dict[str, Result | Exception] = {}
    for case in cases:
        workflow = workflows[case.name]
        try:
            documents[case.name] = with_parameters(couler.compile(workflow, to="argo").text, workflow, case.parameters)
        except DiagnosticError as error:
            found[case.name] = error
    for name, ended in namespace.run_all(documents, at_once, seconds, submit).items():
        status = ended if isinstance(ended, Exception) else told(ended["metadata"]["name"])
        found[name] = (
            status if isinstance(status, Exception) else result_of(status, workflows[name], lambda key: stored(s3, key))
        )
    return found


def in_order(status: RunStatus) -> RunStatus:
    """The status with its tasks by name: those that began in the same second may come in any order."""
    return msgspec.structs.replace(status, tasks=tuple(sorted(status.tasks, key=lambda task: task.name)))


def with_parameters(text: str, workflow: Workflow, given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The documents of a YAML text, the workflow's with other values of its parameters."""
    documents = list(yaml.safe_load_all(text))
    types = {parameter.name: parameter.type for parameter in workflow.parameters}
    for document in documents:
        for argument in document.get("spec", {}).get("arguments", {}).get("parameters", []) if given else []:
            if argument["name"] in given:
                type_ = to_builtins(types[argument["name"]])
                argument["value"] = wire.encode(type_, given[argument["name"]])
    return documents


def stored(s3: ObjectStore, key: str) -> Any:
    """The content of an artifact in the object store: Argo packs files and folders as they are configured."""
    client = s3.client()
    listed = client.list_objects_v2(Bucket=s3.bucket, Prefix=f"{key.rstrip('/')}/").get("Contents", [])
    if listed:
        names = {each["Key"]: each["Key"][len(key.rstrip("/")) + 1 :] for each in listed}
        return {name: _body(client, s3.bucket, full).decode() for full, name in names.items()}
    data = _body(client, s3.bucket, key)
    if not key.endswith(".tgz"):
        return data.decode()
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
        found = {member.name: archive.extractfile(member) for member in archive.getmembers() if member.isfile()}
        texts = {name: file.read().decode() for name, file in found.items() if file is not None}
    if set(texts) == {name for name in texts if "/" not in name} and len(texts) == 1:
        return next(iter(texts.values()))
    return {name.partition("/")[2]: text for name, text in texts.items()}


def _body(client: Any, bucket: str, key: str) -> bytes:
    body: bytes = client.get_object(Bucket=bucket, Key=key)["Body"].read()
    return body
