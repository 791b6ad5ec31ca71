"""The lake: read from files without running them, kept as data, found by words, and copied into drafts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding

from couler_py.ir.model import Function
from couler_py.nl import ask
from couler_py.nl.lake import Entry, Found, LakeError, all_entries, keep, read, search
from couler_py.nl.privacy import Sending
from tests.nl.scripted import DETAILS, GOOD, PLAN, TEXT, said

PROGRAM = '''
import statistics
import couler_py as couler

raise SystemExit("this file is never run")

SCALE = 2.0

def scaled(x):
    return SCALE * statistics.mean(x)

@couler.step(packages=["numpy>=2"])
def house_train(data: list[float], depth: int = 3) -> float:
    """Train our house model, the key is sk-abcdefghijklmnopqrstuv.

    More that nobody needs.
    """
    return scaled(data) + depth

@couler.step
def tells() -> None:
    couler.log("x")

@couler.workflow
def weekly(data: list[float]):
    return house_train(data)
'''


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COULER_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("COULER_LAKE", raising=False)
    file = tmp_path / "house.py"
    file.write_text(PROGRAM)
    return file


def test_steps_and_workflows_are_read_without_running_the_file(program: Path):
    train, tells, weekly = read(program)
    assert train.signature == "house_train(data: list[float], depth: int=3) -> float"
    assert train.packages == ("numpy>=2",)
    assert train.key == "house.house_train"
    assert train.pieces == ()
    assert tells.signature == "tells() -> None"
    assert (weekly.kind, weekly.calls) == ("workflow", ("house_train",))


def test_source_comes_with_what_it_needs_in_order(program: Path):
    train, tells, _ = read(program, source=True)
    first = [piece.split("(")[0].split("\n")[0] for piece in train.pieces]
    assert first == ["SCALE = 2.0", "import statistics", "def scaled", "def house_train"]
    assert tells.pieces == ()  # it needs this package


def test_a_line_for_a_model_has_no_secret(program: Path):
    assert read(program)[0].line().endswith("Train our house model, the key is <secret removed>.")


def test_a_lake_is_a_folder_that_others_can_read(program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    team = tmp_path / "team"
    keep(read(program), team)
    assert sorted(file.name for file in team.iterdir()) == [
        "house.house_train.json",
        "house.tells.json",
        "house.weekly.json",
    ]
    assert not [each for each in all_entries() if each.own]
    monkeypatch.setenv("COULER_LAKE", str(team))
    assert [each.entry.name for each in all_entries() if each.own] == ["house_train", "tells", "weekly"]


def test_the_nearer_lake_has_the_say(program: Path, tmp_path: Path):
    near, far = tmp_path / "near", tmp_path / "far"
    keep([Entry("x", "step", "x(near)", origin="f.py")], near)
    keep([Entry("x", "step", "x(far)", origin="f.py")], far)
    own = [each for each in all_entries([near, far]) if each.own]
    assert [each.entry.signature for each in own] == ["x(near)"]


@pytest.mark.parametrize("text", ["{", '{"name": "x"}', '{"name": "../x", "kind": "step", "signature": "x()"}'])
def test_a_file_that_is_no_entry_is_named(tmp_path: Path, text: str):
    (tmp_path / "odd.json").write_text(text)
    with pytest.raises(LakeError, match=r"odd\.json"):
        all_entries([tmp_path])


@pytest.mark.parametrize("text", ["def f(:", "x = 1", "\0"])
def test_a_file_without_steps(tmp_path: Path, text: str):
    (tmp_path / "x.py").write_text(text)
    with pytest.raises(LakeError):
        read(tmp_path / "x.py")


def entries(**summaries: str) -> list[Found]:
    return [Found(Entry(name, "step", f"{name}()", summary), "lake") for name, summary in summaries.items()]


def names(found: list[Found]) -> list[str]:
    return [each.entry.name for each in found]


def test_words_are_found_in_names_and_docstrings():
    lake = entries(load_csv="Load a table.", train_model="Fit a forest.", send="Publish the trained models.")
    assert names(search("training the models", lake, 2)) == ["train_model", "send"]
    assert names(search("TABLES", lake, 5)) == ["load_csv"]


def test_what_shares_no_word_does_not_fit():
    assert search("bake bread", entries(load_csv="Load a table."), 5) == []


def test_rare_words_count_more():
    lake = entries(a="data data", b="data quarterly", c="data")
    assert names(search("quarterly data", lake, 1)) == ["b"]


def test_embeddings_bring_what_shares_no_word():
    lake = entries(load_csv="Load a table.", send="Publish.")
    near = DeterministicFakeEmbedding(size=8)
    assert sorted(names(search("table", lake, 2, near))) == ["load_csv", "send"]


def test_shipped_steps_run_as_they_stand():
    shipped = [each.entry for each in all_entries([]) if not each.own]
    assert {"load_table", "train_classifier", "accuracy_of", "upload"} <= {each.name for each in shipped}
    for entry in shipped:
        space: dict[str, object] = {}
        exec("from pathlib import Path\nfrom typing import Any\n" + "\n".join(entry.pieces), space)
        assert callable(space[entry.name])


# ---- in drafts


def using(name: str) -> dict[str, object]:
    return {"steps": [*DETAILS["steps"], {"name": "train", "uses": name}]}


def test_a_step_of_the_lake_is_called_where_the_model_names_it(program: Path):
    keep(read(program, source=True))
    seen: list[Sending] = []
    model = said(PLAN, using("house_train"), GOOD)
    draft = ask(TEXT, model=model, cache=False, dry_run=False, show=lambda sending: not seen.append(sending))
    assert draft.workflow is not None
    body = next(each.body for each in draft.workflow.templates if each.name == "train")
    assert isinstance(body, Function)
    assert "return house_train(data=clean_data)" in body.pieces[-1].text
    assert body.packages == ("numpy>=2",)
    assert "train is house.house_train of the lake" in draft.assumptions
    assert seen[0].steps == ("house.house_train",)


def test_a_step_without_shared_source_stays_to_be_written(program: Path):
    keep(read(program))
    draft = ask(TEXT, model=said(PLAN, using("house_train"), GOOD), cache=False, dry_run=False)
    assert "house_train" not in draft.source


@pytest.mark.parametrize("share", [False, True])
def test_source_is_sent_only_where_it_is_shared(program: Path, share: bool):
    keep(read(program, source=True))
    model = said(PLAN, DETAILS, GOOD)
    ask(TEXT, model=model, cache=False, dry_run=False, share_source=share)
    assert "house_train(data: list[float]" in model.asked[1]
    assert ("scaled(data) + depth" in model.asked[1]) is share


def test_what_the_lake_keeps_is_data(program: Path):
    folder = keep(read(program))
    kept = json.loads((folder / "house.house_train.json").read_text())
    assert set(kept) == {"name", "kind", "signature", "summary", "origin", "packages"}
