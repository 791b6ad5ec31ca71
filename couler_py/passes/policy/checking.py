"""From rules that aren't kept to findings with their places."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from couler_py.ir.diagnostics import Diagnostic
from couler_py.ir.model import Source, Workflow
from couler_py.passes.policy import rules
from couler_py.passes.policy.peaks import Peaks, tasks_of
from couler_py.passes.policy.pods import Path, Step, steps_of
from couler_py.passes.policy.rules import Broken
from couler_py.passes.policy.views import JSON, spec_of, template_of
from couler_py.settings.policy import PolicySource

Locate = Callable[[Path], Source | None]


def check(workflow: Workflow, policies: Sequence[PolicySource]) -> list[Diagnostic]:
    """What of a workflow the policies don't allow: as written in our own words, in the order of the program.

    >>> from couler_py import ir
    >>> from couler_py.settings import Policy
    >>> flow = ir.Workflow("w", "main", (ir.Template("main", ir.Script("evil", "1")),))
    >>> [each.message for each in check(flow, [PolicySource("policy.toml", Policy(allow_images=("python:*",)))])]
    ["the image 'evil' isn't allowed"]
    """
    if not policies:
        return []
    spec = spec_of(workflow) | {"templates": [template_of(each) for each in workflow.templates]}
    steps = list(steps_of(spec, ("spec",)))
    names = {template.name: template.display or template.name for template in workflow.templates}

    def locate(path: Path) -> Source | None:
        inside = path[:2] == ("spec", "templates") and isinstance(path[2], int)
        return workflow.templates[path[2]].source if inside else workflow.source  # type: ignore[index]

    found: list[Diagnostic] = []
    peak, tasks = Peaks(workflow).of_run(), tasks_of(workflow)
    for source in policies:
        policy = source.policy
        broken = [
            *rules.metadata(policy, dict(workflow.labels), dict(workflow.annotations), ()),
            *rules.sizes(policy, tasks, peak, ()),
            *_of_steps(source, steps),
        ]
        found += (_finding(source, each, locate, names.get(each.step, each.step) or workflow.name) for each in broken)
    return found


def check_document(
    document: JSON, policies: Sequence[PolicySource], *, locate: Locate, workflow: Workflow | None = None
) -> list[Diagnostic]:
    """What of a document in Argo's words the policies don't allow. `locate` says where a place in it was written.

    With its `workflow`, the same as IR, tasks and amounts are counted too. A namespace that it names is checked.
    """
    if not policies:
        return []
    metadata = _dict(document.get("metadata"))
    spec = _dict(document.get("spec"))
    path: Path = ("spec",)
    of_runs = metadata
    if isinstance(spec.get("workflowSpec"), dict):  # a CronWorkflow
        of_runs = _dict(spec.get("workflowMetadata"))
        spec, path = spec["workflowSpec"], ("spec", "workflowSpec")
    labels = _dict(of_runs.get("labels")) | _dict(_dict(spec.get("workflowMetadata")).get("labels"))
    annotations = _dict(of_runs.get("annotations")) | _dict(_dict(spec.get("workflowMetadata")).get("annotations"))
    steps = list(steps_of(spec, path))
    found: list[Diagnostic] = []
    for source in policies:
        broken = [
            *rules.metadata(source.policy, labels, annotations, ("metadata",)),
            *_of_steps(source, steps),
        ]
        if metadata.get("namespace"):
            broken += rules.namespaces(source.policy, str(metadata["namespace"]), ("metadata", "namespace"))
        if workflow is not None:
            broken += rules.sizes(source.policy, tasks_of(workflow), Peaks(workflow).of_run(), path)
        name = str(metadata.get("name") or metadata.get("generateName") or document.get("kind") or "")
        found += (_finding(source, each, locate, each.step or name) for each in broken)
    return found


def check_namespace(
    namespace: str, policies: Iterable[PolicySource], *, step: str = "", source: Source | None = None
) -> list[Diagnostic]:
    """Whether runs may be in a namespace; "" is the one that whoever submits happens to have."""
    return [
        _finding(policy, broken, lambda path: source, step)
        for policy in policies
        for broken in rules.namespaces(policy.policy, namespace)
    ]


def _of_steps(source: PolicySource, steps: Iterable[Step]) -> Iterator[Broken]:
    for step in steps:
        for rule in rules.OF_STEPS:
            yield from dict.fromkeys(rule(source.policy, step))


def _finding(source: PolicySource, broken: Broken, locate: Locate, step: str) -> Diagnostic:
    policy = source.policy
    level = getattr(policy.levels, broken.rule) or policy.level
    why = f"{source.origin} says so ({broken.rule})" + (f": {policy.reason}" if policy.reason else "")
    return Diagnostic(broken.code, level, broken.message, locate(broken.path), step, why, broken.help)


def _dict(value: Any) -> JSON:
    return value if isinstance(value, dict) else {}
