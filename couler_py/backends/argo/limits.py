"""What an Argo installation takes: how many templates, tasks and inputs, and how large a workflow."""

from __future__ import annotations

from typing import Any

from couler_py.backends.argo.emission import Emission
from couler_py.backends.argo.size import size_findings, size_of
from couler_py.ir.graph import strongly_connected
from couler_py.ir.model import Loop

JSON = dict[str, Any]
TEMPLATES = TASKS = 200
PARAMETERS = 500
"""Bounds of the full CRDs of Argo 4 (`maxItems` of `spec.templates`, `dag.tasks`, `inputs.parameters`)."""

LEVELS = 98
"""Templates that call each other, that of a pod included: 99 were seen to run on 4.0.7, 100 to fail."""


def check_limits(emission: Emission, documents: list[JSON]) -> None:
    """Note every bound that the documents break."""
    main = documents[-1]
    spec = main["spec"].get("workflowSpec", main["spec"])
    if emission.options.crds == "full":
        _counts(emission, spec)
    _depth(emission, spec)
    workflow = emission.workflow
    for found in size_findings(size_of(main)):  # to compile is no mistake: `lint` and `submit` refuse
        emission.problem(
            found.code,
            found.message,
            severity="warning",
            step=workflow.name,
            source=workflow.source,
            why=found.why,
            help=found.help,
        )


def _counts(emission: Emission, spec: JSON) -> None:
    templates = spec["templates"]
    if len(templates) > TEMPLATES:
        _refused(emission, f"the workflow has {len(templates)} templates", TEMPLATES, emission.workflow.name)
    for template in templates:
        tasks = template.get("dag", {}).get("tasks", ())
        if len(tasks) > TASKS:
            _refused(emission, f"the graph has {len(tasks)} tasks on Argo", TASKS, template["name"])
        given = template.get("inputs", {}).get("parameters", ())
        if len(given) > PARAMETERS:
            _refused(emission, f"the template has {len(given)} input parameters", PARAMETERS, template["name"])


def _refused(emission: Emission, what: str, most: int, name: str) -> None:
    known = {emission.program.template_name(each.name): each for each in emission.workflow.templates}
    template = known.get(name)
    emission.problem(
        "CLR409",
        f"{what}, and Argo 4's own installation takes at most {most}",
        step=name,
        source=None if template is None else template.source,
        why="the full CRDs bound these lists",
        help='use crds="minimal" if the cluster has the minimal CRDs; or let split="auto" (--split auto) run it in '
        "parts, each a workflow of its own; or put tasks that belong together into graphs of their own",
    )


def _depth(emission: Emission, spec: JSON) -> None:
    """Note the loops that go too deep. How deep a template that calls itself without a bound goes only a run shows."""
    calls = {
        template["name"]: tuple(
            dict.fromkeys(
                task["template"]
                for task in (
                    *template.get("dag", {}).get("tasks", ()),
                    *(each for g in template.get("steps", ()) for each in g),
                )
                if "template" in task and task.get("when") != "false"
            )
        )
        for template in spec["templates"]
        if "dag" in template or "steps" in template
    }
    levels: dict[str, int] = {each["name"]: 1 for each in spec["templates"] if each["name"] not in calls}
    for group in strongly_connected(calls):
        for name in group:
            loop = emission.loops.get(name)
            own = loop.body.max_iterations if loop is not None and isinstance(loop.body, Loop) else 1
            levels[name] = own + max((levels[each] for each in calls[name] if each in levels), default=0)
    deepest = max(levels, key=lambda name: levels[name], default="")
    if not deepest or levels[deepest] <= LEVELS:
        return
    way = [deepest]
    while inner := [
        each for each in calls.get(way[-1], ()) if levels.get(each, 0) < levels[way[-1]] and each not in way
    ]:
        way.append(max(inner, key=lambda name: levels[name]))
    loops = [emission.loops[name] for name in way if name in emission.loops]
    emission.problem(
        "CLR407",
        f"templates call each other {levels[deepest]} levels deep, and Argo ends a run beyond {LEVELS}",
        step=(loops[0].display or loops[0].name) if loops else deepest,
        source=loops[0].source if loops else None,
        why="each iteration of a loop is a template inside the one before, and those of loops inside it add to them",
        help="bound " + (" and ".join(each.display or each.name for each in loops) or "the nesting") + " to less",
    )
