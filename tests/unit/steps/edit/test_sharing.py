"""What nodes share: a corpus is copied once, results come back, in a folder and in an object store."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

from couler_py.steps.checkpoint.places import place
from couler_py.steps.corpus import tokens
from couler_py.steps.corpus.tokenizers import ByteTokenizer
from couler_py.steps.corpus.tokens import INDEX, TOKENS
from couler_py.steps.edit import sharing


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    tokens.write(["what was said", "and what was meant"], ByteTokenizer(), tmp_path / "corpus")
    return tmp_path / "corpus"


@pytest.fixture(params=["folder", "store"])
def shared(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path / "shared") if request.param == "folder" else f"memory://{uuid.uuid4().hex}"


def test_a_corpus_is_called_by_its_content_and_a_training_by_a_name_of_its_own(corpus: Path, shared: str) -> None:
    first, second = sharing.publish(corpus, shared), sharing.publish(corpus, f"{shared}/")
    assert first.corpus == second.corpus
    assert first.folder != second.folder
    assert first.checkpoints == f"{first.folder}/checkpoints"
    assert [name for name in place(shared).list() if name.startswith("corpus")] == [first.corpus.rsplit("/", 1)[1]]
    (corpus / TOKENS).write_bytes(b"ab" * ((corpus / TOKENS).stat().st_size // 2))
    assert sharing.publish(corpus, shared).corpus != first.corpus


def test_nodes_read_what_was_published(corpus: Path, shared: str, tmp_path: Path) -> None:
    published = sharing.publish(corpus, shared)
    at_hand = sharing.at_hand(published.corpus)
    if at_hand is None:
        at_hand = tmp_path / "here"
        sharing.fetch(published.corpus, at_hand, (TOKENS, INDEX))
    for name in (TOKENS, INDEX):
        assert (at_hand / name).read_bytes() == (corpus / name).read_bytes()


def test_results_come_back_without_checkpoints(shared: str, tmp_path: Path) -> None:
    files = {
        "model/config.json": b"{}",
        "model/model.safetensors": b"\1" * 40,
        "report.html": b"<p>",
        "trace.json": b"[]",
    }
    files |= {"metrics.json": b"{}", "checkpoints/latest": b"step"}
    for name, content in files.items():
        (tmp_path / "left" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "left" / name).write_bytes(content)
    sharing.deliver(tmp_path / "left", f"{shared}/train-1")
    sharing.results(f"{shared}/train-1", tmp_path / "back")
    back = {
        path.relative_to(tmp_path / "back").as_posix(): path.read_bytes() for path in (tmp_path / "back").rglob("*.*")
    }
    assert back == {name: content for name, content in files.items() if not name.startswith("checkpoints")}


def test_a_place_that_not_all_nodes_reach_is_named(shared: str, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no results in .*train-1: .*volumes="):
        sharing.results(f"{shared}/train-1", tmp_path / "back")
