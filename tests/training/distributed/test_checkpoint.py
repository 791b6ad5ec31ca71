"""Checkpoints: what any layout saves, any layout loads, bit by bit; and what is wrong is named."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import NamedTuple

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import safe_open

from couler_py.steps.checkpoint import folders
from couler_py.steps.checkpoint.manifest import MANIFEST, CheckpointError
from couler_py.steps.checkpoint.places import place
from couler_py.steps.checkpoint.saving import load, own, save
from couler_py.steps.checkpoint.tensors import NAMES, Shard
from tests.training.distributed.ranks import Thread, on_ranks


class Ways(NamedTuple):
    """So many ranks share columns of a layer, copies of the model, and layers."""

    tensor: int
    data: int
    pipeline: int

    @property
    def ranks(self) -> int:
        return self.tensor * self.data * self.pipeline


LAYOUTS = [Ways(*each) for each in itertools.product(range(1, 5), repeat=3) if Ways(*each).ranks <= 4]
LAYERS = 4


def model(seed: int = 0) -> dict[str, torch.Tensor]:
    """All tensors of a training: rows and columns to share, what nobody shares, and an optimizer's moments."""
    stream = torch.Generator().manual_seed(seed)
    made: dict[str, torch.Tensor] = {}
    for layer in range(LAYERS):
        made[f"{layer}.up"] = torch.randn(24, 12, generator=stream)
        made[f"{layer}.down"] = torch.randn(12, 24, generator=stream).bfloat16()
        made[f"{layer}.norm"] = torch.randn(12, generator=stream)
        made[f"{layer}.up.exp_avg"] = torch.randn(24, 12, generator=stream, dtype=torch.float64)
        made[f"{layer}.quantised"] = torch.randint(-128, 128, (24, 12), generator=stream, dtype=torch.int8)
    made["step"] = torch.tensor(7)
    made["nothing"] = torch.zeros(0, 5)
    return made


def share(tensors: dict[str, torch.Tensor], ways: Ways, rank: int) -> dict[str, torch.Tensor | Shard]:
    """What a rank holds: pipelines by layers, `up` by rows and `down` by columns, copies split by nothing."""
    stage, rest = divmod(rank, ways.tensor * ways.data)
    _, slot = divmod(rest, ways.tensor)
    mine: dict[str, torch.Tensor | Shard] = {}
    for name, tensor in tensors.items():
        if name[0].isdigit() and int(name[0]) * ways.pipeline // LAYERS != stage:
            continue
        dimension = 0 if "up" in name or "quantised" in name else 1 if "down" in name else None
        if dimension is None or ways.tensor == 1:
            mine[name] = tensor.clone()
            continue
        pieces = tensor.chunk(ways.tensor, dimension)
        offset = [0] * tensor.dim()
        offset[dimension] = sum(each.shape[dimension] for each in pieces[:slot])
        mine[name] = Shard(pieces[slot].clone(), tuple(tensor.shape), tuple(offset))
    return mine


def emptied(held: dict[str, torch.Tensor | Shard]) -> dict[str, torch.Tensor | Shard]:
    return {
        name: Shard(torch.zeros_like(each.part), each.shape, each.offset)
        if isinstance(each, Shard)
        else torch.zeros_like(each)
        for name, each in held.items()
    }


def same(one: torch.Tensor | Shard, other: torch.Tensor | Shard) -> bool:
    left = one.part if isinstance(one, Shard) else one
    right = other.part if isinstance(other, Shard) else other
    return left.dtype == right.dtype and torch.equal(left, right)


def size(held: dict[str, torch.Tensor | Shard]) -> int:
    parts = [each.part if isinstance(each, Shard) else each for each in held.values()]
    return sum(each.numel() * each.element_size() for each in parts)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[Ways, Path]:
    """The same training, saved in every layout."""
    made = {}
    for number, ways in enumerate(LAYOUTS):
        folder = made[ways] = tmp_path_factory.mktemp("saved") / str(number)

        def work(rank: Thread, ways: Ways = ways, folder: Path = folder) -> None:
            save(folder, 7, share(model(), ways, rank.rank), {"consumed": 448}, group=rank, grain=0)

        on_ranks(ways.ranks, work)
    return made


