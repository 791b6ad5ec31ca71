"""A run of this machine as a folder or archive that can be mailed.

Secrets that the workflow names are hidden in every text, and a file in which one is found stays here.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec

from couler_py.backends.local import api
from couler_py.backends.local.paths import last_attempts, shown
from couler_py.ir.codec import to_json
from couler_py.ir.model import Workflow
from couler_py.ir.pod import EnvFrom
from couler_py.ir.storage import SecretRef
from couler_py.ir.structs import nodes
from couler_py.ir.wire import finite
from couler_py.store import artifacts, exports, runs, samples
from couler_py.store.content import ContentError
from couler_py.store.database import connect
from couler_py.store.exports import Exported, ExportedFile, ExportedLog
from couler_py.store.home import Home, open_home
from couler_py.store.masking import forms, mask
from couler_py.store.records import ArtifactRef, RunRecord
from couler_py.store.secrets import SecretNotFoundError, read_key, read_secret

Files: TypeAlias = Literal["all", "small", "none"]

SMALL = 8 << 20  # bytes of an artifact that goes along without being asked for: what a report shows
BLOCK = 1 << 20


class Written(msgspec.Struct, frozen=True):
    """What was exported: where it lies, how many logs and files are in it, and which files were left out, and why."""

    path: str
    logs: int
    files: int
    left_out: dict[str, str]


def write(
    run: str,
    workflow: Workflow,
    target: Path,
    *,
    home: str | Path | None = None,
    files: Files = "small",
    source: str = "",
    page: str = "",
) -> Written:
    """Write a run to a folder that isn't there yet, or to an archive (`.tar.gz`).

    With `files="small"`, artifacts of up to 8 MiB and the outputs of the run go along. `source` is the workflow as
    Python to read, and `page` the run as HTML.
    Raises `RunNotFoundError`, `FileExistsError`, `OSError`.
    """
    if target.exists():
        raise FileExistsError(17, "there is something of that name already", str(target))
    target.parent.mkdir(parents=True, exist_ok=True)
    place = open_home(home)
    # Made beside its place and moved there: who finds it finds it whole.
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".couler-export-") as scratch:
        folder = Path(scratch) / "run"
        folder.mkdir(mode=0o700)
        record = api.load(run, home=home)
        exported = _fill(folder, place, record, workflow, files, {exports.SOURCE: source, exports.REPORT: page})
        if exports.is_archive(target):
            exports.pack(folder, target)
        else:
            folder.rename(target)
    left_out = {file.name: file.left_out for file in exported.files if file.left_out}
    return Written(str(target), len(exported.logs), len(exported.files) - len(left_out), left_out)


def _fill(
    folder: Path, home: Home, record: RunRecord, workflow: Workflow, files: Files, texts: dict[str, str]
) -> Exported:
    hidden = list(_hidden(home, workflow))
    connection = connect(home)
    try:
        tried = runs.load_attempts(connection, record.id)
        events = runs.events(connection, record.id)
        metrics = runs.metrics(connection, record.id)
        looks = samples.load(connection, record.id)
    finally:
        connection.close()
    record.options = {}  # what this machine gives to steps: its ConfigMaps
    logs = list(_logs(folder, home, record, tried, hidden))
    kept = list(_files(folder, home, record, files, hidden))
    names = {file.name: file.place for file in kept}
    record.outputs = {
        name: names.get(name) or value if isinstance(value, str) and value.startswith(str(home.path)) else value
        for name, value in record.outputs.items()
    }
    exported = Exported(exports.FORMAT, version("couler-py"), record, tried, events, metrics, logs, kept)
    written = {name: mask(text, hidden) for name, text in texts.items()} | {
        exports.RECORD: _json(msgspec.to_builtins(exported), hidden),
        exports.WORKFLOW: _json(json.loads(to_json(workflow)), hidden),
        exports.SAMPLES: msgspec.json.encode(looks).decode() + "\n",
    }
    for name, text in written.items():
        if text:
            (folder / name).write_text(text, encoding="utf-8", errors="surrogateescape")
    return exported


def _json(data: Any, hidden: list[bytes]) -> str:
    return msgspec.json.format(msgspec.json.encode(finite(_masked(data, hidden))), indent=1).decode() + "\n"


def _masked(data: Any, hidden: list[bytes]) -> Any:
    """Plain data with secrets hidden in its strings, each by itself, so that it stays the data that it is."""
    if not hidden:
        return data
    if isinstance(data, str):
        return mask(data, hidden)
    if isinstance(data, list | tuple):
        return [_masked(each, hidden) for each in data]
    if isinstance(data, dict):
        return {name: _masked(each, hidden) for name, each in data.items()}
    return data


def _hidden(home: Home, workflow: Workflow) -> Iterator[bytes]:
    """The forms of all secrets that a workflow names and this machine has."""
    for node in nodes(workflow):
        try:
            if isinstance(node, SecretRef):
                yield from forms(read_key(home, node.name, node.key))
            elif isinstance(node, EnvFrom) and node.kind == "secret":
                for value in read_secret(home, node.name).values():
                    yield from forms(value)
        except SecretNotFoundError:
            continue  # it can't have been in this run's logs either


def _logs(
    folder: Path, home: Home, record: RunRecord, tried: list[tuple[str, Any]], hidden: list[bytes]
) -> Iterator[ExportedLog]:
    (folder / exports.LOGS).mkdir()
    entry = record.tasks[""].template if "" in record.tasks else ""
    for number, (path, attempt) in enumerate(tried):
        log = home.run(record.id) / attempt.folder / "log"
        if not attempt.folder or not log.is_file():
            continue
        place = f"{exports.LOGS}/{number:06d}.log"
        _copy(log, folder / place, hidden)
        yield ExportedLog(shown(path) or entry, attempt.number, place)


def _copy(log: Path, target: Path, hidden: list[bytes]) -> None:
    """Copy a log, secrets hidden. What a supervisor has hidden already is hidden; this is for what it wasn't told."""
    longest = max(map(len, hidden), default=1)
    with log.open("rb") as reading, target.open("wb") as writing:
        kept = b""
        while block := reading.read(BLOCK):
            text = kept + block
            for form in hidden:
                text = text.replace(form, b"***")
            kept = text[-(longest - 1) :] if longest > 1 else b""
            writing.write(text[: len(text) - len(kept)])
        writing.write(kept)


