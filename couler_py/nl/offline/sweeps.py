"""Numbers that a step is done over, as in "for batch sizes 16, 32 and 64"; of two lists, all pairs."""

from __future__ import annotations

import re

from couler_py.nl import outline as o
from couler_py.nl.offline import numbers
from couler_py.nl.offline.script import Script
from couler_py.nl.offline.step import Step
from couler_py.nl.offline.things import singular
from couler_py.nl.words import name_of

_NUMBERS = re.compile(
    r"(?:(?:for|over|on|with|using|try|tune|sweep|vary|of|and|at)\s+)(?:the |different |various |several |each of |values |these )*(?P<noun>[a-z][a-z_-]*(?: [a-z][a-z_-]*)?)\s*(?:of|in|over|among|from|:|=|values)?\s*[\[({]?(?P<list>\d+(?:\.\d+)?(?:e-\d+)?(?:\s*(?:,|and|or|/)\s*(?:and |or )?\d+(?:\.\d+)?(?:e-\d+)?)+)(?![\w%])"
)


def numbered(script: Script, step: Step) -> None:
    """Make the numbers of "for batch sizes 16, 32 and 64" what the step is done over; of two lists, all pairs."""
    found = list(_NUMBERS.finditer(script.rest, step.start, step.end))[:2]
    lists = [_values(re.findall(r"\d+(?:\.\d+)?(?:e-\d+)?", one["list"])) for one in found]
    if not lists or any(len(each) < 2 for each in lists) or len(lists[0]) * len(lists[-1]) > 200:
        return
    for one in found:
        script.use(*one.span())
    nouns = [name_of("_".join(singular(word) for word in one["noun"].split()), "value") for one in found]
    for noun in nouns:
        step.arguments.pop(noun, None)
    step.noun, step.count = "_and_".join(nouns), 0
    step.items = lists[0] if len(lists) == 1 else tuple((one, two) for one in lists[0] for two in lists[1])


def _values(words: list[str]) -> tuple[o.Item, ...]:
    """Numbers, or versions as they are typed: 3.10 isn't 3.1."""
    versions = any("." in word and word.endswith("0") for word in words)
    return tuple(words) if versions else tuple(numbers.value(word) for word in words)
