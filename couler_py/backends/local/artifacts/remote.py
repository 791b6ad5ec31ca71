"""Artifacts of a run in a store beside this machine's: sent when a task has made them, brought when one needs them.

A task counts as Succeeded only when what it made is in the store. What can't be sent fails the task and leaves a mark
on its attempt, by which `couler retry` sends it again without running the step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from couler_py.backends.local.artifacts.makers import made_anew
from couler_py.backends.local.context import Context, Halted
from couler_py.backends.local.scope import TaskFailure
from couler_py.backends.local.steps import attempts
from couler_py.settings import load
from couler_py.store import cache, content
from couler_py.store.home import Home
from couler_py.store.records import ArtifactRef, Result
from couler_py.store.remote import DamagedError, MissingError, Remote, RemoteError, Swept, noted, parse
from couler_py.store.remote import Halted as TransferHalted
from couler_py.store.remote.sweep import GRACE

UNSENT = "unsent"
"""The file that marks an attempt whose artifacts couldn't be sent."""


def address(given: str | None) -> str:
    """The store of a run: the one given, else that of the settings; "" for none. Raises `LocationError`."""
    text = load().artifacts if given is None else given
    return str(parse(text)) if text else ""


def opened(url: str, home: Home) -> Remote | None:
    """The store of that address, seen to be usable. Raises `RemoteError` and `LocationError`."""
    if not url:
        return None
    remote = Remote(parse(url), home)
    try:
        remote.open()
    except BaseException:
        remote.close()
        raise
    return remote


async def kept(context: Context, path: str, result: Result) -> None:
    """Have what a task made in the store. Raises `TaskFailure`, and `Halted` where the run is to end."""
    if context.remote is None:
        return
    for name, ref in result.artifacts.items():
        try:
            await context.remote.keep(ref)
        except TransferHalted:
            raise Halted from None
        except (RemoteError, OSError, content.ContentError) as error:
            _mark(context, path)
            raise TaskFailure(
                f"its output {name!r} couldn't be sent: {error}. It is safe on this machine: "
                f"`couler retry {context.facts.id}` sends it again, without running the step"
            ) from None


def _mark(context: Context, path: str) -> None:
    folders = attempts.folders(context.folder).get(attempts.key_of(path), [])
    for folder in folders:
        if attempts.record(folder) is not None:
            (folder / UNSENT).touch()


def unsent(folder: Path) -> bool:
    """Whether an attempt succeeded and only its artifacts couldn't be sent. Says so once."""
    try:
        (folder / UNSENT).unlink()
    except FileNotFoundError:
        return False
    return True


async def brought(context: Context, given: Mapping[str, ArtifactRef]) -> None:
    """Have what a task is given on this machine. Raises `TaskFailure`, and `Halted` where the run is to end."""
    if context.remote is None:
        return
    for name, ref in given.items():
        try:
            await context.remote.bring(ref)
        except TransferHalted:
            raise Halted from None
        except (RemoteError, OSError, content.ContentError) as error:
            raise TaskFailure(f"its input {name!r} can't be had: {error}{_way_out(context, ref, error)}") from None


async def listed(context: Context, refs: Iterable[ArtifactRef]) -> None:
    """Have at least the lists of what folders hold here. Raises as `brought`."""
    if context.remote is None:
        return
    for ref in refs:
        if ref.kind == "folder" and not Path(content.blob_path(str(context.home.artifacts), ref.digest)).exists():
            try:
                await context.remote.bring(ref, list_only=True)
            except TransferHalted:
                raise Halted from None
            except (RemoteError, OSError, content.ContentError) as error:
                raise TaskFailure(f"a folder can't be had: {error}{_way_out(context, ref, error)}") from None


async def held(context: Context, result: Result) -> bool:
    """Whether all that a result refers to is on this machine or in the store. Raises `TaskFailure`."""
    if context.remote is None:
        return False
    try:
        return all([await context.remote.has(ref) for ref in result.artifacts.values()])
    except TransferHalted:
        raise Halted from None
    except (RemoteError, OSError, content.ContentError) as error:
        raise TaskFailure(f"the store of artifacts can't be asked: {error}") from None


def present(home: Home, url: str, refs: Iterable[ArtifactRef]) -> None:
    """Bring artifacts of a run that has ended here, where they are missing.

    `url` is the store of the run, "" for none. Raises `RemoteError` and `LocationError`.
    """
    wanted = [ref for ref in refs if cache.missing(home, [ref])]
    remote = opened(url, home) if wanted else None
    if remote is not None:
        try:
            for ref in wanted:
                remote.get(ref)
        finally:
            remote.close()


def swept(home: Home, needed: set[str], *, grace: float = GRACE, dry_run: bool = False) -> dict[str, Swept]:
    """Delete from every store that this home has used what it has put there and needs no more: for `couler gc`.

    `needed` are the digests of all artifacts that runs and cached results of this home refer to; nothing goes that is
    younger than `grace` seconds, or that another home claims. Gives by address what went, or with `dry_run` would go.
    Raises `RemoteError` for the first store that can't be reached.
    """
    found = {}
    for location in noted(home):
        url = str(location)
        remote = opened(url, home)
        assert remote is not None
        try:
            found[url] = remote.sweep(needed, grace=grace, dry_run=dry_run)
        finally:
            remote.close()
    return found


def _way_out(context: Context, ref: ArtifactRef, error: Exception) -> str:
    """How to go on without an artifact of this run: the task that made it can make it anew."""
    if not isinstance(error, MissingError | DamagedError):
        return ""
    first = ". Delete what is there; " if isinstance(error, DamagedError) else ". "
    return first + made_anew(context, ref.digest)
