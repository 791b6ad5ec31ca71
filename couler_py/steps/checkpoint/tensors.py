"""Tensors of torch as what checkpoints know: boxes of a whole, and bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec
import torch

from couler_py.steps.checkpoint.boxes import Box, whole
from couler_py.steps.checkpoint.manifest import CheckpointError
from couler_py.steps.checkpoint.planning import Held, Part

if TYPE_CHECKING:
    from torch import Tensor

NAMES = {
    torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16",
    torch.float8_e4m3fn: "F8_E4M3", torch.float8_e5m2: "F8_E5M2", torch.complex64: "C64",
    torch.int64: "I64", torch.int32: "I32", torch.int16: "I16", torch.int8: "I8",
    torch.uint64: "U64", torch.uint32: "U32", torch.uint16: "U16", torch.uint8: "U8", torch.bool: "BOOL",
}  # fmt: skip
TYPES = {name: dtype for dtype, name in NAMES.items()}
MODEL, OPTIMIZER = "model/", "optimizer/"
"""What the names of a training's tensors begin with."""


class Shard(msgspec.Struct, frozen=True):
    """A part of a tensor, as this rank holds it: the part, the shape of the whole, and where the part begins."""

    part: Tensor
    shape: tuple[int, ...]
    offset: tuple[int, ...]


Holding = Mapping[str, "Tensor | Shard | tuple[Shard, ...]"]
"""What a rank holds, by name: whole tensors, torch's own DTensors, and shards, of one tensor also several."""


class Local(msgspec.Struct, frozen=True):
    """One part of a tensor in this rank's memory."""

    box: Box
    tensor: Tensor


def local_parts(holding: Holding) -> tuple[dict[str, Held], dict[str, list[Local]]]:
    """What this rank holds, as others hear of it, and the memory that it is in.

    Tensors that share their memory are held once; the first name has it. Raises `CheckpointError` for a type or a
    placement that can't be kept.
    """
    held: dict[str, Held] = {}
    parts: dict[str, list[Local]] = {}
    seen: dict[tuple[object, ...], str] = {}
    for name, tensor in sorted(holding.items()):
        shape, found = _shards(name, tensor) if isinstance(tensor, tuple) else _parts(name, tensor)
        dtype = NAMES.get(found[0].tensor.dtype if found else tensor.dtype)  # type: ignore[union-attr]
        if dtype is None:
            raise CheckpointError(f"{name!r} is of {found[0].tensor.dtype}, which no checkpoint holds")
        memory = tuple((each.tensor.data_ptr(), each.tensor.stride(), each.box) for each in found)
        key = (dtype, shape, memory)
        shared = seen.setdefault(key, name) if any(each.box.size for each in found) else name
        parts[name] = found
        held[name] = Held(dtype, shape, tuple(each.box for each in found), None if shared == name else shared)
    return held, parts


def _shards(name: str, shards: tuple[Shard, ...]) -> tuple[tuple[int, ...], list[Local]]:
    if len({(tuple(each.shape), each.part.dtype) for each in shards}) != 1:
        raise CheckpointError(f"{name!r} is held in {len(shards)} shards: one or more, of one shape and type")
    found = [_parts(name, each) for each in shards]
    return found[0][0], [local for _, locals_ in found for local in locals_]


def _parts(name: str, tensor: Tensor | Shard) -> tuple[tuple[int, ...], list[Local]]:
    if isinstance(tensor, Shard):
        box = Box(tuple(tensor.offset), tuple(tensor.part.shape))
        if len(tensor.shape) != tensor.part.dim() or (box.size and not whole(tensor.shape).holds(box)):
            raise CheckpointError(
                f"{name!r}: a part of shape {list(box.shape)} at {list(box.offset)} is not within {list(tensor.shape)}"
            )
        return tuple(tensor.shape), [Local(box, tensor.part.detach())]
    if not isinstance(tensor, torch.Tensor):
        raise CheckpointError(f"{name!r} is a {type(tensor).__name__}, no tensor: numbers and texts go into `facts`")
    chunks = getattr(tensor, "__create_chunk_list__", None)  # what torch.distributed.checkpoint asks a DTensor for
    if chunks is None:
        return tuple(tensor.shape), [Local(whole(tensor.shape), tensor.detach())]
    if any(placement.is_partial() for placement in tensor.placements):
        raise CheckpointError(f"{name!r} is a sum that its ranks have not made yet (Partial): redistribute it first")
    mine = tensor.to_local().detach()
    boxes = [Box(tuple(chunk.offsets), tuple(chunk.sizes)) for chunk in chunks()]
    if sum(box.size for box in boxes) != mine.numel() or len(boxes) > 1:
        raise CheckpointError(f"{name!r} is held in {len(boxes)} chunks: give them as `Shard`s of their own")
    return tuple(tensor.shape), [Local(box, mine) for box in boxes]


def bytes_of(part: Part, parts: Mapping[str, list[Local]]) -> memoryview:
    """The bytes of a cell, which one of the parts holds."""
    return memoryview(flat(_holder(part, parts)).cpu().numpy())


def copy_into(target: Tensor, part: Part, parts: Mapping[str, list[Local]]) -> None:
    """Copy a cell into a flat tensor of bytes."""
    source = _holder(part, parts)
    target.view(source.dtype).view(source.shape).copy_(source)


def flat(tensor: Tensor) -> Tensor:
    """The bytes of a tensor as a tensor of one dimension."""
    return tensor.contiguous().reshape(-1).view(torch.uint8)


def by_memory(parts: Mapping[str, list[Local]], shared: Mapping[str, str | None]) -> dict[str, list[Local]]:
    """Parts by the tensor whose memory they were saved from: `shared` says which that is for tied ones."""
    found: dict[str, list[Local]] = {}
    for name, each in parts.items():
        found.setdefault(shared[name] or name, []).extend(each)
    return found


def fill(parts: list[Local], cell: Box, data: memoryview, dtype: str) -> None:
    """Copy what a cell has of some parts into them."""
    numbers = torch.frombuffer(bytearray(data), dtype=TYPES[dtype]).view(cell.shape)
    with torch.no_grad():
        for each in parts:
            common = cell.meet(each.box) if cell.shape else cell
            if common is not None:
                each.tensor[common.within(each.box)].copy_(numbers[common.within(cell)])


def _holder(part: Part, parts: Mapping[str, list[Local]]) -> Tensor:
    for each in parts[part.tensor]:
        if each.box.holds(part.box):
            return each.tensor[part.box.within(each.box)]
    raise CheckpointError(f"this rank doesn't hold cell {part.number} of {part.tensor!r}")
