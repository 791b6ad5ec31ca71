"""Words that are one slip of the finger from a verb."""

from __future__ import annotations

import functools

from couler_py.nl.offline.lexicon import verb


@functools.lru_cache(maxsize=8192)
def misspelt(word: str) -> tuple[str, str] | None:
    """The role and lemma of a word that is one slip of the finger from a verb; None where there is none, or several.

    >>> misspelt("claen"), misspelt("trian")
    (('clean', 'clean'), ('train', 'train'))
    """
    if len(word) < 3 or not word.isascii() or not word.isalpha():
        return None
    common = (
        "load",
        "read",
        "clean",
        "train",
        "evaluate",
        "deploy",
        "predict",
        "download",
        "upload",
        "split",
        "validate",
        "merge",
        "test",
        "export",
        "register",
        "compare",
        "preprocess",
        "transform",
        "select",
        "build",
        "aggregate",
        "publish",
        "notify",
        "evaluating",
        "training",
        "cleaning",
        "loading",
        "save",
        "extract",
        "join",
        "tokenize",
    )
    near = [each for each in common if _slip(word, each)]
    return verb(near[0]) if len(near) == 1 else None


def _slip(word: str, other: str) -> bool:
    """Whether two words differ by one sign left out, added, changed, or two neighbours that changed places."""
    if word == other or word[0] != other[0]:
        return False
    if len(word) == len(other):
        at = [index for index in range(len(word)) if word[index] != other[index]]
        if len(at) == 1:
            return len(word) > 4
        return len(at) == 2 and at[1] == at[0] + 1 and word[at[0]] == other[at[1]] and word[at[1]] == other[at[0]]
    shorter, longer = sorted((word, other), key=len)
    if len(longer) - len(shorter) > (2 if len(longer) >= 8 else 1):
        return False
    if len(shorter) < 3 or (len(longer) == 4 and longer != "load"):
        return False
    rest = iter(longer)
    return all(sign in rest for sign in shorter)
