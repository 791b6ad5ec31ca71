"""How the parts of a sentence hang together: who does them, what comes behind what, nouns and commands in a row."""

from __future__ import annotations

from couler_py.nl.offline import lexicon
from couler_py.nl.offline.script import Script
from couler_py.nl.offline.starts import AND, THEN, is_verb
from couler_py.nl.offline.tokens import Token
from couler_py.nl.offline.verbs import find_verb


def says_does(here: list[Token]) -> bool:
    """Whether the verb of a clause is one that somebody does: "it loads"."""
    found = find_verb(tuple(here))
    return found is not None and here[found[0]].text.endswith("s") and here[found[0]].text != found[3]


def does(listed: list[Token], at: int) -> bool:
    """Whether what comes next is done by the same: "…, evaluates it"."""
    while at < len(listed) and listed[at].kind == "word" and listed[at].text in lexicon.FILLERS:
        at += 1
    text = listed[at].text if at < len(listed) else ""
    found = lexicon.verb(text)
    following = listed[at + 1] if at + 1 < len(listed) else None
    if found is None or text == found[1] or not text.endswith("s") or (text in lexicon.THINGS and following is None):
        return False
    return following is None or following.kind != "word" or following.text in lexicon.FILLERS


def noun_behind(listed: list[Token], at: int) -> int:
    """Where what is behind "after" ends, if it is a noun for something done: "after approval", "after the tests"."""
    end = next(
        (
            index
            for index in range(at, len(listed))
            if listed[index].kind in ("comma", "and", "arrow")
            or listed[index].text in AND
            or listed[index].text in THEN
        ),
        len(listed),
    )
    rest = [token for token in listed[at:end] if token.text not in (".", "!", "?")]
    words = [token.text for token in rest if token.text not in lexicon.DETERMINERS]
    if not 1 <= len(words) <= 4 or any(token.kind not in ("word", "if") for token in rest):
        return 0
    made = [
        word
        for word in words
        if word == "approval"
        or lexicon.is_thing_made(word)
        or (word.endswith("ing") and lexicon.verb(word) is not None)
    ]
    if not made or not (len(words) == 1 or words[-1] == made[-1] or words[0] == made[0] or "by" in words):
        return 0
    return end


def command_next(script: Script, listed: list[Token], at: int, here: list[Token]) -> bool:
    """Whether another command comes next, before anything that could be a step of its own."""
    if not any(script.text[token.start] == "`" for token in here if token.kind == "atom"):
        return False
    for token in listed[at + 1 : at + 9]:
        if token.kind == "atom":
            return script.text[token.start] == "`"
        if token.kind in ("arrow", "until") or (token.kind == "word" and is_verb([token], 0, starting=True)):
            return False
    return False


def noun_step(listed: list[Token], at: int, here: list[Token]) -> bool:
    """Whether an item of a list names a step by a noun, as those before: "lint, unit tests, topic clustering"."""
    found = find_verb(tuple(here))
    if found is None or (len(here) > 1 and not lexicon.is_thing_made(here[found[0]].text)):
        return False
    words = []
    for token in listed[at:]:
        if token.kind != "word" or token.text in ("of", "on", "to", "for", "with", "from", "in", "and"):
            break
        words.append(token.text)
    words = [word for word in words if word not in lexicon.DETERMINERS and word not in THEN]
    if not 1 < len(words) <= 3:
        return False
    return lexicon.is_thing_made(words[-1]) or (words[-1].endswith("ing") and lexicon.verb(words[-1]) is not None)


def done(listed: list[Token], at: int) -> bool:
    """Whether a verb with -ing comes next, or what is done to it: "before deploying", "before they are uploaded"."""
    if at < len(listed) and listed[at].text in ("it", "they", "this", "that", "the") and is_done(listed, at + 1):
        return True
    if at + 1 < len(listed) and listed[at].text == "the" and is_done(listed, at + 2):
        return True
    return at < len(listed) and listed[at].text.endswith("ing") and lexicon.verb(listed[at].text) is not None


def is_done(listed: list[Token], at: int) -> bool:
    """Whether it is said of something that it is done: "it is to be evaluated"."""
    words = [token.text for token in listed[at : at + 4]]
    if not words or words[0] not in ("is", "are", "should", "must", "has", "have", "will", "can", "gets", "needs"):
        return False
    return any(lexicon.verb(word) is not None and word.endswith(("ed", "ing")) for word in words[1:])


def then_after(listed: list[Token], at: int) -> bool:
    """Whether "then" comes next."""
    return at < len(listed) and listed[at].text in THEN
