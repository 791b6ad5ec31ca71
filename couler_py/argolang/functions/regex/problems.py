"""What can be wrong with a pattern."""

from __future__ import annotations


class RegexProblem(ValueError):  # noqa: N818 - a problem of the text, not of the program
    """A pattern that Go refuses, or (`late`) one that it reads and this reader doesn't."""

    def __init__(self, message: str, *, late: bool = False) -> None:
        super().__init__(message)
        self.late = late
