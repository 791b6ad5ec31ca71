"""Which tasks a task waits for: `depends` as a tree, `dependencies` as order."""

from __future__ import annotations

from typing import Any

from couler_py.argolang import depends as language
from couler_py.argolang.problems import SyntaxProblem
from couler_py.backends.argo.document.lens import strings
from couler_py.backends.argo.document.texts import UNSAID, Root, word
from couler_py.ir.model import After, Depends, DependsAll, DependsAny, DependsNot, DependsOn


def depends(given: Any, root: Root) -> Any:
    """The tree of a `depends`."""
    if type(given) is not str:
        return UNSAID
    try:
        return _tree(language.parse_depends(given))
    except SyntaxProblem:
        return UNSAID


def _tree(node: language.Depends) -> Depends:
    match node:
        case language.DependsOn():
            return DependsOn(node.task, node.result or "")  # type: ignore[arg-type]
        case language.NotDepends():
            return DependsNot(_tree(node.operand))
        case language.AllDepend():
            return DependsAll(tuple(_tree(each) for each in node.operands))
        case _:
            return DependsAny(tuple(_tree(each) for each in node.operands))


def written_depends(given: Depends, root: Root) -> str:
    """The shortest text of the tree."""
    return language.print_depends(_node(given))


def _node(tree: Depends) -> language.Depends:
    match tree:
        case DependsOn():
            return language.DependsOn(tree.task, tree.state or None)
        case DependsNot():
            return language.NotDepends(_node(tree.operand))
        case DependsAll():
            return language.AllDepend(tuple(_node(each) for each in tree.operands))
        case _:
            return language.AnyDepend(tuple(_node(each) for each in tree.operands))


def after(given: Any, root: Root) -> Any:
    """The edges of `dependencies`."""
    names = strings(word)(given, root)
    return UNSAID if names is UNSAID else tuple(After(name) for name in names)
