"""Regular expressions as Go's regexp (RE2) has them: leftmost-first, and in time that grows with pattern times text.

Python's `re` reads many patterns otherwise and can take for ever; both would be wrong here.
"""

from __future__ import annotations

from functools import lru_cache

from couler_py.argolang.functions.regex.machine import Found, Machine
from couler_py.argolang.functions.regex.problems import RegexProblem
from couler_py.argolang.functions.regex.reader import read

__all__ = ["Found", "Machine", "RegexProblem", "compiled"]


@lru_cache(maxsize=512)
def compiled(pattern: str) -> Machine:
    r"""A pattern, ready to search texts.

    Raises RegexProblem for what Go refuses (references back, looking around), and for what isn't carried here
    (`\p{Greek}`).

    >>> compiled(r"^(\d+\.)*\d+$").search("1.22.3") is not None
    True
    """
    node, names = read(pattern)
    return Machine(node, names)
