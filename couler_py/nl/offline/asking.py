"""What a text leaves open and only its author knows."""

from __future__ import annotations

import re

from couler_py.nl.draft import Question
from couler_py.nl.offline import vague
from couler_py.nl.offline.built import Built
from couler_py.nl.offline.lexicon import METRICS
from couler_py.nl.offline.script import Script
from couler_py.nl.offline.settings import Settings
from couler_py.nl.offline.step import Step
from couler_py.nl.outline import Parameter

_NEED_DATA = frozenset(
    "load clean train finetune tune evaluate predict validate features split embed transform".split()
)
_BEST = re.compile(
    r"\b(?:best|winner|top|better|beste[nrs]?|mejor|meilleure?|migliore|melhor)\b|最好|最佳|最優|最良|最も良い|최고|가장 좋은"
)
_ALL_OF_OURS = re.compile(
    r"\b(?:all|each|every one)(?: of)? (?:our|my|their|the) (regions|customers|stores|countries|models|tables|sources|clusters|environments|teams|clients|servers|shops|branches|tenants|partners|suppliers|warehouses|sites|databases|machines)\b"
)
_SCRIPT = re.compile(
    r"\b(?:my|the|our|a|this|that) (?:[a-z]+ )?(script|program|code|notebook|command|tool|binary|query)s?\b"
)
_DEPLOYING = frozenset("deploy rollout ship release golive redeploy".split())
_SAVING = frozenset("save store upload export publish write persist push archive".split())
_WHERE = re.compile(r"\b(?:to|in|into|on|onto|as|at|under|with)\b|\b(?:prod|production|staging|serving|locally|back)\b")
_EMPTY = re.compile(
    r"(?:please )?(?:do|run|perform|make|fix|handle|process|improve|start|get|optimize|prepare)(?: (?:all|everything|it|this|that|them|the|a|my|our|usual|things?|stuff|rest|same|as usual|work|job|faster|better|again|done|working|ready|data|necessary|needed|steps|analysis|needful))*$"
)
_ENGLISH = re.compile(r"\b(?:the|and|a|to|is|of|in|it|what|how|i|my|for|this|run|make|do)\b")


def questions(script: Script, built: Built, settings: Settings, parameters: tuple[Parameter, ...]) -> list[Question]:
    """The questions that what was built leaves open."""
    if not built.steps:
        return []
    found: list[Question] = []
    text = script.text.lower()
    first = built.steps[0]
    somewhere = any(step.arguments or step.command for step in built.steps) or script.atoms or parameters
    if not somewhere and any(step.role in _NEED_DATA for step in built.steps):
        found.append(
            Question(
                f"Which data does it start from, and where is it (a file, a table, an address)? {first.name} needs an input.",
                "data",
            )
        )
    choosing = [step for step in built.steps if _BEST.search(step.text.lower())]
    if (
        choosing
        and not re.search(METRICS, re.sub(r"\b(?:size|count|score)\b", "", text))
        and not re.search(r"\bby\b|\bbased on\b|\baccording to\b|\bon the (?:validation|test)\b", text)
    ):
        found.append(Question("By which metric is the best one chosen? The text names no measure.", "metric"))
    found += vague.questions(script)
    for all_of in _ALL_OF_OURS.finditer(text):
        if not built.blocks and not re.match(
            r"\s*(?:[:(]|in (?!parallel)|from\b|of\b|under\b|that\b)", text[all_of.end() :]
        ):
            found.append(Question(f"Which {all_of[1]} are meant? The text says only “{all_of.group()}”.", "items"))
    if re.match(r"(?:please )?[a-z-]+ (?:it|them|this|that)\b", first.text.lower()) and not somewhere:
        found.append(
            Question(
                f"What is meant: which data or model? “{first.text}” names none, and nothing comes before it.", "data"
            )
        )
    for step in built.steps:
        found += _vague(step)
    for notice in settings.notices:
        if not notice.target and notice.channel in ("email", "slack", "sms", "webhook"):
            found.append(Question(f"Who is told by {notice.channel}: which address?", "notify"))
    return found


def _vague(step: Step) -> list[Question]:
    """What a step leaves open: what it does, who gets what it sends, how much it is."""
    found = []
    if _EMPTY.match(step.text.lower().strip(" .!")) and not step.arguments and not step.command:
        found.append(Question(f"What exactly is done, by which steps? The text says only “{step.text}”.", "steps"))
    if step.role == "run" and not step.arguments and not step.command and (what := _SCRIPT.search(step.text.lower())):
        found.append(Question(f"Which {what[1]} is it: which file, and by which command does it run?", "steps"))
    if (
        step.role == "deploy"
        and step.lemma in _DEPLOYING
        and not step.arguments
        and not _WHERE.search(step.text.lower())
    ):
        found.append(
            Question(
                f"Where is it deployed: which cluster, environment or service? “{step.text}” doesn't say.", "target"
            )
        )
    if step.lemma in _SAVING and not step.arguments and not step.items and not _WHERE.search(step.text.lower()):
        found.append(Question(f"Where does it go: which file, table or address? “{step.text}” doesn't say.", "target"))
    sends = step.role == "notify" and step.lemma in ("email", "mail", "send", "message", "slack", "notify", "tell")
    if (
        sends
        and not step.arguments
        and not re.search(r"\bto (?!the (?:right|responsible))[a-z]|\b(?:team|me|us)\b", step.text.lower())
    ):
        found.append(Question(f"Who gets it: which address or channel? “{step.text}” doesn't say.", "notify"))
    return found


def nothing(script: Script) -> list[Question]:
    """What is asked where no word of a text names a step."""
    words = re.findall(r"[^\W\d_]+", script.text)
    strange = words and not _ENGLISH.search(script.text.lower()) and any(not word.isascii() for word in words)
    if strange:
        text = "This language isn't understood without a model. Which steps should the workflow have, in English?"
        return [Question(text, "language")]
    return [
        Question(
            "What should the workflow do: which steps, on which data? No word of the text names a step, so there is nothing to describe yet.",
            "steps",
        )
    ]
