"""Argo's `depends`: which tasks must have ended how before another begins, as `a && (b.Failed || !c)`.

Argo finds the tasks by their form, writes each name without a result as `(t.Succeeded || t.Skipped || t.Daemoned)`,
turns hyphens into underscores, and evaluates the whole as an expression. (Facts: workflow/common/ancestry.go and
workflow/controller/dag.go of Argo Workflows 4.0.7, and runs on it.)
"""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from couler_py.argolang.problems import SyntaxProblem

RESULTS = ("Succeeded", "Failed", "Errored", "Skipped", "Omitted", "Daemoned", "AnySucceeded", "AllFailed")

# names of tasks that Argo accepts and then can't evaluate, since they are words of the expression language
RESERVED = frozenset(("else", "in", "if", "and", "or", "not", "let", "nil", "true", "false")) | frozenset(
    ("matches", "contains", "startsWith", "endsWith")
)

_DEPTH = 100
_WORD = re.compile(r"\s*(?:(?P<name>[a-zA-Z0-9][-a-zA-Z0-9_]*)(?:\.(?P<result>\w*))?|(?P<sign>&&|\|\||[!()]))")


class DependsOn(msgspec.Struct, frozen=True):
    """A task, and the result that is asked of it; none asks for Succeeded, Skipped or Daemoned."""

    task: str
    result: str | None = None
    start: int = 0
    end: int = 0


class NotDepends(msgspec.Struct, frozen=True):
    """`!x`."""

    operand: Depends
    start: int = 0
    end: int = 0


class AllDepend(msgspec.Struct, frozen=True):
    """`a && b && c`."""

    operands: tuple[Depends, ...]
    start: int = 0
    end: int = 0


class AnyDepend(msgspec.Struct, frozen=True):
    """`a || b || c`."""

    operands: tuple[Depends, ...]
    start: int = 0
    end: int = 0


Depends = DependsOn | NotDepends | AllDepend | AnyDepend


def parse_depends(text: str) -> Depends:
    """The tree of a `depends`; `start` and `end` of its nodes are places in the text.

    Raises SyntaxProblem for what Argo would refuse: another form, a result that there isn't, a task named by a word of
    the expression language. (Words such as `and` count as tasks to Argo.)

    >>> parse_depends("a && b.Failed").operands[1].result
    'Failed'
    """
    return _Reader(text).whole()


def print_depends(tree: Depends) -> str:
    """The shortest text of a tree.

    >>> print_depends(parse_depends("(a) && ((b.Failed) || !c)"))
    'a && (b.Failed || !c)'
    """
    match tree:
        case DependsOn():
            return tree.task if tree.result is None else f"{tree.task}.{tree.result}"
        case NotDepends():
            return f"!{_inside(tree.operand, (AllDepend, AnyDepend))}"
        case AllDepend():
            return " && ".join(_inside(each, (AllDepend, AnyDepend)) for each in tree.operands)
        case AnyDepend():
            return " || ".join(_inside(each, (AnyDepend,)) for each in tree.operands)


def tasks_of(tree: Depends) -> tuple[str, ...]:
    """The tasks that a tree names, each once, in the order of the text.

    >>> tasks_of(parse_depends("b || a.Failed || b"))
    ('b', 'a')
    """
    return tuple(dict.fromkeys(each.task for each in _leaves(tree)))


def decided(tree: Depends, results: Callable[[str], frozenset[str]]) -> bool:
    """Whether a task begins, when `results` says which of RESULTS hold for each task that it names.

    >>> decided(parse_depends("a && !b.Failed"), {"a": {"Succeeded"}, "b": {"Skipped"}}.__getitem__)
    True
    """
    match tree:
        case DependsOn():
            asked = {"Succeeded", "Skipped", "Daemoned"} if tree.result is None else {tree.result}
            return not asked.isdisjoint(results(tree.task))
        case NotDepends():
            return not decided(tree.operand, results)
        case AllDepend():
            return all(decided(each, results) for each in tree.operands)
        case AnyDepend():
            return any(decided(each, results) for each in tree.operands)


def _inside(tree: Depends, wrapped: tuple[type, ...]) -> str:
    text = print_depends(tree)
    return f"({text})" if isinstance(tree, wrapped) else text


def _leaves(tree: Depends) -> tuple[DependsOn, ...]:
    match tree:
        case DependsOn():
            return (tree,)
        case NotDepends():
            return _leaves(tree.operand)
        case _:
            return tuple(leaf for each in tree.operands for leaf in _leaves(each))


class _Reader:
    """The reading of one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.depth = 0

    def whole(self) -> Depends:
        if not self.text.strip():
            raise SyntaxProblem("nothing to depend on", 0)
        tree = self.any()
        if rest := self.text[self.position :].strip():
            raise SyntaxProblem(f"unexpected {rest.split()[0]!r}", self._here())
        return tree

    def any(self) -> Depends:
        first, *others = self._operands("||", self.all)
        return first if not others else AnyDepend((first, *others), first.start, others[-1].end)

    def all(self) -> Depends:
        first, *others = self._operands("&&", self.one)
        return first if not others else AllDepend((first, *others), first.start, others[-1].end)

    def one(self) -> Depends:
        start = self._here()
        self.depth += 1
        if self.depth > _DEPTH:
            raise SyntaxProblem(f"nested deeper than {_DEPTH} levels", start)
        try:
            if self._skip("!"):
                operand = self.one()
                return NotDepends(operand, start, operand.end)
            if self._skip("("):
                tree = self.any()
                if not self._skip(")"):
                    raise SyntaxProblem("a parenthesis isn't closed", start)
                return tree
            return self._task(start)
        finally:
            self.depth -= 1

    def _operands(self, sign: str, read: Callable[[], Depends]) -> list[Depends]:
        found = [read()]
        while self._skip(sign):
            found.append(read())
        return found

    def _task(self, start: int) -> Depends:
        found = _WORD.match(self.text, self.position)
        if found is None or found["name"] is None:
            raise SyntaxProblem("the name of a task is missing", start)
        name, result = found["name"], found["result"]
        if result is not None and result not in RESULTS:
            raise SyntaxProblem(f"{name} has no result {result!r}; it is one of {', '.join(RESULTS)}", start)
        if name in RESERVED:
            raise SyntaxProblem(f"{name!r} is a word of the expression language and no name for a task", start)
        self.position = found.end()
        return DependsOn(name, result, start, self.position)

    def _skip(self, sign: str) -> bool:
        here = self._here()
        if self.text.startswith(sign, here):
            self.position = here + len(sign)
            return True
        return False

    def _here(self) -> int:
        """The place of the next character that isn't a space."""
        rest = self.text[self.position :]
        return self.position + len(rest) - len(rest.lstrip())
