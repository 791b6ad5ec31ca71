"""IR → Python source that a person would have written, and will keep.

    print(print_python(workflow))

Loading the source and building its workflow gives the same IR again, up to the places where things are written.
Each graph is written in the shortest way that is proved to say the same; where none does, as the IR says it.
"""

from __future__ import annotations

from couler_py.ir.diagnostics import DiagnosticError, error
from couler_py.ir.graph import reachable
from couler_py.ir.model import Graph, Loop, Workflow
from couler_py.printer.module import Plan, draft
from couler_py.printer.proof import differing

__all__ = ["print_python"]


def print_python(workflow: Workflow) -> str:
    """Python source that builds the workflow, formatted, the same for the same workflow.

    Raises `DiagnosticError` (CLR801), naming all places, where a value in the workflow has no form in source.
    """
    plan = _beginning(workflow)
    try:
        while True:
            found = draft(workflow, plan)
            wrong = found.blamed or differing(found, workflow)
            if wrong == frozenset():
                return found.text
            longer = _without(workflow, plan, wrong)
            if longer == plan:
                break
            plan = longer
    except TypeError as problem:
        raise DiagnosticError([error("CLR801", str(problem), step=workflow.name)]) from problem
    raise DiagnosticError([error("CLR801", "no source builds this workflow", step=workflow.name)])


def _beginning(workflow: Workflow) -> Plan:
    """The first plan: by verbs, but for templates that nothing calls, which only the IR has a place for."""
    if len(reachable(workflow)) == len(workflow.templates):
        return Plan()
    return Plan(explicit=frozenset({workflow.entrypoint}))


def _without(workflow: Workflow, plan: Plan, wrong: frozenset[str] | None) -> Plan:
    """The next plan: what was wrong said in a longer way, first its graphs as functions of their own."""
    graphs = {one.name for one in workflow.templates if isinstance(one.body, Graph | Loop)}
    names = graphs if wrong is None else set(wrong)
    if names <= graphs and not names <= plan.apart:
        return Plan(plan.apart | names, plan.explicit)
    explicit = plan.explicit | names
    if explicit == plan.explicit:
        explicit |= {one.name for one in workflow.templates}
    return Plan(plan.apart | graphs, explicit)
