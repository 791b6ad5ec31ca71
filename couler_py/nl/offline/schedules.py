"""When a workflow starts by itself, in words: "every weekday at 6:30 Berlin time" as a cron line."""

from __future__ import annotations

import datetime
import re

import msgspec

from couler_py.ir.schedules import cron_problem
from couler_py.nl.draft import Question
from couler_py.nl.offline.lexicon import verb
from couler_py.nl.offline.numbers import count
from couler_py.nl.offline.script import Script
from couler_py.nl.offline.zones import cities, zone
from couler_py.nl.outline import Schedule

_DAYS = {
    "sunday": 0, "sun": 0, "sonntag": 0, "domingo": 0, "dimanche": 0, "domenica": 0, "zondag": 0, "niedziel": 0, "воскресень": 0, "söndag": 0, "pazar": 0, "周日": 0, "星期日": 0, "星期天": 0, "日曜": 0, "일요일": 0,
    "monday": 1, "mon": 1, "montag": 1, "lunes": 1, "lundi": 1, "lunedì": 1, "segunda": 1, "maandag": 1, "poniedział": 1, "понедельник": 1, "måndag": 1, "pazartesi": 1, "周一": 1, "星期一": 1, "月曜": 1, "월요일": 1,
    "tuesday": 2, "tue": 2, "dienstag": 2, "martes": 2, "mardi": 2, "martedì": 2, "terça": 2, "dinsdag": 2, "wtorek": 2, "вторник": 2, "tisdag": 2, "salı": 2, "周二": 2, "星期二": 2, "火曜": 2, "화요일": 2,
    "wednesday": 3, "wed": 3, "mittwoch": 3, "miércoles": 3, "mercredi": 3, "mercoledì": 3, "quarta": 3, "woensdag": 3, "środ": 3, "сред": 3, "onsdag": 3, "çarşamba": 3, "周三": 3, "星期三": 3, "水曜": 3, "수요일": 3,
    "thursday": 4, "thu": 4, "donnerstag": 4, "jueves": 4, "jeudi": 4, "giovedì": 4, "quinta": 4, "donderdag": 4, "czwart": 4, "четверг": 4, "torsdag": 4, "perşembe": 4, "周四": 4, "星期四": 4, "木曜": 4, "목요일": 4,
    "friday": 5, "fri": 5, "freitag": 5, "viernes": 5, "vendredi": 5, "venerdì": 5, "sexta": 5, "vrijdag": 5, "piąt": 5, "пятниц": 5, "fredag": 5, "cuma": 5, "周五": 5, "星期五": 5, "金曜": 5, "금요일": 5,
    "saturday": 6, "sat": 6, "samstag": 6, "sábado": 6, "samedi": 6, "sabato": 6, "zaterdag": 6, "sobot": 6, "суббот": 6, "lördag": 6, "cumartesi": 6, "周六": 6, "星期六": 6, "土曜": 6, "토요일": 6,
}  # fmt: skip
_DAY = "|".join(sorted(_DAYS, key=len, reverse=True))
_REST_OF_DAY = r"(?:日|요일|(?:(?![\u3040-\u9fff\uac00-\ud7a3])\w)*)"
_LIST_OF_DAYS = rf"(?!month|sunset|sunrise|satur(?!day)|friend|sunny|money|sundry|weds)(?:{_DAY}){_REST_OF_DAY}(?:\s*(?:,|and|und|y|et|e|en|&|/|、|和)\s*(?:and\s+)?(?:每?周)?(?:{_DAY}){_REST_OF_DAY})*"
_EVERY = r"(?:every|each|jede[nrs]?|cada|todos los|todas las|todos os|todas as|tous les|toutes les|chaque|ogni|elke?|iedere|każd\w+|co|кажд\w+|varje|her|每个?|毎|매)"
_MONTHS = {
    name: at
    for at, names in enumerate(
        "january jan|february feb|march mar|april apr|may|june jun|july jul|august aug|september sep sept|october oct"
        "|november nov|december dec".split("|"),
        1,
    )
    for name in names.split()
}
_TIME = re.compile(
    r"(?:\b(?:at|um|a las?|à|alle|às|as|om|o|в|kl\.?|saat|about|around|@)\s+|凌晨|早上|上午|下午|晚上|晚|午前|午後|오전|오후|새벽)?\s*"
    r"(?:(?<![\d.])(?P<h>\d{1,2})(?:(?::|\.|h|时|時|시|点|點)(?P<m>\d{2}))?\s*(?P<half>a\.?m\.?\b|p\.?m\.?\b|o'?clock|uhr|h\b|点|點|時|时|시|uur|godzin\w*|часов|часа)?(?:\s*(?P<m2>\d{1,2})\s*(?:分|분))?"
    r"|(?P<noon>\bnoon\b|\bmidday\b|\bmittags?\b|\bmediodía\b|\bmidi\b|中午|正午)|(?P<midnight>\bmidnight\b|\bmitternacht\b|\bmedianoche\b|\bminuit\b|午夜|零点))"
)
_AT = re.compile(
    r"\b(?:at|um|a las?|à|alle|às|om|o godzinie|o|в|kl\.?|saat|@)\s*$|凌晨$|早上$|上午$|下午$|晚上$|晚$|午前$|午後$|오전$|오후$|새벽$"
)
_AFTERNOON = re.compile(r"下午|晚上|晚|午後|오후|in the (?:afternoon|evening)|de la tarde|nachmittags|abends|du soir")
_UNITS = {"minute": "minute", "min": "minute", "hour": "hour", "day": "day", "week": "week", "month": "month"}
_DAILY = r"\b(?:daily|nightly|every\s*day|each day|every (?:single )?(?:day|night|morning|evening)|once a day|per day|täglich|jeden? (?:tag|nacht|morgen)|jede nacht|nachts|diariamente|cada (?:día|dia|noche)|todos los días|todas las noches|todos os dias|toda noite|chaque (?:jour|nuit|matin)|tous les (?:jours|soirs)|toutes les nuits|quotidienne?ment|ogni (?:giorno|notte|mattina)|dagelijks|elke (?:dag|nacht|ochtend)|codziennie|każdego dnia|co noc|ежедневно|каждый день|каждую ночь|каждое утро|varje (?:dag|natt|morgon)|dagligen|her (?:gün|gece|sabah))\b|每天|每日|每晚|毎日|毎晩|毎朝|매일|매일 밤"
_WHOLE: tuple[tuple[str, str, str], ...] = (
    (
        r"\b(?:hourly|every hour|each hour|once an hour|stündlich|jede stunde|cada hora|toutes les heures|ogni ora|elk uur|co godzinę|каждый час|varje timme|her saat)\b|每小时|每小時|毎時|매시간",
        "0 * * * *",
        "hour",
    ),
    (
        r"\b(?:weekly|every week|once a week|each week|wöchentlich|jede woche|semanalmente|cada semana|chaque semaine|hebdomadaire|ogni settimana|wekelijks|elke week|co tydzień|еженедельно|каждую неделю)\b|每周|每週|毎週|매주",
        "0 0 * * 0",
        "week",
    ),
    (
        r"\b(?:monthly|every month|once a month|each month|monatlich|jeden monat|mensualmente|cada mes|chaque mois|ogni mese|maandelijks|elke maand|co miesiąc|ежемесячно|каждый месяц)\b|每月|每个月|毎月|매월|매달",
        "0 0 1 * *",
        "month",
    ),
    (r"\b(?:quarterly|every quarter)\b", "0 0 1 1,4,7,10 *", "quarter"),
    (r"\b(?:yearly|annually|every year)\b", "0 0 1 1 *", "year"),
)
_WEEKDAYS = re.compile(
    r"\b(?:(?:every|each|on) )?(?:weekdays?|working days?|business days?|workdays?|monday (?:to|through|-) friday|mon\s*-\s*fri|mo-fr|werktags?|jeden werktag|días laborables|dias úteis|jours ouvrés|giorni feriali)\b|工作日|平日|평일"
)
_WEEKENDS = re.compile(r"\b(?:(?:every|each|on) )?(?:weekends?|wochenenden?)\b")
_ON_DAYS = re.compile(
    rf"(?:(?<!\w)(?=(?:mon|tues|wednes|thurs|fri|satur|sun)days)|\b(?:{_EVERY}|on|am|los?|le|il|na|w|в|på)\s+|每个?|毎|매주\s*)({_LIST_OF_DAYS})(?![a-zà-ÿ])",
    re.UNICODE,
)
_ORDINAL = r"(?:\d{1,2}(?:st|nd|rd|th|\.)?|first|second|third|last)"
_MONTH_DAY = re.compile(
    rf"\b(?:(?:runs? )?(?:on|at|am|every|each) )?(?:the )?({_ORDINAL}(?:(?:,| and) (?:the )?{_ORDINAL})*)(?: day)?(?: of)?(?: (?:the|every|each|a|jedes|per))? months?\b"
    rf"|\b(?:each|every) month,? (?:on|at) (?:the )?({_ORDINAL})\b|\bmonthly,? (?:on|at) the ({_ORDINAL})\b|\bon the ({_ORDINAL})(?: day)? (?:each|every) month\b"
    r"|每月\s*(\d{1,2})\s*[日号號]|毎月\s*(\d{1,2})\s*日|매월\s*(\d{1,2})\s*일|\bam (\d{1,2})\. jedes monats"
)
_STEP = re.compile(
    rf"(?:\b{_EVERY}\s+({{number}})\s*(?:-\s*)?(minute|min|hour|day|week|month|stunde|hora|heure|ora|ore|minut|godzin|минут|час|分钟|小时|h\b)\w*)|每\s*(\d+)\s*个?(分钟|小时)".replace(
        "{number}", r"\d{1,3}|two|three|four|five|six|ten|twelve|fifteen|thirty|other|zwei|drei|dos|tres|deux|trois"
    )
)
_PAST = re.compile(
    r"\b(?:at )?(?:(\d{1,2}|five|ten|twenty) (?:minutes? )?(?:past|after)|on the(?! hour,? every [a-z]*day)) (?:every |each |the )(?:full )?hour(?:,? every hour)?\b"
)
_PART = re.compile(
    r"\b(?:every|each) (?:quarter(?: of an)?(?: |-)hour|half(?: an)?(?: |-)hour|quarter of an hour)\b(?:,? (?:starting )?(?:on|at) the (?:full )?hour)?"
)
_HOURS = re.compile(
    r"\b(?:daily |every day )?at ((?:\d{1,2}(?::?00)?(?:,| and|, and) ){1,5}\d{1,2})(?::?00)?(?= ?(?:utc|gmt|o'clock|h\b|uhr|every day|daily|each day))"
)
_CRON = re.compile(r"(?<![\w*/])((?:[\d*,/-]+\s+){4}[\d*,/-]+)(?![\w*/])")
_DATE = re.compile(
    rf"\b({'|'.join(sorted(_MONTHS, key=len, reverse=True))})\s+(\d{{1,2}})(?:st|nd|rd|th)?\b|\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({'|'.join(sorted(_MONTHS, key=len, reverse=True))})\b"
)
_VAGUE = re.compile(
    r"\b(?:regularly|periodically|from time to time|now and then|frequently|every so often|regelmäßig|regularmente|régulièrement)\b"
)
_OVERLAP: tuple[tuple[str, str], ...] = (
    (
        r"\b(?:only one run at a time|one run at a time|never two (?:runs )?at (?:once|the same time)|(?:no|without|don'?t|do not|never) (?:allow )?overlap\w*(?: runs)?|not overlap|must not overlap|(?:don'?t|do not|never) let (?:two |the )?runs overlap|under no circumstances (?:should|may|must) (?:two|several)[^.;\\n]*(?:at once|at the same time|together)|(?:two |the )?runs (?:must|should|may) (?:not|never) overlap|(?:if|while|when) (?:the )?(?:one before|previous(?: one| run)?|last(?: one| run)?|earlier (?:one|run))[^.,;]*(?:going|running|busy|not (?:done|finished))|skip (?:it |the run )?if (?:the )?(?:previous|last)[^.,;]*(?:running)?|unless the previous[^.,;]*|concurrency:? forbid)\b[^.,;\n]*",
        "Forbid",
    ),
    (
        r"\b(?:(?:cancel|kill|stop|replace|abort) (?:the )?(?:old|previous|running|earlier)(?: (?:run|one))?[^.,;\n]*)",
        "Replace",
    ),
    (r"\b(?:(?:runs )?may overlap|overlap(?:ping)? (?:is|runs are) (?:ok|fine|allowed)|allow overlap\w*)\b", "Allow"),
)


