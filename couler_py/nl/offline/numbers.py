"""Numbers, lengths of time and amounts in words."""

from __future__ import annotations

import re

LARGEST = 1e300
"""What any larger number is taken for: beyond it a float has none."""

_SMALL = {
    word: number
    for number, words in enumerate(
        (
            "zero null",
            "one once a an single ein eine einen uno una un une 一 um uma een jeden один en bir",
            "two twice both zwei zweimal dos deux due dois duas twee dwa два två iki 两 二 兩",
            "three thrice drei dreimal tres trois tre três drie trzy три tre üç 三",
            "four vier cuatro quatre quattro quatro cztery четыре fyra dört 四",
            "five fünf cinco cinq cinque vijf pięć пять fem beş 五",
            "six sechs seis sei zes sześć шесть sex altı 六",
            "seven sieben siete sept sette sete zeven siedem семь sju yedi 七",
            "eight acht ocho huit otto oito osiem восемь åtta sekiz 八",
            "nine neun nueve neuf nove negen dziewięć девять nio dokuz 九",
            "ten zehn diez dix dieci dez tien dziesięć десять tio on 十",
            "eleven elf",
            "twelve zwölf doce douze dodici doze twaalf dwanaście",
        )
    )
    for word in words.split()
} | {"fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "hundred": 100, "thousand": 1000, "dozen": 12}
NUMBER = r"(?:\d{1,3}(?:[,']\d{3})+(?!\d)|\d+(?:[.,]\d+)?(?:e-?\d+)?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|fifty|a hundred|zwei|drei|vier|fünf|dos|tres|deux|trois|due|tre|两|二|三|四|五|兩)"
COUNT = r"(?:\d{1,6}|one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|fifty|once|twice|thrice|zwei|drei|dreimal|zweimal|dos|tres|deux|trois|due|tre|quattro|dois|três|twee|drie|dwa|trzy|два|три|两|二|三|四|五|兩)"
UNIT = (
    r"(?:s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?|w(?:eeks?)?|sekunden?|minuten?|stunden?|tagen?"
    r"|segundos?|minutos?|horas?|días?|secondes?|heures?|jours?|secondi|minuti|ore|秒|分钟|分|小时|時間|天)"
)
LENGTH = rf"(?:half an hour|an hour(?: and a half)?|a minute|a day|a week|{NUMBER}\s*-?\s*{UNIT})(?![\w])"
_FACTORS = (
    (r"s(?:ec\w*|eg\w*)?$|sekund\w*|秒", 1),
    (r"m(?:in\w*)?$|分钟?", 60),
    (r"h(?:ou?r?s?|rs?|oras?|eures?)?$|stunde\w*|ore|小时|時間|horas?", 3600),
    (r"d(?:ays?)?$|tag\w*|d[ií]as?|jours?|天", 86400),
    (r"w(?:eeks?)?$", 604800),
)


def number(text: str) -> float:
    """A number in digits or as a word, at most `LARGEST`. Raises `ValueError` for what isn't one.

    >>> number("1,000"), number("0,85"), number("twice"), number("1e400")
    (1000.0, 0.85, 2.0, 1e+300)
    """
    plain = text.strip().lower()
    plain = plain.removeprefix("a ") if plain.startswith("a h") else plain
    if plain in _SMALL:
        return float(_SMALL[plain])
    if re.fullmatch(r"\d{1,3}([,']\d{3})+", plain) and not plain.startswith("0"):
        return float(re.sub(r"[,']", "", plain))
    return min(float(plain.replace(",", ".")), LARGEST)


def value(text: str) -> int | float:
    """A number as a whole one where it is one.

    >>> value("20"), value("1e-3")
    (20, 0.001)
    """
    found = number(text)
    whole = abs(found) < 2**53 and found == int(found) and not re.search(r"[.,]\d|e-", text)
    return int(found) if whole else found


def count(text: str) -> int:
    """A whole number in digits or as a word."""
    return int(number(text))


def length(text: str) -> float:
    """A length of time in seconds. Raises `ValueError` for what isn't one.

    >>> length("90 minutes"), length("half an hour")
    (5400.0, 1800.0)
    """
    plain = text.strip().lower()
    fixed = {"half an hour": 1800.0, "an hour and a half": 5400.0, "an hour": 3600.0, "a minute": 60.0}
    fixed |= {"a day": 86400.0, "a week": 604800.0}
    if plain in fixed:
        return fixed[plain]
    found = re.fullmatch(rf"({NUMBER})\s*-?\s*(\D+)", plain)
    if found is None:
        raise ValueError(text)
    for pattern, factor in _FACTORS:
        if re.match(pattern, found[2].strip()):
            return number(found[1]) * factor
    raise ValueError(text)
