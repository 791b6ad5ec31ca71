"""What an attempt leaves: its outputs, kept, and its record, written under another name and renamed. Stdlib only."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
import time
from typing import Any, BinaryIO

from couler_py.backends.local.warden.streams import masked, write_all
from couler_py.store import content, faults

TAIL = 4000  # bytes of the log's end that a failed attempt's record repeats
SMALL = 1 << 18  # bytes of outputs that a warden hashes itself, while other steps wait
METRICS = os.path.join("outputs", "metrics.jsonl")  # what its step has logged by `log_metric`
VERDICT = "verdict"  # the file by which what ran says more of its end than an exit code does


class CollectError(Exception):
    """An output that can't be taken; the message says which and what to do."""


def look(request: dict[str, Any]) -> None:
    """See whether a step has left anything in its working folder. Where it hasn't the folder stays.

    Some file systems pass over what was deleted lately whenever they look for room for something new.
    """
    if request["work"] is not None and _is_full(request["work"]):
        request["clean"].append(request["work"])


def is_quick(request: dict[str, Any]) -> bool:
    """Whether all of it is done at once, so that no other step notices."""
    if request.get("fsync"):
        return False
    size = 0
    for output in request["outputs"]:
        if output["kind"] == "artifact":
            try:
                facts = os.lstat(output["path"])
            except OSError:
                continue  # missing: said when it is collected
            if not stat.S_ISREG(facts.st_mode):
                return False
            size += facts.st_size
    return size <= SMALL and not any(_is_full(path) for path in request["clean"])


def _is_full(path: str) -> bool:
    """Whether something is a folder with anything in it."""
    try:
        with os.scandir(path) as entries:
            return next(entries, None) is not None
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True  # its step has closed it: whatever is in it goes


def finish(request: dict[str, Any], record: dict[str, Any]) -> bytes | None:
    """Keep the outputs, delete what only the step needed, and write the record; its text.

    None, and no record, for a step that was stopped from outside: who resumes its run starts it again.
    """
    folder = request["folder"]
    if not os.path.isdir(folder) or os.path.islink(folder):
        record |= restored(folder)
    record |= verdict(folder)
    try:
        if record["reason"] == "exited" and record["exit"] == 0:
            record |= collect(request)
        elif request.get("salvage") and record["reason"] != "stopped":
            record |= salvage(request)
    except (OSError, content.ContentError, CollectError) as error:
        record |= failure(error)
    if record["reason"] == "stopped":
        clean(request)
        return None
    if record["reason"] != "exited" or record["exit"] != 0:
        record["log"] = tail(os.path.join(folder, "log"))
    clean(request)
    if request["redact"]:
        hide(request, record)
    record["finished"] = time.time()
    return write_record(folder, record, bool(request.get("fsync")))


def restored(folder: str) -> dict[str, Any]:
    """Make the folder of an attempt again, which its step has taken away; what is recorded of that."""
    content.remove(folder)
    os.makedirs(folder)
    what = "deleted or replaced the folder of its attempt, with its log and its outputs"
    return {"reason": "error", "message": f"the step has {what}: only the working folder in it is the step's own"}


def hide(request: dict[str, Any], record: dict[str, Any]) -> None:
    """Put *** for secrets in the message, which may name files, and in the names of what the step has logged.

    Lines stay as long as they were, for who has read some of them while the step ran.
    """
    secrets = [text.encode("utf-8", "surrogateescape") for text in sorted(request["redact"], key=len, reverse=True)]
    message = record["message"].encode("utf-8", "surrogateescape")
    record["message"] = masked(message, secrets).decode("utf-8", "surrogateescape")
    path = os.path.join(request["folder"], METRICS)
    try:
        with plain(path) as file:
            lines = file.read().split(b"\n")
    except OSError:
        return
    hidden = [masked(line, secrets).ljust(len(line)) for line in lines]
    if hidden != lines:
        temporary = os.path.join(request["folder"], "metrics.tmp")
        handle = _new_file(temporary)
        try:
            write_all(handle, b"\n".join(hidden))
        finally:
            os.close(handle)
        _put(temporary, path)


def verdict(folder: str) -> dict[str, Any]:
    """What is said of an attempt's end by what ran in it: any of reason, message, exit, oom; else nothing."""
    try:
        with plain(os.path.join(folder, VERDICT)) as file:
            said = json.loads(file.read(1 << 16))
    except (OSError, ValueError):
        return {}
    kinds = {"reason": str, "message": str, "exit": int, "oom": bool, "lost": str}
    if not isinstance(said, dict) or said.get("reason", "exited") not in ("exited", "error", "timeout"):
        return {}
    return {name: said[name] for name, kind in kinds.items() if isinstance(said.get(name), kind)}


