"""The folder that holds everything: `COULER_HOME`, by default `.couler/` in the working directory."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import msgspec

from couler_py.ir.diagnostics import CoulerError

FOLDERS = ("runs", "artifacts", "tmp", "programs", "includes", "environments", "volumes")


class UnsafeHomeError(CoulerError):
    """The folder isn't this user's alone: whoever else writes there could choose what is run and read."""


class Home(msgspec.Struct, frozen=True):
    """The folder, made with mode 0700 and a `.gitignore` of `*`."""

    path: Path

    @property
    def artifacts(self) -> Path:
        return self.path / "artifacts"

    @property
    def database(self) -> Path:
        return self.path / "couler.sqlite"

    def run(self, run_id: str) -> Path:
        """The folder of one run: attempts with their logs, requests to its engine, its lock."""
        return self.path / "runs" / run_id


def home_path(path: str | os.PathLike[str] | None = None) -> Path:
    """The folder that is meant: the one given, else `$COULER_HOME`, else `.couler` here. Makes nothing."""
    return Path(path or os.environ.get("COULER_HOME") or ".couler").absolute()


def open_home(path: str | os.PathLike[str] | None = None) -> Home:
    """The folder, made where it is missing.

    Raises `UnsafeHomeError` for a folder of another user and for one where everybody may write, `NotADirectoryError`
    where something else has the name, `PermissionError` where it can't be made.
    """
    folder = home_path(path)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _check_owner(folder)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n")
    for name in FOLDERS:
        (folder / name).mkdir(mode=0o700, exist_ok=True)
    return Home(folder)


def _check_owner(folder: Path) -> None:
    facts = folder.stat()
    if facts.st_uid != os.geteuid():
        raise UnsafeHomeError(
            f"{folder} belongs to {_user(facts.st_uid)}, and this is {_user(os.geteuid())}: what lies there could be "
            "theirs to change. Set COULER_HOME to a folder of your own, or work in another folder"
        )
    if facts.st_mode & stat.S_IWOTH:
        raise UnsafeHomeError(
            f"everybody may write into {folder}: programs and results in it could be anybody's. If it is yours, "
            f"`chmod o-w {folder}`; else set COULER_HOME to another folder"
        )


def _user(number: int) -> str:
    import pwd

    try:
        return f"the user {pwd.getpwuid(number).pw_name!r}"
    except KeyError:
        return f"the user {number}"


NETWORK = (
    "nfs",
    "cifs",
    "smb",
    "9p",
    "afs",
    "ceph",
    "gluster",
    "lustre",
    "sshfs",
    "s3fs",
    "gcsfuse",
    "webdav",
    "davfs",
)


def filesystem(path: Path, mounts: str = "/proc/self/mounts") -> str:
    """The type of the file system that holds a path, as the system names it; "" where it can't be told."""
    try:
        table = Path(mounts).read_text()
    except OSError:
        return ""
    best, found = -1, ""
    target = str(path.resolve())
    for line in table.splitlines():
        _, point, kind, *_ = line.split()
        point = point.replace("\\040", " ")
        inside = target == point or target.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= best:
            best, found = len(point), kind
    return found


def is_network(kind: str) -> bool:
    """Whether a type of file system is one whose locks SQLite's write-ahead log can't trust."""
    return any(name in kind for name in NETWORK)
