"""Expressions: in tags and in the fields that are one. They can be read, and know the names that they use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import msgspec

from couler_py.argolang import Reference, SyntaxProblem, Tag, hyphenated, references
from couler_py.backends.argo.lint.context import JSON
from couler_py.backends.argo.lint.finding import Finding, Path
from couler_py.backends.argo.lint.rules import answers
from couler_py.backends.argo.lint.rules.flow import Flow, Template
from couler_py.backends.argo.lint.rules.language import expression_problem
from couler_py.backends.argo.lint.rules.references import nearest
from couler_py.backends.argo.lint.rules.use import RETRY, Place
from couler_py.backends.argo.lint.rules.variables import Names

OF_ARGO = frozenset({"asInt", "asFloat", "jsonpath", "toJson", "sprig"})
"""What Argo adds to the names of the language."""
ROOTS = frozenset(
    {"inputs", "outputs", "steps", "tasks", "workflow", "item", "pod", "node", "retries", "lastRetry"}
    | {"status", "duration", "exitCode", "resourcesDuration"}
)
STAYS = "what can't be filled in stays as it is written"
FAILS = "it has no value where it stands, and the run ends in Error there"


def in_tag(tag: Tag, path: Path, place: Place, names: Names, *, strict: bool) -> Iterator[Finding]:
    """An expression between braces. `strict`: where text that isn't filled in ends the call in Error."""
    # What stays is read again as the JSON that the template travels in: these signs are escaped there by then.
    strict = strict or re.search(r'[<>&"\\\x00-\x1f]', tag.text) is not None
    misread = list(_hyphens(tag.text, path, tag.inside, place, strict=strict))
    yield from misread
    if not misread:
        yield from whole(tag.text, path, tag.inside, place, names, strict=strict)


def whole(text: str, path: Path, start: int, place: Place | None, names: Names, *, strict: bool) -> Iterator[Finding]:
    """An expression whose first character stands at `start` of the string at `path`."""
    try:
        found = references(text)
    except SyntaxProblem as problem:
        yield _unreadable(problem, path, start)
        return
    inside = None if place is None else msgspec.structs.replace(place, in_expression=True)
    for reference in found:
        yield from _reference(reference, path, start, inside, names, strict)


def _unreadable(problem: SyntaxProblem, path: Path, start: int) -> Finding:
    return Finding(
        "CLR469",
        f"the expression can't be read: {problem.message}",
        path,
        offset=start + problem.offset,
        why="the server doesn't look, and the run ends in Error when its turn comes",
        help="expressions are those of github.com/expr-lang/expr",
    )


def _hyphens(text: str, path: Path, start: int, place: Place, *, strict: bool) -> Iterator[Finding]:
    for each in hyphenated(text):
        waits = each.path[0] in ("tasks", "steps") and place.call is not None
        if waits and len(each.path) == 1:
            waits = each.name.split("-")[0] not in place.template.by_name
        fails = strict or waits or expression_problem(text) is not None
        yield Finding(
            "CLR470",
            f"{each.name!r} is read as a subtraction",
            path,
            severity="error" if fails else "warning",
            offset=start + each.start,
            why="a name with hyphens can't stand behind a dot" + ("" if fails else f": {STAYS}"),
            help=f"write {each.written}",
        )


def _reference(
    reference: Reference, path: Path, start: int, place: Place | None, names: Names, strict: bool
) -> Iterator[Finding]:
    root = reference.path[0]
    at = start + reference.start
    if root in OF_ARGO or (reference.called and root not in ROOTS):
        if reference.called and reference.name not in _functions():
            yield _no_name(reference, path, at, strict)
        return
    if root not in ROOTS:
        yield _no_name(reference, path, at, strict)
        return
    name = reference.name
    if place is None or name in ROOTS or reference.called:
        return
    if reference.guarded:
        yield from _guarded(reference, path, at, place, names)
        return
    if reference.dynamic and not (root in ("tasks", "steps") and len(reference.path) > 3):
        return
    problem = names.problem(name, place)
    if problem is None or _is_beginning(name, place, names):
        return
    waits = root in ("tasks", "steps") and place.call is not None
    severity = problem.severity if strict or waits else "warning"
    yield Finding(
        problem.code if severity == "error" else "CLR468",
        problem.message,
        path,
        severity=severity,
        offset=at,
        why=problem.why if severity == "error" else f"{problem.why}: {STAYS}",
        help=problem.help,
    )


def _guarded(reference: Reference, path: Path, at: int, place: Place, names: Names) -> Iterator[Finding]:
    """`??` provides for an absent output, but not for a task that isn't there: that is nil, and has no outputs."""
    root, *rest = reference.path
    if root not in ("tasks", "steps") or len(rest) < 2 or 2 in reference.optional:
        return
    if (problem := names.problem(f"{root}.{rest[0]}.id", place)) is not None:
        yield Finding(
            problem.code,
            problem.message,
            path,
            offset=at,
            why="`??` provides for an absent output, and not for what isn't there at all",
            help=problem.help,
        )


def _no_name(reference: Reference, path: Path, at: int, strict: bool) -> Finding:
    called = reference.called
    return Finding(
        "CLR470",
        f"there is no {'function' if called else 'variable'} {reference.name!r}",
        path,
        severity="error" if strict else "warning",
        offset=at,
        why=FAILS if strict else STAYS,
        help=nearest(reference.path[0], _functions() if called else sorted(ROOTS)),
    )


