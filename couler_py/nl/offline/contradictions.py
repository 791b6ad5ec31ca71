"""What a text asks for and can't be: orders that contradict each other, engines that there are none, impossible amounts."""

from __future__ import annotations

import re

from couler_py.nl.offline.lexicon import verb
from couler_py.nl.offline.script import Script

_AFTER = re.compile(
    r"\b(?P<a>[a-z]\w*)(?: step| task)?(?:,)? (?:(?:must|should|has to|needs to|have to|can only|only|is to|will|strictly|always) )*(?:run|runs|start|starts|begin|come|comes|happen|happens|execute|be|wait|waits|depend|depends|is)? ?(?:strictly |only |always )?(?P<way>after|before|for|on) (?:the )?(?P<b>[a-z]\w*)\b"
)
_BESIDE = re.compile(
    r"\b(?P<a>[a-z]\w*) and (?P<b>[a-z]\w*) (?:(?:must|should|have to|to) )?(?:run |running )?(?:in parallel|at the same time|concurrently|simultaneously)"
)
_STRANGE = re.compile(
    r"\b(?:on|with|using|to|for|via|in) (kubeflow(?: pipelines)?|prefect|dagster|luigi|tekton|jenkins|step functions|github actions|gitlab ci|azure data factory|nifi|oozie|flyte|metaflow|vertex ai pipelines|sagemaker pipelines|databricks workflows)\b"
)
_SHARE = re.compile(
    r"\b(?:accuracy|f1(?:[ -]score)?|auc|precision|recall|r2|iou|dice|ndcg)\b[^.;\n]{0,40}?(?:above|over|greater than|more than|at least|>=?|exceeds?|reaches)\s*(?P<n>\d+(?:\.\d+)?)\s*(?P<pct>%|percent)?"
)
_NEGATIVE = re.compile(
    r"(?<![\w.])-\d+(?:\.\d+)?\s*(?:gpus?|cpus?|cores?|times|retries|gb|gi|seconds|minutes|hours|nodes|workers|epochs?|folds?|rounds?|trials?|chunks?|parts?|trees|steps?|models?|samples?|iterations?|replicas?|days?)\b|\bretry -\d+|\b(?:minus|negative) (?:\w+ )?(?:gpus?|cpus?|cores?|workers?|nodes?|times|retries|seconds)\b"
)
_NONE = re.compile(
    r"\b(?:at most|max(?:imum)?|up to) (?:0|zero) (?:steps|tasks|jobs|runs|in parallel|at a time)\b|\b(?:on|with|in) (?:0|zero) (?:cpus?|cores?|nodes|machines)\b"
)
_PAST = re.compile(
    r"\b(?:deploy|run|start|train|build|release|load|publish|launch|execute|finish)(?: it| this| that| everything)? (?:yesterday|last (?:week|month|year|night)|in the past)(?=\s*(?:[.,;!\n]|$))"
)
_NO_TIME = re.compile(r"\b(?:in|within|takes?) (?:0|zero|no) (?:milliseconds|seconds|minutes|time at all)\b")
_HANDS = re.compile(
    r"\b(?:make|brew|bring|cook|serve|fetch|buy|order|bake|eat|drink)\b[^.,;\n]{0,30}?\b(?:coffee|tea|pizza|lunch|dinner|breakfast|cakes?|sandwich\w*|beers?|lottery tickets?)\b"
)
_NO_STEPS = re.compile(
    r"\b(?:tell|write|sing|compose|give|make|invent)(?: me| us)? (?:an? |some |the )?(?:[a-z]+ ){0,2}(?:jokes?|poems?|songs?|stor(?:y|ies)|essays?|novels?|limericks?|haikus?|lyrics|riddles?)\b"
)
_SELF = re.compile(
    r"\b(?P<a>[a-z]\w*)(?: step| task)? (?:must |should |has to |can only )?(?:runs?|starts?|waits?|comes?|depends?|be)(?: only)? (?:after|before|for|on) (?:itself|(?:the )?(?P=a))\b"
)
_WITHOUT = re.compile(
    r"\b(?:without|with no|with zero) (?:any |a single )?(?:data|input data|training data|input|inputs|steps?|tasks?)(?=\s*(?:[.,;!\n]|$|at all))"
)
_BEFORE_START = re.compile(
    r"\b(?:finish|end|complete|be done|be finished|succeed)(?:es|s)? before (?:it|they|this|the (?:run|workflow|step|task)) (?:has |have |is |are )?(?:starts?|begins?|started|begun)\b|\b(?:to|into|in) the past\b|\bback in time\b|\btime (?:machine|travel)\b"
)
_PROMISE = re.compile(
    r"\b(?:guarantee[sd]?|ensure|promise) (?:[a-z]+ ){0,4}?(?:100 ?%|perfect|zero errors?)|\b100 ?% (?:guaranteed|certain|sure)|\b100 ?% accuracy guaranteed"
)
_FOREVER = re.compile(
    r"\b(?:runs?|loops?|repeats?|continues?) (?:forever|endlessly|infinitely|for all eternity)\b|\bnever (?:stops?|ends?|finish(?:es)?|terminates?)\b|\binfinite (?:loop|times|number)\b"
)
_OVER_ALL = re.compile(
    r"\b(?:1(?!00\b)\d\d|[2-9]\d\d) ?(?:%|percent) of (?:the |all |its |our )?(?:data|rows|traffic|records|samples|users|requests|memory|dataset)"
)
_SPLIT = re.compile(r"\b(\d{2}) ?%? ?(?:/|:) ?(\d{2})(?: ?%? ?(?:/|:) ?(\d{2}))? ?%?(?= |[.,;]|$)")
_RANGE = re.compile(
    r"\b(?:above|over|greater than|more than|at least|higher than) (?P<low>\d+(?:\.\d+)?) ?%? (?:and|but)(?: also)?(?: it)?(?: is| at the same time)? (?:below|under|less than|lower than|at most) (?P<high>\d+(?:\.\d+)?)"
)
_CALENDAR = re.compile(
    r"\b(?:1[3-9]|[2-9]\d)th month\b|\b(?:6[1-9]|[7-9]\d)(?:th|st|nd|rd) minute\b|\b(?:2[5-9]|[3-9]\d)th hour\b|\bevery (?:0|zero) (?:seconds|minutes|hours|days|weeks)\b|\b(?:3[2-9]|[4-9]\d)(?:st|nd|rd|th) (?:day )?of (?:the|every|each) month\b|\beighth day of (?:the|every) week\b"
)
_NEVER = re.compile(r"\b(?:until|when|once|if) (?:the universe ends|hell freezes over|pigs fly|the end of time)\b")
_WORDS = frozenset(
    "it this that them then the an is are and or but run runs step task day night hour week month which wait model data each one everything all both what when after before minutes seconds two three".split()
)


