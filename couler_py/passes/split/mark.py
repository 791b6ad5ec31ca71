"""Which tasks of a workflow are its parts: said in the workflow, so that an engine may run each as a run of its own.

Beside them stand the templates that splitting added. Their tasks are nobody's: whoever shows a run leaves them out.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from couler_py.ir.model import Workflow

MARK = "split"
"""The key among the options for engines."""


def marked(workflow: Workflow, parts: Iterable[str], helpers: Iterable[str]) -> Workflow:
    """The workflow that says which tasks of its first graph are parts, and which templates are only there for them."""
    mark = {"parts": list(parts), "helpers": sorted({*helpers_of(workflow), *helpers})}
    return msgspec.structs.replace(workflow, engines={**workflow.engines, MARK: mark})


def parts_of(workflow: Workflow) -> tuple[str, ...]:
    """The tasks that are parts; none where the workflow isn't split."""
    return tuple(workflow.engines.get(MARK, {}).get("parts", ()))


def helpers_of(workflow: Workflow) -> frozenset[str]:
    """The templates that splitting added; what calls them is no task of a person's."""
    return frozenset(workflow.engines.get(MARK, {}).get("helpers", ()))


def unmarked(workflow: Workflow) -> Workflow:
    """The same workflow as any other."""
    engines = {name: options for name, options in workflow.engines.items() if name != MARK}
    return msgspec.structs.replace(workflow, engines=engines)
