"""The first critic of what a model says: this package's own checks, exact and free. Its findings go back to the model.

In order: references and values of the outline, then the checks of the DSL and of both engines, then a dry run.
"""

from __future__ import annotations

import msgspec

from couler_py.ir.diagnostics import CoulerError, Diagnostic, DiagnosticError
from couler_py.nl.assemble import assemble
from couler_py.nl.checking import OutlineError, problems
from couler_py.nl.draft import Draft
from couler_py.nl.offering import offer_workflow
from couler_py.nl.outline import Outline, Task
from couler_py.nl.pipeline.dryrun import dry_run
from couler_py.nl.pipeline.shapes import Plan

MOST = 8
"""Findings that are sent back at once: the first ones are often the cause of the others."""


class Verdict(msgspec.Struct, frozen=True):
    """A draft that is valid, or the findings for which there is none."""

    draft: Draft | None
    findings: tuple[str, ...] = ()


def of_plan(plan: Plan) -> tuple[str, ...]:
    """What is wrong with a plan by itself: names nobody has, circles, schedules that are none."""
    tasks = tuple(Task(each.name, takes=each.takes, after=each.after, inside=each.inside) for each in plan.steps)
    outline = Outline(plan.name, tasks=tasks, blocks=plan.blocks, parameters=plan.parameters, schedule=plan.schedule)
    found = problems(outline)
    if not found:
        try:
            assemble(outline)
        except CoulerError as error:
            found = findings(error)
    return found[:MOST]


def judge(outline: Outline, draft: Draft, *, dry: bool = True) -> Verdict:
    """Whether an outline is a workflow that compiles for every engine of a draft, and runs with stubs."""
    try:
        offered = offer_workflow(assemble(outline), draft, engine=outline.engine)
    except CoulerError as error:
        return Verdict(None, findings(error)[:MOST])
    assert offered.workflow is not None
    if dry:
        failed = dry_run(offered.workflow)
        if failed:
            return Verdict(None, (failed,))
    return Verdict(offered)


def findings(error: CoulerError) -> tuple[str, ...]:
    """What an error says, a text a finding, as a model can use it."""
    if isinstance(error, OutlineError):
        return error.problems
    if isinstance(error, DiagnosticError):
        return tuple(_said(each) for each in error.diagnostics if each.severity == "error")
    return (" ".join(str(error).split())[:400],)


def _said(found: Diagnostic) -> str:
    """A finding without its place, which is of no use to a model and a path of this machine."""
    about = f"{found.step}: " if found.step else ""
    return f"{about}{'; '.join(part for part in (found.message, found.why, found.help) if part)}"[:400]
