"""Who writes and who reads: each cell once, work shared, and clear words where a state is no whole."""

from __future__ import annotations

import pytest

from couler_py.steps.checkpoint.boxes import Box, whole
from couler_py.steps.checkpoint.manifest import Cell, CheckpointError, File, Manifest, Tensor, decode, encode
from couler_py.steps.checkpoint.planning import Held, plan, reads

FULL = Held("F32", (24, 8), (whole((24, 8)),))
UPPER, LOWER = Box((0, 0), (12, 8)), Box((12, 0), (12, 8))


def half(box: Box) -> Held:
    return Held("F32", (24, 8), (box,))


def test_replicas_share_the_work_evenly() -> None:
    layout = plan([{"w": FULL}] * 4, grain=0)
    loads = [sum(part.size for part in parts) for parts in layout.parts]
    assert sum(loads) == 24 * 8 * 4
    assert max(loads) - min(loads) <= 64


def test_each_cell_is_written_once_by_one_who_holds_it() -> None:
    layout = plan([{"w": half(UPPER)}, {"w": half(LOWER)}, {"w": half(UPPER)}], grain=0)
    written = [part for parts in layout.parts for part in parts]
    assert sorted(part.number for part in written) == list(range(len(written)))
    for parts, holds in zip(layout.parts, (UPPER, LOWER, UPPER), strict=True):
        assert parts
        assert all(holds.holds(part.box) for part in parts)


def test_a_part_that_nobody_holds_is_named() -> None:
    with pytest.raises(CheckpointError, match=r"no rank holds \[12:24, 0:8\] of 'w', whose shape is \[24, 8\]"):
        plan([{"w": half(UPPER)}, {}])


def test_ranks_that_differ_about_a_tensor_are_named() -> None:
    with pytest.raises(CheckpointError, match=r"'w' is F32 \[24, 8\] on rank 0 and BF16 \[24, 8\] on rank 2"):
        plan([{"w": FULL}, {}, {"w": Held("BF16", (24, 8), FULL.boxes)}])


def test_tied_tensors_are_written_once() -> None:
    layout = plan([{"a": FULL, "b": Held("F32", (24, 8), FULL.boxes, "a")}])
    assert {part.tensor for part in layout.parts[0]} == {"a"}


def manifest() -> Manifest:
    """One tensor of four rows, each a cell of 8 bytes, all in one file behind a header of 100."""
    cells = tuple(Cell(0, 100 + 8 * row, 0) for row in range(4))
    edges = ((0, 1, 2, 3, 4), (0, 2))
    return Manifest(7, {"w": Tensor("F32", (4, 2), edges, cells)}, (File("rank-00000.safetensors", 132),))


def test_neighbours_are_read_together() -> None:
    [run] = reads(manifest(), {"w": [Box((1, 0), (2, 2))]})
    assert (run.offset, run.size, [need.number for need in run.needs]) == (108, 16, [1, 2])


def test_what_is_not_needed_is_not_read() -> None:
    runs = reads(manifest(), {"w": [Box((0, 0), (1, 2)), Box((3, 0), (1, 2))]})
    assert [(run.offset, run.size) for run in runs] == [(100, 8), (124, 8)]


def test_a_box_outside_is_an_error() -> None:
    with pytest.raises(CheckpointError, match=r"\[3:5, 0:2\] is not within 'w', whose shape is \[4, 2\]"):
        reads(manifest(), {"w": [Box((3, 0), (2, 2))]})


def test_a_tensor_that_is_not_there_is_named_with_those_that_are_like_it() -> None:
    with pytest.raises(CheckpointError, match="this checkpoint of step 7 has no 'W0'; it has 1 others"):
        manifest().tensor("W0")
    with pytest.raises(CheckpointError, match="has no 'w2'; it has 'w'"):
        manifest().tensor("w2")


def test_a_manifest_comes_back() -> None:
    assert decode(encode(manifest()), "m") == manifest()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"dtype": "F33"}, "'F33' is no type of numbers"),
        ({"edges": ((0, 2), (0, 2))}, "its edges don't span its shape"),
        ({"edges": ((0, 3, 2, 4), (0, 2))}, "its edges are not in order"),
        ({"cells": (Cell(0, 1, 1),)}, "1 cells"),
        ({"cells": (Cell(1, 1, 1),) * 4}, "a cell lies in no file"),
        ({"same_as": "w"}, "it is the same as 'w', which is another"),
    ],
)
def test_a_manifest_that_contradicts_itself_is_refused(change: dict[str, object], said: str) -> None:
    import msgspec

    whole_one = manifest()
    tensor = msgspec.structs.replace(whole_one.tensors["w"], **change)
    with pytest.raises(CheckpointError, match=f"m contradicts itself about 'w': {said}"):
        decode(encode(msgspec.structs.replace(whole_one, tensors={"w": tensor})), "m")


def test_a_manifest_of_a_later_version_is_refused() -> None:
    import msgspec

    with pytest.raises(CheckpointError, match="m is of version 2, written by a later couler-py: this reads 1"):
        decode(encode(msgspec.structs.replace(manifest(), version=2)), "m")