def condemn(folder: str, error: Exception) -> None:
    """Say of an attempt, before its process ends, that it couldn't be started, and why."""
    with open(os.path.join(folder, VERDICT), "w") as file:
        json.dump(failure(error) | {"exit": 127}, file)


def failure(error: Exception) -> dict[str, Any]:
    """What is recorded of an attempt that went wrong outside of its step; `lost` is the digest of a lost input."""
    said = {"reason": "error", "message": str(error)}
    return said | {"lost": error.digest} if isinstance(error, content.LostContentError) else said


def collect(request: dict[str, Any]) -> dict[str, Any]:
    """Read the values and keep the files that the step was to leave."""
    parameters: dict[str, str] = {}
    artifacts: dict[str, Any] = {}
    for output in request["outputs"]:
        name, path = output["name"], output["path"]
        if not os.path.lexists(path):
            if output.get("optional"):
                continue
            raise CollectError(f"the output {name!r} was not written: {path} is not there")
        if output["kind"] == "parameter":
            parameters[name] = read_value(name, path, request["limit"])
        else:
            artifacts[name] = content.keep(request["artifacts"], path, move=request["move"], fsync=request["fsync"])
            artifacts[name]["suffix"] = read_suffix(path)
    return {"parameters": parameters, "artifacts": artifacts}


def salvage(request: dict[str, Any]) -> dict[str, Any]:
    """What a failed step has written of its outputs: Argo lets others read that."""
    found: dict[str, Any] = {"parameters": {}, "artifacts": {}}
    for output in request["outputs"]:
        with contextlib.suppress(CollectError, OSError, content.ContentError):  # the step failed for another reason
            one = collect({**request, "outputs": [{**output, "optional": True}]})
            found["parameters"] |= one["parameters"]
            found["artifacts"] |= one["artifacts"]
    return found


def read_suffix(path: str) -> str:
    """The suffix that the file had where the step made it, which the runner leaves beside an output."""
    if not os.path.isfile(path + ".suffix"):
        return ""
    with open(path + ".suffix", encoding="utf-8", errors="replace") as file:
        suffix = file.read(20)
    return suffix if suffix[1:].isalnum() else ""


def read_value(name: str, path: str, limit: int) -> str:
    """The text of an output that is a value. Raises `CollectError`."""
    if not os.path.isfile(path):  # opening a pipe would wait for who writes to it
        raise CollectError(f"the output {name!r} is no file: {path}")
    with open(path, "rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        size = os.path.getsize(path)
        raise CollectError(
            f"the output {name!r} is {size} bytes long, and a value can have {limit}: make it an artifact "
            "(Path), or return couler.spill(value)"
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CollectError(f"the output {name!r} is not UTF-8 text ({error}): make it an artifact (Path)") from None


def clean(request: dict[str, Any]) -> None:
    """Delete what only the step needed."""
    for path in request["clean"]:
        try:
            os.rmdir(path)
        except FileNotFoundError:
            continue
        except OSError:
            content.remove(path)


def plain(path: str) -> BinaryIO:
    """A file of an attempt's folder, to read. The step may have put anything there, and a pipe would be waited for.

    Raises `OSError`.
    """
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "its step has made something else of this file", path)
    return os.fdopen(handle, "rb")


def tail(path: str) -> str:
    """The end of a log; nothing where there is none: what failed came before the step, or the step has removed it."""
    try:
        with plain(path) as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - TAIL))
            return file.read(TAIL).decode("utf-8", "replace")
    except OSError:
        return ""


def write_record(folder: str, record: dict[str, Any], fsync: bool) -> bytes:
    """Write how an attempt ended, all of it or nothing; its text."""
    text = json.dumps(record).encode()
    temporary = os.path.join(folder, "record.tmp")
    handle = _new_file(temporary)
    try:
        try:
            write_all(handle, text)
            if fsync:
                os.fsync(handle)
        finally:
            os.close(handle)
        faults.reach("record.written")
        _put(temporary, os.path.join(folder, "record"))
    except OSError:
        os.unlink(temporary)
        raise
    faults.reach("record.kept")
    if fsync:
        content.sync(folder)
    return text


def _put(temporary: str, path: str) -> None:
    try:
        os.rename(temporary, path)
    except IsADirectoryError:  # only a step can have made it
        content.remove(path)
        os.rename(temporary, path)


def _new_file(path: str) -> int:
    """Whatever only a step can have put there gives way: a pipe would be waited for, and a link be followed."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    try:
        return os.open(path, flags, 0o666)
    except FileExistsError:
        content.remove(path)
        return os.open(path, flags, 0o666)


def read_record(folder: str) -> bytes | None:
    """The text of an attempt's record, where there is one."""
    try:
        with open(os.path.join(folder, "record"), "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None
