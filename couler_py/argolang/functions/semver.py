"""Semantic versions, and the constraints of github.com/Masterminds/semver 3."""

from __future__ import annotations

import re

import msgspec

from couler_py.argolang.problems import EvaluationProblem

_PART = r"[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*"
_VERSION = re.compile(rf"v?([0-9]+)(\.[0-9]+)?(\.[0-9]+)?(?:-({_PART}))?(?:\+({_PART}))?")
_WILD = re.compile(
    rf"(=|==|!=|>|<|>=|=>|<=|=<|~|~>|\^)?\s*v?([0-9]+|[xX*])(?:\.([0-9]+|[xX*]))?(?:\.([0-9]+|[xX*]))?"
    rf"(?:-({_PART}))?(?:\+({_PART}))?"
)
_RANGE = re.compile(r"\s*(\S+)\s+-\s+(\S+)\s*")

Numbers = tuple[int, int, int, str]


class Version(msgspec.Struct, frozen=True):
    """A version: its numbers and pre-release, what is said of the build, and how it was written."""

    numbers: Numbers
    metadata: str
    original: str

    def text(self) -> str:
        """The version with all three numbers and without a `v`."""
        major, minor, patch, pre = self.numbers
        return f"{major}.{minor}.{patch}{f'-{pre}' if pre else ''}{f'+{self.metadata}' if self.metadata else ''}"


def version(text: str) -> Version:
    """A text as a version. Raises EvaluationProblem."""
    found = _VERSION.fullmatch(text)
    return Version(_version(text), (found[5] or "") if found else "", text)


def _version(text: str) -> Numbers:
    found = _VERSION.fullmatch(text)
    if found is None:
        raise EvaluationProblem(f"{text!r} is no version")
    major, minor, patch = int(found[1]), int((found[2] or ".0")[1:]), int((found[3] or ".0")[1:])
    pre = found[4] or ""
    if any(each.isdigit() and len(each) > 1 and each[0] == "0" for each in pre.split(".")):
        raise EvaluationProblem(f"{text!r} is no version: a number with leading zeros")
    return major, minor, patch, pre


def compared(left: Numbers, right: Numbers) -> int:
    """-1, 0 or 1 as a version comes before, with or after another."""
    if left[:3] != right[:3]:
        return -1 if left[:3] < right[:3] else 1
    one, other = left[3], right[3]
    if one == other:
        return 0
    if not one or not other:
        return 1 if not one else -1
    for a, b in zip(one.split("."), other.split("."), strict=False):
        if a == b:
            continue
        if a.isdigit() and b.isdigit():
            return -1 if int(a) < int(b) else 1
        if a.isdigit() != b.isdigit():
            return -1 if a.isdigit() else 1
        return -1 if a < b else 1
    return -1 if len(one.split(".")) < len(other.split(".")) else 1


def satisfies(constraint: str, text: str) -> bool:
    """Whether a version satisfies a constraint: `^1.2`, `~1.2.3`, `>=1, <2 || 3.x`, `1.2 - 1.4`.

    A version with a pre-release satisfies only constraints that have one. Raises EvaluationProblem.

    >>> satisfies("^1.2.0", "1.3.1"), satisfies(">1", "2.0.0-beta")
    (True, False)
    """
    tested = _version(text)
    alternatives = [_constraints(each) for each in constraint.split("||")]
    return any(all(_satisfies(tested, *each) for each in every) for every in alternatives)


Constraint = tuple[str, Numbers, int]


def _constraints(text: str) -> list[Constraint]:
    if ranged := _RANGE.fullmatch(text):
        text = f">={ranged[1]},<={ranged[2]}"
    found: list[Constraint] = []
    position = 0
    while position < len(text):
        if text[position] in " ,\t":
            position += 1
            continue
        match = _WILD.match(text, position)
        if match is None or (match.end() < len(text) and text[match.end()] not in " ,\t"):
            raise EvaluationProblem(f"{text!r} is no constraint of versions")
        found.append(_constraint(match))
        position = match.end()
    if not found:
        raise EvaluationProblem(f"{text!r} is no constraint of versions")
    return found


def _constraint(match: re.Match[str]) -> Constraint:
    """The operator, the version, and how many of its numbers are given."""
    numbers: list[int] = []
    for group in (match[2], match[3], match[4]):
        if group is None or group in "xX*":
            break
        numbers.append(int(group))
    given = len(numbers)
    major, minor, patch = (*numbers, 0, 0, 0)[:3]
    return match[1] or "", (major, minor, patch, match[5] or ""), given


def _satisfies(tested: Numbers, operator: str, version: Numbers, given: int) -> bool:
    if tested[3] and not version[3] and (operator != "!=" or given < 3):
        return False
    order = compared(tested, version)
    if operator in ("", "="):
        return order == 0 if given == 3 else _tilde(tested, version, given)
    if operator == "!=":
        return order != 0 if given == 3 else tested[:given] != version[:given]
    if operator in ("~", "~>"):
        return _tilde(tested, version, given)
    if operator == "^":
        return _caret(tested, version, given)
    if operator == ">":
        return order > 0 if given == 3 else tested[:given] > version[:given]
    if operator in (">=", "=>"):
        return order >= 0
    if operator == "<":
        return order < 0
    if operator in ("<=", "=<"):
        return order <= 0 if given == 3 else tested[:given] <= version[:given]
    raise EvaluationProblem(f"{operator!r} is no operator of versions")


def _tilde(tested: Numbers, version: Numbers, given: int) -> bool:
    if given == 0:
        return True
    return compared(tested, version) >= 0 and tested[: min(given, 2)] == version[: min(given, 2)]


def _caret(tested: Numbers, version: Numbers, given: int) -> bool:
    if given == 0:
        return True
    if compared(tested, version) < 0:
        return False
    if version[0] > 0 or given == 1:
        return tested[0] == version[0]
    if tested[0] != 0:
        return False
    if version[1] > 0 or given == 2:
        return tested[1] == version[1]
    return tested[1] == 0 and tested[2] == version[2]
