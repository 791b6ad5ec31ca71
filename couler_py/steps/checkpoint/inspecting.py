"""Look at checkpoints, compare them, and write them in other forms: what `couler checkpoint` does. No torch here."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import msgspec

from couler_py.steps.checkpoint import files, folders
from couler_py.steps.checkpoint.boxes import Box, whole
from couler_py.steps.checkpoint.manifest import WIDTHS, Cell, CheckpointError, File, Manifest, Tensor
from couler_py.steps.checkpoint.places import Place
from couler_py.steps.checkpoint.planning import Need, Part, Run, reads

if TYPE_CHECKING:
    from numpy import ndarray

NUMPY = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "u1", "BOOL": "?", "C64": "<c8",
}  # fmt: skip


class Checkpoint(msgspec.Struct, frozen=True):
    """One of several in a folder."""

    folder: str
    step: int
    is_whole: bool
    is_latest: bool
    tensors: int = 0
    size: int = 0
    """Bytes of its files."""


class Difference(msgspec.Struct, frozen=True):
    """A tensor that two checkpoints don't have alike."""

    name: str
    what: str
    numbers: int = 0
    """How many of its numbers differ."""
    most: float | None = None
    """By how much one differs at most; None where that can't be said."""


def listed(where: Place) -> list[Checkpoint]:
    """All checkpoints of a folder, oldest first, those that were never finished too."""
    try:
        newest = where.read(folders.LATEST).decode(errors="replace").strip()
    except FileNotFoundError:
        newest = ""
    found = []
    for folder in folders.folders(where):
        step, latest = folders.step_of(folder), folder == newest
        if not folders.is_whole(where, folder):
            found.append(Checkpoint(folder, step, False, latest))
            continue
        manifest = folders.manifest_of(where, folder)
        size = sum(each.size for each in manifest.files)
        found.append(Checkpoint(folder, step, True, latest, len(manifest.tensors), size))
    return found


def problems(where: Place, folder: str) -> Iterator[str]:
    """What is wrong with a checkpoint: files that are gone or cut off, and every cell that was altered."""
    manifest = folders.manifest_of(where, folder)
    gone = set()
    for number, file in enumerate(manifest.files):
        path = f"{where.name}/{folder}/{file.name}"
        try:
            size = where.size(f"{folder}/{file.name}")
        except FileNotFoundError:
            yield f"{path} is gone"
            gone.add(number)
            continue
        if size != file.size:
            yield f"{path} has {size:,} bytes, not {file.size:,}"
    for name, number, box, cell, size in manifest.placed():
        if cell.file in gone:
            continue
        need = Need(name, number, box, cell.file, cell.offset, size, cell.checksum)
        try:
            for _ in files.read(
                where, folder, manifest.files[cell.file].name, Run(cell.file, cell.offset, size, (need,))
            ):
                pass
        except CheckpointError as error:
            yield str(error)


def tensor(where: Place, folder: str, manifest: Manifest, name: str) -> ndarray:
    """A whole tensor as bytes of shape (…, bytes of a number). Needs numpy. Raises `CheckpointError`."""
    import numpy

    about = manifest.tensor(name)
    width = WIDTHS[about.dtype]
    made = numpy.zeros((*about.shape, width), dtype=numpy.uint8)
    full = whole(about.shape)
    for run in reads(manifest, {name: [full]}):
        for number, data in files.read(where, folder, manifest.files[run.file].name, run):
            box = run.needs[number].box
            made[box.within(full)] = numpy.frombuffer(data, dtype=numpy.uint8).reshape(*box.shape, width)
    return made


def differences(one: tuple[Place, str], other: tuple[Place, str]) -> Iterator[Difference]:
    """What two checkpoints have not alike, by name. Only tensors whose checksums differ are read."""
    left, right = folders.manifest_of(*one), folders.manifest_of(*other)
    for name in sorted(left.tensors.keys() | right.tensors.keys()):
        if name not in right.tensors or name not in left.tensors:
            yield Difference(name, "only in the first" if name in left.tensors else "only in the second")
            continue
        a, b = left.tensor(name), right.tensor(name)
        if (a.dtype, a.shape) != (b.dtype, b.shape):
            yield Difference(name, f"{a.dtype} {list(a.shape)} and {b.dtype} {list(b.shape)}")
        elif a.edges != b.edges or [cell.checksum for cell in a.cells] != [cell.checksum for cell in b.cells]:
            found = _compared(name, a.dtype, tensor(*one, left, name), tensor(*other, right, name))
            if found.numbers:
                yield found


def _compared(name: str, dtype: str, one: ndarray, other: ndarray) -> Difference:
    import numpy

    differ = (one != other).any(axis=-1)
    count = int(differ.sum())
    most = None
    if count and (dtype in NUMPY or dtype == "BF16") and dtype != "BOOL":
        a, b = (_numbers(dtype, each[differ]) for each in (one, other))
        with numpy.errstate(invalid="ignore"):
            distance = numpy.abs(a - b)
        most = float(distance.max()) if numpy.isfinite(distance).all() else None
    return Difference(name, "differs", count, most)


