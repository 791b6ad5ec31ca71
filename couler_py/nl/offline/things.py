"""Over what a step is done several times: lists of things, places and numbers."""

from __future__ import annotations

import re
from typing import Any

from couler_py.nl.offline import lexicon
from couler_py.nl.offline.numbers import COUNT, count, value
from couler_py.nl.offline.step import Step
from couler_py.nl.offline.tokens import Token
from couler_py.nl.words import name_of

HOLLOW = frozenset(
    "it them this that everything all both each one ones thing things result results data step steps local yesterday's today's something anything together back out up again only just also there here so instead parallel concurrently simultaneously daily nightly weekly".split()
)
_KINDS = frozenset("models model data images jobs tables datasets files tests checks in".split())
_AFTER_THINGS = re.compile(
    r"\s(?:from|in|on|for|with|using|to the|at|by|into|as|via|against|of|\ue000|\ue001|over|across|between|among|each|per|every|concurrently|simultaneously|side by side|at once|separately|independently|where|when|so|that|which)(?:\s|$)|[\ue001\ue002]|(?<!\w)models? on\b"
)
_AFTER_TARGETS = re.compile(r"\s(?:from|in parallel|on|for|with|using|by|via)(?:\s|$)|[\ue001\ue002]")
PLACE = "\ue004"
_ONE_OVER_ALL = frozenset("join compare select".split())  # what takes all things of a list at once
_INTERJECTIONS = frozenset("oh ah well um uh hmm yes ok okay".split())


def of_many(step: Step, given: tuple[Token, ...], at: int) -> None:
    """Over what a step is done several times: a list of things, or so many of them."""
    words = [
        token
        for token in given[at:]
        if token.kind in ("word", "number", "comma", "and", "atom", "open", "close", "colon", "if", "until")
    ]
    if not words:
        return
    text = " ".join(token.text if token.kind != "atom" else "\ue000" for token in words)
    counted = re.match(
        rf"(?:the |all |these |each of )*({COUNT}) (?!gpus?\b|cpus?\b|times\b|epochs?\b|folds?\b|hours?\b|minutes?\b|days?\b|%|percent|main\b)((?:[a-z-]+ ){{0,4}}?)([a-z]+(?:s|es))\b",
        text,
    )
    if counted is not None and counted[1] not in ("once", "one"):
        many = count(counted[1])
        behind = re.sub(
            r"^\s*(?:in parallel|concurrently|simultaneously|at once)\s*(?=[(:])", "", text[counted.end() :]
        )
        things = listed(behind, whole=True) if re.match(r"\s*[(:]", behind) else ()
        places = [name for name in step.arguments if name.startswith("source")]
        if re.match(r"\s*\ue000 , ", behind) and len(places) == many > 1 and step.role in ("load", "transform"):
            step.items = tuple(str(step.arguments.pop(name)) for name in places)
            step.noun = name_of(singular(counted[3]), "item")
            return
        if not things and re.match(r"\s*[(:]", behind) and len(places) == many > 1:
            things = tuple(str(step.arguments.pop(name)) for name in places)
        if not things and re.match(r"\s*,", behind):
            things = listed(
                re.split(r" , (?=in parallel|concurrently|simultaneously|at |side )", behind.strip(" ,"))[0]
            )
        if things:
            step.items, step.noun = _numeric(things), name_of(singular(counted[3]), "item")
        elif many > 1 and re.search(
            r"parallel|each|concurrent|at once|simultan|different|random|at the same time|side by side|independent",
            text,
        ):
            step.count, step.noun = many, name_of(singular(counted[3]), "item")
            for name in [name for name, value in step.arguments.items() if value == many]:
                del step.arguments[name]
        return
    inside = re.search(r"(?:^|\s)([^\W\d_]+) \( ([^()]+) \)", text)
    things = listed(inside[2], whole=True) if inside is not None else ()
    if inside is not None and len(things) > 1 and not any(lexicon.verb(thing.split()[0]) for thing in things):
        step.items, step.noun = _numeric(things), name_of(singular(inside[1]), "item")
        return
    trials = re.search(
        rf"\b({COUNT}) (?:[a-z-]+ ){{0,2}}?(trials|runs|simulations|configurations|candidates|replicas|episodes|scenarios|experiments|seeds|times)\b",
        text,
    )
    if (
        trials is not None
        and count(trials[1]) > 1
        and re.search(r"parallel|\beach\b|concurrent|at once|simultan|side by side", text)
    ):
        step.count, step.noun = (
            count(trials[1]),
            name_of("run" if trials[2] == "times" else singular(trials[2]), "item"),
        )
        step.arguments.pop(name_of(trials[2]), None)
        return
    text = text.replace(" :", "")
    marked = re.sub(r" \( [^()]* \)(?= (?:and|,))| \( [^()]* \)(?= models?\b)", "", text)
    if step.role in _ONE_OVER_ALL:
        return
    step.items = listed(marked) or _places(step, text)
    if step.items:
        step.items = _placed(step)
        step.separate = marked != text or (
            bool(re.search(r"(?:^|\band |, )(?:the|a|an) ", text)) and len(step.items) <= 4
        )