class Found(msgspec.Struct, frozen=True):
    """The schedule of a text, what is open about it, what was assumed, and what can't be."""

    schedule: Schedule | None = None
    questions: tuple[Question, ...] = ()
    assumptions: tuple[str, ...] = ()
    impossible: tuple[str, ...] = ()


def read(script: Script) -> Found:
    """Take what a text says of when the workflow starts out of it."""
    questions: list[Question] = []
    assumptions: list[str] = []
    impossible: list[str] = list(_dates(script))
    overlap = _overlap(script)
    cron = _literal(script)
    timed = None
    if cron is None:
        cron, timed, wrong = _spoken(script)
        impossible += wrong
    vague = _VAGUE.search(script.rest)
    if vague is not None:
        script.take(*vague.span())
        if cron is None:
            questions.append(
                Question("When should it start, and how often? The text says it should be regular.", "schedule")
            )
    if impossible:
        return Found(None, tuple(questions), (), tuple(impossible))
    if cron is None:
        once = re.search(r"\bat (?:midnight|noon)\b", script.rest)
        if once is not None:
            questions.append(
                Question("How often should it start, as every day? The text says only the hour.", "schedule")
            )
            script.take(*once.span())
        return Found(None, tuple(questions))
    found = zone(script.rest, script.text) or _city(script)
    if found is not None:
        script.take(found[1], found[2])
    else:
        assumptions.append("the times of the schedule are UTC: the text names no time zone")
    if timed is False:
        assumptions.append(f"it starts at midnight ({cron}): the text names no time of the day")
    timezone = found[0] if found is not None else "UTC"
    return Found(Schedule((cron,), timezone, overlap or "Allow"), tuple(questions), tuple(assumptions))  # type: ignore[arg-type]


