"""What a task waits for, read from its `depends` or `dependencies` as Argo reads it.

Source: workflow/common/ancestry.go of Argo Workflows 4.0.7.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from couler_py.backends.argo.lint.context import JSON

OF_ITEMS = frozenset({"AnySucceeded", "AllFailed"})

_WORD = re.compile(r"([a-zA-Z0-9][-a-zA-Z0-9]*?)\.([A-Z][a-zA-Z]+)|([a-zA-Z0-9][-a-zA-Z0-9]*)")


def words(text: str) -> list[tuple[str, str, int]]:
    """The tasks that a `depends` names: each with its result ("" where none is given) and its place in the text.

    >>> words("a && (b.Failed || !c-d)")
    [('a', '', 0), ('b', 'Failed', 6), ('c-d', '', 19)]
    """
    return [(m[1] or m[3], m[2] or "", m.start()) for m in _WORD.finditer(text)]


def dependencies(task: JSON) -> list[str]:
    """The names that a task waits for, in the order of the text; a name may stand there more than once."""
    text = task.get("depends")
    if text:
        return [name for name, _, _ in words(text)]
    return [name for each in task.get("dependencies", ()) for name, _, _ in words(each)]


def in_order(tasks: Mapping[str, JSON], *, rings: bool = True) -> list[str]:
    """The names of tasks, each after those that it waits for; tasks in or behind a ring come last, or not at all."""
    waits = {
        name: [each for each in dict.fromkeys(dependencies(task)) if each in tasks] for name, task in tasks.items()
    }
    followers: dict[str, list[str]] = {name: [] for name in tasks}
    for name, before in waits.items():
        for each in before:
            followers[each].append(name)
    missing = {name: len(before) for name, before in waits.items()}
    ready = [name for name, count in missing.items() if not count]
    for name in ready:  # grows while it is read
        for each in followers[name]:
            missing[each] -= 1
            if not missing[each]:
                ready.append(each)
    return [*ready, *(name for name, count in missing.items() if count)] if rings else ready
