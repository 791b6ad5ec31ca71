"""`when`: a condition that Argo can read, whatever the values are."""

from __future__ import annotations

import re
from collections.abc import Iterator

from couler_py.argolang import EvaluationProblem, SyntaxProblem, Tag, condition, parse_condition, scan, tags_in, written
from couler_py.backends.argo.lint.finding import Finding, Path
from couler_py.backends.argo.lint.rules.flow import Call, Flow

_BARE = re.compile(
    r"(?P<tag>\{\{\s*(?P<name>(?:steps|tasks|inputs|workflow|item)\b[^{}=]*?)\s*\}\})"
    r"\s*(?P<sign>==|!=)\s*(?P<other>\{\{.*?\}\}|'[^']*'|\"[^\"]*\"|[^\s&|()][^&|()]*|)"
)
_WRITTEN_BY_ARGO = re.compile(r".*\.(status|exitCode|startedAt|finishedAt)|workflow\.(status|name|uid|namespace)")


def when(flow: Flow) -> Iterator[Finding]:
    """Conditions can be read, and no value can break them."""
    for template in flow.all_templates:
        for call in template.calls:
            if text := call.data.get("when", ""):
                yield from _when(text, (*call.path, "when"), call.where, call)
    if flow.kind == "CronWorkflow" and (text := flow.context.document.get("spec", {}).get("when", "")):
        yield from _when(text, ("spec", "when"), "the cron workflow", None)


def _when(text: str, path: Path, where: str, call: Call | None) -> Iterator[Finding]:
    problem = _problem(text)
    if problem is not None:
        yield Finding(
            "CLR471",
            f"the condition of {where} can't be read: {problem.message}",
            path,
            severity="warning" if _problem(_as_operators(text)) is None and "{{" in text else "error",
            offset=min(problem.offset, len(text)),
            why="the server doesn't look, and the call ends in Error when its turn comes",
            help='compare values, each in quotes, with ==, !=, <, >; or write an expression: "{{= … }}"',
        )
        return
    if "{{" not in text and (found := _no_answer(text)):
        yield Finding(
            "CLR471",
            f"the condition of {where} is neither true nor false: {found}",
            path,
            why="the server doesn't look, and the call ends in Error when its turn comes",
            help="compare values, each in quotes, with ==, !=, <, >",
        )
    elif call is not None:
        yield from _by_text(text, path, where, call)


def _no_answer(text: str) -> str:
    """Why a condition that can be read has no answer; "" where it has one."""
    try:
        condition(text)
    except EvaluationProblem as problem:
        return problem.message
    return ""


def _problem(text: str) -> SyntaxProblem | None:
    try:
        parse_condition(text)
    except SyntaxProblem as problem:
        return problem
    return None


def _as_operators(text: str) -> str:
    """The condition as it is if its tags bring signs: nothing can be said of it."""
    bare = [part for part in scan(text) if isinstance(part, Tag)]
    if len(bare) < 2:
        return text
    return "".join("==" if isinstance(part, Tag) and part is bare[1] else written(part) for part in scan(text))


def _by_text(text: str, path: Path, where: str, call: Call) -> Iterator[Finding]:
    if text.lstrip().startswith("{{=") and len(tags_in(text)) == 1:
        return
    for match in _BARE.finditer(text):
        name, other = match["name"], match["other"].strip()
        before = text[: match.start()].rstrip()[-1:]
        if (
            (before and before in "'\"")
            or _written_here(name, call)
            or _WRITTEN_BY_ARGO.fullmatch(name)
            or _is_number(other.strip("'\""))
        ):
            continue
        yield Finding(
            "CLR472",
            f"the condition of {where} breaks on some values of {name}",
            path,
            severity="warning",
            offset=match.start(),
            why="the value becomes part of the condition: with a space or a sign in it the call ends in Error",
            help=f'write when: "{{{{= {_expression(name)} {match["sign"]} {_compared(other)} }}}}"',
        )
        return


def _written_here(name: str, call: Call) -> bool:
    """Whether it is an item that stands in the document, for everybody to see."""
    return name.split(".")[0] == "item" and bool(call.data.get("withItems") or call.data.get("withSequence"))


def _compared(other: str) -> str:
    """What the value is compared with, as an expression has it: a tag's own name, everything else as text."""
    text = other.strip("'\"")
    if re.fullmatch(r"\{\{[^{}=]+\}\}", text):
        return _expression(text.strip("{} "))
    return repr(text)


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?\d+(\.\d+)?", text) is not None


def _expression(name: str) -> str:
    first, *rest = name.split(".")
    return first + "".join(f".{each}" if re.fullmatch(r"[A-Za-z_]\w*", each) else f"['{each}']" for each in rest)
