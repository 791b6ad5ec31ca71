"""Outputs of a container that has ended, taken into the attempt's folder. Standard library only.

What a container has written is not to be trusted: a link may lead anywhere on this machine, a pipe may be waited for
without end. So only files, folders, and links that stay in their folder are taken.
"""

from __future__ import annotations

import os
import shutil
import stat
import tarfile
from typing import IO

MISSING = ("could not be found", "could not find the file", "no such file", "no such container:path")
FURTHER = (".suffix",)  # what the runner leaves beside an output


class TakingError(Exception):
    """An output that can't be taken; the message says why."""


def unpack(stream: IO[bytes], place: str) -> str:
    """Write the file or folder that a runtime's copy gives as a tar to a place.

    Gives the target of what is a link itself, with nothing written. Raises `TakingError`.
    """
    with tarfile.open(fileobj=stream, mode="r|") as archive:
        top = ""
        for member in archive:
            name = os.path.normpath(member.name)
            top = top or name.partition("/")[0]
            inside = "" if name == top else name.removeprefix(f"{top}/")
            if inside == name or inside.startswith("..") or os.path.isabs(inside):
                raise TakingError(f"{member.name} lies outside of it")
            if not inside and member.issym():
                return member.linkname
            _write(archive, member, place, inside)
    return ""


def _write(archive: tarfile.TarFile, member: tarfile.TarInfo, place: str, inside: str) -> None:
    path = os.path.join(place, inside) if inside else place
    root = os.path.realpath(place)
    around = os.path.realpath(os.path.dirname(path))
    if inside and os.path.commonpath([root, around]) != root:
        raise TakingError(f"{inside} would be written through a link out of it")
    if os.path.islink(path):
        raise TakingError(f"{inside} is there twice")
    if member.isdir():
        os.makedirs(path, exist_ok=True)
    elif member.isreg():
        with open(path, "wb") as file:
            content = archive.extractfile(member)
            assert content is not None
            shutil.copyfileobj(content, file, 1 << 20)
        os.chmod(path, 0o755 if member.mode & 0o111 else 0o644)
    elif member.issym():
        _check_link(root, os.path.join(around, os.path.basename(path)), member.linkname, inside)
        os.symlink(member.linkname, path)
    elif member.islnk():
        first = os.path.normpath(member.linkname).partition("/")[2]
        source = os.path.realpath(os.path.join(root, first))
        if not first or os.path.commonpath([root, source]) != root:
            raise TakingError(f"{inside} is the same file as {member.linkname}, outside of it")
        shutil.copy(source, path)
    else:
        raise TakingError(f"{inside or 'it'} is neither a file nor a folder")


def _check_link(root: str, path: str, target: str, inside: str) -> None:
    to = os.path.realpath(os.path.join(os.path.dirname(path), target))
    if os.path.isabs(target) or os.path.commonpath([root, to]) != root:
        raise TakingError(f"the link {inside} leads out of it, to {target}: copy what it leads to")


def check(path: str, value: bool) -> None:
    """Look at what a container has written to a folder that it shared. Raises `TakingError`."""
    mode = os.lstat(path).st_mode
    if stat.S_ISREG(mode):
        return
    if value or not stat.S_ISDIR(mode):
        raise TakingError("it is no file" if value else "it is neither a file nor a folder")
    root = os.path.realpath(path)
    folders = [path]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                inside = os.path.relpath(entry.path, path)
                if entry.is_symlink():
                    _check_link(root, entry.path, os.readlink(entry.path), inside)
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif not entry.is_file(follow_symlinks=False):
                    raise TakingError(f"{inside} is neither a file nor a folder")


def move_left(left: str, name: str, place: str, value: bool) -> bool:
    """Move an output of a Python step out of the folder that it shared; whether it was there.

    Raises `TakingError`.
    """
    path = os.path.join(left, name)
    if not os.path.lexists(path):
        return False
    check(path, value)
    os.rename(path, place)
    for suffix in FURTHER:
        if regular(path + suffix):
            os.rename(path + suffix, place + suffix)
    return True


def regular(path: str) -> bool:
    """Whether a file stands at a path: no link, no pipe, no folder."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except FileNotFoundError:
        return False
