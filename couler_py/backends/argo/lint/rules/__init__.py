"""The rules of the linter: each a function from a `Context` to findings. The order here is none of the report's."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from couler_py.backends.argo.lint.context import Context
from couler_py.backends.argo.lint.finding import Finding
from couler_py.backends.argo.lint.rules.meaning import meaning
from couler_py.backends.argo.lint.rules.objects import labels, object_names, size
from couler_py.backends.argo.lint.rules.schema_rules import crd_rules

Rule = Callable[[Context], Iterator[Finding]]

RULES: tuple[Rule, ...] = (crd_rules, object_names, labels, size, meaning)
"""All rules. Each works on its own: one finds what it finds whatever the others say."""
