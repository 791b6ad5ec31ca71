"""What is done in any case: "even if the tests fail", "no matter what happens", "always delete it"."""

from __future__ import annotations

import re

from couler_py.nl.offline import languages, lexicon
from couler_py.nl.offline.script import Script

ANYWAY = "\ue005"
"""What stands where a text said so."""

_SAID = re.compile(
    r"(?:no matter (?:what|whether|how|if)\b[^,.;\n]{0,50}"
    r"|even (?:if|when|though|in case)\b[^,.;\n]{0,60}?(?:fail\w*|break\w*|broken?|crash\w*|wrong|errors?|unsuccessful\w*|succeed|went bad)\b(?: (?:or not|before that|on the way))?"
    r"|(?:even|also) (?:on|after|upon|in case of) (?:a |an |any )?(?:failures?|errors?)"
    r"|whether or not[^,.;\n]{0,50}|whether (?:it|they|that|this|all|the [a-z ]{2,30}?) (?:succeed|fail|work|pass|went|is|are|was|were)\w*[^,.;\n]{0,30}"
    r"|regardless(?: of [^,.;\n]{0,40})?|(?:in|under) (?:any|all|every) (?:cases?|events?|circumstances)|whatever (?:happens|the (?:outcome|result)[^,.;\n]{0,20})"
    r"|either way|(?:on )?success (?:or|and) failure|successful or not"
    r"|auf jeden fall|in jedem fall|egal,? (?:was|ob)[^,.;\n]{0,30}|auch wenn[^,.;\n]{0,40}?(?:fehlschl\w+|schief\w*|scheiter\w+)"
    r"|pase lo que pase|en (?:cualquier|todo) caso|aunque [^,.;\n]{0,30}?fall\w+|en tout cas|quoi qu'il arrive|même si [^,.;\n]{0,30}?échou\w+"
    r"|in ogni caso|in qualsiasi caso|em qualquer caso|aconteça o que acontecer|in elk geval|w każdym (?:razie|przypadku)|в любом случае"
    r"|无论如何|無論如何|不管[^，。；\n]{0,12}(?:失败|成功|怎样)|たとえ[^、。\n]{0,20}失敗しても|失敗しても)(?!\w)"
)
_ALWAYS = re.compile(
    r"\b(?:always|immer|siempre|toujours|sempre|altijd|zawsze|всегда)\s+(?=(?:then |also )?(?P<verb>[^\W\d_]+))"
)
_ENDINGS = frozenset("delete restore notify".split())


def read(script: Script) -> None:
    """Put a sign where a text says that something is done in any case."""
    for found in script.find(_SAID):
        _mark(script, *found.span())
    for found in script.find(_ALWAYS):
        verb = lexicon.verb(found["verb"])
        role = verb[0] if verb is not None else languages.foreign(found["verb"])
        if role in _ENDINGS or found["verb"] in ("clean", "tear", "shut", "stop"):
            _mark(script, *found.span())


def _mark(script: Script, start: int, end: int) -> None:
    script.use(start, end)
    script.left[start:end] = ANYWAY * (end - start)
