"""`sprig`: texts by their words: cases, initials, lines."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from couler_py.argolang.functions.conversions import cased
from couler_py.argolang.functions.tables import table
from couler_py.argolang.tokens import SPACES
from couler_py.argolang.values import from_bytes, in_bytes

NUMBER, UPPER, LETTERS, CONNECTOR, SIGNS, OTHER = "number", "upper", "letters", "connector", "signs", "other"


def _upper(character: str) -> str:
    return cased(character, str.upper)


def _lower(character: str) -> str:
    return cased(character, str.lower)


def _connects(character: str) -> bool:
    return character in "-_" or character in SPACES


def _title(text: str) -> str:
    """Every word begins with a capital; letters, digits, `_` and letters of any script belong to a word."""
    found, before = [], " "
    for character in text:
        inside = before.isalnum() or before == "_" or (ord(before) >= 0x80 and before not in SPACES)
        found.append(character if inside else _upper(character))
        before = character
    return "".join(found)


def _untitle(text: str) -> str:
    found, begins = [], True
    for character in text:
        space = character in SPACES
        found.append(_lower(character) if begins and not space else character)
        begins = space
    return "".join(found)


def _swapcase(text: str) -> str:
    found, after_space = [], True
    for character in text:
        if character.isupper():
            found.append(_lower(character))
            after_space = False
        elif character.islower():
            found.append(_upper(character))
            after_space = False
        else:
            found.append(character)
            after_space = after_space or character in SPACES
    return "".join(found)


def _byte_by_byte(text: str) -> str:
    """A text as some functions see it: every byte a character of its own."""
    return in_bytes(text).decode("latin-1")


def _initials(text: str) -> str:
    found, begins = [], True
    for character in _byte_by_byte(text):
        if character in SPACES:
            begins = True
        elif begins:
            found.append(character)
            begins = False
    return "".join(found)


def _nospace(text: str) -> str:
    seen = _byte_by_byte(text)
    kept = "".join(character for character in seen if character not in SPACES)
    return text if kept == seen else kept


def _pascal(text: str) -> str:
    """`some words` as `SomeWords`; connectors at the begin, at the end and all but one of several stay."""
    start = next((place for place, each in enumerate(text) if not _connects(each)), len(text))
    if start == len(text):
        return text + text[-1:]  # the library writes the last connector twice
    found, held, shouting = list(text[:start]), _upper(text[start]), text[start].isupper()
    for character in text[start + 1 :]:
        before = held
        held = character
        if _connects(character) and _connects(before):
            found.append(before)
        elif _connects(before):
            shouting = character.isupper()
            held = _upper(character)
        else:
            shouting = shouting and character.isupper()
            held = _lower(character) if shouting else character
            found.append(before)
    return "".join((*found, held))


def _sort(character: str) -> str:
    if _connects(character):
        return CONNECTOR
    category = unicodedata.category(character)
    if category.startswith("P"):
        return SIGNS
    if category == "Lu":
        return UPPER
    if category.startswith("L"):
        return LETTERS
    return NUMBER if category.startswith("N") else OTHER


def _parts(text: str) -> Iterator[tuple[str, str]]:
    """A text as runs of a sort; a capital begins a run of letters, and several end before the last one of them."""
    position = 0
    while position < len(text):
        sort, end = _sort(text[position]), position + 1
        if sort == UPPER and end < len(text):
            if _sort(text[end]) == UPPER:
                while end < len(text) and _sort(text[end]) == UPPER:
                    end += 1
                if end < len(text) and _sort(text[end]) == LETTERS:
                    end -= 1
            else:
                while end < len(text) and _sort(text[end]) == LETTERS:
                    end += 1
        elif sort != UPPER:
            while end < len(text) and _sort(text[end]) == sort:
                end += 1
        yield sort, text[position:end]
        position = end


def _separated(text: str, connector: str) -> str:
    """Words in lower case with a connector between them; a number belongs to the word before it, or to the next."""
    parts = [*_parts(text)]
    found: list[str] = []

    def put(sort: str, word: str) -> None:
        found.append(connector * len(word) if sort == CONNECTOR else cased(word, str.lower))

    place = 0
    while place < len(parts) - 1:
        sort, word = parts[place]
        if sort != CONNECTOR:
            put(sort, word)
        place += 1
        following = parts[place][0]
        if sort == NUMBER:
            while place < len(parts) and parts[place][0] in (LETTERS, NUMBER):
                put(*parts[place])
                place += 1
            if place < len(parts) and parts[place][0] not in (SIGNS, CONNECTOR):
                found.append(connector)
        elif sort == CONNECTOR:
            put(sort, word)
        elif sort == SIGNS:
            continue
        elif following != NUMBER:
            if following not in (CONNECTOR, SIGNS):
                found.append(connector)
        elif place < len(parts) - 1:
            number = parts[place]
            place += 1
            if parts[place][0] != LETTERS:
                put(*number)
                if parts[place][0] not in (CONNECTOR, SIGNS):
                    found.append(connector)
                continue
            found.append(connector)
            put(*number)
            while place < len(parts) and parts[place][0] in (LETTERS, NUMBER):
                put(*parts[place])
                place += 1
            if place < len(parts) and parts[place][0] not in (SIGNS, CONNECTOR):
                found.append(connector)
    for rest in parts[place:]:
        put(*rest)
    return "".join(found)


def _wrapped(width: int, text: str, line: str = "\n", *, cut: bool = False) -> str:
    """A text in lines of at most `width` bytes; words that are longer are cut where `cut` says so."""
    data, width, ending = in_bytes(text), max(width, 1), in_bytes(line or "\n")
    found, offset = [], 0
    while len(data) - offset > width:
        if data[offset : offset + 1] == b" ":
            offset += 1
            continue
        space = data.rfind(b" ", offset, offset + width + 1)
        if space < 0 and not cut:
            space = data.find(b" ", offset + width)
            if space < 0:
                found.append(data[offset:])
                offset = len(data)
                break
        if space < 0:
            found += [data[offset : offset + width], ending]
            offset += width
        else:
            found += [data[offset:space], ending]
            offset = space + 1
    return from_bytes(b"".join((*found, data[offset:])))


WORDS = table(
    title=("string", _title),
    untitle=("string", _untitle),
    swapcase=("string", _swapcase),
    initials=("string", _initials),
    nospace=("string", _nospace),
    camelcase=("string", _pascal),
    snakecase=("string", lambda text: _separated(text, "_")),
    kebabcase=("string", lambda text: _separated(text, "-")),
    wrap=("int string", _wrapped),
    wrapWith=("int string string", lambda width, line, text: _wrapped(width, text, line, cut=True)),
)
