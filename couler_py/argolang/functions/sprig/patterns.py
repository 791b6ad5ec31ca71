"""`sprig`: regular expressions."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from couler_py.argolang.functions.regex import Found, Machine, RegexProblem, compiled
from couler_py.argolang.functions.tables import Table, table
from couler_py.argolang.problems import EvaluationProblem
from couler_py.argolang.values import NoList, Strings


def _pattern(text: str) -> Machine:
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


def _find(pattern: str, text: str) -> str:
    found = _pattern(pattern).search(text)
    return found.group() if found else ""


def _find_all(pattern: str, text: str, count: int) -> list[Any]:
    return Strings(found.group() for found in _pattern(pattern).all(text, count)) or NoList()


def _split(pattern: str, text: str, count: int) -> list[Any]:
    machine = _pattern(pattern)
    if count == 0:
        return NoList()
    if pattern and not text:
        return Strings([""])
    parts: list[str] = []
    begin = end = 0
    for found in machine.all(text, count):
        if count > 0 and len(parts) == count - 1:
            break
        end = found.start
        if found.end != 0:
            parts.append(text[begin:end])
        begin = found.end
    if end != len(text):
        parts.append(text[begin:])
    return Strings(parts)


_REFERENCE = re.compile(r"\$(?:\$|(\w+)|\{(\w+)\})", re.ASCII)


def _replaced(pattern: str, text: str, instead: str) -> str:
    machine = _pattern(pattern)

    def expanded(found: Found) -> str:
        return _REFERENCE.sub(lambda reference: _group(machine, found, reference), instead)

    return _rewritten(machine, text, expanded)


def _group(machine: Machine, found: Found, reference: re.Match[str]) -> str:
    name = reference[1] or reference[2]
    if name is None:
        return "$"
    if name.isdigit():
        return found.group(int(name)) if len(name) < 5 else ""
    return next((found.group(number) for number in machine.names.get(name, ()) if found.has(number)), "")


def _rewritten(machine: Machine, text: str, new: Callable[[Found], str]) -> str:
    parts, position = list[str](), 0
    for found in machine.all(text):
        parts += [text[position : found.start], new(found)]
        position = found.end
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
            lambda pattern, text, instead: _rewritten(_pattern(pattern), text, lambda found: instead),
        ),
        regexSplit=("string string int", _split),
    )
    strict = {"must" + name[0].upper() + name[1:]: function for name, function in plain.items()}
    strict["mustRegexMatch"] = table(m=("string string", lambda p, text: _pattern(p).search(text) is not None))["m"]
    return {**plain, **strict}


PATTERNS: Table = {**_twins(), **table(regexQuoteMeta=("string", _quoted))}
