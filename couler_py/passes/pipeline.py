"""The passes that stand between a checked workflow and an engine, in their order.

A pass is a pure function from IR to IR that keeps what a run means: the same states, outputs and
outcome. Each can be left out by its name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

import msgspec

from couler_py.ir.model import Workflow


class Pass(msgspec.Struct, frozen=True):
    """A pass: its name, what it does in one line, and the function. With `default=False` it runs only when asked."""

    name: str
    summary: str
    apply: Callable[[Workflow], Workflow]
    default: bool = True


class Applied(msgspec.Struct, frozen=True):
    """What became of one pass. `state` is "changed", "unchanged" or "off"."""

    name: str
    state: str
    summary: str = ""


class UnknownPassError(ValueError):
    """A pass is left out that there isn't."""


PASSES: tuple[Pass, ...] = ()
"""Every pass, in the order in which they run."""


def transform(
    workflow: Workflow, *, without: Collection[str] = (), passes: tuple[Pass, ...] = PASSES
) -> tuple[Workflow, tuple[Applied, ...]]:
    """Run the passes but those in `without`, and say what each did.

    Raises `UnknownPassError` naming the passes that there are.
    """
    known = [each.name for each in passes]
    unknown = sorted(set(without) - set(known))
    if unknown:
        raise UnknownPassError(f"there is no pass {unknown[0]!r}; there are {', '.join(known) or 'none yet'}")
    applied = []
    for each in passes:
        if each.name in without or not each.default:
            applied.append(Applied(each.name, "off", each.summary))
            continue
        changed = each.apply(workflow)
        applied.append(Applied(each.name, "unchanged" if changed == workflow else "changed", each.summary))
        workflow = changed
    return workflow, tuple(applied)