def _files(folder: Path, home: Home, record: RunRecord, files: Files, hidden: list[bytes]) -> Iterator[ExportedFile]:
    (folder / exports.FILES).mkdir()
    copied: dict[str, str] = {}
    found = _artifacts(record)
    for number, (name, ref) in enumerate(found.items()):
        place, why = copied.get(ref.digest, ""), ""
        if not place and (files == "none" or (files == "small" and ref.size > SMALL and "/" in name)):
            why = "files were not asked for" if files == "none" else f"more than {SMALL >> 20} MiB"
        elif not place:
            place = f"{exports.FILES}/{number:06d}{ref.suffix}"
            why = _give(home, ref, folder / place, hidden)
            copied |= {} if why else {ref.digest: place}
        yield ExportedFile(name, ref.digest, ref.size, "" if why else place, why)


def _artifacts(record: RunRecord) -> dict[str, ArtifactRef]:
    """The files of a run by `TASK/NAME`; its outputs by their names alone."""
    found = {}
    for path, task in last_attempts(record.tasks).items():
        for name, ref in (task.result.artifacts if task.result is not None else {}).items():
            found[f"{shown(path)}/{name}" if path else name] = ref
    return found


def _give(home: Home, ref: ArtifactRef, target: Path, hidden: list[bytes]) -> str:
    """Put a copy of an artifact into the folder. Gives why not, where it can't be or must not."""
    try:
        artifacts.give(home, ref, target, writable=True)
    except (ContentError, OSError) as error:
        _drop(target)
        return str(error)
    paths = [target] if target.is_file() else [each for each in target.rglob("*") if each.is_file()]
    if any(each.is_symlink() for each in target.rglob("*")):
        _drop(target)
        return "it holds links"
    if any(_holds(each, hidden) for each in paths):
        _drop(target)
        return "it holds a secret"
    return ""


def _holds(path: Path, hidden: list[bytes]) -> bool:
    longest = max(map(len, hidden), default=0)
    kept = b""
    with path.open("rb") as file:
        while longest and (block := file.read(BLOCK)):
            text = kept + block
            if any(form in text for form in hidden):
                return True
            kept = text[-longest:]
    return False


def _drop(target: Path) -> None:
    if target.is_dir():
        shutil.rmtree(target)
    else:
        target.unlink(missing_ok=True)
