"""What a task of a dag depends on, put together with `&`, `|` and `~`."""

from __future__ import annotations

from typing import Any, Literal, NoReturn

from couler_py.dsl.problems import fail

Strength = Literal["atom", "and", "or"]


class Depends(str):
    """Text for `depends`, as Argo reads it. `a & ~b` is `A && !B`; brackets are written where they are needed."""

    strength: Strength = "atom"

    def __and__(self, other: Depends) -> Depends:
        return _joined(self, "&&", other, "and")

    def __or__(self, other: Depends) -> Depends:
        return _joined(self, "||", other, "or")

    def __invert__(self) -> Depends:
        return Depends(f"!{_bracketed(self)}")

    def __bool__(self) -> NoReturn:
        fail(
            "CLR191",
            f"`and`, `or`, `not` and `if` can't be asked of {str.__str__(self)!r}",
            why="it is known when the run is under way, not while the document is written",
            help="write `a & b`, `a | b` and `~a`",
        )


def _joined(left: Depends, sign: str, right: Depends, strength: Strength) -> Depends:
    found = Depends(f"{_operand(left, strength)} {sign} {_operand(right, strength)}")
    found.strength = strength
    return found


def _operand(one: Any, around: Strength) -> str:
    if not isinstance(one, Depends):
        fail("CLR191", f"{one!r} is no task, and can't be joined with one", help="write all of `depends` as text")
    return _bracketed(one) if around == "and" and one.strength == "or" else str.__str__(one)


def _bracketed(one: Depends) -> str:
    return str.__str__(one) if one.strength == "atom" else f"({str.__str__(one)})"
