"""Expressions whose value is a yes or a no: of hooks, of another attempt. All that they read is text."""

from __future__ import annotations

from collections.abc import Iterator

from couler_py.argolang import EvaluationProblem, SyntaxProblem, evaluate, parse, scan, written
from couler_py.argolang.nodes import Array, Builtin, Call, Identifier, Integer, Map, Member, Slice, String, walk
from couler_py.argolang.tags import Tag
from couler_py.backends.argo.lint.finding import Finding, Path
from couler_py.backends.argo.lint.rules.language import expression_problem

_ATTEMPT = {"lastRetry": {"exitCode": "1", "status": "Failed", "duration": "1", "message": ""}, "retries": "1"}
_NO_ANSWERS = (Array, Identifier, Integer, Map, Member, String)
"""Nodes whose value is never a yes or no where all variables are text."""


def of_hook(text: str, path: Path, own: str) -> Iterator[Finding]:
    """The expression of a hook. `own` is the beginning of the names that no tag brings there: they aren't known yet."""
    if "{{" in text:
        yield from left_tags(text, path, (own,))
        return
    try:
        tree = parse(text)
    except SyntaxProblem:
        return  # a finding by itself
    if isinstance(tree, _NO_ANSWERS):
        yield _no_answer(
            "CLR473", "the expression of a hook", path, "the run fails when Argo asks", "compare it, as with =="
        )


def left_tags(text: str, path: Path, beginnings: tuple[str, ...]) -> Iterator[Finding]:
    """Tags that nothing fills in before the expression is read."""
    filled = "".join(
        written(part) if not isinstance(part, Tag) or part.name.startswith(beginnings) else "1" for part in scan(text)
    )
    tag = next((part for part in scan(text) if isinstance(part, Tag) and part.name.startswith(beginnings)), None)
    if tag is not None and expression_problem(filled) is not None:
        yield Finding(
            "CLR469",
            f"{{{{{tag.name}}}}} isn't filled in here",
            path,
            offset=tag.start,
            why="the expression is read with its braces, which it can't be, and the run ends in Error",
            help=f"write {tag.name}, without braces",
        )


def of_retry(text: str, path: Path) -> Iterator[Finding]:
    """The expression of a `retryStrategy`, which is asked after each attempt that failed."""
    late = "the step ends in Error after its first attempt"
    tree = parse(text)
    try:
        answer = evaluate(tree, _ATTEMPT)
    except EvaluationProblem as problem:
        # What functions make of other values isn't known.
        if not problem.late and not any(isinstance(each, Builtin | Call | Slice) for each in walk(tree)):
            yield Finding(
                "CLR476",
                f"the expression can't be evaluated: {problem.message}",
                path,
                offset=problem.offset or 0,
                why=f"its variables are texts, and {late}",
                help="write asInt(lastRetry.exitCode) for the number",
            )
        return
    if not isinstance(answer, bool):
        yield _no_answer(
            "CLR476", "the expression of a `retryStrategy`", path, late, "compare it, as lastRetry.exitCode != '0'"
        )


def _no_answer(code: str, what: str, path: Path, then: str, help_: str) -> Finding:
    return Finding(code, f"{what} is neither true nor false", path, why=then, help=help_)
