"""Parameters of the run that a text asks for, and numbers that belong to a step."""

from __future__ import annotations

import re
from typing import Any

from couler_py.nl.offline.numbers import NUMBER, value
from couler_py.nl.offline.script import SIGN, Script
from couler_py.nl.outline import Parameter
from couler_py.nl.words import name_of

_V = rf"(?P<value>\d{{4}}-\d{{2}}-\d{{2}}|{NUMBER}|{SIGN}+|true|false|[a-z][\w./-]*)"
_DEFAULT = rf"(?:\(?\s*(?:with\s+)?(?:a\s+|the\s+)?defaults?(?:\s+(?:value|to|of|is))*\s*[:=]?\s*{_V}\s*\)?)"
_NOUN = r"(?:the |a |an )?(?P<noun>(?:number of )?[a-z][\w-]*(?: (?!a\b|one\b|as\b|is\b|with\b|default\b|should\b|and\b|be\b|of\b)[a-z][\w-]*){0,2})"
_MADE = re.compile(
    rf"(?:make |have |expose |let |take )?{_NOUN}(?: be| should be| is| as|,)? (?:a |an |also |configurable |the |one |as )*(?:run |workflow |pipeline )?(?:parameters?|params?|arguments?|input parameter|one)(?: of the (?:run|workflow|pipeline))?,? ?{_DEFAULT}"
)
_MORE = re.compile(
    rf"\s*(?:,|and|as well as)+\s*{_NOUN}(?: be| should be| is| as)? ?(?:a parameter |another |one |also )*{_DEFAULT}"
)
_NAMED = re.compile(
    rf"(?:a |the |one |an )?(?:run |workflow )?(?:parameter|param|argument)s? (?:called |named )?(?P<noun>[a-z_][\w]*)\s*(?:{_DEFAULT}|=\s*(?P<plain>{NUMBER}|{SIGN}+|[a-z][\w.-]*))"
)
_LIST = re.compile(
    r"(?:with |has |takes |and )*(?:the |these |following )*(?:run |workflow )?(?:params?|parameters|arguments)\s*(?:are |of )?:?\s+(?=[a-z_]\w*\s*(?:=|\(?\s*defaults?))"
)
_ITEM = re.compile(
    rf"\s*(?:,|and|;)*\s*(?P<noun>[a-z_]\w*)\s*(?:=\s*(?P<plain>{NUMBER}|{SIGN}+|[a-z][\w.-]*)|{_DEFAULT})"
)
_CONFIGURABLE = re.compile(rf"(?:configurable|adjustable) (?P<noun>[a-z][\w-]*(?: [a-z][\w-]*)?),? ?{_DEFAULT}")
_CHOSEN = re.compile(
    rf"(?:i|we|one|you)(?:'d| would| should| must| want| need)*(?: like| want| be able)?(?: to)? (?:choose|set|pick|decide|change|give|pass|say|adjust) (?:the |a )?(?P<noun>(?:number of )?[a-z][\w-]*(?: (?!when|each|every|at|for|before|on)[a-z][\w-]*)?) (?:when(?:ever)?|each time|every time|at|for|before|on)\b[^.;,\n(]*[;,.(]\s*(?:by default |the default is |default(?:s)? (?:to |is )?|it is |otherwise |use )?(?P<value>{NUMBER}|{SIGN}+)(?: (?:if|when|unless|by default|otherwise|is the default)[^.;\n]*)?\)?"
)
_KNOWN = r"learning rate|lr|batch[ _-]size|epochs?|folds?|iterations|trees|depth|max depth|layers|hidden units|dropout|weight decay|rank|lora rank|clusters|topics|components|temperature|top[ -]k|k|seed|window|horizon|threshold|chunk size|image size|context length|max length|steps|warmup steps|estimators|neighbou?rs|sample size|test size|alpha|beta|gamma"
_SAID = re.compile(
    rf"(?:with |using |for |over |into |at |use )?(?:an? |the )?(?:(?P<n1>{NUMBER})[ -](?P<noun1>(?:random |different |parallel |equal )?(?:cross[- ]validation )?(?:epochs?|folds?|chunks?|trees|clusters|topics|layers|iterations|steps|components|estimators|neighbou?rs|parts?|shards?|partitions?|batches|bins|buckets|days|rows|samples|rounds|trials|workers|pixels?|px|fps|frames|pieces|splits|words|tokens))\b"
    rf"|(?P<noun2>{_KNOWN})\s*(?:of|=|:|is|at|to)?\s*(?P<n2>{NUMBER}|\d+x\d+)(?![\w]))"
)


def read(script: Script) -> tuple[Parameter, ...]:
    """Take the parameters of the run out of a text."""
    found_all: dict[str, Parameter] = {}

    def keep(found: re.Match[str]) -> None:
        text = found.groupdict().get("plain") or found["value"]
        key = "plain" if found.groupdict().get("plain") else "value"
        default: Any = _value(script, text, found.start(key))
        name = name_of(re.sub(r"^(?:number of|the|a|an)\s+", "", found["noun"]), "parameter")
        kind = {bool: "bool", int: "int", float: "float"}.get(type(default), "str")
        found_all.setdefault(name, Parameter(name, kind, default))  # type: ignore[arg-type]
        for at in [at for at in script.atoms if found.start() <= at < found.end()]:
            script.use(script.atoms[at].start, script.atoms[at].end)
        script.take(*found.span())

    listed = _LIST.search(script.rest)
    if listed is not None:
        at = listed.end()
        while (item := _ITEM.match(script.rest, at)) is not None:
            keep(item)
            at = item.end()
        script.take(*listed.span())
    for pattern in (_MADE, _NAMED, _CONFIGURABLE, _CHOSEN):
        for found in script.find(pattern):
            end = found.end()
            keep(found)
            while (more := _MORE.match(script.rest, end)) is not None:
                end = more.end()
                keep(more)
    return tuple(found_all.values())


def numbers(script: Script, start: int, end: int) -> dict[str, Any]:
    """The numbers of a part of a text that have a name: "20 epochs", "learning rate 0.01"."""
    found_all: dict[str, Any] = {}
    for found in _SAID.finditer(script.rest, start, end):
        noun, text = (found["noun1"], found["n1"]) if found["noun1"] else (found["noun2"], found["n2"])
        name = name_of(noun, "number")
        found_all.setdefault(name, text if "x" in text and not text.startswith("six") else value(text))
        script.use(*found.span())
    return found_all


def _value(script: Script, text: str, at: int) -> Any:
    if text.startswith(SIGN):
        return script.atoms[at].value if at in script.atoms else ""
    if text in ("true", "false"):
        return text == "true"
    try:
        return value(text)
    except ValueError:
        return script.text[at : at + len(text)]
