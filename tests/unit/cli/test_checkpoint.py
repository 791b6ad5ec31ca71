"""`couler checkpoint`: files that are made here without torch, by the writer of the format."""

from __future__ import annotations

import json
from pathlib import Path

import numpy
import pytest
from safetensors.numpy import load_file

from couler_py.steps.checkpoint import files, folders
from couler_py.steps.checkpoint.boxes import whole
from couler_py.steps.checkpoint.places import place
from couler_py.steps.checkpoint.planning import Held, Part, plan
from tests.unit.cli.conftest import Couler

WEIGHT = numpy.arange(24 * 12, dtype=numpy.float32).reshape(24, 12)
STEPS = numpy.array(7, dtype=numpy.int64)


def saved(folder: Path, step: int = 100, weight: numpy.ndarray = WEIGHT, ranks: int = 2, grain: int = 0) -> Path:
    """A checkpoint of a matrix and a number, written by so many ranks that have all of it."""
    arrays = {"model/w": weight, "optimizer/step": STEPS}
    held = {
        "model/w": Held("F32", weight.shape, (whole(weight.shape),)),
        "model/tied": Held("F32", weight.shape, (whole(weight.shape),), "model/w"),
        "optimizer/step": Held("I64", (), (whole(()),)),
    }
    layout = plan([held] * ranks, grain)
    where, into = place(folder), folders.new_folder(step)
    written = []
    for rank in range(ranks):

        def data(part: Part) -> bytes:
            array = arrays[part.tensor]
            return array[part.box.within(whole(array.shape))].tobytes()

        path = f"{into}/{folders.file_of(rank)}"
        written.append(files.write(where, path, rank, layout.parts[rank], layout.dtypes(), data))
    folders.commit(where, into, folders.assembled(step, layout, written, {"consumed": 3200}))
    return folder / into


def test_checkpoints_are_listed_with_the_newest(tmp_path: Path, couler: Couler) -> None:
    first, second = saved(tmp_path, 100), saved(tmp_path, 200)
    (tmp_path / "step-00000300.0123abcd").mkdir()
    shown = couler("checkpoint", "ls", str(tmp_path))
    assert shown.code == 0
    lines = [line.split() for line in shown.out.splitlines()]
    assert [line[0] for line in lines] == ["STEP", "100", "200", "300"]
    assert lines[1][-1] == first.name
    assert lines[2][-2:] == ["newest", second.name]
    assert lines[3][1:3] == ["not", "whole"]


def test_one_is_shown_with_its_tensors_and_facts(tmp_path: Path, couler: Couler) -> None:
    saved(tmp_path)
    shown = couler("checkpoint", "ls", str(tmp_path), "--step", "100", "--json")
    assert shown.code == 0
    told = json.loads(shown.out)
    assert told["facts"] == {"consumed": 3200}
    assert [(each["name"], each["dtype"], each["shape"]) for each in told["tensors"]] == [
        ("model/tied", "F32", [24, 12]),
        ("model/w", "F32", [24, 12]),
        ("optimizer/step", "I64", []),
    ]
    assert told["tensors"][0]["same_as"] == "model/w"


def test_a_whole_one_is_verified(tmp_path: Path, couler: Couler) -> None:
    saved(tmp_path)
    shown = couler("checkpoint", "verify", str(tmp_path))
    assert shown.code == 0
    assert shown.out.startswith("step 100: 3 tensors, ")


def test_every_harm_is_named(tmp_path: Path, couler: Couler) -> None:
    folder = saved(tmp_path)
    file = folder / folders.file_of(0)
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    (folder / folders.file_of(1)).unlink()
    shown = couler("checkpoint", "verify", str(tmp_path))
    assert shown.code == 1
    said = " ".join(shown.out.split())
    assert f"{folders.file_of(1)} is gone" in said
    assert said.count("was altered") == 1


def test_two_that_are_alike_have_no_difference(tmp_path: Path, couler: Couler) -> None:
    saved(tmp_path / "a", ranks=1, grain=1 << 16)
    saved(tmp_path / "b", ranks=3)
    shown = couler("checkpoint", "diff", str(tmp_path / "a"), str(tmp_path / "b"))
    assert shown.code == 0
    assert shown.err.strip() == "no difference"


def test_what_differs_is_said_with_how_much(tmp_path: Path, couler: Couler) -> None:
    other = WEIGHT.copy()
    other[3, 4] += 0.5
    other[3, 5] -= 0.25
    saved(tmp_path / "a")
    saved(tmp_path / "b", weight=other)
    shown = couler("checkpoint", "diff", str(tmp_path / "a"), str(tmp_path / "b"))
    assert shown.code == 1
    assert shown.out.splitlines() == [
        "model/tied: differs in 2 numbers, by 0.5 at most",
        "model/w: differs in 2 numbers, by 0.5 at most",
    ]


def test_it_is_written_anew_in_other_files(tmp_path: Path, couler: Couler) -> None:
    saved(tmp_path / "a")
    shown = couler("checkpoint", "reshard", str(tmp_path / "a"), str(tmp_path / "b"), "--files", "5")
    assert shown.code == 0
    [made] = (tmp_path / "b").glob("step-*")
    assert len(list(made.glob("*.safetensors"))) == 5
    shown = couler("checkpoint", "diff", str(tmp_path / "a"), str(tmp_path / "b"))
    assert shown.code == 0
    shown = couler("checkpoint", "verify", str(tmp_path / "b"))
    assert shown.code == 0


def test_weights_are_exported_as_plain_safetensors(tmp_path: Path, couler: Couler) -> None:
    saved(tmp_path / "a")
    shown = couler("checkpoint", "export", str(tmp_path / "a"), str(tmp_path / "b"), "--prefix", "model.")
    assert shown.code == 0
    found = load_file(tmp_path / "b" / "model.safetensors")
    assert list(found) == ["model.w"]
    assert numpy.array_equal(found["model.w"], WEIGHT)


def test_large_weights_are_several_files_with_an_index(tmp_path: Path, couler: Couler) -> None:
    saved(tmp_path / "a")
    shown = couler("checkpoint", "export", str(tmp_path / "a"), str(tmp_path / "b"), "--under", "", "--largest", "1kB")
    assert shown.code == 0
    index = json.loads((tmp_path / "b" / "model.safetensors.index.json").read_text())
    assert index["weight_map"] == {
        "model/w": "model-00001-of-00002.safetensors",
        "optimizer/step": "model-00002-of-00002.safetensors",
    }


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["verify", "{}/nowhere"], "has no checkpoint"),
        (["verify", "{}", "--step", "5"], "has no checkpoint of step 5; it has 100"),
        (["reshard", "{}", "{}/b", "--files", "0"], "0 files: a checkpoint has at least 1"),
        (["export", "{}", "{}/b", "--under", "weights/"], "has a name that begins with 'weights/'"),
    ],
)
def test_what_cannot_be_done_is_said(arguments: list[str], said: str, tmp_path: Path, couler: Couler) -> None:
    saved(tmp_path)
    shown = couler("checkpoint", *(each.format(tmp_path) for each in arguments))
    assert shown.code == 2
    assert said in " ".join(shown.err.split())
