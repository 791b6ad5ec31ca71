"""Files and folders kept by the sha256 of their content. Standard library only: supervisors of steps load this file.

A file is kept as it is, at `<first two digits>/<rest>`. A folder is kept as a list of its entries
(the manifest, compact JSON sorted by path), which refers to the files; so folders share files, and
several folders become one without copying any. What is kept is read-only and never linked to from
outside: who reads gets a copy (a reflink where the file system has them).
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
from typing import Any

from couler_py.store import faults, hashing

SMALL = 1 << 18  # bytes: what is shorter is read at once
FICLONE = 0x40049409  # linux/fs.h: share the blocks of another file


class ContentError(Exception):
    """Content that can't be kept, or that is not what its digest says; the message names the place."""


class LostContentError(ContentError):
    """Content that was kept and isn't there any more, or not as it was. What was altered is deleted by then.

    So who makes it anew keeps it anew. `digest` is that of what was asked for.
    """

    def __init__(self, message: str, digest: str):
        super().__init__(message)
        self.digest = digest


def blob_path(root: str, digest: str) -> str:
    """Where the file of a digest lies."""
    return os.path.join(root, digest[:2], digest[2:])


def digest_of(path: str) -> str:
    """The sha256 of a file's content, in hexadecimal digits."""
    return hashing.of_file(path)


def keep(root: str, path: str, *, move: bool = False, fsync: bool = False) -> dict[str, Any]:
    """Keep a file or folder and give its reference; with `move`, `path` may be gone afterwards.

    Raises `ContentError` for what is neither a file nor a folder, and `OSError`.
    """
    if os.path.isdir(path) and not os.path.islink(path):
        return _keep_folder(root, path, move, fsync)
    facts = _facts(path)
    may_move = move and not os.path.islink(path) and _may_move_from(root, os.path.dirname(path), facts)
    return {"kind": "file", **_keep_file(root, path, facts, may_move, fsync)}


def keep_bytes(root: str, data: bytes, *, fsync: bool = False) -> dict[str, Any]:
    """Keep some bytes as a file."""
    digest = hashing.of_bytes(data)
    target = blob_path(root, digest)
    if not kept(root, digest, len(data)):
        handle, temporary = _temporary(root)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            _settle(temporary, target, fsync)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
            raise
    return {"kind": "file", "digest": digest, "size": len(data), "executable": False}


def kept(root: str, digest: str, size: int | None = None) -> bool:
    """Whether a file is kept already, of that size if one is given.

    It then counts as new, so that nobody collects it before it is referred to.
    """
    target = blob_path(root, digest)
    try:
        if size is not None and os.path.getsize(target) != size:  # cut short by a loss of power
            return False
        os.utime(target)
    except FileNotFoundError:
        return False
    return True


def keep_manifest(root: str, entries: list[dict[str, Any]], *, fsync: bool = False) -> dict[str, Any]:
    """Keep a folder that consists of the given entries, whose files are kept already."""
    entries = sorted(entries, key=lambda entry: entry["path"])
    text = json.dumps(entries, separators=(",", ":"), sort_keys=True)
    kept = keep_bytes(root, text.encode("utf-8", "surrogateescape"), fsync=fsync)
    size = sum(entry.get("size", 0) for entry in entries)
    return {"kind": "folder", "digest": kept["digest"], "size": size, "executable": False}


def manifest(root: str, digest: str) -> list[dict[str, Any]]:
    """The entries of a folder.

    Raises `LostContentError` where they are not what the digest says, `ContentError` for one that leads out of it.
    """
    try:
        with open(blob_path(root, digest), "rb") as file:
            data = file.read()
    except FileNotFoundError:
        raise _missing(root, digest) from None
    if hashing.of_bytes(data) != digest:
        raise _altered(root, digest)
    entries: list[dict[str, Any]] = json.loads(data.decode("utf-8", "surrogateescape"))
    for entry in entries:
        if not is_inside(entry["path"]) or (entry["kind"] == "link" and not stays(entry["path"], entry["target"])):
            raise ContentError(f"the folder {digest} in {root} names {entry['path']!r}, which leads out of it")
    return entries


def is_inside(path: str) -> bool:
    """Whether a path names something below a folder, read as it stands: no "..", nothing absolute."""
    return "\0" not in path and all(part not in ("", ".", "..") for part in path.split("/"))