@pytest.mark.parametrize("after", LAYOUTS, ids=str)
@pytest.mark.parametrize("before", LAYOUTS, ids=str)
def test_any_layout_loads_what_any_other_saved_and_reads_what_it_needs(
    saved: dict[Ways, Path], before: Ways, after: Ways
) -> None:
    def work(rank: Thread) -> None:
        expected = share(model(), after, rank.rank)
        got = emptied(expected)
        loaded = load(saved[before], got, group=rank)
        assert (loaded.step, loaded.facts) == (7, {"consumed": 448})
        assert [name for name in expected if not same(got[name], expected[name])] == []
        assert loaded.size == size(expected)

    on_ranks(after.ranks, work)


def test_each_number_is_written_once_whatever_the_layout(saved: dict[Ways, Path]) -> None:
    total = size(dict(model()))
    for folder in saved.values():
        where = place(folder)
        newest = folders.find(where)
        manifest = folders.manifest_of(where, newest)
        assert sum(length for *_, length in manifest.placed()) == total
        headers = [8 + int.from_bytes(where.read(f"{newest}/{each.name}", 0, 8), "little") for each in manifest.files]
        assert sum(each.size for each in manifest.files) == total + sum(headers)


def test_the_cells_are_the_same_whatever_the_layout(saved: dict[Ways, Path]) -> None:
    told = []
    for folder in saved.values():
        manifest = folders.manifest_of(place(folder), folders.find(place(folder)))
        told.append({(name, number): cell.checksum for name, number, _, cell, _ in manifest.placed()})
    assert all(each == told[0] for each in told)


def test_its_files_are_read_by_safetensors(tmp_path: Path) -> None:
    weight = torch.randn(3, 4).bfloat16()
    save(tmp_path, 1, {"w": weight})
    [file] = tmp_path.glob("step-*/rank-00000.safetensors")
    with safe_open(file, "pt") as opened:
        assert list(opened.keys()) == ["w#0"]
        assert torch.equal(opened.get_tensor("w#0"), weight)


@pytest.mark.parametrize("dtype", NAMES, ids=str)
def test_every_type_of_numbers_comes_back(dtype: torch.dtype, tmp_path: Path) -> None:
    raw = torch.arange(48, dtype=torch.uint8)
    kept = (raw % 2).bool() if dtype == torch.bool else raw.view(dtype)
    save(tmp_path, 1, {"x": kept})
    back = torch.empty_like(kept)
    load(tmp_path, {"x": back})
    assert torch.equal(back.view(torch.uint8), kept.view(torch.uint8))


