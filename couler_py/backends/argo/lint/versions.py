"""Fields that came and went between versions of Argo: those removed by 4.0, and those that 3.5 doesn't have.

From the CRDs of 3.5.14 and 4.0.7, compared, and Argo's upgrading notes.
"""

from __future__ import annotations

import functools

from couler_py.backends.argo.lint.finding import Finding, Path

Pattern = tuple[str, ...]
"""The end of a path without the numbers of items; `spec` begins it, `*spec` is a workflow's spec, wherever it is."""

_REMOVED: dict[Pattern, tuple[str, str]] = {
    ("spec", "schedule"): ("4.0", "write a list: `schedules: [...]`"),
    ("synchronization", "mutex"): ("4.0", "write a list: `mutexes: [{name: ...}]`"),
    ("synchronization", "semaphore"): ("4.0", "write a list: `semaphores: [{configMapKeyRef: ...}]`"),
    ("*spec", "podPriority"): ("4.0", "make a PriorityClass in the cluster and name it: `podPriorityClassName: ...`"),
    ("templates", "priority"): ("4.0", "make a PriorityClass in the cluster and name it: `priorityClassName: ...`"),
    ("templateDefaults", "priority"): ("4.0", "name a PriorityClass of the cluster: `priorityClassName: ...`"),
    ("cache", "configMap", "key"): ("4.0", "take it away: the name of the ConfigMap is all that Argo reads"),
    ("cache", "configMap", "optional"): ("4.0", "take it away: the name of the ConfigMap is all that Argo reads"),
    ("*spec", "ttlSecondsAfterFinished"): ("3", "write `ttlStrategy: {secondsAfterCompletion: ...}`"),
    ("templates", "resubmitPendingPods"): ("3", "take it away: Argo makes pending pods again by itself"),
    ("templates", "template"): ("3", "call it from a step or a task: a template can't be another one"),
    ("templates", "templateRef"): ("3", "call it from a step or a task: a template can't be another one"),
    ("templates", "arguments"): ("3", "give the arguments where the template is called"),
}

LISTS = {"schedule": "schedules", "mutex": "mutexes", "semaphore": "semaphores"}
"""Fields that became lists in 3.6."""

_INSTEAD_IN_35 = {
    "schedules": "write one `schedule`; several schedules are several CronWorkflows",
    "mutexes": "write one `mutex`",
    "semaphores": "write one `semaphore`",
}


def removed(path: Path) -> Finding | None:
    """The finding for a field that an older Argo had, with what stands in its place; None for any other."""
    pattern = _found(tuple(step for step in path if isinstance(step, str)))
    if pattern is None:
        return None
    version, instead = _REMOVED[pattern]
    return Finding("CLR425", f"Argo {version} took {path[-1]!r} away", path, on="key", help=instead)


def unknown_to_35(path: Path) -> Finding:
    """The finding for a field of Argo 4 that 3.5 doesn't have."""
    name = str(path[-1])
    help_ = _INSTEAD_IN_35.get(name, "take it away, or lint for argo@4")
    return Finding("CLR426", f"Argo 3.5 has no field {name!r} here", path, on="key", help=help_)


@functools.lru_cache(4096)
def _found(names: Pattern) -> Pattern | None:
    return next((each for each in _REMOVED if _fits(names, each)), None)


def _fits(names: Pattern, pattern: Pattern) -> bool:
    if pattern[0] == "*spec":
        return names[:-1] in (("spec",), ("spec", "workflowSpec")) and names[-1] == pattern[1]
    if pattern[0] == "spec":
        return names == pattern
    return names[-len(pattern) :] == pattern
