"""Text as numbers: bytes, or pairs of them merged again and again. Both give any text back exactly."""

from __future__ import annotations

import heapq
import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

import msgspec

SPECIAL = ("<begin>", "<end>", "<pad>")
"""What no text holds: they come after the 256 bytes, in every vocabulary."""
BEGIN, END, PAD = 256, 257, 258
FIRST_MERGE = 259


class Tokenizer(Protocol):
    """Text to tokens and back."""

    @property
    def vocabulary(self) -> int:
        """How many tokens there are."""

    def encode(self, text: str) -> list[int]:
        """The tokens of a text, without begin and end."""

    def decode(self, tokens: Iterable[int]) -> str:
        """The text of tokens; special ones are left out, and bytes that are no text become U+FFFD."""


class ByteTokenizer(msgspec.Struct, frozen=True, tag="bytes"):
    """One token for each byte of UTF-8."""

    @property
    def vocabulary(self) -> int:
        """256 bytes and the special tokens."""
        return FIRST_MERGE

    def encode(self, text: str) -> list[int]:
        """The bytes of a text."""
        return list(text.encode())

    def decode(self, tokens: Iterable[int]) -> str:
        """The text of bytes."""
        return bytes(token for token in tokens if token < 256).decode(errors="replace")


# Words with the blank before them, numbers by three digits, runs of signs, and blanks: no pair is merged across.
PIECES = re.compile(r" ?[^\W\d_]+|\d{1,3}| ?(?:[^\w\s]|_)+|\s+(?!\S)|\s+")


class PairTokenizer(msgspec.Struct, frozen=True, tag="pairs"):
    """Byte-pair encoding: token `259 + k` is the k-th pair of tokens that was merged.

    Sennrich et al., "Neural machine translation of rare words with subword units" (arXiv 1508.07909), over bytes as in
    GPT-2.
    """

    merges: tuple[tuple[int, int], ...]

    @property
    def vocabulary(self) -> int:
        """The bytes, the special tokens, and a token for each merge."""
        return FIRST_MERGE + len(self.merges)

    def encode(self, text: str) -> list[int]:
        """The tokens of a text: in each piece, the pair that was learnt first is merged first."""
        ranks = {pair: rank for rank, pair in enumerate(self.merges)}
        known: dict[str, list[int]] = {}
        tokens: list[int] = []
        for piece in _pieces(text):
            if piece not in known:
                known[piece] = _merged(list(piece.encode()), ranks)
            tokens += known[piece]
        return tokens

    def decode(self, tokens: Iterable[int]) -> str:
        """The text of tokens. Raises `ValueError` for one that this vocabulary hasn't."""
        spelled = [bytes([byte]) for byte in range(256)] + [b""] * len(SPECIAL)
        for left, right in self.merges:
            spelled.append(spelled[left] + spelled[right])
        parts = []
        for token in tokens:
            if not 0 <= token < len(spelled):
                raise ValueError(f"token {token}: this vocabulary has {len(spelled)}")
            parts.append(spelled[token])
        return b"".join(parts).decode(errors="replace")


def train_pairs(texts: Iterable[str], vocabulary: int) -> PairTokenizer:
    """Learn merges until there are so many tokens, or no pair occurs twice; equal counts go to the lower tokens.

    Raises `ValueError` for a vocabulary without room for the bytes and the special tokens.
    """
    if vocabulary < FIRST_MERGE:
        raise ValueError(f"a vocabulary of {vocabulary}: bytes and special tokens alone are {FIRST_MERGE}")
    counted = Counter(piece for text in texts for piece in _pieces(text))
    words = [list(piece.encode()) for piece in counted]
    weights = list(counted.values())
    pairs: Counter[tuple[int, int]] = Counter()
    where: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
    for number, word in enumerate(words):
        for pair in itertools.pairwise(word):
            pairs[pair] += weights[number]
            where[pair].add(number)
    queue = [(-count, pair) for pair, count in pairs.items()]
    heapq.heapify(queue)
    merges: list[tuple[int, int]] = []
    while queue and FIRST_MERGE + len(merges) < vocabulary:
        count, best = heapq.heappop(queue)
        if pairs[best] != -count:  # it was counted anew since
            continue
        if -count < 2:
            break
        token = FIRST_MERGE + len(merges)
        merges.append(best)
        touched: set[tuple[int, int]] = set()
        for number in where.pop(best):
            old = words[number]
            new = words[number] = _replaced(old, best, token)
            for pair in itertools.pairwise(old):
                pairs[pair] -= weights[number]
                touched.add(pair)
            for pair in itertools.pairwise(new):
                pairs[pair] += weights[number]
                where[pair].add(number)
                touched.add(pair)
        del pairs[best]
        for pair in touched - {best}:
            if pairs[pair] > 0:
                heapq.heappush(queue, (-pairs[pair], pair))
    return PairTokenizer(tuple(merges))


def save(tokenizer: ByteTokenizer | PairTokenizer, path: str | Path) -> None:
    """Write a tokenizer as JSON."""
    Path(path).write_bytes(msgspec.json.encode(tokenizer))


def load(path: str | Path) -> ByteTokenizer | PairTokenizer:
    """Read a tokenizer that `save` has written. Raises `ValueError` for anything else."""
    try:
        return msgspec.json.decode(Path(path).read_bytes(), type=ByteTokenizer | PairTokenizer)
    except msgspec.DecodeError as error:
        raise ValueError(f"{path} is no tokenizer: {error}") from error


def _pieces(text: str) -> Iterator[str]:
    return (match[0] for match in PIECES.finditer(text))


def _merged(word: list[int], ranks: dict[tuple[int, int], int]) -> list[int]:
    while len(word) > 1:
        best = min(itertools.pairwise(word), key=lambda pair: ranks.get(pair, len(ranks)))
        if best not in ranks:
            break
        word = _replaced(word, best, FIRST_MERGE + ranks[best])
    return word


def _replaced(word: list[int], pair: tuple[int, int], token: int) -> list[int]:
    made: list[int] = []
    place = 0
    while place < len(word):
        if place + 1 < len(word) and (word[place], word[place + 1]) == pair:
            made.append(token)
            place += 2
        else:
            made.append(word[place])
            place += 1
    return made
