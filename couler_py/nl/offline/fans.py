"""Fan-outs: a step, or several, once for each thing of a list, of a place or of what a step gives."""

from __future__ import annotations

import re

from couler_py.nl import outline as o
from couler_py.nl.draft import Question
from couler_py.nl.offline import lexicon
from couler_py.nl.offline.built import Building, without
from couler_py.nl.offline.clauses import Clause
from couler_py.nl.offline.numbers import count
from couler_py.nl.offline.step import Step
from couler_py.nl.offline.things import listed, singular
from couler_py.nl.offline.tokens import Token
from couler_py.nl.offline.verbs import find_verb
from couler_py.nl.words import name_of

EACH = re.compile(
    r"^(?:(?:then|and|next|finally|also)[\s,]+)*(?:(?:do (?:this|the following) )?(?:for|on|to|over) (?:each|every|all)(?: of)?(?: (?:the|these|those))?(?: (?P<n>\d+|two|three|four|five|six|ten))?|per|for(?= [a-z]+ in )|für jede[nrs]?|para cada|pour chaque|per ogni|voor elke?|dla każde\w+|для кажд\w+|för varje|her)\s+(?P<noun>(?!(?:push|commit|merge|pull|pr|release|tag|change|request|the|these|of)\b)[a-z][\w-]*(?: (?!in\b|of\b|from\b|do\b)[a-z][\w-]*)?)"
)
EACH_END = re.compile(
    r"(?:^|\s)(?:for (?:each|every|all)(?: of)?(?: (?:the|these|those))?|per|für jede[nrs]?|para cada|pour chaque|per ogni|voor elke?)\s+(?P<noun>[a-z][\w-]*(?: [a-z][\w-]*)?)(?:\s*(?:in|of|from|:|\()?\s*(?P<list>[^()]*))?\)?\s*$"
)


_PRONOUN = re.compile(r"\b(?:each|every) (?:one|of (?:them|these|those))\b|\beach$|\beach (?=in|to|with|on|,)")


def fan_out(state: Building, step: Step) -> None:
    """Let a step run once for each of its things, or as often as it says."""
    noun = step.noun if step.noun != "item" else _noun_of(step)
    name = state.free(name_of(f"each_{noun}", "each"))
    items: tuple[o.Item, ...] = tuple(step.items)
    state.built.blocks[name] = o.Block(name, "each", item=noun, items=items, count=step.count or None)
    step.block = name
    if (
        step.count
        and not step.items
        and noun in ("model", "algorithm", "classifier", "approach", "method", "architecture")
        and step.role in ("train", "finetune")
    ):
        state.built.questions.append(
            Question(f"Which {step.count} {noun}s are they? The text gives no names.", "items")
        )


def block_before(state: Building, text: str) -> str:
    """The fan-out that "each" speaks of: that of the step before."""
    for name in reversed(state.frontier):
        step = state.step(name)
        if step.block and state.built.blocks[step.block].kind == "each":
            return step.block
    if not state.built.steps:
        return ""
    noun = re.search(r"\b(?:each|every) (?:of the )?([a-z]+)", text)
    step = state.built.steps[-1]
    if _PRONOUN.search(text) and step.role in ("list", "split", "load") and (many := plural(step)):
        step.gives, step.fields = "list", []
        return opened(state, singular(many), (), step.name)
    if noun is None or noun[1] in (
        "of",
        "one",
        "with",
        "has",
        "step",
        "other",
        "time",
        "day",
        "month",
        "week",
        "hour",
        "using",
        "on",
    ):
        return ""
    known = state.lists.get(noun[1])
    if known:
        return opened(state, noun[1], known, "")
    if (
        step.role in ("split", "load", "transform", "run", "")
        or step.noun == noun[1]
        or step.gives in ("value", "list")
    ):
        step.gives = "list"
        return opened(state, noun[1], (), step.name)
    return ""


def plural(step: Step) -> str:
    """The things of which a step gives several: "list the files"."""
    words = re.findall(r"[a-z]{3,}s\b(?!\.)", step.text.lower())
    return next((word for word in reversed(words) if lexicon.verb(word) is None or word in lexicon.THINGS), "")


def opened(state: Building, noun: str, items: tuple[o.Item, ...], giver: str, many: int | None = None) -> str:
    """The name of a new fan-out: over things that are given, or over what a step gives."""
    item = name_of(singular(noun) if noun.endswith("s") and not items else noun, "item")
    name = state.free(f"each_{item}")
    state.built.blocks[name] = o.Block(name, "each", item=item, items=items, items_from=giver, count=many)
    return name


