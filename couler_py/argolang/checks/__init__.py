"""What Argo refuses before it evaluates: names that there aren't, and types that can't fit.

The checks are those of expr-lang's compiler for an environment of maps: a variable itself is known, what it holds is
not. So `inputs.parameters.x + 1` passes here and fails when it is evaluated, and `'a' + 1` fails wherever it stands.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from couler_py.argolang.checks.checker import Checker
from couler_py.argolang.nodes import Binary, Integer, Node, walk
from couler_py.argolang.problems import EvaluationProblem


def checked(tree: Node, variables: Mapping[str, Any]) -> None:
    """Raise EvaluationProblem for what can't be evaluated whatever the values within the variables are."""
    Checker(variables).nature(tree)
    for node in walk(tree):
        if isinstance(node, Binary) and node.operator == "%" and isinstance(node.left, Integer):
            right = node.right
            if isinstance(right, Integer) and right.value == 0:
                raise EvaluationProblem("'%' by zero", node.start)
