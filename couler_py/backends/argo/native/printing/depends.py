"""`depends` as Python: names of tasks with `&`, `|` and `~`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_, or_
from typing import TypeAlias

from couler_py.argolang import depends as language
from couler_py.argolang.problems import SyntaxProblem
from couler_py.backends.argo.native.depends import Depends
from couler_py.backends.argo.native.printing.scope import Scope
from couler_py.printer.layout import Chain, Doc, flat

_STATES = {
    "Succeeded": "succeeded",
    "Failed": "failed",
    "Errored": "errored",
    "Skipped": "skipped",
    "Omitted": "omitted",
    "Daemoned": "daemoned",
    "AnySucceeded": "any_succeeded",
    "AllFailed": "all_failed",
}


_Tree: TypeAlias = tuple[Doc, Depends]
"""What is printed, and what that means."""

LONGEST = 72
"""A longer tree reads no better than its text, and wouldn't stay on a line."""


class _UnreadableError(Exception):
    """Text that only text can say."""


def depends(text: str, scope: Scope) -> Doc | None:
    """The tree that a text says, over tasks that are written already; None where Python can't say it."""
    if sum(map(text.count, ("&&", "||", "!"))) > LONGEST:
        return None
    try:
        doc, means = _tree(language.parse_depends(text), scope)
    except (SyntaxProblem, _UnreadableError):
        return None
    return doc if len(flat(doc)) <= LONGEST and str.__str__(means) == text else None


def _tree(node: language.Depends, scope: Scope) -> _Tree:
    match node:
        case language.AnyDepend(operands):
            trees = [_tree(each, scope) for each in operands]
            return _chain("|", [doc for doc, _ in trees]), reduce(or_, (means for _, means in trees))
        case language.AllDepend(operands):
            trees = [_tree(each, scope) for each in operands]
            docs = [
                _bracketed(doc) if isinstance(each, language.AnyDepend) else doc
                for each, (doc, _) in zip(operands, trees, strict=True)
            ]
            return _chain("&", docs), reduce(and_, (means for _, means in trees))
        case language.NotDepends(operand):
            doc, means = _tree(operand, scope)
            return f"~{flat(_bracketed(doc))}", ~means
        case _:
            variable = scope.task(node.task)
            if variable is None:
                raise _UnreadableError
            if node.result is None:
                return variable, Depends(node.task)
            return f"{variable}.{_STATES[node.result]}", Depends(f"{node.task}.{node.result}")


def _chain(sign: str, docs: Sequence[Doc]) -> Doc:
    return Chain(docs[0], tuple((sign, each) for each in docs[1:]))


def _bracketed(doc: Doc) -> Doc:
    return f"({flat(doc)})" if isinstance(doc, Chain) else doc
