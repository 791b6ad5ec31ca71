"""How the tasks of a graph weigh on Argo, and how large parts are as they are emitted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from couler_py.backends.argo.emission import RUNNER
from couler_py.backends.argo.limits import PARAMETERS, TASKS, TEMPLATES
from couler_py.backends.argo.options import Options
from couler_py.backends.argo.size import LARGE, node_costs, size_of
from couler_py.backends.argo.split.documents import divided, emitted
from couler_py.backends.argo.split.parts import closure
from couler_py.ir.graph import templates_by_name
from couler_py.ir.model import Graph, Workflow
from couler_py.passes.split.budget import Budget, SplitError
from couler_py.passes.split.mark import parts_of
from couler_py.passes.split.splitting import Weights

JSON = dict[str, Any]
MEASURES = ("tasks", "templates", "inputs", "pods", "bytes", "status", "stored")
"""`stored` is what becomes one object of Kubernetes: the text, and the status. The controller would compress the nodes
of a larger one, but the part's files are found by them."""

MOST_PARTS = TEMPLATES // 2 - 10
"""The workflow that runs the parts has two templates for each, and some for the results."""
HELPERS, NOTHING, STAND_INS = 3, 2, 12
"""Of a part: tasks behind all others, templates without pods, and kinds of stand-ins that there is room for."""
INPUT, STAND_IN, OUTPUT = 90, 420, 330
"""Bytes of a value that is taken, of the task that stands for its producer, and of a value that is given."""
STAND_IN_STATUS, OUTPUT_STATUS = 2300, 150
AROUND = 2500
"""Bytes of a part besides its templates and the runner."""


class ArgoScale:
    """Sizes on Argo, by the budget, the bounds of its CRDs, and the bytes that the controller stores."""

    def __init__(self, options: Options):
        self.options = options

    def weights(self, workflow: Workflow, budget: Budget) -> Weights:
        if reason := _of_one_run(workflow):
            raise SplitError(f"{workflow.display or workflow.name} can't be split on Argo: {reason}")
        _, documents = emitted(workflow, self.options)
        main = documents[-1]
        spec = _spec(main)
        entry = next(each for each in spec["templates"] if each["name"] == spec["entrypoint"])
        templates = {each["name"]: each for each in spec["templates"]}
        text = {name: len(msgspec.json.encode(each)) for name, each in templates.items()}
        costs = node_costs(spec)
        graph = templates_by_name(workflow)[workflow.entrypoint].body
        assert isinstance(graph, Graph)
        names = _task_names(graph)
        tasks = {each["name"]: each for each in entry["dag"]["tasks"]}
        closures: dict[str, tuple[int, ...]] = {}
        sizes: dict[str, tuple[int, ...]] = {}
        kinds: dict[str, str] = {}
        for task in graph.tasks:
            written = tasks[names[task.name]]
            called = str(written.get("template", ""))
            if called not in closures:
                inside = closure(spec, [called])
                size = sum(text[name] for name in inside)
                closures[called] = (0, len(inside), 0, 0, size, 0, size)
            _, pods, status = costs(entry["name"], written)
            own = len(msgspec.json.encode(written)) + 1
            sizes[task.name] = (1, 0, 0, pods, own, status, own + status)
            kinds[task.name] = called
        runner = len(spec.get("workflowMetadata", {}).get("annotations", {}).get(RUNNER, ""))
        around = AROUND + runner + STAND_INS * 400
        full = self.options.crds == "full"
        inputs = len(spec.get("arguments", {}).get("parameters", ()))
        taken, given = INPUT + STAND_IN, OUTPUT
        return Weights(
            MEASURES,
            (
                _least(budget.tasks, TASKS if full else None),
                TEMPLATES if full else None,
                PARAMETERS if full else None,
                budget.pods,
                budget.bytes,
                budget.status,
                LARGE - 1,
            ),
            sizes,
            (HELPERS, NOTHING + STAND_INS + 1, inputs, 0, around, 4000, around + 4000),
            (1, 0, 2, 0, taken, STAND_IN_STATUS, taken + STAND_IN_STATUS),
            (0, 0, 0, 0, given * 2, OUTPUT_STATUS * 2, given * 2 + OUTPUT_STATUS * 2),
            kinds,
            closures,
            MOST_PARTS if full else None,
        )

    def fullness(self, workflow: Workflow, budget: Budget) -> float:
        emission, whole = emitted(workflow, self.options)
        if not parts_of(workflow):
            return max(*_of_engine(whole[-1], self.options.crds), *_of_budget(whole[-1], budget))
        *parts, main = [each for each in divided(emission, workflow, whole) if "spec" in each]
        shares = list(_of_engine(main, self.options.crds))
        for part in parts:
            size = size_of(part)
            shares += [(size.spec + size.status) / (LARGE - 1), *_of_engine(part, self.options.crds)]
            shares += _of_budget(part, budget)
        return max(shares)


def _of_one_run(workflow: Workflow) -> str:
    """What of a workflow parts that are runs of their own can't share; empty where there is nothing."""
    if workflow.volume_claims:
        return "its volumes are claimed for one run; claim them yourself, and name the claims"
    published = []
    for template in workflow.templates:
        published += [each.global_name for each in template.outputs.parameters if each.global_name]
        published += [each.global_name for each in template.outputs.artifacts if each.global_name]
    if workflow.handlers and published:
        return f"{published[0]} is published for handlers of the run, and would be published in that of a part alone"
    return ""


def _of_engine(document: JSON, crds: str) -> Iterator[float]:
    """The shares of Argo's own limits that a document takes."""
    spec = _spec(document)
    yield size_of(document).stored / (LARGE - 1)
    if crds == "full":
        yield len(spec["templates"]) / TEMPLATES
        for template in spec["templates"]:
            yield len(template.get("dag", {}).get("tasks", ())) / TASKS
            yield len(template.get("inputs", {}).get("parameters", ())) / PARAMETERS


def _spec(document: JSON) -> JSON:
    found: JSON = document["spec"].get("workflowSpec", document["spec"])
    return found


def _of_budget(document: JSON, budget: Budget) -> Iterator[float]:
    """The shares of its budget that a part, or a workflow that is none, takes."""
    spec, size = _spec(document), size_of(document)
    templates = {each["name"]: each for each in spec["templates"]}
    tasks = templates[spec["entrypoint"]].get("dag", {}).get("tasks", [])
    if document["kind"] == "WorkflowTemplate":  # the run of a part starts with a graph that calls it
        tasks = templates[tasks[0]["template"]]["dag"]["tasks"]
    measured: Mapping[str, int] = {
        "tasks": len(tasks),
        "pods": size.pods,
        "bytes": size.spec,
        "status": size.status,
    }
    for name, value in measured.items():
        limit = getattr(budget, name)
        if limit is not None:
            yield value / limit


def _least(*limits: int | None) -> int | None:
    return min((each for each in limits if each is not None), default=None)


def _task_names(graph: Graph) -> dict[str, str]:
    from couler_py.backends.argo.program import task_names

    return task_names(graph)
