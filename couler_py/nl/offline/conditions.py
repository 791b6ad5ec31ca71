"""Conditions in words: "if the accuracy is above 0.9", "until the loss is below 0.1", "unless there are findings"."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

import msgspec

from couler_py.nl.offline import lexicon
from couler_py.nl.offline.lexicon import METRICS
from couler_py.nl.offline.numbers import NUMBER, value
from couler_py.nl.offline.script import SIGN, Script
from couler_py.nl.words import name_of

Operator: TypeAlias = Literal["<", "<=", ">", ">=", "==", "!="]
Kind: TypeAlias = Literal["number", "text", "flag", "passed", "failed", "open"]
IF, UNTIL = "\ue001", "\ue002"
"""What stands where a condition, and the end of a loop, were."""

OPPOSITE: dict[Operator, Operator] = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
_OPS: tuple[tuple[Operator, str], ...] = (
    (">=", r">=|≥|=>|greater than or equal to|at least|no less than|not less than|not below|not under|no lower than|a minimum of|reach(?:es|ed)?|hits?|gets? to|arrives? at|mindestens|al menos|como mínimo|au moins|almeno|pelo menos|ten minste|minstens|co najmniej|не менее|minst|en az|至少|不低于|大于等于|大於等於|以上|이상"),
    ("<=", r"<=|≤|less than or equal to|at most|no more than|not more than|not above|not over|no higher than|a maximum of|up to|höchstens|como máximo|au plus|al massimo|no máximo|hoogstens|najwyżej|не более|最多|不超过|小于等于|以下|이하"),
    (">", r">|(?:is |are |goes |rises |gets |stays )?(?:strictly )?(?:above|over|greater|more|higher|larger|bigger|better|longer)(?: than)?|exceed(?:s|ed)?|beats|tops|surpass(?:es|ed)?|größer als|höher als|mehr als|über|besser als|übersteigt|mayor (?:que|a|de)|superior a|más (?:de|que)|supera|supérieure? à|plus (?:de|que|grande? que)|dépasse|maggiore (?:di|del)|superiore (?:a|al)|più di|supera|maior (?:que|do que)|acima de|mais de|superior a|groter dan|hoger dan|meer dan|boven|większ\w+ niż|powyżej|wyższ\w+ niż|больше|выше|более|större än|högre än|över|büyükse|大于|大於|高于|高於|超过|超過|より大き|を超え|より高|초과|보다 크"),
    ("<", r"<|(?:is |are |drops |falls |goes |gets |stays )?(?:strictly )?(?:below|under|less|fewer|lower|smaller|worse|shorter)(?: than)?|kleiner als|niedriger als|weniger als|unter|menor (?:que|a|de)|inferior a|menos (?:de|que)|por debajo de|inférieure? à|moins (?:de|que)|minore (?:di|del)|inferiore (?:a|al)|meno di|menor (?:que|do que)|abaixo de|menos de|kleiner dan|lager dan|minder dan|onder|mniejsz\w+ niż|poniżej|niższ\w+ niż|меньше|ниже|менее|mindre än|lägre än|under|小于|小於|低于|低於|より小さ|未満|より低|미만|보다 작"),
    ("!=", r"!=|≠|<>|is not|are not|isn't|aren't|is different from|differs from|not equal to"),
    ("==", r"==?|of(?= \d)|equals?(?: to)?|is equal to|is exactly|is|are|ist|es|est|è|é|等于|等於"),
)  # fmt: skip
_OP = "|".join(f"(?P<o{at}>{pattern})" for at, (_, pattern) in enumerate(_OPS))
_IF = r"(?:(?:but |and )?(?:only |nur |solo |sólo |seulement |alleen |somente |apenas |tylko |только |bara )?(?<![\w'])(?:if|depending on (?:whether|if)|when|whenever|once|in case|provided(?: that)?|as long as|as soon as|wenn|falls|sobald|si|cuando|quand|lorsque|se|quando|als|indien|jeśli|jeżeli|gdy|если|когда|om|när|eğer)(?![\w'])|如果|若|当|當|もし|만약)"
_UNTIL = r"(?:(?<!\w)(?:until|till|til|bis|hasta que|jusqu'à ce que|finché|finche non|fino a quando|até que|totdat|tot|aż|dopóki|пока не|до тех пор,? пока(?: не)?|tills|kadar)(?!\w)|直到|まで)"
_UNLESS = r"(?<!\w)(?:unless|except (?:if|when))(?!\w)"
_WHILE = r"(?<!\w)(?:while|as long as|so long as|solange|mientras)(?!\w)"
_IS = r"(?:\s*(?:is|are|was|were|has|have|be|gets?|stays?|becomes?|comes out|turns out|still|rises?|drops?|falls?|goes?|ist|es|est|è|é|jest|będzie|sea|finds?|found|contains?|shows?|reports?|returns?|exceeds|wird|liegt|beträgt|sein|is dan)\s*)*"
_VALUE = rf"(?P<v>-?{NUMBER}|zero|no\b)(?:\s*(?P<pct>%|percent|prozent|por ciento|pour cent))?"
_NUMERIC = re.compile(
    rf"(?P<if>{_IF}|{_UNTIL}|{_UNLESS}|{_WHILE}|(?<!\w)(?:should(?= (?:the|it|this|that|its)\b[^,.;:\\n]{{0,40}} be\b)|where|with an?|given an?|mit einem|mit einer|con una?|avec une?)(?!\w))\s*,?\s*(?P<subject>[^,.;:\n{SIGN}<>=≥≤!?]{{0,70}}?)(?:\s+of)?{_IS}\s*(?:{_OP})\s*(?:or equal to )?{_VALUE}"
    r"(?P<more>\s*(?:or|oder|o|ou) (?:more|higher|above|better|greater|mehr|más|plus|less|lower|below|fewer|weniger))?"
    r"(?P<noun>\s+(?!then\b|and\b|or\b|otherwise\b|else\b|deploy|push|send|stop)(?:of the )?(?:(?:bad|critical|high|new|failed|invalid|missing|duplicate|open|wrong|null|severe|broken) )*(?:rows?|records?|findings?|errors?|vulnerabilit\w+|samples?|items?|failures?|issues?|files?|duplicates?|images?|points?|lines?|alerts?(?! (?:the|me|us|them|a|an)\b)|anomal\w+|warnings?|events?|seconds?|ms|users?|tests?|cves?|nulls?|documents?))?"
)
_BARE = re.compile(
    rf"(?P<if>(?:(?<=[.;:!?\n,])|^)\s*(?:with |at |given |for |where |wherever )?(?:an? |the )?)(?P<subject>(?!(?:the |a )?(?:run|retry|timeout)\b)[a-z][^.,;:\n{SIGN}<>=≥≤!?]{{1,50}}?)(?:\s+(?:of|is|was|comes out))*\s*(?:{_OP})\s*(?:or equal to )?{_VALUE}"
    r"(?P<more>\s*(?:or|oder|o|ou) (?:more|higher|above|better|greater|less|lower|below|fewer))?(?P<noun>\s+(?:rows?|records?|findings?|errors?|vulnerabilit\w+))?\s*(?:\?(?:\s*then\b)?|:|,? means(?: to)?\b|[-=]+>|→|,? then\b)"
)
_SHORT = re.compile(
    rf"(?P<if>(?:(?<=[.;:!?\n,])|^)\s*(?:if |with |at )?)(?:{_OP})\s*{_VALUE}(?P<more>)(?P<noun>)\s*(?P<subject>{METRICS})?\s*(?::|[-=]+>|→|,? then\b)"
)
_AMOUNT = re.compile(
    rf"(?P<if>(?:(?<=[.;:!?\n,])|^)\s*(?:with|given))\s+(?P<v>{NUMBER}|zero|no)\s+(?P<subject>[a-z][a-z ]{{2,40}}?)\s*(?::|,)"
)
_TURNED = re.compile(
    rf"(?P<if>(?<!\w)(?:liegt|ist|fällt|steigt|sinkt|beträgt|bleibt))\s+(?P<subject>(?:der|die|das|sein\w*|ihr\w*)[^.,;:\n{SIGN}]{{1,40}}?)\s*(?:bei )?(?:{_OP})\s*{_VALUE}(?P<more>)(?P<noun>)(?=\s*,)"
)
_BETWEEN = re.compile(
    rf"(?P<if>{_IF})\s*,?\s*(?P<subject>[^,.;:\n{SIGN}<>=!?]{{0,70}}?)(?:'s)?{_IS}\s*(?:between|from|zwischen|entre|tra|in the range(?: of)?)\s*(?P<v>{NUMBER})\s*(?P<pct>%)?\s*(?:and|to|und|y|et|e|-)\s*(?P<upper>{NUMBER})\s*(?:%|percent)?"
)
_SUFFIX = re.compile(rf"(?P<if>如果|若|当|當|もし|만약|eğer)?\s*(?P<subject>[^,.;:，。；、\n{SIGN}]{{1,20}}?)(?:が|은|는|이|가)?\s*{_VALUE}\s*(?P<op>以上|を超え\w*|より大き\w*|より高\w*|以下|未満|より小さ\w*|より低\w*|이상|이하|초과|미만|보다 크|보다 높|보다 작|'?[dt][ae]n (?:büyük|yüksek|küçük|düşük))(?:であれば|なら|たら|れば|の場合|したら|になるまで|이면|면|일 때|일 경우|될 때까지|se|ise)?[はのに]?")  # fmt: skip
_SUFFIXES: tuple[tuple[str, Operator], ...] = (
    ("以上|이상", ">="),
    ("以下|이하", "<="),
    ("超え|大き|より高|초과|크|높|büyük|yüksek", ">"),
    ("未満|小さ|より低|미만|작|küçük|düşük", "<"),
)
_COUNTED = re.compile(
    rf"(?P<if>{_IF}|{_UNTIL}|{_UNLESS})\s*(?:there (?:is|are|was|were)|it (?:has|finds)|we (?:have|find)) (?:(?P<any>any|some|a|an|at least one)|(?P<none>no|not any|zero|0)|(?P<n>\d+)) (?P<subject>(?:new |critical |high |severe |open |bad |failed )*[a-z]+)"
)
_TEXT = re.compile(
    rf"(?P<if>{_IF}|{_UNTIL}|{_UNLESS}|{_WHILE})\s*(?P<subject>(?:it|the (?:[a-z]+ )?(?:result|coin|answer|output|status|label|outcome|flip|toss|face|side)|we get|you get|i get)?(?:'s| is| was| equals| shows| comes (?:up|out)(?: as)?| lands on| turns up| came up| =+)?\s*)(?P<value>heads?|tails?|kopf|zahl|cara|cruz|正面|反面|(?P<quoted>{SIGN}+))(?![\w])"
)
_BETTER = re.compile(
    rf"(?P<if>{_IF}|{_UNTIL}|{_UNLESS})\s*(?P<subject>(?:it|the [a-z -]*?|this|that|they|its [a-z@0-9]+|the new one|new|challenger)(?:'s)?\s*(?:is|are|has|performs|does|scores|gets|was|becomes)?\s*(?:(?:a|an|the|significantly|clearly|much|really|also|actually)\s+)*(?:better|beats?|outperforms?|improves?|improved|wins?|higher|lower|an improvement|more accurate|superior|best)(?:\s+(?:[a-z]+@?\d*|in|on|at)){{0,3}}?(?:\s*than(?: that of)?)?(?:\s+(?:the|our|its)?\s*(?:one|model|version|champion|baseline|current|old|previous|existing|production|deployed|last|running|best|so far|in production|it|used|now|live|we have|today|of the|score|that is|which is)\b)*)"
)
_GOOD = re.compile(
    rf"(?P<if>{_IF}|{_UNTIL}|{_UNLESS})\s*(?P<subject>(?:it|the [a-z ]*?|they|everything|results?|that|this|all)(?:'s)?\s*(?:is|are|looks?|seems?|performs?|works?|turns? out|feels?)?\s*(?:(?:all|really)\s+)*(?:good enough|good|ok(?:ay)?|fine|satisfactory|acceptable|well enough|accurate enough|converges?|converged|gut genug|well|sufficient\w*|high enough|low enough|happy|too (?:low|high|bad|poor|many|few|big|small|slow|old|large|much)|(?:very |really )?(?:bad|poor|wrong|odd|strange|suspicious|right|high|low|significant|promising|strong|weak|not good enough|not good|not ok(?:ay)?)))(?!\w)"
)
_PASSED = re.compile(
    rf"(?P<if>{_IF})\s*(?P<subject>(?:all |both )?(?:it|they|that|this|all|both|everything|the [a-z -]*?|[a-z -]*?(?:tests?|checks?|validation|build|upload|lint|scan|training|evaluation|deployment|job|step))\s*(?:have |has |had |is |are |was |were |all )*(?:pass(?:es|ed)?|succe\w+|successful(?:ly)?|green|works?|worked|went (?:well|through)|goes? (?:well|through)|approved?|approves|confirms?|confirmed|done|finished|complete[ds]?))(?!\w)"
)
_FAILED = re.compile(
    rf"(?P<if>{_IF})\s*(?P<subject>(?:any of )?(?:it|they|that|this|the [a-z -]*?|one of the [a-z]+|[a-z]+|[a-z]+ing the [a-z]+)(?: step| job| task)?\s*(?:does not|doesn't|do not|don't|can't|cannot|has|have|is|are)?\s*(?:not )?(?:fail(?:s|ed)?|breaks?|broken|crash(?:es|ed)?|errors?(?: out)?|goes? wrong|doesn't (?:work|pass)|don't pass|does not (?:pass|work)|not pass|red|rejects?|rejected|fehlschlägt|falla|échoue|fallisce))(?!\w)"
)
_SO = re.compile(rf"(?P<if>{_IF})\s+(?P<subject>so|yes|that is the case|that's the case|this is the case)(?![\w'])")
_SAID = re.compile(
    rf"(?P<if>(?<!\w)(?:only )?(?:if|in case)(?!\w))\s+(?P<subject>(?!not\b|it (?:does|is) not\b)[a-z][^,.;:\n!?{SIGN}{IF}{UNTIL}]{{3,60}}?)(?:,? then\b)?(?=\s*(?:[,.;:\n!?]|$))"
)


_ON_FAILURE = re.compile(
    r"(?<!\w)(?:on|upon|in case of|after) (?:a |any |an )?(?:failure|error|errors|failures)(?=,? (?!or\b|and\b)[a-z])"
)
_OUTCOME = re.compile(
    r"(?P<if>(?:(?<=[.;,:\n])|^)\s*(?:on |in case of |for |with )?)(?P<subject>heads|tails|true|false)\s*(?:[-=]+>|→|:|means)"
)
_WHO = r"(?:it|they|this|that|there|everything|something|nothing|both|(?:the|its|their|our|any|all|no|one of the) [a-z0-9 '-]{2,40}?)"
_STATE = re.compile(
    rf"(?P<if>{_IF}|{_UNTIL}|{_UNLESS})\s+(?P<subject>{_WHO})(?:\s+|(?='))(?:(?:differ|match|chang|exist|arriv|overlap|agree|disagree|increas|decreas|drop|degrad|declin|drift|worsen|rise|fall|grow|shrink|var|respond|answer)(?:s|e|es|ed|y|ies)?(?: [a-z]+ly)?"
    r"|(?:'s|'re|is|are|was|were|looks?|seems?|stays?|gets?)(?: not|n't)? (?:still |already |too |very |really )?(?:down|up|empty|missing|unavailable|available|stale|new|present|there|different|the same|equal|unchanged|ready|offline|online|reachable|unreachable|out of date|negative|positive|valid|invalid|clean|dirty|corrupt(?:ed)?|incomplete|complete|true|false|full|healthy|unhealthy|known|unknown|enabled|disabled|stable|unstable|closed|open|late|older|newer|worse|odd|found|detected)"
    r"|(?:does|do|did|is|are|has|have)(?:n't| not) (?!fail|pass|work|succeed)[a-z]+)(?!\w)"
)
_UNTIL_ANY = re.compile(
    rf"(?P<if>{_UNTIL})\s+(?P<subject>(?!then\b|now\b|today\b|tomorrow\b)[^\W\d][^,.;:\n!?{SIGN}{IF}{UNTIL}]{{3,70}}?)(?=\s*(?:[,.;\n]|$|\bthen\b))"
)
_REST = re.compile(
    rf"(?P<if>(?<!\w)(?:(?:but |and )?(?:only )?if|unless|in case|falls|wenn)(?!\w))\s+(?P<subject>(?!not\b|needed|necessary|possible|required|so\b|it (?:does|is) not\b)[^\W\d][^,.;:\n!?{SIGN}{IF}{UNTIL}]{{3,70}}?)\s*(?:(?=,)|(?=[.;\n])|$|\bthen\b)"
)


class Clause(msgspec.Struct, frozen=True):
    """A condition where it stands: `kind` says what it compares; `open` is one that lacks its value.

    `loop` is the end of a loop; `subject` are the words about what is compared, `field` a name made of them;
    `upper` is the other end of a range that begins with `value`.
    """

    start: int
    end: int
    kind: Kind
    subject: str = ""
    field: str = ""
    op: Operator = "=="
    value: bool | int | float | str = True
    loop: bool = False
    upper: float | int | None = None


def read(script: Script) -> dict[int, Clause]:
    """Take every condition of a text out of it; a sign stands where it was."""
    found_all: dict[int, Clause] = {}

    def keep(clause: Clause) -> None:
        script.use(clause.start, clause.end)
        sign = UNTIL if clause.loop else IF
        script.left[clause.start : clause.end] = sign * (clause.end - clause.start)
        found_all[clause.start] = clause

    for found in script.find(_BETWEEN):
        low, high = _amount(found, ">="), value(found["upper"])
        high = high / 100 if found["pct"] else high
        keep(Clause(*found.span(), "number", found["subject"], _field(found["subject"]), ">=", low, upper=high))
    for found in script.find(_NUMERIC):
        keep(_numeric(found))
    for found in script.find(_AMOUNT):
        many = 0 if found["v"] in ("zero", "no") else value(found["v"])
        keep(Clause(*found.span(), "number", found["subject"], _field(found["subject"]), "==", many))
    for pattern in (_TURNED, _BARE, _SHORT):
        for found in script.find(pattern):
            keep(_numeric(found))
    for found in script.find(_SUFFIX):
        op = next(op for pattern, op in _SUFFIXES if re.search(pattern, found["op"]))
        loop = "まで" in found.group() or "까지" in found.group()
        keep(Clause(*found.span(), "number", found["subject"], _field(found["subject"]), op, _amount(found, op), loop))
    for found in script.find(_COUNTED):
        op, many = (">", 0) if found["any"] else ("==", int(found["n"] or 0))
        keep(_turned(found, Clause(*found.span(), "number", found["subject"], _field(found["subject"]), op, many)))
    for found in script.find(_TEXT):
        said = script.atoms_in(*found.span("value"))[0].value if found["quoted"] else found["value"]
        keep(_turned(found, Clause(*found.span(), "text", found["subject"], "", "==", _side(said))))
    for pattern, kind in ((_SO, "flag"), (_GOOD, "open"), (_BETTER, "flag"), (_FAILED, "failed"), (_PASSED, "passed")):
        for found in script.find(pattern):
            keep(_turned(found, Clause(*found.span(), kind, found["subject"].strip(), "", "==", True)))  # type: ignore[arg-type]
    for found in script.find(_ON_FAILURE):
        keep(Clause(*found.span(), "failed"))
    for found in script.find(_OUTCOME):
        keep(Clause(*found.span(), "text", found["subject"], "", "==", found["subject"]))
    for found in script.find(_STATE):
        keep(_turned(found, _state(found)))
    for found in script.find(_SAID):
        if not any(lexicon.verb(word) is not None for word in found["subject"].split()):
            keep(_turned(found, Clause(*found.span(), "flag", found["subject"].strip())))
    for found in script.find(_UNTIL_ANY):
        if re.search(r"\bwait(?:s|ing)? $", script.rest[: found.start()]):  # that ends a wait, and no loop
            continue
        keep(_turned(found, Clause(*found.span(), "flag", found["subject"].strip())))
    for found in script.find(_REST):
        said, end = _before_verb(found)
        keep(_turned(found, Clause(found.start(), end, "flag", said)))
    return found_all


def _state(found: re.Match[str]) -> Clause:
    """The condition that something is in a state; "invalid" is the opposite of "valid"."""
    said = found.group()[found.start("subject") - found.start() :]
    opposite = re.search(r"\binvalid$|\bdirty$|\b(?:not|n't) (?:\w+ )?(?:valid|clean)$", said) is not None
    return Clause(*found.span(), "flag", said.strip(), "", "!=" if opposite else "==")


def _before_verb(found: re.Match[str]) -> tuple[str, int]:
    """What a condition without a comma says, and where it ends: before the verb of what is done then."""
    words = list(re.finditer(r"[^\W\d_][\w'-]*", found["subject"]))
    for at, word in enumerate(words[2:-1], 2):
        known = lexicon.verb(word.group())
        if known is not None and known[1] == word.group() and words[at + 1].group() in lexicon.ARTICLES:
            return found["subject"][: word.start()].strip(), found.start("subject") + word.start()
    return found["subject"].strip(), found.end()


def _side(word: str) -> str:
    return {"head": "heads", "tail": "tails"}.get(word, word)


def _numeric(found: re.Match[str]) -> Clause:
    op = next(_OPS[at][0] for at in range(len(_OPS)) if found[f"o{at}"] is not None)
    more = found["more"] or ""
    if re.search(r"more|higher|above|better|greater|mehr|más|plus", more):
        op = ">="
    elif more:
        op = "<="
    if op == "==" and re.search(r"\bof\s*[\d.,]+ ?%?$", found.group()[: found.end("v") - found.start()]) and not more:
        op = ">="
    subject = (found["subject"] or "").strip()
    named = (found["noun"] or "").strip() or subject
    if found["noun"] and re.search(METRICS, subject) and not re.search(r"rows?|records?|findings?", found["noun"]):
        named = subject
    return _turned(found, Clause(*found.span(), "number", subject, _field(named), op, _amount(found, op)))


def _turned(found: re.Match[str], clause: Clause) -> Clause:
    word = found["if"]
    loop = bool(re.fullmatch(_UNTIL, word)) or bool(re.fullmatch(_WHILE, word) and not re.fullmatch(_IF, word))
    turned = re.fullmatch(_UNLESS, word) or (re.fullmatch(_WHILE, word) and not re.fullmatch(_IF, word))
    kind = clause.kind
    if turned and kind in ("passed", "failed"):
        kind = "failed" if kind == "passed" else "passed"
    return msgspec.structs.replace(clause, loop=loop, kind=kind, op=OPPOSITE[clause.op] if turned else clause.op)


def _amount(found: re.Match[str], op: Operator) -> int | float:
    word = found["v"]
    many = 0 if word in ("no", "zero") else value(word.lstrip("-"))
    many = -many if word.startswith("-") else many
    if found["pct"]:
        return round(many / 100, 6)
    return many


def _field(subject: str) -> str:
    metric = re.search(METRICS, subject)
    words = metric.group() if metric is not None and len(metric.group()) > 2 else subject
    words = re.sub(
        r"\b(?:the|der|die|das|its|their|our|a|an|of|is|are|new|model'?s?|resulting|has|any|it|there|all|finds?|check|more)\b",
        " ",
        words,
    )
    found = name_of(words.replace("@", "_at_"), "")
    found = found if len(found) <= 30 else "_".join(found.split("_")[-3:])
    return f"value_{found}" if found and not found[0].isalpha() else found


__all__ = ["IF", "OPPOSITE", "UNTIL", "Clause", "read"]