@settings(max_examples=40)
@given(data=st.data())
def test_any_cut_of_a_tensor_loads_what_any_other_saved(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    shape = data.draw(st.tuples(st.integers(1, 9), st.integers(1, 9)))
    whole = torch.arange(shape[0] * shape[1], dtype=torch.float32).view(shape)

    def drawn(ranks: int) -> list[Shard]:
        """Rows and columns cut anywhere, each piece for a rank of its own, some for two."""
        rows = sorted({0, shape[0], *data.draw(st.lists(st.integers(0, shape[0]), max_size=2))})
        columns = sorted({0, shape[1], *data.draw(st.lists(st.integers(0, shape[1]), max_size=1))})
        return [
            Shard(whole[a:b, c:d].clone(), shape, (a, c))
            for a, b in itertools.pairwise(rows)
            for c, d in itertools.pairwise(columns)
        ] * ranks

    before, after = drawn(data.draw(st.integers(1, 2))), drawn(1)
    folder = tmp_path_factory.mktemp("any")
    grain = data.draw(st.sampled_from([0, 1 << 16]))
    on_ranks(len(before), lambda rank: save(folder, 1, {"w": before[rank.rank]}, group=rank, grain=grain))

    def work(rank: Thread) -> None:
        mine = after[rank.rank]
        got = Shard(torch.full_like(mine.part, -1), mine.shape, mine.offset)
        load(folder, {"w": got}, group=rank)
        assert torch.equal(got.part, mine.part)

    on_ranks(len(after), work)


def test_tied_weights_are_kept_once_and_come_back_under_both_names(tmp_path: Path) -> None:
    shared = torch.randn(300, 100)
    save(tmp_path, 1, {"embed": shared, "head": shared})
    [file] = tmp_path.glob("step-*/*.safetensors")
    assert file.stat().st_size < 1.2 * 300 * 100 * 4
    apart = {"embed": torch.zeros(300, 100), "head": torch.zeros(300, 100)}
    load(tmp_path, apart)
    assert torch.equal(apart["embed"], shared)
    assert torch.equal(apart["head"], shared)
    tied = torch.zeros(300, 100)
    load(tmp_path, {"head": tied, "embed": tied})
    assert torch.equal(tied, shared)


def test_a_view_that_is_no_row_of_memory_is_kept_as_it_reads(tmp_path: Path) -> None:
    base = torch.randn(6, 8)
    save(tmp_path, 1, {"turned": base.t(), "every second": base[:, ::2]})
    back = {"turned": torch.zeros(8, 6), "every second": torch.zeros(8, 6).t()[:, :4]}
    load(tmp_path, back)
    assert torch.equal(back["turned"], base.t())
    assert torch.equal(back["every second"], base[:, ::2])


def test_what_each_replica_has_of_its_own_stands_under_its_own_names(tmp_path: Path) -> None:
    def saving(rank: Thread) -> None:
        state = torch.full((3,), rank.rank, dtype=torch.uint8)
        name = f"replica-{rank.rank}"
        save(tmp_path, 1, own(name, {"rng": state}), own(name, {"cursor": 10 * rank.rank}), group=rank)

    on_ranks(3, saving)
    back = torch.zeros(3, dtype=torch.uint8)
    loaded = load(tmp_path, own("replica-2", {"rng": back}))
    assert back.tolist() == [2, 2, 2]
    assert loaded.facts["own/replica-1/cursor"] == 10
    assert loaded.unused == ("own/replica-0/rng", "own/replica-1/rng")


def test_facts_that_ranks_differ_about_are_refused_on_all(tmp_path: Path) -> None:
    def saving(rank: Thread) -> str:
        with pytest.raises(CheckpointError) as caught:
            save(tmp_path, 1, {"x": torch.zeros(1)}, {"seed": rank.rank}, group=rank)
        return str(caught.value)

    assert set(on_ranks(2, saving)) == {
        "the fact 'seed' is 0 on rank 0 and 1 on rank 1: "
        "what ranks have of their own goes under names of their own (`own`)"
    }
    assert folders.folders(place(tmp_path)) == []


def test_a_fact_that_is_no_json_is_refused_on_all(tmp_path: Path) -> None:
    def saving(rank: Thread) -> str:
        with pytest.raises(CheckpointError) as caught:
            save(tmp_path, 1, {"x": torch.zeros(1)}, {"odd": object()} if rank.rank else {}, group=rank)
        return str(caught.value)

    mine, other = on_ranks(2, saving)
    assert other.startswith("facts are values of JSON")
    assert mine.startswith("rank 1 failed: CheckpointError: facts are values of JSON")


def test_one_rank_that_cannot_load_fails_all_of_them(tmp_path: Path) -> None:
    save(tmp_path, 1, {"x": torch.zeros(4)})

    def loading(rank: Thread) -> str:
        with pytest.raises(CheckpointError) as caught:
            load(tmp_path, {"x": torch.zeros(4 + rank.rank)}, group=rank)
        return str(caught.value)

    assert on_ranks(2, loading) == [
        "rank 1 failed: CheckpointError: 'x' was saved with shape [4], and is [5] here",
        "'x' was saved with shape [4], and is [5] here",
    ]


def test_another_type_is_refused(tmp_path: Path) -> None:
    save(tmp_path, 1, {"x": torch.zeros(4)})
    with pytest.raises(CheckpointError, match="'x' was saved as F32, and is BF16 here: convert it after loading"):
        load(tmp_path, {"x": torch.zeros(4).bfloat16()})


def test_what_is_no_tensor_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="'lr' is a float, no tensor: numbers and texts go into `facts`"):
        save(tmp_path, 1, {"lr": 0.1})  # type: ignore[dict-item]