def begin(state: Building, words: list[Token], text: str, each: re.Match[str], clause: Clause) -> list[Token]:
    """A clause that begins with "for each": the fan-out is opened, and what is left of the clause is given back."""
    named = each["noun"].split()
    rest = without(words, each.end())
    if len(named) > 1 and rest and rest[0].kind == "comma":  # "per country AT, DE": the second word is an item
        rest = without(words, each.end() - len(named[-1]))
        named = named[:-1]
    noun = named[-1] if named[-1] not in ("in", "of") else named[0]
    if re.search(r" of [\w-]+$", each.group()) and rest and (rest[0].kind in ("comma", "and") or rest[0].text == "and"):
        rest = without(words, each.end() - len(each["noun"]))  # "for each of us, eu and apac"
        noun = "item"
    state.use(words[: len(words) - len(rest)])
    sign = 0
    while sign < len(rest) and (
        rest[sign].kind in ("colon", "open", "comma")
        or rest[sign].text in ("in", "of", "from", "out", "namely", "like")
    ):
        sign += 1
    verb = find_verb(tuple(rest[sign:]))
    end = next((at for at in range(sign, len(rest)) if rest[at].kind in ("colon", "close")), None)
    until = end if end is not None else (sign + verb[0] if verb is not None else len(rest))
    inside = rest[sign:until]
    atoms = [
        atom.value
        for token in inside
        if token.kind == "atom"
        for atom in state.script.atoms_in(token.start, token.start + 1)
    ]
    told = " ".join(token.text for token in inside if token.kind in ("word", "comma", "and", "number"))
    things = listed(told, whole=True)
    digits = [token.text for token in inside if token.kind == "number"]
    if (
        not things
        and len(digits) >= 2
        and all(token.kind in ("number", "comma", "and") or token.text in lexicon.ITEM_AND for token in inside)
    ):
        things = tuple(digits)
    if not things and len(atoms) > 1:  # files and URLs that are named one by one
        things = tuple(atoms)
    if not things and not atoms:
        things = state.lists.get(singular(noun), ()) or state.lists.get(noun, ())
    state.use(rest[:sign])
    state.use(inside)
    if things:
        state.block = opened(state, singular(noun) if atoms else noun, things, "")
    elif each["n"] and not any(state.step(name).role in ("split", "list") for name in state.frontier):
        state.block = opened(state, singular(noun), (), "", count(each["n"]))
    elif atoms:
        state.block = listing(state, noun, atoms[0])
    else:
        state.block = of_step(state, noun)
    kept = rest[until:]
    while kept and (kept[0].kind in ("colon", "close", "comma") or kept[0].text == "parallel"):
        kept = kept[1:]
    if not things and not atoms and until > sign and end is None and verb is None:
        kept = rest[sign:]
    return kept


def listing(state: Building, noun: str, source: str) -> str:
    """A fan-out over what lies at a place: a step lists it."""
    plural = noun if noun.endswith("s") else f"{noun}s"
    step = Step(
        state.free(f"list_{name_of(plural)}"),
        "list",
        "list",
        f"list the {plural} in {source}",
        0,
        0,
        state.sentence,
        frozenset((plural,)),
        gives="list",
        arguments={"source": source},
        after=list(state.frontier),
        conditions=list(state.condition),
        fields=[],
        on_failure=[],
    )
    state.built.steps.append(step)
    state.frontier = [step.name]
    return opened(state, singular(noun), (), step.name)


def of_step(state: Building, noun: str) -> str:
    """A fan-out over what a step before gives."""
    for name in reversed(state.frontier):
        step = state.step(name)
        if step.block:
            return step.block
        if step.gives != "nothing" and not step.command:
            step.gives, step.fields = "list", []
            return opened(state, singular(noun), (), step.name)
    plural = noun if noun.endswith("s") else f"{noun}s"
    state.built.questions.append(Question(f"Which {plural} are meant, or where is the list of them?", "items"))
    step = Step(
        state.free(f"list_{name_of(plural)}"),
        "list",
        "list",
        f"list the {plural}",
        0,
        0,
        state.sentence,
        frozenset((plural,)),
        gives="list",
        arguments={},
        after=list(state.frontier),
        conditions=[],
        fields=[],
        on_failure=[],
    )
    state.built.steps.append(step)
    state.frontier = [step.name]
    return opened(state, singular(noun), (), step.name)


def trailing(state: Building, step: Step, found: re.Match[str]) -> None:
    """A fan-out that is said at the end of a clause: "train a model for each region"."""
    noun = found["noun"].split()[0]
    if noun in (
        "step",
        "steps",
        "task",
        "tasks",
        "day",
        "week",
        "month",
        "hour",
        "time",
        "other",
        "run",
        "second",
        "minute",
        "cent",
        "of",
        "node",
        "user",
    ):
        return
    behind = (found["list"] or "").strip()
    if len(found["noun"].split()) == 2 and behind.startswith(","):  # "for each of the stores lille, lyon and nice"
        behind = f"{found['noun'].split()[1]} {behind}"
    things = listed(behind, whole=True) or state.lists.get(singular(noun), ())
    if things:
        state.block = opened(state, singular(noun) if noun.endswith("s") else noun, things, "")
        step.items = ()
    elif re.search(r"\b(?:for|on) (?:each|every|all)\b", found.group()) and state.frontier:
        state.block = of_step(state, noun)
        step.items = ()


def _noun_of(step: Step) -> str:
    return {
        "train": "model",
        "finetune": "model",
        "deploy": "target",
        "build": "part",
        "load": "source",
        "export": "target",
        "evaluate": "model",
    }.get(step.role, "item")
