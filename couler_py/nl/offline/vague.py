"""Words that leave open what matters: amounts, times, people and things that only their author knows."""

from __future__ import annotations

import re

from couler_py.nl.draft import Question
from couler_py.nl.offline.script import Script

_FEW = r"(?:some|a few|several|various|a couple of|multiple|many|a number of|a bunch of|lots of|plenty of|enough|more|certain|different)"
_OPEN: tuple[tuple[str, str, str], ...] = (
    (rf"\b{_FEW} (?:times|retries|attempts|tries|rounds|iterations|epochs|folds)\b", "How many times is it, exactly?", "amount"),
    (r"\bretry (?:it |them |that |the [a-z]+ )?(?:on|if|when)\b", "How many times is it retried, and how long does it wait between?", "amount"),
    (
        rf"\b(?:{_FEW} (?:memory|ram|gpus?|cpus?|cores|disk|resources|nodes|machines|workers)|(?:big|large|larger|bigger|huge|beefy|powerful|fast|strong|decent) (?:machines?|nodes?|instances?|gpus?|servers?|box))\b",
        "How much is that: how many CPUs or GPUs, how much memory?",
        "resources",
    ),
    (
        r"\b(?:on|in|to) (?:the |our |my |a )?(?:cluster|cloud|kubernetes|k8s|servers?|infrastructure)(?=\s*(?:[.,;!\n]|$))",
        "Which engine is meant: Argo on Kubernetes, Airflow, or this machine (local)?",
        "engine",
    ),
    (
        r"\b(?:some data|the (?:usual|right|latest|new|relevant|necessary|old|same) (?:data|dataset|files?|tables?|sources?)|(?:the|our|my|a) (?:folder|directory|dataset|files|tables|two tables|two files|spreadsheet|input)|both (?:tables|files|datasets)|(?:these|those) (?:tables|files|datasets))(?=\s*(?:[.,;!\n]|$|and\b|then\b|to\b|in\b|with\b))",
        "Which data is that, and where is it (a file, a table, an address)?",
        "data",
    ),
    (
        r"\b(?:right|responsible|relevant|appropriate|usual|interested|proper) (?:people|person|team|persons|folks|stakeholders|parties|channel|address)\b|\b(?:everyone|everybody|stakeholders|someone|somebody) (?:who|concerned|involved|interested)\b",
        "Who is that: which address or channel?",
        "notify",
    ),
    (
        r"\b(?:the usual|as usual|as always|like (?:last time|before|always)|same as (?:last time|before)|and so on|et cetera|etc\b|you know what|the rest|whatever (?:is|you)|somehow|as (?:appropriate|needed|necessary|required)|(?:if|when|where) (?:needed|necessary|appropriate|possible|required)|best practices?|the normal (?:way|steps|process))",
        "What is meant by it, step by step?",
        "steps",
    ),
    (
        r"\b(?:every (?:morning|evening|night|afternoon)|at night|in the (?:morning|evening|afternoon)|overnight|each (?:morning|evening|night))\b(?!,? (?:at|@|around) ?\d)",
        "At which time of the day does it start?",
        "schedule",
    ),
    (
        r"\b(?:every now and then|once in a while|on a (?:regular )?(?:basis|schedule)|on (?:a )?schedule|from time to time|often|whenever (?:there is|we (?:have|get)|new)|when(?:ever)? (?:new |fresh )?(?:data|files?) (?:arrives?|comes? in|is available|are available|shows? up|lands?)|on (?:every|each) (?:push|commit|merge|pull request|pr|release|tag))",
        "When does it start, and how often? A workflow starts by a schedule or by hand.",
        "schedule",
    ),
    (
        r"\b(?:suitable|appropriate|reasonable|sensible|good|decent|proper|right|adequate) (?:models?|algorithms?|hyper-?parameters?|parameters?|metrics?|thresholds?|values?|settings?|features?|format|size|number|amount|framework|method)\b",
        "Which one is that?",
        "items",
    ),
)  # fmt: skip
_PATTERNS = tuple((re.compile(pattern), text, topic) for pattern, text, topic in _OPEN)
_KINDS_OF = re.compile(
    r"\b(?:some|a few|several|various|certain|a couple of|multiple|the usual|different) ((?:[a-z-]+ )?(?!times|seeds|folds|things|ways|workers|machines|processes|steps|hours|days|minutes|weeks|threads|cores|gpus|cpus|nodes)[a-z]+s)\b"
)


def questions(script: Script) -> list[Question]:
    """What the words of a text leave open."""
    text = script.text.lower()
    found: list[Question] = []
    topics: set[str] = set()
    for pattern, asked, topic in _PATTERNS:
        said = pattern.search(text)
        if (
            said is None
            or topic in topics
            or (
                topic == "schedule"
                and re.search(r"\d{1,2}(?::\d\d)? ?(?:am|pm|uhr|h\b)|:\d\d|\bat \d|\bnoon\b|\bmidnight\b", text)
            )
        ):
            continue
        topics.add(topic)
        found.append(Question(f"{asked} The text says only “{said.group().strip()}”.", topic))
    for said in _KINDS_OF.finditer(text):
        found.append(Question(f"Which {said[1]}, and with which values? The text says only “{said.group()}”.", "items"))
    return found