def test_a_folder_without_a_checkpoint_says_so(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"has no checkpoint$"):
        load(tmp_path, {})


def test_the_newest_stay_and_those_of_round_steps(tmp_path: Path) -> None:
    for step in range(1, 11):
        save(tmp_path, step, {"x": torch.tensor(step)}, keep=2, every=4)
    assert [folders.step_of(each) for each in folders.folders(place(tmp_path))] == [4, 8, 9, 10]


def test_an_older_step_is_loaded_by_its_number(tmp_path: Path) -> None:
    for step in (1, 2):
        save(tmp_path, step, {"x": torch.tensor(step)})
    back = torch.tensor(0)
    assert load(tmp_path, {"x": back}, step=1).step == back.item() == 1
    with pytest.raises(CheckpointError, match="has no checkpoint of step 5; it has 1, 2"):
        load(tmp_path, {"x": back}, step=5)


def test_a_step_that_is_trained_again_replaces_the_one_before(tmp_path: Path) -> None:
    for value in (1, 2):
        save(tmp_path, 10, {"x": torch.tensor(value)})
    back = torch.tensor(0)
    load(tmp_path, {"x": back})
    assert back.item() == 2
    assert len(folders.folders(place(tmp_path))) == 1


def one_saved(folder: Path) -> Path:
    save(folder, 3, {"w": torch.randn(64, 300)}, grain=0)
    [file] = folder.glob("step-*/*.safetensors")
    return file


def test_a_flipped_bit_is_named(tmp_path: Path) -> None:
    file = one_saved(tmp_path)
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    with pytest.raises(
        CheckpointError, match=rf"cell \d+ of 'w' in .*{file.name} was altered: bytes \d+ to {len(data)}"
    ):
        load(tmp_path, {"w": torch.zeros(64, 300)})


def test_a_file_that_was_cut_off_is_named(tmp_path: Path) -> None:
    file = one_saved(tmp_path)
    file.write_bytes(file.read_bytes()[:-5])
    with pytest.raises(CheckpointError, match=rf"cell \d+ of 'w' in .*{file.name} is cut off: \d+ of \d+ bytes"):
        load(tmp_path, {"w": torch.zeros(64, 300)})


def test_a_file_that_is_gone_is_named(tmp_path: Path) -> None:
    file = one_saved(tmp_path)
    file.unlink()
    with pytest.raises(CheckpointError, match=re.escape(f"{file.name} is gone")):
        load(tmp_path, {"w": torch.zeros(64, 300)})


def test_a_pointer_to_what_is_not_whole_names_what_is(tmp_path: Path) -> None:
    for step in (1, 2):
        save(tmp_path, step, {"x": torch.tensor(step)})
    [newest] = tmp_path.glob("step-00000002.*")
    (newest / MANIFEST).unlink()
    with pytest.raises(CheckpointError, match="is no whole checkpoint; name the step of a whole one: 1"):
        load(tmp_path, {"x": torch.tensor(0)})
    assert load(tmp_path, {"x": torch.tensor(0)}, step=1).step == 1


def test_an_altered_manifest_is_no_manifest(tmp_path: Path) -> None:
    file = one_saved(tmp_path).parent / MANIFEST
    told = json.loads(file.read_text())
    told["tensors"]["w"]["shape"] = [64, 301]
    file.write_text(json.dumps(told))
    with pytest.raises(CheckpointError, match="contradicts itself about 'w': its edges don't span its shape"):
        load(tmp_path, {"w": torch.zeros(64, 301)})


def test_checkpoints_lie_in_object_stores_too() -> None:
    where = "memory://checkpoints/run"
    for step in (1, 2, 3):
        save(where, step, {"w": torch.full((30, 40), float(step))}, {"step": step}, keep=2)
    back = torch.zeros(30, 40)
    assert load(where, {"w": back}).facts == {"step": 3}
    assert back.unique().tolist() == [3.0]
    assert [folders.step_of(each) for each in folders.folders(place(where))] == [2, 3]
