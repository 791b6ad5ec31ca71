"""What somebody took back while typing, and what they said is not wanted."""

from __future__ import annotations

import re

from couler_py.nl.offline.lexicon import verb
from couler_py.nl.offline.numbers import NUMBER
from couler_py.nl.offline.script import SIGN, Script

_SORRY = r"(?:sorry|no wait|wait|no|correction|i mean|rather|actually|oops|scratch that|or better)"
_NUMBER = re.compile(
    rf"(?P<old>{NUMBER})(?P<unit>\s+[a-z]+)?(?P<between>\s*(?:\.\.\.|[-–—,(]|\s)+\s*{_SORRY}[,:]?\s*(?:,\s*)?(?:make (?:that|it)\s*|use\s*|it's\s*|let's (?:say|use)\s*)?)(?P<new>{NUMBER})(?P<again>\s+[a-z]+)?(?P<after>\s*[-–—)])?"
)
_PHRASE = re.compile(
    rf"(?P<old>(?:on|at|to|from|in|every|with)\s+(?:the\s+)?[^.,;\n]{{1,25}}?)\s*(?P<between>(?:\.\.\.|[-–—,])\s*{_SORRY},?\s+)(?=(?:on|at|to|from|in|every|with)\b)"
)
_TOO = re.compile(
    rf"(?P<old>(?P<number>{NUMBER}))\s*[.,;]?\s*(?:(?:hmm?|hm|oh|well|ah|um|mh)[,.!]*\s*)?(?:no,? )?(?:that|it|(?P=number)) (?:is|seems|looks|would be) (?:too [a-z]+|not enough|too much)[,;.:]?\s*(?:so )?(?:let'?s )?(?:take|use|make (?:it|that)|try|better|rather|go (?:for|with))\s+(?={NUMBER})"
)
_FORGET = re.compile(
    r"(?:(?<=[.;\n!?] )|(?<=\n)|^)(?P<old>[^.;\n]*?(?:\.\.\.|[-–—,])\s*(?:oh |ah |no,? |well,? )*(?:forget (?:that|it|about it)|scratch that|never ?mind(?: that)?|strike that|drop that)[,.:]?)"
)
_AGAIN = re.compile(
    rf"(?P<old>(?<!\w)(?P<verb>[a-z]+) [^.,;\n]*?)[\s,–—-]*\b(?:actually|{_SORRY})[,:]?\s+(?=(?P=verb)\b)"
)
_OTHER = re.compile(
    rf"(?P<old>{SIGN}+)[\s,.;–—-]*\b(?:actually|{_SORRY})[,:]?\s*(?:(?:let's )?(?:make|use|take|read|load) (?:that|it)?|it's|that's)?\s*(?={SIGN})"
)
_INSTEAD = re.compile(r"\s+(?:instead of|rather than|and not|not) (?:the |a |an )?[a-z0-9]+(?=\s*(?:[.,;\n]|$))")
_NOT = re.compile(
    r"(?:,? ?(?:but|and)\s+)?(?:please\s+)?(?<![\w'])(?:(?:do not|don't|dont|never|no need to|not|without|skip|leave out|omit|ohne|sin|sans|senza|sem)\s+(?:any |the |a |an |yet |to )*|no\s+(?:more )?)(?P<what>[a-z-]+)(?P<rest>(?:\s+(?!just\b|only\b|but\b|and\b)[a-z-]+){0,4})"
)
_WANTED = frozenset(
    "schedule cron retry retries cache caching notification notifications email emails gpu gpus".split()
)


def correct(script: Script) -> None:
    """Take what was taken back out of a text."""
    for found in script.find(_NUMBER):
        script.take(*found.span("old"))
        if found["unit"]:
            script.take(*found.span("unit"))
        script.take(*found.span("between"))
        if found["unit"] and not found["again"]:
            script.left[found.start("unit") : found.end("unit")] = list(found["unit"])
        if found["after"]:
            script.take(*found.span("after"))
    for pattern in (_FORGET, _TOO, _AGAIN, _OTHER, _INSTEAD):
        for found in script.find(pattern):
            script.take(*found.span())
    for found in script.find(_PHRASE):
        script.take(found.start("old"), found.end("between"))


def unwanted(script: Script) -> tuple[str, ...]:
    """What is said to be left out, taken out of a text."""
    left_out = []
    for found in script.find(_NOT):
        what = found["what"]
        if verb(what) is None and what not in _WANTED:
            continue
        if (
            re.match(r"(?:,? ?(?:but|and)\s+)?no\s", found.group())
            and verb(what) is not None
            and not what.endswith(("tion", "ment", "ing", "s", "y"))
        ):
            continue
        said = " ".join(f"{what}{found['rest']}".split())
        left_out.append(said)
        script.take(*found.span())
    return tuple(left_out)
