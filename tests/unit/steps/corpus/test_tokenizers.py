"""Tokenizers: every text comes back, merges are the frequent pairs, and the same texts teach the same."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from couler_py.steps.corpus.tokenizers import (
    END,
    FIRST_MERGE,
    PIECES,
    ByteTokenizer,
    PairTokenizer,
    load,
    save,
    train_pairs,
)

TEXT = "low low low low low lower lower newest newest newest newest newest newest widest widest widest"
LEARNT = train_pairs([TEXT * 3], FIRST_MERGE + 20)


@given(st.text())
def test_every_text_comes_back_from_bytes(text: str) -> None:
    assert ByteTokenizer().decode(ByteTokenizer().encode(text)) == text


@settings(max_examples=200)
@given(st.text() | st.text("lownest wider\n ", max_size=40))
def test_every_text_comes_back_from_pairs(text: str) -> None:
    assert LEARNT.decode(LEARNT.encode(text)) == text


def test_the_most_frequent_pair_is_merged_first_and_equal_ones_by_the_lower_tokens() -> None:
    # "es", "st" and "we" occur 9, 9 and 8 times in the words of Sennrich et al., here with the blank before them.
    tokenizer = train_pairs([TEXT], FIRST_MERGE + 2)
    assert [(tokenizer.decode([left]), tokenizer.decode([right])) for left, right in tokenizer.merges] == [
        ("e", "s"),
        ("es", "t"),
    ]


def test_learnt_words_are_one_token() -> None:
    tokenizer = train_pairs([TEXT], 400)
    assert len(tokenizer.encode(" newest")) == 1
    assert len(tokenizer.encode(" lowest")) < len(" lowest")


def test_no_pair_is_merged_across_words() -> None:
    tokenizer = train_pairs(["ab cd " * 50], 400)
    assert all(" " not in tokenizer.decode([token])[1:] for token in range(FIRST_MERGE, tokenizer.vocabulary))


def test_learning_ends_where_no_pair_occurs_twice() -> None:
    assert train_pairs(["abcdefg"], 1000).merges == ()


@given(st.lists(st.text("ab \n", max_size=12), max_size=6))
def test_counts_that_are_kept_are_those_of_counting_anew(texts: list[str]) -> None:
    assert train_pairs(texts, FIRST_MERGE + 6) == plainly(texts, 6)


def plainly(texts: list[str], merges: int) -> PairTokenizer:
    """The same by its definition: all pairs are counted again before each merge."""
    learnt: tuple[tuple[int, int], ...] = ()
    while len(learnt) < merges:
        counts: dict[tuple[int, int], int] = {}
        for text in texts:
            for piece in PIECES.findall(text):
                word = PairTokenizer(learnt).encode(piece)
                for pair in itertools.pairwise(word):
                    counts[pair] = counts.get(pair, 0) + 1
        best = min(counts.items(), key=lambda item: (-item[1], item[0]), default=None)
        if best is None or best[1] < 2:
            break
        learnt = (*learnt, best[0])
    return PairTokenizer(learnt)


def test_special_tokens_are_no_text() -> None:
    assert LEARNT.decode([*LEARNT.encode("low"), END]) == "low"


def test_a_token_that_there_is_not_is_an_error() -> None:
    with pytest.raises(ValueError, match=f"token 9999: this vocabulary has {LEARNT.vocabulary}"):
        LEARNT.decode([9999])


def test_a_vocabulary_holds_at_least_the_bytes() -> None:
    with pytest.raises(ValueError, match="a vocabulary of 100: bytes and special tokens alone are 259"):
        train_pairs(["a"], 100)


def test_a_tokenizer_is_kept_in_a_file(tmp_path: Path) -> None:
    for tokenizer in (ByteTokenizer(), LEARNT):
        save(tokenizer, tmp_path / "tokenizer.json")
        assert load(tmp_path / "tokenizer.json") == tokenizer


def test_a_file_that_is_no_tokenizer_is_named(tmp_path: Path) -> None:
    (tmp_path / "odd.json").write_text("{}")
    with pytest.raises(ValueError, match=r"odd\.json is no tokenizer"):
        load(tmp_path / "odd.json")
