"""What the sweeps of a workflow will do, told before they run.

Nothing is changed: `couler.sweep` has written them already.
"""

from __future__ import annotations

from couler_py.ir.model import Workflow
from couler_py.ir.sweep import STATIC, Plan
from couler_py.passes.situation import Note, Outcome, Situation
from couler_py.passes.sweep.finding import sweeps


def apply(workflow: Workflow, situation: Situation) -> Outcome:
    """Say of each sweep how many trials it makes, when, and what decides which."""
    if not situation.explain:
        return Outcome(workflow)
    notes = tuple(Note(each.place, *_said(each.plan), source=each.task.source) for each in sweeps(workflow))
    return Outcome(workflow, notes)


def _said(plan: Plan) -> tuple[str, str]:
    judged = ", ".join(f"{metric.name} ({metric.goal})" for metric in plan.metrics)
    if plan.algorithm in STATIC:
        return f"{plan.trials} trials by {plan.algorithm}, all known beforehand", f"for the best {judged}"
    rounds = "1 round" if plan.rounds == 1 else f"{plan.rounds} rounds of up to {plan.batch}"
    ended = f"; some end early, at {', '.join(map(str, plan.rungs))} steps" if plan.rungs else ""
    return f"{plan.trials} trials by {plan.algorithm}, in {rounds}{ended}", f"for the best {judged}"
