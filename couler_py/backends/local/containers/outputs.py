"""What a group leaves: outputs, each from its path in the container of the result. Standard library only."""

from __future__ import annotations

import contextlib
import os
import posixpath
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping

from couler_py.backends.local.containers import words
from couler_py.backends.local.containers.group import Group, Take
from couler_py.backends.local.containers.outcome import Verdict
from couler_py.backends.local.containers.taking import MISSING, TakingError, check, move_left, regular, unpack

MOST_LINKS = 40  # as many as Linux follows
METRICS = "metrics.jsonl"


def take(group: Group, verdict: Verdict, environment: Mapping[str, str]) -> Verdict:
    """Take all outputs; what can't be taken makes a good verdict a bad one."""
    if group.left and regular(os.path.join(group.left, METRICS)):
        os.rename(os.path.join(group.left, METRICS), os.path.join(group.folder, "outputs", METRICS))
    for wanted in group.takes:
        try:
            there = _one(group, wanted, environment)
        except (TakingError, OSError, tarfile.TarError) as error:
            clear(wanted.place)
            if verdict.good:
                verdict = Verdict(0, "error", f"the output {wanted.name!r} ({wanted.path}) can't be taken: {error}")
            continue
        if not there and not wanted.optional and verdict.good:
            message = f"the output {wanted.name!r} was not written: {wanted.path} is not there in the container"
            verdict = Verdict(0, "error", message)
    return verdict


def clear(place: str) -> None:
    """Delete what was taken before it turned out that the rest can't be."""
    if os.path.isdir(place) and not os.path.islink(place):
        shutil.rmtree(place)
    elif os.path.lexists(place):
        os.unlink(place)


def _one(group: Group, wanted: Take, environment: Mapping[str, str]) -> bool:
    if group.left:
        return move_left(group.left, wanted.name, wanted.place, wanted.value)
    path = wanted.path
    for _ in range(MOST_LINKS):
        link = _copied(group, path, wanted.place, environment)
        if link is None:
            return False
        if not link:
            check(wanted.place, wanted.value)
            return True
        path = posixpath.normpath(posixpath.join(posixpath.dirname(path), link))
    raise TakingError("too many links lead to each other")


def _copied(group: Group, path: str, place: str, environment: Mapping[str, str]) -> str | None:
    """Copy what stands at a path; "" when that is done, None where nothing does, else where a link there leads."""
    with tempfile.TemporaryFile() as errors:
        command = words.copy(group, group.result.name, path)
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, env=dict(environment)
        )
        assert process.stdout is not None
        found: str | None = None
        failure: Exception | None = None
        try:
            found = unpack(process.stdout, place)
        except (TakingError, OSError, tarfile.TarError) as error:
            failure = error
        with contextlib.suppress(BrokenPipeError):
            process.stdout.close()
        code = process.wait()
        errors.seek(0)
        said = errors.read().decode("utf-8", "replace").strip()
    if code != 0 and isinstance(failure, tarfile.TarError | None):
        if any(mark in said.lower() for mark in MISSING):
            return None
        raise TakingError(said or f"{group.program} cp ended with exit code {code}")
    if failure is not None:
        raise failure
    return found