def stays(path: str, target: str) -> bool:
    """Whether a link at a path in a folder leads to a place in it, whatever links it passes on its way.

    Steps upwards count only where a link begins with them, for its own folder is known to be no link: behind the name
    of another link, ".." could lead anywhere.
    """
    parts = [part for part in target.split("/") if part not in ("", ".")]
    upwards = next((at for at, part in enumerate(parts) if part != ".."), len(parts))
    return (
        not target.startswith("/")
        and bool(target)
        and "\0" not in target
        and ".." not in parts[upwards:]
        and upwards <= path.count("/")
    )


def give(root: str, reference: dict[str, Any], target: str, *, writable: bool = False) -> None:
    """Put a copy of what is kept at `target`, read-only unless asked for otherwise.

    Raises `LostContentError` where the content is missing, or isn't what its digest says.
    """
    os.makedirs(os.path.dirname(target) or ".", exist_ok=True)
    if reference["kind"] == "file":
        _copy_out(root, reference["digest"], target, bool(reference.get("executable")), writable)
        return
    os.makedirs(target, exist_ok=True)
    folders = [target]
    for entry in manifest(root, reference["digest"]):
        place = os.path.join(target, entry["path"])
        if entry["kind"] == "folder":
            os.makedirs(place, exist_ok=True)
            folders.append(place)
        elif entry["kind"] == "link":
            os.symlink(entry["target"], place)
        else:
            _copy_out(root, entry["digest"], place, entry["executable"], writable)
    if not writable:
        for folder in reversed(folders):
            os.chmod(folder, 0o555)


def drop(root: str, digest: str, before: float) -> bool:
    """Delete what is kept under a digest, unless somebody has kept or found it since `before` (seconds since 1970).

    Who does so at this very moment either marks it in time or finds it gone, and makes it anew.
    """
    target = blob_path(root, digest)
    handle, aside = _temporary(root)
    os.close(handle)
    try:
        os.rename(target, aside)
        if os.stat(aside).st_mtime <= before:
            return True
        with contextlib.suppress(FileExistsError):  # it was kept anew meanwhile
            os.link(aside, target)
    except FileNotFoundError:  # somebody else dropped it
        pass
    finally:
        os.unlink(aside)
    return False


def remove(path: str) -> None:
    """Delete a file or a folder, read-only ones too; nothing where nothing is there."""
    if os.path.isdir(path) and not os.path.islink(path):
        _open_up(path)
        import shutil  # not loaded where steps are forked from

        shutil.rmtree(path)
    else:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)


def _open_up(path: str) -> None:
    """Let the owner of a folder delete what is in it, whatever modes a step has given to what is below."""
    folders = [path]
    while folders:
        folder = folders.pop()
        if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
            os.chmod(folder, 0o700)
        with os.scandir(folder) as entries:
            folders += [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]


def _scratch(root: str) -> str:
    folder = os.path.join(root, "tmp")
    os.makedirs(folder, exist_ok=True)
    return folder


def _keep_folder(root: str, path: str, move: bool, fsync: bool) -> dict[str, Any]:
    entries: list[dict[str, Any]] = []
    folders = [("", path)]
    while folders:
        prefix, folder = folders.pop()
        may_move = move and _may_move_from(root, folder, os.stat(folder))
        with os.scandir(folder) as listed:
            found = list(listed)
        for entry in found:
            name = prefix + entry.name
            if entry.is_dir(follow_symlinks=False):
                entries.append({"path": name, "kind": "folder"})
                folders.append((name + "/", entry.path))
            else:
                entries.append({"path": name, **_keep_entry(root, entry, name, may_move, fsync)})
    return keep_manifest(root, entries, fsync=fsync)


def _keep_entry(root: str, entry: os.DirEntry[str], name: str, move: bool, fsync: bool) -> dict[str, Any]:
    is_link = entry.is_symlink()
    if is_link:
        target = os.readlink(entry.path)
        if stays(name, target):
            return {"kind": "link", "target": target}
    facts = _facts(entry.path)
    return {"kind": "file", **_keep_file(root, entry.path, facts, move and not is_link, fsync)}


