"""What Argo 3.5 reads otherwise in strings with tags.

Facts: expr-lang 1.16.9 in 3.5.14 against 1.17.7 in 4.0.7; the upgrade notes of 3.6 ("JSON templating fix") and of
4.0.7 (outputs of what was skipped).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from couler_py.argolang.tags import tags_in
from couler_py.backends.argo.versions.expressions import without_texts
from couler_py.ir.diagnostics import Diagnostic, error, warning

_YOUNGER = re.compile(r"(?<![.\w])(flatten|uniq)\s*\(")
_CONDITIONAL = re.compile(r"(?<![.\w])if\b[^?]*\{")
_LISTS = re.compile(
    r"\s*(?:\[|\{|(?:(?:filter|map|sort|sortBy|reverse|keys|values|concat|take|split|splitAfter|groupBy|toPairs|fromPairs)"
    r"|sprig\.(?:list|dict|splitList|keys|values|tuple|pick|omit|merge|initial|rest|uniq|without))\s*\()"
)


def text_findings(text: str, names: tuple[str, ...], place: str, template: str) -> Iterator[Diagnostic]:
    """What means something else on 3.5 in a string at the place whose names are given, the innermost last."""
    if names[-2:-1] == ("templateRef",) and names[-1] in ("name", "template"):
        yield error(
            "CLR415",
            f"Argo 3.5 takes no tag in {place}",
            step=template,
            why="it looks for a template whose name is the text of the tag",
            help="name the template, or use Argo 3.6 or later",
        )
    for tag in tags_in(text):
        if tag.expression:
            yield from _expression(without_texts(tag.text), place, template)


def _expression(expression: str, place: str, template: str) -> Iterator[Diagnostic]:
    for match in _YOUNGER.finditer(expression):
        yield error(
            "CLR415",
            f"Argo 3.5 has no function {match[1]}, which stands in {place}",
            step=template,
            help="compute it in a step, or use Argo 3.7 or later",
        )
    if _CONDITIONAL.search(expression):
        yield error(
            "CLR415",
            f"Argo 3.5 knows no if {{}} else {{}} in an expression, and one stands in {place}",
            step=template,
            help="write `condition ? this : that`",
        )
    if _LISTS.match(expression) and not _then_used(expression):
        yield warning(
            "CLR415",
            f"the expression in {place} gives a list or an object, which Argo 3.5 writes in Go's words",
            step=template,
            why="[1 2] instead of [1,2]; Argo 3.6 and later write JSON",
            help="put toJson(...) around it",
        )


def _then_used(expression: str) -> bool:
    """Whether something follows the list that the expression begins with: an access, an operator."""
    depth = 0
    for index, char in enumerate(expression):
        depth += (char in "([{") - (char in ")]}")
        if depth == 0 and char in ")]}":
            return expression[index + 1 :].strip() != ""
    return False