def _city(script: Script) -> tuple[str, int, int] | None:
    """The zone of a city that stands right behind or before what was said of the time: "at 3 in Berlin"."""
    for found in cities(script.rest):
        before = len(script.text[: found[1]].rstrip(" ,("))
        behind = script.text[found[2] :]
        after = found[2] + len(behind) - len(behind.lstrip(" ,)"))
        if any(
            0 <= at < len(script.text) and script.rest[at].isspace() and not script.text[at].isspace()
            for at in (before - 1, after)
        ):
            return found
    return None


def _overlap(script: Script) -> str:
    for pattern, word in _OVERLAP:
        found = re.search(pattern, script.rest)
        if found is not None:
            script.take(*found.span())
            return word
    return ""


def _literal(script: Script) -> str | None:
    for found in _CRON.finditer(script.rest):
        if cron_problem(found[1]) is None:
            script.take(*found.span())
            return " ".join(found[1].split())
    for atom in list(script.atoms.values()):
        if atom.kind in ("command", "quote") and len(atom.value.split()) == 5 and cron_problem(atom.value) is None:
            script.take(atom.start, atom.end)
            return " ".join(atom.value.split())
    return None


def _dates(script: Script) -> list[str]:
    """Dates that no year has."""
    wrong = []
    for found in _DATE.finditer(script.rest):
        month = _MONTHS[found[1] or found[4]]
        day = int(found[2] or found[3])
        try:
            datetime.date(2024, month, day)
        except ValueError:
            wrong.append(f"there is no such date as {script.text[slice(*found.span())]}")
            script.use(*found.span())
    return wrong


