"""Who is told how a run, or what went wrong in it, ended."""

from __future__ import annotations

import re
from typing import Literal

from couler_py.nl.offline.script import SIGN, Script
from couler_py.nl.outline import Notice

_WHO = rf"(?:(?:me|us|them|the (?:[a-z-]+ )?(?:team|group|channel|owner|admins?|people|on-?call)|on-?call|ops|everyone|(?:[a-z]+ )?(?:team|group)|{SIGN}+|to|at|in|on|via|by|an?|the|slack|email|e-mail|mail|pagerduty|teams|channel|message|alert|notification|ping|engineer|about it|person)\s*)+"
_TELL = rf"(?:(?:please |always |also |just |then )*(?:(?:send|post|write)s?(?: (?:out|off))?(?: (?:me|us|them))?(?: an?| the)?(?: \w+)? ?(?:e-?mail|mail|message|alert|notification|slack(?: message)?|note|sms|page|report)|e-?mail|mail|notify|alert|slack|page|ping|tell|inform|message|let)(?:s|ed)?(?= |$|[.,;{SIGN}])(?: (?:{_WHO}))?(?:\s*know)?)"
_BROKEN = (
    r"(?:(?:on|upon|in case of|at) (?:any |a )?(?:failure|error|errors|failures)"
    r"|(?:if|when|whenever|in case|should) (?:anything|something|it|things|that|this|any (?:of (?:them|the steps|these) )?(?:step|task|stage|job)?s?|any of (?:them|it|this|these)|a (?:step|task|stage|run)|one of (?:them|the steps|the tasks)|the (?:run|workflow|pipeline|job|whole thing|process|flow)|some step|everything)(?: (?:of it|ever|should))?"
    r" ?(?:fails?|failed|breaks?|crash\w*|go(?:es)? wrong|errors?(?: out)?|dies|is broken|goes? south))"
)
_ENDED = r"(?:(?:when|once|after|as soon as) (?:everything|it|it's|all|the (?:run|workflow|pipeline|job|whole thing)|the whole thing|all of (?:it|that|this))(?: (?:is|has|are|was|steps are|of it is))? ?(?:all )?(?:done|finished?|finishes|complet\w+|ended|ends|over|through)|at the (?:very )?end(?: of the run)?,? (?:always |in any case )|whatever happens,?|in any case,?|no matter (?:what|how it ends),?|when done|on (?:completion|exit))"
_WORKED = r"(?:(?:when|once|if|as soon as) (?:everything|it|all(?: of it)?|the (?:run|workflow|pipeline|job|whole thing))(?: (?:was|is|has))? ?(?:succe\w+|works|worked|went well|goes well|successful(?:ly)?)|(?:on|upon) success)"
_MOMENTS: tuple[tuple[Literal["failure", "exit", "success"], str], ...] = (
    ("failure", _BROKEN),
    ("success", _WORKED),
    ("exit", _ENDED),
)
_TOLD = re.compile(
    r"benachricht|schick|send|mail|meld|informier|sag|avis|notif|envi|mand|prév|prev|avert|slack|alert|powiadom|wyślij|уведом|сообщ|отправ|waarschuw|stuur|meddela|bildir|通知|告警|寄|发|發|送|メール|알림|메일|알려|보내"
)
_OTHER_NOTICES: tuple[tuple[str, Literal["failure", "exit", "success"]], ...] = (
    (rf"(?:bei (?:einem )?(?:fehler|fehlschlag)\w*|wenn (?:etwas|es|ein schritt) (?:fehlschlägt|schiefgeht|schief geht)|im fehlerfall)[,:]? ?(?:bitte )?(?:eine )?(?:[^.;\n]*?)({SIGN}+)?(?: (?:benachrichtigen|schicken|senden|informieren))?(?=[.;\n]|$)", "failure"),
    (rf"schlägt (?:etwas|irgendetwas|ein schritt|es) fehl,? ?[^.;\n{SIGN}]*?({SIGN}+)?(?: (?:benachrichtigen|informieren|schicken))?(?=[.;\n]|$)", "failure"),
    (rf"(?:si (?:algo |cualquier paso )?falla|en caso de (?:error|fallo)|si falla algo)[,:]? ?[^.;\n]*?({SIGN}+)?(?=[.;\n]|$)", "failure"),
    (rf"(?:en cas d'(?:échec|erreur)|si (?:quelque chose|une étape|ça) échoue)[,:]? ?[^.;\n]*?({SIGN}+)?(?=[.;\n]|$)", "failure"),
    (rf"(?:in caso di (?:errore|fallimento)|se (?:qualcosa|un passo) fallisce)[,:]? ?[^.;\n]*?({SIGN}+)?(?=[.;\n]|$)", "failure"),
    (rf"(?:em caso de (?:falha|erro)|se algo falhar)[,:]? ?[^.;\n]*?({SIGN}+)?(?=[.;\n]|$)", "failure"),
    (rf"(?:bij (?:een )?fout|als (?:er )?iets (?:misgaat|mislukt))[,:]? ?[^.;\n]*?({SIGN}+)?(?=[.;\n]|$)", "failure"),
    (rf"(?:w razie (?:błędu|niepowodzenia)|jeśli coś się nie powiedzie)[,:]? ?[^.;\n]*?({SIGN}+)?(?=[.;\n]|$)", "failure"),
    (rf"(?:при ошибке|в случае (?:ошибки|сбоя)|если что-то (?:сломается|упадёт|упадет))[,:]? ?[^.;\n]*?({SIGN}+)?(?=[.;\n]|$)", "failure"),
    (rf"(?:如果(?:任何步骤)?失败|失败时|失敗時|出错时|出错就|失敗したら|エラー時|실패하면|실패 시)[^。；\n]*?(?:通知|邮件|郵件|寄信|メール|告警|알림|메일|发|送)[^。；\n]*?({SIGN}+)?(?=[。；\n]|$)", "failure"),
)  # fmt: skip


