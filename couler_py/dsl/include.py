"""The user's own files that travel with a step, as a deterministic archive.

`include=["mypkg", "conf/*.yaml"]` names files, folders and patterns, relative to the folder of the file
that says so, or, where nothing is found there, to the project's root (the nearest folder upwards with a
couler.toml, a pyproject.toml or a .git). What `!pattern` matches is left out. Where a step runs, the archive's top
lies on `sys.path`, so `mypkg` is imported by that name; a leading `src/` without `__init__.py` is taken off.
"""

from __future__ import annotations

import fnmatch
import functools
import hashlib
import io
import stat
import struct
import tarfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath

import msgspec

from couler_py.dsl.errors import DefinitionError
from couler_py.dsl.project import folder_of, project_of
from couler_py.ir.diagnostics import error
from couler_py.ir.model import IncludeArchive, Source
from couler_py.settings import root_of

SKIPPED = frozenset(
    {"__pycache__", ".git", ".hg", ".svn", ".venv", "node_modules", ".ipynb_checkpoints", ".couler", ".DS_Store"}
    | {".mypy_cache", ".ruff_cache", ".pytest_cache", ".tox", ".idea", ".vscode"}
)
"""Never packed: what tools leave behind."""

STORE = "couler.sqlite"
"""What a folder of runs has in it, whatever its name. It also holds this machine's secrets and is never packed."""

SECRETS = (".env", ".env.*", "*.pem", "*.key", "id_rsa*", "id_ed25519*", ".netrc", ".pypirc", "kubeconfig", "*.p12")
"""Never packed, and refused: what looks like a secret. Secrets travel as references."""

LIMIT = 100 * 1024 * 1024
"""Most bytes of files in one archive; larger data is an artifact."""


class Include(msgspec.Struct, frozen=True):
    """Files to bring along: the archive's description, and where the files lie."""

    archive: IncludeArchive
    root: Path


def included(patterns: Sequence[str], filename: str, place: Source, step: str) -> Include | None:
    """The archive of what the patterns match, seen from a source file; None for no patterns.

    Raises `DefinitionError` for a pattern that matches nothing or leads outside, a link that leads
    outside, a file that looks like a secret, and more than `LIMIT` bytes.
    """
    if isinstance(patterns, str):
        raise _error(f"include={patterns!r} is one text", place, step, f"write include=[{patterns!r}]")
    wanted = [pattern for pattern in patterns if not pattern.startswith("!")]
    left_out = [pattern[1:] for pattern in patterns if pattern.startswith("!")]
    if not wanted:
        return None
    folder = folder_of(filename)
    bases = [folder]
    root = root_of(folder)
    if root is not None and root != folder:
        bases.append(root)
    found: dict[Path, None] = {}
    for pattern in wanted:
        matches = _matches(pattern, bases, place, step)
        for path in matches:
            found.update(dict.fromkeys(path for path in _files(path, bases[-1], place, step)))
    top = _top(wanted, bases, list(found))
    names = sorted(path.relative_to(top).as_posix() for path in found if path.is_relative_to(top))
    if len(names) < len(found):
        raise _error(
            "the files to include have no common top folder",
            place,
            step,
            "name them all relative to the project's root, or all relative to the file",
        )
    names = [name for name in names if not any(_fits(name, pattern) for pattern in left_out)]
    _refuse_secrets(names, place, step)
    return _archive(top, tuple(names), place, step)


def project_include(filename: str) -> Include | None:
    """The archive of `include` in the settings of the project around a source file; None without."""
    root, project = project_of(filename)
    if not project.include:
        return None
    config, _, line = project.origins["include"].rpartition(":")
    return included(project.include, str(root / Path(config).name), Source(config, int(line)), "")


def pack(root: str | Path, paths: Iterable[str]) -> bytes:
    """A tar.gz of files, whose bytes depend on their names, contents and executable bits alone.

    The gzip layer stores without compressing, since compressors of different versions write different bytes.
    """
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(paths):
            path = Path(root) / name
            content = path.read_bytes()
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            entry.mode = 0o755 if path.stat().st_mode & stat.S_IXUSR else 0o644
            archive.addfile(entry, io.BytesIO(content))
    return _gzip(buffer.getvalue())