def _spoken(script: Script) -> tuple[str | None, bool | None, list[str]]:
    """The cron line of what is said, and whether it has a time of the day of its own."""
    rest = script.rest
    past = _PAST.search(rest)
    if past is not None and (minute := count(past[1] or "0")) < 60:
        script.take(*past.span())
        return f"{minute} * * * *", None, []
    part = _PART.search(rest)
    if part is not None:
        script.take(*part.span())
        return "*/15 * * * *" if "quarter" in part.group() else "*/30 * * * *", None, []
    hours = _HOURS.search(rest)
    if hours is not None and all(hour <= 23 for hour in map(int, re.findall(r"\d+", hours[1]))):
        script.take(*hours.span())
        return f"0 {','.join(str(int(hour)) for hour in re.findall(r'[0-9]+', hours[1]))} * * *", True, []
    step = _STEP.search(rest)
    if step is not None:
        cron = _stepped(step)
        if cron is not None:
            script.take(*step.span())
            if cron.startswith("0 0"):
                return _with_time(script, cron, step.span())
            return _on_weekdays(script, cron), None, []
    date = _DATE.search(rest)
    if date is not None and re.search(rf"{_EVERY}\s*$|\byearly\b|\bevery year\b", rest[: date.start()]):
        month, day = _MONTHS[date[1] or date[4]], int(date[2] or date[3])
        script.take(*date.span())
        return _with_time(script, f"0 0 {day} {month} *", date.span())
    found = _MONTH_DAY.search(rest)
    if found is not None:
        days = next(filter(None, found.groups()))
        line = _days_of_month(days)
        if line is not None:
            script.take(*found.span())
            _take_again(script)
            return _with_time(script, f"0 0 {line} * *", found.span())
    found = _WEEKDAYS.search(rest)
    hourly = re.search(r"\b(?:hourly|every hour|each hour)\b", rest)
    if found is not None and hourly is not None and not _describes(rest, hourly):
        script.take(*hourly.span())
        return _on_weekdays(script, "0 * * * *"), None, []
    if found is not None:
        script.take(*found.span())
        return _with_time(script, "0 0 * * 1-5", found.span())
    found = _WEEKENDS.search(rest)
    if found is not None:
        script.take(*found.span())
        return _with_time(script, "0 0 * * 0,6", found.span())
    found = _ON_DAYS.search(rest)
    if found is not None:
        days = sorted({_DAYS[day] for day in re.findall(_DAY, found[1])})
        script.take(*found.span())
        _take_again(script)
        return _with_time(script, f"0 0 * * {','.join(map(str, days))}", found.span())
    twice = re.search(r"\b(twice|two times|three times|four times) (?:a|per) day\b", rest)
    if twice is not None:
        script.take(*twice.span())
        return f"0 */{24 // count(twice[1].split()[0])} * * *", None, []
    found = re.search(_DAILY, rest)
    if found is not None and not _describes(rest, found):
        script.take(*found.span())
        return _with_time(script, "0 0 * * *", found.span())
    for pattern, cron, unit in _WHOLE:
        found = re.search(pattern, rest)
        if found is not None and not _describes(rest, found):
            script.take(*found.span())
            return (cron, None, []) if unit == "hour" else _with_time(script, cron, found.span())
    return None, None, []