def read(script: Script) -> tuple[Notice, ...]:
    """Take what a text says of who is told how the run ended out of it."""
    notices: list[Notice] = []
    for on, moment in _MOMENTS:
        forms = (
            re.compile(rf"(?:,? ?(?:and|but|also) )?(?<!\w){moment}[,:]? ?(?:then |please |and )*(?P<tell>{_TELL})"),
            re.compile(rf"(?:,? ?(?:and|but|also) )?(?<!\w)(?P<tell>{_TELL})\s*,? ?{moment}"),
            re.compile(
                rf"(?:,? ?(?:and|but|also) )?(?<!\w){moment}[^.;\n{SIGN}]{{0,40}}?(?P<tell>(?:write|a (?:short )?(?:summary|message|note|mail|report|word)(?: (?:goes|should go|is sent|has to go|gets sent))?(?: out)?) to {SIGN}+)"
            ),
            re.compile(rf"(?<!\w){moment}\s*[:,]?\s*(?P<tell>{SIGN}+)(?=\s*(?:[.;\n]|$))"),
        )
        for form in forms:
            for found in script.find(form):
                start, end = found.span()
                atoms = script.atoms_in(start, end)
                notices.append(_notice(on, found["tell"], [atom.value for atom in atoms], script.text[start:end]))
                script.take(start, end)
    for pattern, on in _OTHER_NOTICES:
        for found in script.find(re.compile(pattern)):
            if not found[1] and not _TOLD.search(found.group()):
                continue
            if re.search(r"次|回|mal\b|veces|fois", found.group()) and not found[1]:
                continue
            atoms = script.atoms_in(*found.span())
            notices.append(
                _notice(on, found.group(), [atom.value for atom in atoms], script.text[slice(*found.span())])
            )
            script.take(*found.span())
    return tuple(dict.fromkeys(notices))[:10]


def _notice(on: Literal["failure", "exit", "success"], tell: str, atoms: list[str], text: str) -> Notice:
    channel = ""
    joined = f"{tell} {' '.join(atoms)}"
    for pattern, name in (
        (r"slack|#", "slack"),
        (r"\bpage|pager", "pager"),
        (r"\bteams\b", "teams"),
        (r"sms|\btext\b", "sms"),
        (r"mail|@|メール|邮件|郵件|寄|메일|correo|courriel|почт", "email"),
        (r"https?://", "webhook"),
    ):
        if re.search(pattern, joined):
            channel = name
            break
    target = ", ".join(atoms)
    if not target:
        who = re.search(r"\b(me|us|the [a-z -]*?(?:team|group|admins?|owner)|on-?call|ops|[a-z]+ team)\b", tell)
        target = who[1] if who is not None and who[1] not in ("me", "us") else ""
    return Notice(on, channel, target[:200], "")
