"""Where a step begins in a sentence."""

from __future__ import annotations

import re

from couler_py.nl.offline import languages, lexicon, slips
from couler_py.nl.offline.tokens import Token
from couler_py.nl.offline.verbs import find_verb, is_strange, phrase_at
from couler_py.nl.offline.wording import wanting

AND = frozenset(
    "and und y e et och en i ve и plus & + then dann luego puis poi então sedan sonra daarna potem затем anschließend danach después ensuite quindi depois".split()
)
_LEAD_IN = re.compile(
    r"(?:in parallel|on the (?:one|other) hand|at the (?:same time|end)|in the (?:meantime|end)|after (?:that|this|which)|(?:as|in) (?:a|the) (?:next|last|final|first|second|third) step|from there)(?= |$)"
)
_PARTS = frozenset("train training test testing validation val dev holdout".split())
THEN = frozenset(
    "then dann luego puis poi então sedan sonra daarna potem затем anschließend danach después ensuite quindi depois afterwards finally afterward subsequently".split()
)


def has_step(here: list[Token]) -> bool:
    """Whether a part of a clause has a verb."""
    return find_verb(tuple(here)) is not None


def begins_step(listed: list[Token], at: int, here: list[Token], *, after_if: bool = False) -> bool:
    """Whether a step begins here: a verb, or what leads to one."""
    skipped = 0
    while at < len(listed) and skipped < 7:
        token = listed[at]
        if token.kind == "if" or token.kind == "until":
            return token.kind == "if" and not after_if
        if token.kind == "arrow":
            return True
        if token.kind == "open":
            return False
        if token.kind == "word":
            if token.text in ("otherwise", "else", "sonst", "sinon", "finally", "afterwards"):
                return True
            skip = _lead_in(listed, at)
            if skip:
                at, skipped = at + skip, skipped + 1
                continue
            if (
                token.text in ("for", "per")
                and at + 1 < len(listed)
                and listed[at + 1].text in ("each", "every", "all")
            ):
                return True
            if token.text in ("let", "have", "make") and any(
                lexicon.verb(each.text) for each in listed[at + 1 : at + 5] if each.kind == "word"
            ):
                return True
            if _participle(listed, at, here) or (skipped < 2 and _strange_next(listed, at, here)):
                return True
            phrase = phrase_at(listed, at)
            if phrase is not None:
                return True
            if token.text in _PARTS and here and here[-1].text in _PARTS:
                return False  # "split it into train and test"
            if is_verb(listed, at, starting=True):
                if lexicon.is_thing_made(token.text) and not _nominal(listed, at, here):
                    return False
                return not token.text.endswith("ing") or _said_so(here, "ing")
            if token.text.endswith("s") and lexicon.verb(token.text) is not None and _said_so(here, "s"):
                return True
            if _foreign_ahead(listed, at) and has_step(here):
                return True
            if skipped < 2 and _things_done(listed, at) and has_step(here):
                return True
            if token.text in lexicon.DETERMINERS and skipped < 3 and _subject_verb(listed, at):
                return True
            if (
                token.text not in lexicon.FILLERS
                or token.text in lexicon.DETERMINERS
                or token.text
                in ("for", "of", "with", "in", "on", "at", "from", "by", "via", "as", "into", "onto", "than", "who")
            ):
                return False
        elif token.kind not in ("comma", "and", "anyway"):
            return False
        at, skipped = at + 1, skipped + 1
    return False


def _participle(listed: list[Token], at: int, here: list[Token]) -> bool:
    """Whether a form with -ed goes on with what is done to a thing: "the files are loaded, regridded and stored"."""
    if at and listed[at - 1].kind not in ("comma", "and") and listed[at - 1].text not in AND:
        return False
    following = listed[at + 1] if at + 1 < len(listed) else None
    alone = following is None or following.kind != "word" or following.text in lexicon.FILLERS or following.text in AND
    found = find_verb(tuple(here))
    return (
        listed[at].text.endswith("ed")
        and len(listed[at].text) > 4
        and alone
        and found is not None
        and here[found[0]].text.endswith(("ed", "ten", "de", "read", "built", "split"))
        and here[found[0]].text != found[3]
    )