def covers(includes: Iterable[Include], path: Path) -> bool:
    """Whether a module's file or package's folder is in one of the archives, where an import finds it."""
    resolved = path.resolve()
    for include in includes:
        root = include.root.resolve()
        if resolved.parent == root:
            name = resolved.name
            if any(packed == name or packed.startswith(f"{name}/") for packed in include.archive.paths):
                return True
    return False


def _gzip(data: bytes) -> bytes:
    # RFC 1952 around RFC 1951's stored blocks of at most 65,535 bytes; no time, no name.
    blocks = [data[start : start + 65_535] for start in range(0, len(data), 65_535)] or [b""]
    parts = [b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"]
    for number, block in enumerate(blocks, 1):
        last = number == len(blocks)
        parts += [struct.pack("<BHH", last, len(block), 0xFFFF ^ len(block)), block]
    parts.append(struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF))
    return b"".join(parts)


def _matches(pattern: str, bases: list[Path], place: Source, step: str) -> list[Path]:
    pure = PurePosixPath(pattern)
    if pure.is_absolute() or ".." in pure.parts:
        raise _error(f"include: {pattern!r} leads outside the project", place, step, "name files inside the project")
    for base in bases:
        exact = base / pattern
        found = [exact] if exact.exists() or exact.is_symlink() else sorted(base.glob(pattern))
        found = [path for path in found if not _skipped(path, base)]
        if found:
            return found
    shown_bases = " and in ".join(str(base) for base in bases)
    raise _error(f"include: nothing matches {pattern!r}", place, step, f"looked in {shown_bases}")


def _skipped(path: Path, base: Path) -> bool:
    """Whether a path below `base` is, or lies in, what is never packed."""
    places = (path, *(parent for parent in path.parents if parent != base and parent.is_relative_to(base)))
    return any(place.name in SKIPPED or (place / STORE).exists() for place in places)


def _files(
    path: Path, outermost: Path, place: Source, step: str, seen: frozenset[Path] = frozenset()
) -> Iterator[Path]:
    if path.is_symlink() and not path.resolve().is_relative_to(outermost.resolve()):
        raise _error(f"include: the link {path} leads outside of {outermost}", place, step, "copy the file instead")
    if path.is_dir():
        real = path.resolve()
        if real in seen:
            return
        for inner in sorted(path.iterdir()):
            if not _skipped(inner, path) and inner.suffix not in (".pyc", ".egg-info"):
                yield from _files(inner, outermost, place, step, seen | {real})
    elif path.is_file():
        yield path
    else:
        raise _error(f"include: {path} is no file or folder", place, step, "leave it out with a pattern '!...'")


def _top(wanted: list[str], bases: list[Path], found: list[Path]) -> Path:
    """The folder that becomes the top of the archive."""
    for base in bases:
        if all(path.is_relative_to(base) for path in found):
            sources = base / "src"
            plain = all(PurePosixPath(pattern).parts[:1] == ("src",) for pattern in wanted)
            return sources if plain and not (sources / "__init__.py").exists() else base
    return bases[-1]


def _fits(name: str, pattern: str) -> bool:
    return fnmatch.fnmatch(name, pattern) or name.startswith(pattern.rstrip("/") + "/")


def _refuse_secrets(names: list[str], place: Source, step: str) -> None:
    for name in names:
        if any(fnmatch.fnmatch(name.rpartition("/")[2], pattern) for pattern in SECRETS):
            raise _error(
                f"include: {name} looks like a secret",
                place,
                step,
                f"leave it out with '!{name}', and give secrets by reference: env={{'KEY': couler.secret(...)}}",
            )


def _archive(root: Path, names: tuple[str, ...], place: Source, step: str) -> Include:
    stats = [(root / name).stat() for name in names]
    if sum(found.st_size for found in stats) > LIMIT:
        raise _error(f"include: more than {LIMIT:,} bytes", place, step, "pass large data as an artifact (Path)")
    stamps = tuple((found.st_mtime_ns, found.st_size, found.st_mode) for found in stats)
    return Include(IncludeArchive(_digest(root, names, stamps), names, str(root)), root)


@functools.lru_cache(maxsize=256)
def _digest(root: Path, names: tuple[str, ...], stamps: tuple[tuple[int, int, int], ...]) -> str:
    return hashlib.sha256(pack(root, names)).hexdigest()


def _error(message: str, place: Source, step: str, help_: str) -> DefinitionError:
    return DefinitionError([error("CLR131", message, source=place, step=step, help=help_)])
