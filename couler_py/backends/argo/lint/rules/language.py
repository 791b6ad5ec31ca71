"""Expressions inside documents: what is wrong with a text, and at which character."""

from __future__ import annotations

from couler_py.argolang import SyntaxProblem, parse


def expression_problem(text: str) -> SyntaxProblem | None:
    """Why a text is no expression of Argo's language; None where it is one."""
    try:
        parse(text)
    except SyntaxProblem as problem:
        return problem
    return None
