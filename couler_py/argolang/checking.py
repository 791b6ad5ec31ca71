"""What Argo refuses before it evaluates: names that there aren't, and types that can't fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from couler_py.argolang.nodes import Node


def checked(tree: Node, variables: Mapping[str, Any]) -> None:
    """Raise EvaluationProblem for what can't be evaluated whatever the values are."""