def _numbers(dtype: str, data: ndarray) -> ndarray:
    import numpy

    flat = numpy.ascontiguousarray(data)
    if dtype == "BF16":  # the upper half of a float32
        wide = numpy.zeros((*flat.shape[:-1], 4), dtype=numpy.uint8)
        wide[..., 2:] = flat
        return wide.view("<f4")[..., 0].astype(numpy.float64)
    found = flat.view(NUMPY[dtype])[..., 0]
    return found if dtype == "C64" else found.astype(numpy.float64)


def reshard(source: Place, folder: str, target: Place, count: int) -> str:
    """Write a checkpoint anew, with its cells in so many files of about the same size, and make it the newest there.

    Every cell is checked on the way. Readers need no such thing, whatever their number: it is for stores that like
    fewer files, or more. Raises `CheckpointError`.
    """
    if count < 1:
        raise CheckpointError(f"{count} files: a checkpoint has at least 1")
    manifest = folders.manifest_of(source, folder)
    into = folders.new_folder(manifest.step)
    placed = list(manifest.placed())
    shares: list[list[tuple[str, int, Box, Cell, int]]] = [[] for _ in range(count)]
    load = [0] * count
    for each in placed:
        least = min(range(count), key=lambda number: (load[number], number))
        load[least] += each[-1]
        shares[least].append(each)
    dtypes = {name: each.dtype for name, each in manifest.tensors.items()}
    where: dict[tuple[str, int], Cell] = {}
    made: list[File] = []
    for share in filter(None, shares):
        parts = [Part(name, number, box, size) for name, number, box, _, size in share]
        cells = {(name, number): cell for name, number, _, cell, _ in share}
        name = folders.file_of(len(made))
        written = files.write(
            target, f"{into}/{name}", len(made), parts, dtypes, _reader(source, folder, manifest, cells)
        )
        at = written.start
        for part, checksum in zip(parts, written.checksums, strict=True):
            where[part.tensor, part.number] = Cell(len(made), at, checksum)
            at += part.size
        made.append(File(name, written.size))
    tensors = {
        name: msgspec.structs.replace(each, cells=tuple(where[name, number] for number in range(len(each.cells))))
        for name, each in manifest.tensors.items()
    }
    folders.commit(target, into, msgspec.structs.replace(manifest, tensors=tensors, files=tuple(made)), keep=1 << 30)
    return into


def _reader(
    source: Place, folder: str, manifest: Manifest, cells: dict[tuple[str, int], Cell]
) -> Callable[[Part], memoryview]:
    def data(part: Part) -> memoryview:
        cell = cells[part.tensor, part.number]
        need = Need(part.tensor, part.number, part.box, cell.file, cell.offset, part.size, cell.checksum)
        run = Run(cell.file, cell.offset, part.size, (need,))
        [(_, found)] = files.read(source, folder, manifest.files[cell.file].name, run)
        return found

    return data


def export(
    source: Place, folder: str, target: Place, *, under: str = "model/", prefix: str = "", largest: int = 5 * 10**9
) -> list[str]:
    """Write the tensors whose names begin with `under` as plain safetensors, as Hugging Face's tools read them.

    Their names lose `under` and get `prefix`. Tied ones are left out but the first. More bytes than `largest` go into
    several files with an index. Gives the names of the files. Needs numpy. Raises `CheckpointError`.
    """
    manifest = folders.manifest_of(source, folder)
    chosen = {name: each for name, each in manifest.tensors.items() if name.startswith(under) and each.same_as is None}
    if not chosen:
        raise CheckpointError(f"no tensor of {source.name}/{folder} has a name that begins with {under!r}")
    shards: list[dict[str, Tensor]] = [{}]
    for name, each in sorted(chosen.items()):
        if shards[-1] and sum(one.size for one in shards[-1].values()) + each.size > largest:
            shards.append({})
        shards[-1][name] = each
    count = len(shards)
    names = ["model.safetensors" if count == 1 else f"model-{n + 1:05}-of-{count:05}.safetensors" for n in range(count)]
    index: dict[str, str] = {}
    for file, shard in zip(names, shards, strict=True):
        target.write(file, _plain(source, folder, manifest, shard, lambda name: prefix + name.removeprefix(under)))
        index |= {prefix + name.removeprefix(under): file for name in shard}
    if count > 1:
        told = {"metadata": {"total_size": sum(each.size for each in chosen.values())}, "weight_map": index}
        target.swap("model.safetensors.index.json", json.dumps(told, indent=2).encode())
        names.append("model.safetensors.index.json")
    return names


def _plain(
    source: Place, folder: str, manifest: Manifest, shard: dict[str, Tensor], named: Callable[[str], str]
) -> Iterator[bytes]:
    yield files.head(((named(name), each.dtype, each.shape, each.size) for name, each in shard.items()), format="pt")
    for name in shard:
        yield tensor(source, folder, manifest, name).tobytes()
