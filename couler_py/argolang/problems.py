"""What can be wrong with a text in one of Argo's languages, and with evaluating it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

LONGEST = 300
"""Characters of a message: those beyond it are of the text that is quoted, which may be of any length."""


class SyntaxProblem(ValueError):  # noqa: N818 - a problem of the text, not of the program
    """A text that isn't in its language. `offset` is the place in the text, counted in characters from 0."""

    def __init__(self, message: str, offset: int) -> None:
        self.message = _short(message)
        super().__init__(f"{self.message} (at {offset})")
        self.offset = offset


class EvaluationProblem(ValueError):  # noqa: N818 - a problem of the text, not of the program
    """An expression that has no value. `offset` is the place in the text, where it is known.

    `late` is true where Argo itself could give a value and this evaluator can't or mustn't: a random value, the
    time, a function of Argo's that isn't carried here.
    """

    def __init__(self, message: str, offset: int | None = None, *, late: bool = False) -> None:
        self.message = _short(message)
        super().__init__(self.message if offset is None else f"{self.message} (at {offset})")
        self.offset = offset
        self.late = late


def _short(message: str) -> str:
    return message if len(message) <= LONGEST else f"{message[: LONGEST - 1]}…"


def placed(place: int, compute: Callable[[], T]) -> T:
    """What is computed; a problem that has no place yet gets this one."""
    try:
        return compute()
    except EvaluationProblem as problem:
        if problem.offset is not None:
            raise
        raise EvaluationProblem(problem.message, place, late=problem.late) from problem