def find(script: Script) -> tuple[str, ...]:
    """Everything in a text that can't be, said so that its author sees why."""
    found: list[str] = []
    text = re.sub(r"\b(step|task|job|stage) (\d{1,2}|[a-z])\b", r"\1\2", script.rest)
    pairs: set[tuple[str, str]] = set()
    for match in _AFTER.finditer(text):
        a, b = match["a"], match["b"]
        a, b = _plain(a), _plain(b)
        if (
            a in _WORDS
            or b in _WORDS
            or a == b
            or (match["way"] in ("for", "on") and not re.search(r"wait|depend", match.group()))
        ):
            continue
        pairs.add((a, b) if match["way"] == "before" else (b, a))
    for match in _BESIDE.finditer(text):
        a, b = match["a"], match["b"]
        later = re.search(
            rf"\b{b}\b[^.]*\b(?:after|before)\b[^.]*\b{a}\b|\b{a}\b[^.]*\b(?:after|before)\b[^.]*\b{b}\b",
            text[match.end() :],
        )
        if (a, b) in pairs or (b, a) in pairs or later is not None:
            found.append(f"{a} and {b} can't run in parallel and in an order: one contradicts the other")
    circle = _circle(pairs)
    if circle:
        found.append(f"{' and '.join(circle)} wait for each other: an order that is a circle (a cycle) is impossible")
    for match in _STRANGE.finditer(text):
        found.append(
            f"there is no engine {match[1]!r} here: a workflow runs on this machine (local), on Argo or on Airflow"
        )
    for match in _SHARE.finditer(text):
        share = float(match["n"]) / (100 if match["pct"] else 1)
        if share > 1 and (match["pct"] or share < 1.5 or share > 100):
            found.append(
                f"\u201c{match.group().strip()}\u201d can never be: it is 1 (100 %) at most, so what depends on it would never run"
            )
    for pattern in (_NEGATIVE, _NONE):
        for match in pattern.finditer(text):
            found.append(
                f"\u201c{match.group().strip()}\u201d is no amount that there can be: it has to be positive, at least 1"
            )
    if re.search(r"\bsplit|\bpartition|\bdivid", text):
        for match in _SPLIT.finditer(text):
            if sum(int(part) for part in match.groups() if part) > 100:
                found.append(f"\u201c{match.group()}\u201d are shares of more than 100 % in total")
    for match in _RANGE.finditer(text):
        if float(match["low"]) >= float(match["high"]):
            found.append(f"\u201c{match.group()}\u201d can never be both: one contradicts the other")
    for pattern, why in (
        (_PAST, "is over: a workflow can only run from now on"),
        (_NO_TIME, "can't be kept: every step takes some time"),
        (_NO_STEPS, "is no workflow: describe steps that work on data"),
        (_WITHOUT, "can't be: a workflow has steps, and these need data (input) to work on"),
        (_BEFORE_START, "can't be: time only goes forward, and nothing ends before it starts"),
        (_PROMISE, "can't be promised: what comes out is known only when it has run"),
        (_FOREVER, "never ends: a run has to come to an end"),
        (_OVER_ALL, "is more than all there is (100 %)"),
        (_CALENDAR, "is no time that exists: no valid date or schedule has it"),
        (_SELF, "can't be: a step that waits for itself never starts"),
        (_HANDS, "is nothing that a program can do"),
        (_NEVER, "never comes: what waits for it would never end"),
    ):
        found += [f"\u201c{match.group().strip()}\u201d {why}" for match in pattern.finditer(text)]
    return tuple(dict.fromkeys(found))


def _plain(word: str) -> str:
    """A word by which a step is known: "training" as "train"."""
    found = verb(word)
    return found[1] if found is not None else word


def _circle(pairs: set[tuple[str, str]]) -> list[str]:
    """The names on a way that leads back to its beginning; empty where there is none."""
    following: dict[str, list[str]] = {}
    for before, after in sorted(pairs):
        following.setdefault(before, []).append(after)

    def walk(way: list[str]) -> list[str]:
        for name in following.get(way[-1], ()):
            if name in way:
                return way[way.index(name) :]
            found = walk([*way, name])
            if found:
                return found
        return []

    for name in sorted(following):
        found = walk([name])
        if found:
            return found
    return []
