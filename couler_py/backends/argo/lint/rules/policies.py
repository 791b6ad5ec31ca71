"""Time limits, retries, caches, locks: settings that Argo reads only when it needs them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from couler_py.argolang import tags_in
from couler_py.backends.argo.durations import loose_seconds_of, seconds_of
from couler_py.backends.argo.lint.context import JSON
from couler_py.backends.argo.lint.finding import Finding, Path
from couler_py.backends.argo.lint.rules.flow import GRAPHS, LEAVES, Flow, Template
from couler_py.backends.argo.lint.rules.selectors import label_selector_problem

_WHOLE = re.compile(r"[-+]?\d+")
_CACHE_KEY = re.compile(r"[a-zA-Z0-9][-a-zA-Z0-9]*")
_FORM = "a duration is written as 90s, 1.5h or 1h30m; its units are ns, us, ms, s, m and h"


def times(flow: Flow) -> Iterator[Finding]:
    """Deadlines, time-outs and parallelism: where they can be, and in a form that Argo reads."""
    for template in flow.all_templates:
        data, path = template.data, template.path
        if (text := data.get("timeout")) and template.type not in GRAPHS:
            yield from _timeout(template, text)
        if "activeDeadlineSeconds" in data and template.type not in GRAPHS:
            yield from _deadline(data["activeDeadlineSeconds"], (*path, "activeDeadlineSeconds"), template.where)
        if "parallelism" in data and template.type and template.type not in GRAPHS:
            yield Finding(
                "CLR474",
                f"{template.where} has `parallelism`, and nothing inside it runs in parallel",
                (*path, "parallelism"),
                on="key",
                why="it bounds the steps or tasks of a template",
                help="put it into the template that calls this one, or into the spec",
            )
        if text := (data.get("suspend") or {}).get("duration", ""):
            yield from _duration(
                text, (*path, "suspend", "duration"), loose_seconds_of, "a plain number counts as seconds"
            )
    deadline = flow.spec.get("activeDeadlineSeconds")
    if isinstance(deadline, int) and deadline < 0:
        yield from _deadline(deadline, (*flow.path, "activeDeadlineSeconds"), "the workflow")
    pods = flow.spec.get("podGC", {})
    if text := pods.get("deleteDelayDuration", ""):
        yield from _duration(text, (*flow.path, "podGC", "deleteDelayDuration"), loose_seconds_of, "", "warning")
    if problem := label_selector_problem(pods.get("labelSelector") or {}):
        yield Finding(
            "CLR480",
            f"pods can't be selected: {problem[0]}",
            (*flow.path, "podGC", "labelSelector", *problem[1]),
        )


def _timeout(template: Template, text: str) -> Iterator[Finding]:
    path = (*template.path, "timeout")
    if template.type not in LEAVES:
        yield Finding(
            "CLR474",
            f"{template.where} can't have a `timeout`",
            path,
            on="key",
            why=f"a `{template.type}` isn't something that runs by itself",
            help="use `suspend.duration`" if template.type == "suspend" else "put it into the templates that it calls",
        )
        return
    yield from _duration(text, path, seconds_of, "a plain number isn't one")


def _duration(
    text: str, path: Path, read: Callable[[str], float | None], also: str, severity: Any = "error"
) -> Iterator[Finding]:
    if "{{" not in text and read(text) is None:
        yield Finding(
            "CLR475",
            f"{text!r} is no duration",
            path,
            severity=severity,
            why=_FORM + (f"; {also}" if also else ""),
            help=f"write {text}s" if _WHOLE.fullmatch(text) else "",
        )


def _deadline(value: object, path: Path, where: str) -> Iterator[Finding]:
    text = str(value)
    if _WHOLE.fullmatch(text):
        number = int(text)
        if number >= 0 and not isinstance(value, bool):
            if number == 0:
                yield Finding(
                    "CLR475",
                    f"the deadline of {where} is over when it begins",
                    path,
                    severity="warning",
                    why="0 seconds are no time to run in",
                    help="give more seconds, or take it out",
                )
            return
    elif text.startswith("{{") and text.endswith("}}"):
        return
    yield Finding(
        "CLR475",
        f"the deadline of {where} is {text!r}",
        path,
        why="it is a whole number of seconds above 0, or one tag whose value is one",
        help="write the seconds as a number",
    )


def retries(flow: Flow) -> Iterator[Finding]:
    """Limits are numbers and waiting times durations: Argo reads them after the first failure."""
    places: list[tuple[JSON | None, Path, str]] = [
        (flow.spec.get("retryStrategy"), (*flow.path, "retryStrategy"), "the workflow")
    ]
    defaults = flow.spec.get("templateDefaults", {})
    places.append((defaults.get("retryStrategy"), (*flow.path, "templateDefaults", "retryStrategy"), "the defaults"))
    for template in flow.all_templates:
        places.append((template.data.get("retryStrategy"), (*template.path, "retryStrategy"), template.where))
    for strategy, path, where in places:
        if strategy:
            yield from _retry(strategy, path, where)


def _retry(strategy: JSON, path: Path, where: str) -> Iterator[Finding]:
    yield from _number(strategy.get("limit"), (*path, "limit"), f"the limit of attempts of {where}")
    backoff = strategy.get("backoff")
    if backoff is not None:
        if not backoff.get("duration"):
            yield Finding(
                "CLR476",
                f"the backoff of {where} has no duration",
                (*path, "backoff"),
                why="Argo needs the first waiting time; without it the step ends in Error after its first attempt",
                help="add `duration`, as 10s",
            )
        for key in ("duration", "maxDuration", "cap"):
            if text := backoff.get(key, ""):
                yield from _duration(
                    text, (*path, "backoff", key), loose_seconds_of, "a plain number counts as seconds"
                )
        yield from _number(backoff.get("factor"), (*path, "backoff", "factor"), f"the factor of the backoff of {where}")


def _number(value: object, path: Path, what: str) -> Iterator[Finding]:
    if isinstance(value, str) and not _WHOLE.fullmatch(value) and "{{" not in value:
        yield Finding(
            "CLR476",
            f"{what} is {value!r}",
            path,
            why="it is a whole number; the step ends in Error after its first attempt",
            help="write a number",
        )


def caches(flow: Flow) -> Iterator[Finding]:
    """The key of a cache and the age of what it keeps."""
    for template in flow.all_templates:
        memoize = template.data.get("memoize")
        if not memoize:
            continue
        path = (*template.path, "memoize")
        key = memoize.get("key", "")
        rest = _without_tags(key)
        if (
            not key
            or (rest and not re.fullmatch(r"[-a-zA-Z0-9]+", rest))
            or (key == rest and not _CACHE_KEY.fullmatch(key))
        ):
            yield Finding(
                "CLR477",
                f"the key of the cache of {template.where} can't be {key!r}",
                (*path, "key") if "key" in memoize else path,
                why="it is made of letters, digits and `-` and doesn't begin with `-`; others end the step in Error",
                help="write a digest: {{=sprig.sha256sum(inputs.parameters['x'])}}",
            )
        if text := memoize.get("maxAge", ""):
            yield from _duration(text, (*path, "maxAge"), seconds_of, "a plain number isn't one")


def _without_tags(text: str) -> str:
    last, rest = 0, ""
    for tag in tags_in(text):
        rest += text[last : tag.start]
        last = tag.end
    return rest + text[last:]


def locks(flow: Flow) -> Iterator[Finding]:
    """Mutexes and semaphores have a name, and one kind of place where their number stands."""
    holders: list[tuple[JSON | None, Path, str]] = [
        (flow.spec.get("synchronization"), (*flow.path, "synchronization"), "the workflow")
    ]
    holders += [(t.data.get("synchronization"), (*t.path, "synchronization"), t.where) for t in flow.all_templates]
    for data, path, where in holders:
        for index, mutex in enumerate((data or {}).get("mutexes") or ()):
            if not mutex.get("name"):
                yield Finding(
                    "CLR488",
                    f"a mutex of {where} has no name",
                    (*path, "mutexes", index),
                    why="Argo can't tell which lock is meant",
                    help="add `name`",
                )
        for index, semaphore in enumerate((data or {}).get("semaphores") or ()):
            given = [each for each in ("configMapKeyRef", "database") if semaphore.get(each) is not None]
            if len(given) != 1:
                yield Finding(
                    "CLR488",
                    f"a semaphore of {where} says {'twice' if given else 'nowhere'} how many may hold it",
                    (*path, "semaphores", index),
                    why="its number stands in a ConfigMap or in the database; else what needs it ends in Error",
                    help="give `configMapKeyRef`" if not given else "keep one of the two",
                )
