"""The rules of the linter: each a function from a `Context` to findings. The order here is none of the report's."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from couler_py.backends.argo.lint.context import Context
from couler_py.backends.argo.lint.finding import Finding

Rule = Callable[[Context], Iterator[Finding]]

RULES: tuple[Rule, ...] = ()
"""All rules. Each works on its own: one finds what it finds whatever the others say."""