def _on_weekdays(script: Script, cron: str) -> str:
    """The line of what is done several times a day, on the days that the text has beside it."""
    for pattern, days in ((_WEEKDAYS, "1-5"), (_WEEKENDS, "0,6")):
        found = pattern.search(script.rest)
        if found is not None:
            script.take(*found.span())
            return f"{cron.removesuffix('*')}{days}"
    return cron


def _describes(rest: str, found: re.Match[str]) -> bool:
    """Whether a word says what a thing is like, as in "the daily sales", and not how often something is done."""
    after = re.match(r"\s+(?P<word>[a-z]+)", rest[found.end() :])
    before = re.search(
        r"\b(?:the|a|an|our|all|these|their|its|yesterday's|by|into|create|write|send|generate)\s+$",
        rest[: found.start()],
    )
    if re.search(r"\bfor\s+$|[\w][./_-]$", rest[: found.start()]):
        return True
    made = re.search(
        r"\b(?:compute|calculate|aggregate|derive|plot|sum|count|forecast|predict|summari[sz]e|average)s?\s+$",
        rest[: found.start()],
    )
    if made is not None and after is not None:
        return True
    if (
        before is None
        and after is not None
        and re.match(r"(?:daily|weekly|monthly|hourly|yearly)$", found.group())
        and re.search(r"[\w:,]\s+$", rest[: found.start()])
        and re.search(r"[a-z]{3,}s$", after["word"])
        and verb(after["word"]) is None
    ):
        return True
    if before is None or after is None:
        return False
    return not re.match(
        r"(?:job|run|runs|pipeline|workflow|batch|task|build|schedule|dag|at|etl|training|process|flow|backup|on)\b",
        after["word"],
    )