def _strange_next(listed: list[Token], at: int, here: list[Token]) -> bool:
    """Whether a verb comes next that no list has: a word before an article, behind the comma of a clause with a verb."""
    following = listed[at + 1] if at + 1 < len(listed) else None
    return (
        following is not None
        and following.text in lexicon.ARTICLES
        and is_strange(listed[at].text)
        and has_step(here)
        and not any(token.kind in ("if", "until") for token in here[-1:])
    )


def _nominal(listed: list[Token], at: int, here: list[Token]) -> bool:
    """Whether a noun for something done, as "evaluation", is a step: "of" follows, or nothing, or the text is of nouns."""
    following = listed[at + 1] if at + 1 < len(listed) and listed[at + 1].text not in (".", "!", "?") else None
    if following is None or following.kind in ("comma", "and", "arrow") or following.text in ("of", "on", "to", "and"):
        found = find_verb(tuple(here))
        return (
            found is None
            or len(here) <= 3
            or lexicon.is_thing_made(here[found[0]].text)
            or here[found[0]].text.endswith("ing")
            or following is not None
        )
    return False


def _lead_in(listed: list[Token], at: int) -> int:
    """How many tokens only lead to a step: "in parallel", "on the other hand"."""
    said = " ".join(token.text for token in listed[at : at + 5])
    found = _LEAD_IN.match(said)
    return len(found.group().split()) if found is not None else 0


def _said_so(here: list[Token], ending: str) -> bool:
    """Whether the clause before speaks in the same form: "first training, then testing", "it loads, cleans"."""
    skip = wanting(" ".join(token.text for token in here))
    at, kept = 0, []
    for token in here:
        if at >= skip:
            kept.append(token)
        at += len(token.text) + 1
    here = kept or here
    found = find_verb(tuple(here))
    if found is None:
        return ending == "ing"
    return here[found[0]].text.endswith(ending) and here[found[0]].text != found[3]


def _foreign_ahead(listed: list[Token], at: int) -> bool:
    """Whether a verb of another language stands before the next comma: in many the object comes first."""
    for token in listed[at:]:
        if token.kind in ("comma", "and", "arrow", "colon") or (token.kind == "word" and token.text in AND):
            return False
        if token.kind == "word" and lexicon.verb(token.text) is None and languages.foreign(token.text) is not None:
            return True
    return False


def _things_done(listed: list[Token], at: int) -> bool:
    """Things and what is done to them: "faces are detected"."""
    words = [token.text for token in listed[at : at + 4]]
    return (
        len(words) > 2
        and words[0].endswith("s")
        and words[1] in ("are", "get", "were")
        and any(lexicon.verb(word) is not None and word.endswith(("ed", "t", "n")) for word in words[2:])
    )


def _subject_verb(listed: list[Token], at: int) -> bool:
    """A noun and what it does: "a consumer prints", "the model is evaluated"."""
    words = [token for token in listed[at : at + 5] if token.kind == "word"]
    if len(words) < 3:
        return False
    verb = lexicon.verb(words[2].text)
    if words[2].text in ("is", "are", "has", "have", "gets", "should", "must", "needs"):
        return any(lexicon.verb(word.text) for word in words[3:])
    return verb is not None and words[2].text.endswith("s") and lexicon.verb(words[1].text) is None


def is_verb(listed: list[Token] | tuple[Token, ...], at: int, *, starting: bool = False) -> bool:
    """Whether a token is a verb; at the beginning of a clause, words that are more often things aren't."""
    token = listed[at]
    if token.kind != "word":
        return False
    word = token.text
    found = lexicon.verb(word)
    if found is None:
        return languages.foreign(word) is not None or (slips.misspelt(word) is not None and starting)
    if starting and word.endswith("s") and word[:-1] == found[1]:
        return False  # "logs", "tests": more often things
    following = listed[at + 1] if at + 1 < len(listed) else None
    if (
        starting
        and word
        in ("test", "training", "validation", "release", "sample", "index", "label", "model", "build", "report", "set")
        and following is not None
        and following.kind == "word"
        and following.text
        in ("set", "sets", "data", "dataset", "split", "files", "file", "loss", "accuracy", "time", "notes")
    ):
        return word == "build" and following.text != "time"
    return True
