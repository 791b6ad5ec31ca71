"""Where the verb of a clause stands."""

from __future__ import annotations

import functools

from couler_py.nl.offline import languages, lexicon, slips
from couler_py.nl.offline.tokens import Token

_IS = frozenset("is are was were be been being gets get".split())
_LIKE = frozenset("new all every each our their my your its his her".split())  # what stands before things


def phrase_at(listed: list[Token] | tuple[Token, ...], at: int) -> tuple[str, int] | None:
    """The lemma of a phrase that begins here, and how many tokens it has."""
    words: list[str] = []
    for token in listed[at : at + 12]:
        if token.kind not in ("word", "number"):
            break
        words.append(token.text)
    return _phrase(" ".join(words)) if words else None


@functools.lru_cache(maxsize=8192)
def _phrase(text: str) -> tuple[str, int] | None:
    for pattern, lemma in lexicon.PHRASES:
        found = pattern.match(text)
        if found is not None:
            return lemma, len(found.group().split())
    return None


def find_verb(given: tuple[Token, ...]) -> tuple[int, int, str, str] | None:
    """Where the verb of a clause stands, how many tokens it has, its role and its lemma.

    A form with -ed or -ing right behind "the" or "a" and before a noun says how a thing is, not what is done.
    """
    best: tuple[int, int, str, str] | None = None
    alone = True  # whether nothing but fillers came before
    for at, token in enumerate(given):
        phrase = phrase_at(given, at)
        if phrase is not None:
            return at, phrase[1], lexicon.role_of(phrase[0]), phrase[0]
        if token.kind != "word":
            continue
        if token.text in ("take", "takes") and at + 1 < len(given) and given[at + 1].kind == "atom":
            return at, 1, "load", "load"
        before = given[at - 1].text if at and given[at - 1].kind not in ("if", "until", "anyway", "colon") else ""
        found = lexicon.verb(token.text)
        if found is None:
            role = languages.foreign(token.text)
            first, alone = alone, alone and token.text in lexicon.FILLERS
            if role is None and not best and first:
                slip = slips.misspelt(token.text)
                if slip is not None:
                    return at, 1, *slip
            if role is not None and before not in lexicon.DETERMINERS:  # "a transformer" is no French verb
                return (at, 1, role, role) if best is None else best
            continue
        alone = alone and token.text in lexicon.FILLERS
        following = given[at + 1] if at + 1 < len(given) else None
        noun = (
            following is not None
            and following.kind == "word"
            and following.text not in lexicon.FILLERS
            and following.text not in lexicon.AUXILIARIES
        )
        if before == "no":  # "no email": a thing that is not there
            continue
        if before in lexicon.DETERMINERS and (noun or not token.text.endswith("ed")):
            continue
        if noun and token.text.endswith("ed") and any(each.text in _IS for each in given[at + 2 : at + 5]):
            continue  # "labelled images are reviewed"
        if token.text in lexicon.THINGS and _is_thing(token, before, following, noun):
            continue
        if best is None:
            best = (at, 1, *found)
            if found[0] not in ("use", "try", "run", "repeat", "load") or token.text not in (
                "made",
                "get",
                "got",
                "do",
                "does",
                "done",
                "start",
                "perform",
                "make",
                "set",
            ):
                return best
    return best or _strange(given)


def _is_thing(token: Token, before: str, following: Token | None, noun: bool) -> bool:
    """Whether a word that may be either names a thing here: "error logs", and not "then log the errors"."""
    if before == "" or (before in lexicon.FILLERS and before not in _LIKE) or before in (",", "&"):
        return False
    works_on = following is not None and (following.kind == "atom" or following.text in lexicon.ARTICLES)
    return not works_on and not (token.text == "run" and noun)


def _strange(given: tuple[Token, ...]) -> tuple[int, int, str, str] | None:
    """A verb that no list has: the first word, where an article follows, or a form with -ed behind "is" or alone."""
    words = [at for at, token in enumerate(given) if token.kind == "word" and token.text not in lexicon.FILLERS]
    if not words:
        return None
    at = words[0]
    text = given[at].text
    following = given[at + 1] if at + 1 < len(given) else None
    if is_strange(text) and following is not None and following.text in lexicon.ARTICLES:
        return at, 1, "", text
    for at in words:
        text = given[at].text
        before = given[at - 1].text if at else ""
        if len(text) > 4 and text.endswith("ed") and (before in _IS or (at == words[0] and len(words) <= 2)):
            return (
                at,
                1,
                "",
                text.removesuffix("d") if text.endswith(("ced", "ged", "sed", "ved", "zed")) else text[:-2],
            )
    return None


def is_strange(word: str) -> bool:
    """Whether a word may be a verb that no list has."""
    return (
        len(word) > 2
        and word.isalpha()
        and word not in lexicon.CLOSED
        and word not in lexicon.AUXILIARIES
        and word not in lexicon.FILLERS
        and word not in lexicon.DETERMINERS
    )
