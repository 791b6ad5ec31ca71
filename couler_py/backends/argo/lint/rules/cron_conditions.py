"""What a CronWorkflow asks before it starts a run (`when`) and after one (`stopStrategy`): its own variables alone.

Source: workflow/cron/operator.go of Argo Workflows 4.0.7.
"""

from __future__ import annotations

from collections.abc import Iterator

from couler_py.argolang import EvaluationProblem, Reference, SyntaxProblem, evaluate, references, tags_in
from couler_py.backends.argo.lint.finding import Finding, Path
from couler_py.backends.argo.lint.rules.flow import Flow
from couler_py.backends.argo.lint.rules.references import nearest

_NAMES = ("name", "namespace", "labels", "annotations", "failed", "succeeded", "lastScheduledTime")
_PLAIN = frozenset(f"cronworkflow.{each}" for each in ("name", "namespace", "failed", "succeeded"))
_FUNCTIONS = frozenset({"asInt", "asFloat", "jsonpath", "toJson", "sprig"})
_RUNS = {"cronworkflow": {"name": "x", "namespace": "x", "failed": 1, "succeeded": 1}}


def cron_conditions(flow: Flow) -> Iterator[Finding]:
    """Both can be read and know the names that they use."""
    if flow.kind != "CronWorkflow":
        return
    spec = flow.context.document.get("spec", {})
    yield from _when(spec.get("when", ""), ("spec", "when"))
    if text := spec.get("stopStrategy", {}).get("expression", ""):
        yield from _stop(text, ("spec", "stopStrategy", "expression"))


def _when(text: str, path: Path) -> Iterator[Finding]:
    for tag in tags_in(text):
        if not tag.expression:
            first, _, rest = tag.name.partition(".")
            if first != "cronworkflow" or rest.split(".")[0] not in _NAMES:
                yield _unknown(tag.name, path, tag.start, "whether to start a run")
            continue
        try:
            found = references(tag.text)
        except SyntaxProblem as problem:
            yield _unreadable(problem, path, tag.inside)
            continue
        yield from _names(found, path, tag.inside, "whether to start a run")


def _stop(text: str, path: Path) -> Iterator[Finding]:
    try:
        found = references(text)
    except SyntaxProblem as problem:
        yield _unreadable(problem, path, 0)
        return
    unknown = list(_names(found, path, 0, "whether to stop"))
    yield from unknown
    if not unknown and all(each.name in _PLAIN for each in found):
        yield from _answer(text, path)


def _answer(text: str, path: Path) -> Iterator[Finding]:
    """An expression over what is always there has to come out at a yes or no."""
    try:
        answer = evaluate(text, _RUNS)
    except EvaluationProblem as problem:
        answer = problem
    if not isinstance(answer, bool):
        yield Finding(
            "CLR478",
            "the expression of `stopStrategy` is neither true nor false",
            path,
            why="Argo can't decide whether to stop, and goes on",
            help="compare a number, as cronworkflow.failed >= 3",
        )


def _names(found: tuple[Reference, ...], path: Path, start: int, what: str) -> Iterator[Finding]:
    from couler_py.argolang import FUNCTIONS  # a large table, which few documents need

    for each in found:
        if each.path[0] in _FUNCTIONS or (each.called and each.path[0] in FUNCTIONS):
            continue
        if each.path[0] != "cronworkflow" or (len(each.path) > 1 and each.path[1] not in _NAMES):
            yield _unknown(each.name, path, start + each.start, what)


def _unreadable(problem: SyntaxProblem, path: Path, start: int) -> Finding:
    return Finding(
        "CLR469",
        f"the expression can't be read: {problem.message}",
        path,
        offset=start + problem.offset,
        why="the server doesn't look, and the cron workflow does nothing when its time comes",
        help="expressions are those of github.com/expr-lang/expr",
    )


def _unknown(name: str, path: Path, offset: int, what: str) -> Finding:
    return Finding(
        "CLR470",
        f"{name!r} isn't known when Argo decides {what}",
        path,
        offset=offset,
        help=nearest(name, [f"cronworkflow.{each}" for each in _NAMES]),
    )
