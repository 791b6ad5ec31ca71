"""`sprig`: regular expressions."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from couler_py.argolang.functions.regex import RegexProblem, compiled
from couler_py.argolang.functions.tables import Table, table
from couler_py.argolang.problems import EvaluationProblem
from couler_py.argolang.values import NoList, Strings


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return compiled(text)
    except RegexProblem as problem:
        raise EvaluationProblem(str(problem), late=problem.late) from problem


def _match(pattern: str, text: str) -> bool:
    """Whether a text has the pattern; a pattern that can't be read is in none."""
    try:
        return compiled(pattern).search(text) is not None
    except RegexProblem as problem:
        if problem.late:
            raise EvaluationProblem(str(problem), late=True) from problem
        return False


def _places(pattern: str, text: str, count: int = -1) -> list[re.Match[str]]:
    """The matches that Go finds: an empty one right after another counts for nothing."""
    found: list[re.Match[str]] = []
    for match in _pattern(pattern).finditer(text):
        if 0 <= count <= len(found):
            break
        if match.start() == match.end() and found and found[-1].end() == match.start():
            continue
        found.append(match)
    return found


def _find(pattern: str, text: str) -> str:
    found = _pattern(pattern).search(text)
    return found.group() if found else ""


def _find_all(pattern: str, text: str, count: int) -> list[Any]:
    return Strings(match.group() for match in _places(pattern, text, count)) or NoList()


def _split(pattern: str, text: str, count: int) -> list[Any]:
    if count == 0:
        return NoList()
    if pattern and not text:
        return Strings([""])
    parts: list[str] = []
    begin = end = 0
    for match in _places(pattern, text, count):
        if count > 0 and len(parts) == count - 1:
            break
        end = match.start()
        if match.end() != 0:
            parts.append(text[begin:end])
        begin = match.end()
    if end != len(text):
        parts.append(text[begin:])
    return Strings(parts)


_REFERENCE = re.compile(r"\$(?:\$|(\w+)|\{(\w+)\})", re.ASCII)


def _replaced(pattern: str, text: str, instead: str) -> str:
    def expanded(match: re.Match[str]) -> str:
        return _REFERENCE.sub(lambda reference: _group(match, reference), instead)

    return _rewritten(pattern, text, expanded)


def _group(match: re.Match[str], reference: re.Match[str]) -> str:
    name = reference[1] or reference[2]
    if name is None:
        return "$"
    if name.isdigit():
        number = int(name)
        return (match[number] or "") if number <= (match.re.groups or 0) else ""
    return (match[name] or "") if name in match.re.groupindex else ""


def _rewritten(pattern: str, text: str, new: Callable[[re.Match[str]], str]) -> str:
    parts, position = [], 0
    for match in _places(pattern, text):
        parts += [text[position : match.start()], new(match)]
        position = match.end()
    return "".join((*parts, text[position:]))


def _quoted(text: str) -> str:
    return re.sub(r"[\\.+*?()|\[\]{}^$]", lambda sign: "\\" + sign.group(), text)


def _twins() -> Table:
    plain = table(
        regexMatch=("string string", _match),
        regexFind=("string string", _find),
        regexFindAll=("string string int", _find_all),
        regexReplaceAll=("string string string", _replaced),
        regexReplaceAllLiteral=(
            "string string string",
            lambda pattern, text, instead: _rewritten(pattern, text, lambda match: instead),
        ),
        regexSplit=("string string int", _split),
    )
    strict = {"must" + name[0].upper() + name[1:]: function for name, function in plain.items()}
    strict["mustRegexMatch"] = table(m=("string string", lambda p, text: _pattern(p).search(text) is not None))["m"]
    return {**plain, **strict}


PATTERNS: Table = {**_twins(), **table(regexQuoteMeta=("string", _quoted))}
