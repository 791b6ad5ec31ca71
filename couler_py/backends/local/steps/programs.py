"""The programs of Python steps and the user's own modules, as files that attempts share."""

from __future__ import annotations

import asyncio
import functools
import hashlib
import io
import os
import sys
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

from couler_py.backends.local.context import Context
from couler_py.backends.local.scope import TaskFailure
from couler_py.ir.model import Function, IncludeArchive, Template
from couler_py.runner import runner_text, source
from couler_py.runner.compiled import compiled, compiled_runner
from couler_py.store.home import Home


@functools.cache
def runner() -> str:
    """The text that every Python step is run by."""
    return runner_text()


def program(context: Context, template: Template) -> Path:
    """The file of a step's program, by the sha256 of its text."""
    known = context.programs.get(template.name)
    if known is None:
        known = context.programs[template.name] = _file(context.home, source(template))
    return known


def code(context: Context, template: Template) -> bytes:
    """The program of a step as code, for an interpreter that is like this one; nothing where that can't be."""
    known = context.codes.get(template.name)
    if known is None:
        known = context.codes[template.name] = compiled(template, str(program(context, template)))
    return known


def runner_file(home: Home) -> Path:
    """The runner as a file, for the processes that load it once for many steps. Beside it lies its code."""
    path = _file(home, runner())
    _kept(home, path.with_suffix(f".{sys.implementation.cache_tag}"), compiled_runner)
    return path


def _file(home: Home, text: str) -> Path:
    data = text.encode("utf-8", "surrogatepass")
    path = home.path / "programs" / f"{hashlib.sha256(data).hexdigest()[:32]}.py"
    _kept(home, path, lambda: data)
    return path


def _kept(home: Home, path: Path, made: Callable[[], bytes]) -> None:
    if not path.exists():
        handle, temporary = tempfile.mkstemp(dir=home.path / "tmp")
        with os.fdopen(handle, "wb") as file:
            file.write(made())
        Path(temporary).rename(path)
    else:
        os.utime(path)  # it counts as new, so that nobody collects it before it runs


async def includes(context: Context, body: Function) -> str:
    """The folders of the user's own modules that a step imports, joined as in a search path."""
    archives = {archive.digest: archive for archive in context.workflow.includes}
    found = []
    for digest in body.include:
        folder = include_folder(context.home, digest)
        if not folder.is_dir():
            if digest not in archives:
                raise TaskFailure(f"the archive {digest} of the user's own modules is not in the workflow")
            await asyncio.to_thread(unpack, context.home, archives[digest])
        os.utime(folder)
        found.append(str(folder))
    return os.pathsep.join(found)


def include_folder(home: Home, digest: str) -> Path:
    """Where the files of an archive lie."""
    return home.path / "includes" / digest.removeprefix("sha256:")


def unpack(home: Home, archive: IncludeArchive) -> None:
    """Lay an archive's files out as a folder, packed from where its author has them.

    Raises `TaskFailure` where the files are no longer what the workflow was built with.
    """
    from couler_py.dsl.include import pack

    try:
        data = pack(archive.root, archive.paths)
    except OSError as error:
        raise TaskFailure(f"the user's own modules can't be read from {archive.root}: {error}") from None
    if hashlib.sha256(data).hexdigest() != archive.digest.removeprefix("sha256:"):
        raise TaskFailure(
            f"files in {archive.root} that steps import have changed since this workflow was built: start a new run"
        )
    target = include_folder(home, archive.digest)
    with tempfile.TemporaryDirectory(dir=home.path / "tmp") as folder:
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            tar.extractall(Path(folder) / "files", filter="data")
        try:
            (Path(folder) / "files").rename(target)
        except OSError:
            if not target.is_dir():  # another engine was as fast
                raise