def _places(step: Step, text: str) -> tuple[str, ...]:
    """Several places side by side: "load a.csv and b.csv in parallel"."""
    beside = re.search(r"\ue000 (?:and|,|&|und|y|et|e) (?:and )?\ue000", text)
    if beside is None or not re.search(
        r"parallel|concurrent|simultan|at once|at the same time|side by side|\beach\b", text
    ):
        return ()
    names = [name for name in step.arguments if name.startswith(("source", "target"))]
    if len(names) < 2:
        return ()
    return tuple(str(step.arguments.pop(name)) for name in names)


def _numeric(things: tuple[str, ...]) -> tuple[Any, ...]:
    """Things of a list as numbers where all are; versions, as 3.10, stay as they are typed."""
    numbers = all(re.fullmatch(r"\d+(?:\.\d+)?(?:e-?\d+)?", thing) for thing in things)
    if not numbers or any("." in thing and thing.endswith("0") for thing in things):
        return things
    return tuple(value(thing) for thing in things)


def spoken_of(step: Step, given: tuple[Token, ...], at: int) -> None:
    """The things of a list before the verb, or behind "for": "three tables (a, b, c) load", "get prices for a, b and c"."""
    words = [token if token.kind != "atom" else None for token in given]
    before = " ".join(token.text for token in words[:at] if token is not None)
    inside = re.search(r"([a-z]+s) \( ([^()]+) \)", before)
    if inside is not None:
        step.items = listed(inside[2], whole=True)
        step.noun = name_of(singular(inside[1]), "item")
        return
    counted = re.search(rf"(?:^|\s)({COUNT}) (?:[a-z-]+ )??([a-z]+s)(?: (?:is|are|get|were|be))* *$", before)
    if (
        counted is not None
        and count(counted[1]) > 1
        and re.search(r"\beach\b|parallel|concurrent|at once|simultan", " ".join(token.text for token in given))
    ):
        step.count, step.noun = count(counted[1]), name_of(singular(counted[2]), "item")
        return
    behind = " ".join(token.text for token in words[at:] if token is not None)
    meant = re.search(r"(?: for| to| into) (?!the |each |every |all )([a-z][^()]*)$", behind)
    together = re.search(r"in parallel|concurrently|simultaneously|at once|at the same time|side by side", behind)
    if meant is None or step.role in ("notify", "wait", "approve", "ticket", "split"):
        return
    things = listed(meant[1])
    if things and all(len(thing.split()) <= 2 for thing in things) and (len(things) > 2 or together is not None):
        step.items = things


def _placed(step: Step) -> tuple[str, ...]:
    """The things of a list, where places among them stand for themselves."""
    places = [name for name in step.arguments if name.startswith(("target", "source"))]
    if PLACE not in step.items or sum(item == PLACE for item in step.items) > len(places):
        return tuple(item for item in step.items if item != PLACE)
    return tuple(str(step.arguments.pop(places.pop(0))) if item == PLACE else item for item in step.items)


def listed(text: str, *, whole: bool = False) -> tuple[str, ...]:
    """The things of a list: "xgboost, lightgbm and catboost". None where it isn't one.

    It ends where something else is said of it, unless the `whole` text is the list.
    """
    said = _spread(text.strip(" (:.")).strip()
    if whole:
        head = said
    elif text.startswith("to "):
        head = _AFTER_TARGETS.split(said[3:], maxsplit=1)[0]
    else:
        head = _AFTER_THINGS.split(f" {said} ", maxsplit=1)[0]
    head = head.split(")")[0]
    if "," not in head and not any(word in lexicon.ITEM_AND for word in head.split()):
        return ()
    joined = "|".join(re.escape(word) for word in sorted(lexicon.ITEM_AND, key=len, reverse=True))
    parts = [part.strip() for part in re.split(rf"\s*,\s*(?:(?:{joined})\s+)?|\s+(?:{joined})\s+|、", head)]
    parts = [re.sub(r"^(?:both |all |the |a |an |either |some |three |two )+", "", part).strip() for part in parts]
    parts = [re.sub(r" (?:too|also|as well)$", "", part) for part in parts if part and part not in _INTERJECTIONS]
    plain = [part for part in parts if 1 <= len(part.split()) <= 4]
    if len(plain) < 2 or len(plain) != len(parts) or all(part == PLACE for part in parts):
        return ()
    hollow = all(all(word in lexicon.FILLERS or word in HOLLOW for word in part.split()) for part in parts)
    if (hollow and not whole) or any("=" in part for part in parts):
        return ()
    last = parts[-1].split()
    if len(last) >= 2 and last[-1] in _KINDS:
        parts[-1] = " ".join(last[:-1])
    return tuple(parts)


def _spread(text: str) -> str:
    """A text in which a place that is a thing of a list has another sign than one behind its thing."""
    return re.sub("(?<=, )\ue000|(?<= and )\ue000|^\ue000(?= ,| and)", PLACE, text)


def singular(word: str) -> str:
    """One of several: "regions" as "region"."""
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word
