"""The passes that stand between a checked workflow and an engine, in their order.

A pass is a pure function from IR to IR that keeps what a run means: the same states, outputs and outcome. It says
what it did and what it offers. Each can be left out by its name, and one that isn't meant for everybody changes
nothing until one of its options asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import msgspec

from couler_py.ir.diagnostics import CoulerError
from couler_py.ir.model import Workflow
from couler_py.passes.situation import Note, Outcome, PassOptionError, Situation, asked


class Asked(msgspec.Struct, frozen=True):
    """An option of `compile` that a pass takes: `--drop-order-edges` on the command line is `drop_order_edges`.

    Without a `metavar` it is given or not; with one it has a value.
    """

    name: str
    help: str
    metavar: str = ""


class Pass(msgspec.Struct, frozen=True):
    """A pass: its name, what it does in one line, the function, and the options that ask for more of it.

    With `default=False` it runs only where one of its options is given.
    """

    name: str
    summary: str
    apply: Callable[[Workflow, Situation], Outcome]
    default: bool = True
    asked: tuple[Asked, ...] = ()

    def runs(self, options: Mapping[str, Any]) -> bool:
        """Whether it runs with some options."""
        return self.default or bool(self.asked_of(options))

    def asked_of(self, options: Mapping[str, Any]) -> tuple[str, ...]:
        """The options of this pass that are given."""
        return tuple(each.name for each in self.asked if asked(options, each.name) is not None)

    def check(self, options: Mapping[str, Any]) -> None:
        """Raises `PassOptionError` for an option without a value that is given one."""
        for each in self.asked:
            given = asked(options, each.name)
            if not each.metavar and given is not None and given is not True:
                raise PassOptionError(each.name, given, " is neither True nor False")


class Applied(msgspec.Struct, frozen=True):
    """What became of one pass. `state` is "changed", "unchanged" or "off"; `notes` are what it did or offers."""

    name: str
    state: str
    summary: str = ""
    notes: tuple[Note, ...] = ()


class UnknownPassError(CoulerError, ValueError):
    """A pass is left out that there isn't."""


def _parallel(workflow: Workflow, situation: Situation) -> Outcome:
    from couler_py.passes.parallel import apply

    return apply(workflow, situation)


def _cache(workflow: Workflow, situation: Situation) -> Outcome:
    from couler_py.passes.cache import apply

    return apply(workflow, situation)


def _retry(workflow: Workflow, situation: Situation) -> Outcome:
    from couler_py.passes.retry import apply

    return apply(workflow, situation)


def _resources(workflow: Workflow, situation: Situation) -> Outcome:
    from couler_py.passes.resources import apply

    return apply(workflow, situation)


def _sweep(workflow: Workflow, situation: Situation) -> Outcome:
    from couler_py.passes.sweep import apply

    return apply(workflow, situation)


def _split(workflow: Workflow, situation: Situation) -> Outcome:
    from couler_py.passes.split.applying import apply

    return apply(workflow, situation)


def _distributed(workflow: Workflow, situation: Situation) -> Outcome:
    from couler_py.passes.distributed import apply

    return apply(workflow, situation)


PASSES: tuple[Pass, ...] = (
    Pass("sweep", "what sweeps will try", _sweep),
    Pass(
        "parallel",
        "order that no value needs",
        _parallel,
        asked=(
            Asked("drop_order_edges", "Drop order edges that no value needs, between steps without effects=."),
            Asked("batch_fanouts", "Let one Python step work on so many items of a fan-out, where it has more.", "N"),
            Asked("merge_chains", "Make one of Python steps in a row that take so long at most.", "SECONDS|all"),
        ),
    ),
    Pass(
        "cache",
        "results kept for later runs",
        _cache,
        asked=(Asked("cache_steps", "Keep the results of every step without effects= for later runs."),),
    ),
    Pass(
        "resources",
        "what steps ask for, by what they used",
        _resources,
        default=False,
        asked=(Asked("right_size", "Let steps ask for what their earlier attempts used, and some more."),),
    ),
    Pass(
        "retry",
        "further attempts after faults of the platform",
        _retry,
        asked=(Asked("retry_platform", "Further attempts of steps after faults of the platform alone.", "N"),),
    ),
    Pass("distributed", "jobs of several nodes as what the engine has for them", _distributed),
    Pass(
        "split",
        "big workflows in parts that the engine takes",
        _split,
        default=False,
        asked=(
            Asked(
                "split", 'Split the workflow where it is too big: auto, off, or budgets ("tasks=100,slots=8").', "HOW"
            ),
        ),
    ),
)
"""Every pass, in the order in which they run; each is imported when it runs."""


def _left(workflow: Workflow, option: str) -> Note:
    what = f"--{option.replace('_', '-')} changes nothing"
    return Note(workflow.display or workflow.name, what, "it is in Argo's own words", source=workflow.source)


def options_of(passes: tuple[Pass, ...] | None = None) -> tuple[Asked, ...]:
    """The options that passes take, each once."""
    found = {asked.name: asked for each in (PASSES if passes is None else passes) for asked in each.asked}
    return tuple(found.values())


def transform(
    workflow: Workflow,
    situation: Situation | None = None,
    *,
    without: Collection[str] = (),
    passes: tuple[Pass, ...] | None = None,
) -> tuple[Workflow, tuple[Applied, ...]]:
    """Run the passes but those in `without`, and say what each did.

    `without` may be a single name. A workflow in Argo's own words stays as it is written, and passes that were asked
    for say so. Raises `UnknownPassError` naming the passes that there are, and `PassOptionError`.
    """
    passes = PASSES if passes is None else passes
    situation = situation or Situation()
    without = {without} if isinstance(without, str) else without
    known = [each.name for each in passes]
    unknown = sorted(set(without) - set(known))
    if unknown:
        raise UnknownPassError(f"there is no pass {unknown[0]!r}; there are {', '.join(known)}")
    applied = []
    for each in passes:
        if each.name in without or not each.runs(situation.options) or workflow.dialect == "argo":
            refused = each.name not in without and workflow.dialect == "argo"
            notes = tuple(_left(workflow, option) for option in each.asked_of(situation.options) if refused)
            applied.append(Applied(each.name, "off", each.summary, notes))
            continue
        each.check(situation.options)
        outcome = each.apply(workflow, situation)
        same = outcome.workflow is workflow or outcome.workflow == workflow
        state = "unchanged" if same else "changed"
        applied.append(Applied(each.name, state, each.summary, outcome.notes))
        workflow = outcome.workflow
    return workflow, tuple(applied)