def _facts(path: str) -> os.stat_result:
    """What is known of a file, at the end of links. Raises `ContentError` where it is none."""
    link = f"{path} is a link to {os.readlink(path)!r}, which" if os.path.islink(path) else path
    try:
        facts = os.stat(path)
    except OSError as error:
        raise ContentError(f"{link} can't be read: {error.strerror}") from None
    if not stat.S_ISREG(facts.st_mode):
        kinds = ((stat.S_ISDIR, "a folder elsewhere"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))
        kind = next((name for is_it, name in kinds if is_it(facts.st_mode)), "a device")
        raise ContentError(f"{link} is {kind}: what is kept is files and folders, so delete it, or copy what it holds")
    return facts


def _may_move_from(root: str, folder: str, facts: os.stat_result) -> bool:
    """Whether what lies in a folder can be renamed into the store: not from another file system, or a read-only one."""
    return facts.st_dev == os.stat(root).st_dev and os.access(folder, os.W_OK)


def _keep_file(root: str, path: str, facts: os.stat_result, move: bool, fsync: bool) -> dict[str, Any]:
    if move and facts.st_nlink == 1:  # a hard link may be written through its other names
        digest, size = digest_of(path), facts.st_size
        target = blob_path(root, digest)
        if not kept(root, digest, size):
            _settle(path, target, fsync)
    else:
        handle, temporary = _temporary(root)
        os.close(handle)
        try:
            _copy(path, temporary)
            digest, size = digest_of(temporary), os.path.getsize(temporary)
            target = blob_path(root, digest)
            if not kept(root, digest, size):
                _settle(temporary, target, fsync)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
    return {"digest": digest, "size": size, "executable": bool(facts.st_mode & 0o100)}


def _settle(temporary: str, target: str, fsync: bool) -> None:
    os.chmod(temporary, 0o444)
    os.utime(temporary)  # a step may have given it any time, and what is new is not collected
    if fsync:
        sync(temporary)
    faults.reach("content.written")
    try:
        os.rename(temporary, target)
    except FileNotFoundError:  # the first of its folder
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.rename(temporary, target)
    faults.reach("content.kept")
    if fsync:
        sync(os.path.dirname(target))


def sync(path: str) -> None:
    """Have the system write a file or folder to its disk now."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _copy_out(root: str, digest: str, target: str, executable: bool, writable: bool) -> None:
    mode = (0o644 if writable else 0o444) | (0o111 if executable else 0)
    try:
        with open(blob_path(root, digest), "rb", buffering=0) as source:
            data = source.read(SMALL)
    except FileNotFoundError:
        raise _missing(root, digest) from None
    if len(data) < SMALL:
        if hashing.of_bytes(data) != digest:
            raise _altered(root, digest)
        with open(target, "wb", buffering=0) as file:
            file.write(data)
            os.fchmod(file.fileno(), mode)
        return
    _copy(blob_path(root, digest), target)
    if digest_of(target) != digest:
        os.unlink(target)
        raise _altered(root, digest)
    os.chmod(target, mode)


def _missing(root: str, digest: str) -> LostContentError:
    return LostContentError(f"the file {blob_path(root, digest)} is missing: it was deleted from outside", digest)


def _altered(root: str, digest: str) -> LostContentError:
    """What was altered is of no use to anybody, and in the way of who makes it anew."""
    path = blob_path(root, digest)
    with contextlib.suppress(FileNotFoundError):
        if digest_of(path) != digest:  # else only the copy of it went wrong
            os.unlink(path)
    return LostContentError(
        f"the file {path} is damaged: its content was not what its name says, so it was deleted", digest
    )


def _temporary(root: str) -> tuple[int, str]:
    import tempfile  # not loaded where steps are forked from

    return tempfile.mkstemp(dir=_scratch(root))


def _copy(source: str, target: str) -> None:
    with open(source, "rb") as reading, open(target, "wb") as writing:
        if not _reflink(reading.fileno(), writing.fileno()):
            while part := reading.read(1 << 20):
                writing.write(part)


def _reflink(source: int, target: int) -> bool:
    if not os.path.exists("/proc/self"):  # FICLONE is Linux's
        return False
    import fcntl

    try:
        fcntl.ioctl(target, FICLONE, source)
    except OSError as error:
        if error.errno in (errno.EOPNOTSUPP, errno.EXDEV, errno.EINVAL, errno.ENOTTY, errno.ENOSYS, errno.EPERM):
            return False
        raise
    return True
