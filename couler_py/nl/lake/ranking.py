"""Which entries of a lake fit a text: BM25 over their words, joined with likeness of meaning where that is at hand."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

    from couler_py.nl.lake.entries import Found

K1, B = 1.2, 0.75
"""The usual parameters (Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond, 2009)."""

RANKS = 60
"""k of reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009)."""

_STOP = frozenset(
    ["a", "an", "and", "as", "at", "by", "for", "from", "in", "into", "is", "it", "of", "on", "or", "that"]
)
_STOP |= {"the", "then", "this", "to", "with", "str", "int", "float"}
_ENDINGS = ("ations", "ation", "ings", "ing", "ions", "ion", "ies", "ers", "er", "es", "ed", "s", "e")
Item = TypeVar("Item")


def words(text: str) -> list[str]:
    """The words of a text as they are compared: lower case, names in parts, without endings.

    >>> words("trainXgboost(features), evaluate_models")
    ['train', 'xgboost', 'featur', 'evaluat', 'model']
    """
    parts = re.findall(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+|\d+", text)
    return [_stem(part.lower()) for part in parts if part.lower() not in _STOP]


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


def bm25(query: str, texts: Sequence[str]) -> list[float]:
    """How well each text answers a query: the sum over its words of their rarity, for how often a text has them."""
    counted = [Counter(words(text)) for text in texts]
    lengths = [counter.total() for counter in counted]
    mean = sum(lengths) / len(lengths) if lengths else 0.0
    holders = Counter(word for counter in counted for word in counter)
    scores = [0.0] * len(texts)
    for word in set(words(query)):
        rarity = math.log(1 + (len(texts) - holders[word] + 0.5) / (holders[word] + 0.5))
        for index, counter in enumerate(counted):
            if counter[word]:
                norm = K1 * (1 - B + B * lengths[index] / mean)
                scores[index] += rarity * counter[word] * (K1 + 1) / (counter[word] + norm)
    return scores


def search(query: str, found: Sequence[Found], limit: int, embeddings: Embeddings | None = None) -> list[Found]:
    """The entries that fit a query, the best first, at most `limit`. Those that share no word with it don't fit.

    With `embeddings` (any of langchain-core's) the order of likeness counts as much, and brings what shares no word.
    """
    texts = [_text(each) for each in found]
    scores = bm25(query, texts)
    lexical = [index for index in _ranked(scores) if scores[index] > 0]
    if embeddings is None:
        return [found[index] for index in lexical[:limit]]
    near = _ranked(likeness(query, texts, embeddings))[: max(limit, 1) * 2]
    fused: Counter[int] = Counter()
    for order in (lexical, near):
        for rank, index in enumerate(order):
            fused[index] += 1 / (RANKS + rank)  # type: ignore[assignment]
    return [found[index] for index in sorted(fused, key=lambda index: (-fused[index], index))[:limit]]


def likeness(query: str, texts: Sequence[str], embeddings: Embeddings) -> list[float]:
    """The cosine between a query and each text."""
    asked = embeddings.embed_query(query)
    return [_cosine(asked, each) for each in embeddings.embed_documents(list(texts))]


def _cosine(a: Sequence[float], b: Sequence[float]) -> float:
    length = math.hypot(*a) * math.hypot(*b)
    return sum(x * y for x, y in zip(a, b, strict=True)) / length if length else 0.0


def _ranked(scores: Sequence[float]) -> list[int]:
    return sorted(range(len(scores)), key=lambda index: (-scores[index], index))


def _text(found: Found) -> str:
    entry = found.entry
    return " ".join((entry.name, entry.name, entry.signature, entry.summary, *entry.calls))