def _take_again(script: Script) -> None:
    """What says the same once more, as "weekly" beside a day."""
    for pattern in (_DAILY, *(pattern for pattern, _, unit in _WHOLE if unit in ("week", "month"))):
        found = re.search(pattern, script.rest)
        if found is not None:
            script.take(*found.span())


def _stepped(found: re.Match[str]) -> str | None:
    said, unit = (found[1], found[2]) if found[1] else (found[3], found[4])
    every = 2 if said == "other" else count(said)
    if unit.startswith(("min", "минут", "分")) and every < 60:
        return f"*/{every} * * * *"
    if unit.startswith(("min", "минут", "分")) and every % 60 == 0:
        return f"0 */{every // 60} * * *"
    if unit.startswith(("hour", "stunde", "hora", "heure", "ora", "ore", "godzin", "час", "小时", "h")) and every < 24:
        return f"0 */{every} * * *"
    if unit.startswith("day"):
        return f"0 0 */{every} * *"
    if unit.startswith("month") and every <= 12:
        return f"0 0 1 */{every} *"
    return None


def _days_of_month(text: str) -> str | None:
    words = {"first": "1", "second": "2", "third": "3", "last": "L"}
    days = []
    for word in re.findall(_ORDINAL, text):
        digits = words.get(word, re.sub(r"\D", "", word))
        if digits == "L":
            return None
        if not 1 <= int(digits) <= 31:
            return None
        days.append(int(digits))
    return ",".join(str(day) for day in sorted(set(days))) or None


def _with_time(script: Script, cron: str, near: tuple[int, int]) -> tuple[str | None, bool | None, list[str]]:
    """The line with the time of the day that stands nearest to a part; False where there is none."""
    rest = script.rest
    best: re.Match[str] | None = None
    for found in _TIME.finditer(rest):
        said = found["half"] or found["noon"] or found["midnight"] or found["m"]
        after = _AT.search(rest[: found.start("h")]) if found["h"] else None
        if not said and after is None:
            continue
        if found["m"] and "." in found.group() and not found["half"] and after is None:  # a number: "> 0.82"
            continue
        if found["h"] and re.match(r"\s*(?:%|\w*(?:times?|retr|gb|gi|core|cpu|gpu))", rest[found.end() :]):
            continue
        if best is None or abs(found.start() - near[0]) < abs(best.start() - near[0]):
            best = found
    if best is None:
        return cron, False, []
    script.take(*best.span())
    said = script.text[slice(*best.span())].strip()
    hour, minute, wrong = _clock(best, rest)
    if wrong:
        return None, None, [f"there is no such time as {said}"]
    fields = cron.split()
    return " ".join([str(minute), str(hour), *fields[2:]]), True, []


def _clock(found: re.Match[str], rest: str) -> tuple[int, int, bool]:
    if found["noon"]:
        return 12, 0, False
    if found["midnight"]:
        return 0, 0, False
    hour, minute = int(found["h"]), int(found["m"] or found["m2"] or 0)
    half = (found["half"] or "").replace(".", "")
    near = rest[max(0, found.start() - 2) : found.end() + 18]
    if half == "pm" or (half != "am" and hour < 12 and _AFTERNOON.search(near)):
        hour = hour + 12 if hour < 12 else hour
    elif half == "am" and hour == 12:
        hour = 0
    return hour, minute, hour > 23 or minute > 59


__all__ = ["Found", "read"]