def _functions() -> Iterable[str]:
    from couler_py.argolang import FUNCTIONS  # a large table, which few documents need

    return FUNCTIONS


def _is_beginning(name: str, place: Place, names: Names) -> bool:
    """Whether something that can be read begins with this name: `tasks.a.outputs` is a mapping of outputs."""
    beginning = f"{name}."
    parts = name.split(".")
    if parts[0] in ("tasks", "steps") and len(parts) <= 4:
        if len(parts) == 1:
            return True
        other = place.template.by_name.get(parts[1])
        if other is None:
            return False
        if len(parts) == 2:
            return names.problem(f"{name}.status", place) is None or names.problem(f"{name}.id", place) is None
        rest = ".".join(parts[2:]) + "."
        return (
            other.target is not None
            and any(each.startswith(rest) for each in other.target.offers)
            and (names.problem(f"{parts[0]}.{parts[1]}.id", place) is None)
        )
    if name in ("workflow.parameters", "workflow.labels", "workflow.annotations", "workflow.outputs"):
        return True
    if name in ("workflow.outputs.parameters", "workflow.outputs.artifacts", "inputs.artifacts"):
        return True
    return any(each.startswith(beginning) for each in names.local(place.template))


def fields(flow: Flow) -> Iterator[Finding]:
    """The fields that are expressions as a whole."""
    names = Names(flow)
    for template in flow.all_templates:
        place = Place(template)
        yield from _retry(template.data.get("retryStrategy"), (*template.path, "retryStrategy"), names)
        for index, each in enumerate(template.data.get("outputs", {}).get("parameters", ())):
            text = (each.get("valueFrom") or {}).get("expression", "")
            if text:
                path = (*template.path, "outputs", "parameters", index, "valueFrom", "expression")
                yield from _field(text, path, place, names)
        for index, each in enumerate(template.data.get("outputs", {}).get("artifacts", ())):
            if text := each.get("fromExpression", ""):
                path = (*template.path, "outputs", "artifacts", index, "fromExpression")
                yield from _field(text, path, place, names)
        for index, each in enumerate(template.data.get("data", {}).get("transformation", ())):
            text = each.get("expression", "")
            if text and "{{" not in text and (problem := expression_problem(text)) is not None:
                yield _unreadable(problem, (*template.path, "data", "transformation", index, "expression"), 0)
        for call in template.calls:
            for hook, data in call.data.get("hooks", {}).items():
                if text := data.get("expression", ""):
                    path = (*call.path, "hooks", hook, "expression")
                    yield from _field(text, path, Place(template, call, in_hook=True), names)
                    yield from answers.of_hook(text, path, f"{template.word}s.{call.name}.")
    yield from _retry(flow.spec.get("retryStrategy"), (*flow.path, "retryStrategy"), names)
    defaults = flow.spec.get("templateDefaults", {})
    yield from _retry(defaults.get("retryStrategy"), (*flow.path, "templateDefaults", "retryStrategy"), names)
    yield from _of_workflow(flow, names)


def _field(text: str, path: Path, place: Place, names: Names) -> Iterator[Finding]:
    if "{{" in text:
        return  # filled in before it is read
    misread = list(_hyphens(text, path, 0, place, strict=True))
    yield from misread
    if not misread:
        yield from whole(text, path, 0, place, names, strict=True)


def _retry(strategy: JSON | None, path: Path, names: Names) -> Iterator[Finding]:
    text = (strategy or {}).get("expression", "")
    at = (*path, "expression")
    if "{{" in text:
        yield from answers.left_tags(text, at, ("lastRetry.", "retries"))
    if not text or "{{" in text:
        return
    try:
        found = references(text)
    except SyntaxProblem as problem:
        yield _unreadable(problem, at, 0)
        return
    fine = True
    for each in found:
        if each.path[0] in OF_ARGO or each.name in RETRY or each.name == "lastRetry":
            continue
        fine = False
        yield Finding(
            "CLR470",
            f"{each.name!r} isn't known when Argo decides on another attempt",
            at,
            offset=each.start,
            why="the attempts are over and the step ends in Error when the expression is looked at",
            help=nearest(each.name, sorted(RETRY)),
        )
    if fine:
        yield from answers.of_retry(text, at)


def _of_workflow(flow: Flow, names: Names) -> Iterator[Finding]:
    place = Place(Template((), {}))
    for name, hook in flow.spec.get("hooks", {}).items():
        if text := hook.get("expression", ""):
            path: Path = (*flow.path, "hooks", name, "expression")
            yield from _field(text, path, place, names)
            yield from answers.of_hook(text, path, "workflow.status")
    for key, each in flow.spec.get("workflowMetadata", {}).get("labelsFrom", {}).items():
        if text := each.get("expression", ""):
            yield from _field(text, (*flow.path, "workflowMetadata", "labelsFrom", key, "expression"), place, names)


def hooks(flow: Flow) -> Iterator[Finding]:
    """A hook that isn't `exit` says when it runs."""
    for path, name, hook, call in flow.hooks:
        if name != "exit" and not hook.get("expression"):
            owner = "the workflow" if call is None else call.where
            yield Finding(
                "CLR473",
                f"the hook {name!r} of {owner} has no expression",
                path,
                on="key",
                why="only the hook called `exit` runs at the end by itself",
                help='add `expression`, as workflow.status == "Running"' if call is None else "add `expression`",
            )
