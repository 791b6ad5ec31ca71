"""Make docs/argo-fields.md: every field of Argo's documents and how to write it. Part of `make schemas`.

The fields come from the types of `tools/words.py`, and so from the CRDs. What the DSL has words of its own for stands
in `OURS`; `tests/unit/backends/argo/native/test_fields.py` proves each of these by compiling it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools.words import BODIES, Field, Type, collected  # noqa: E402

PAGE = ROOT / "docs" / "argo-fields.md"

W = "@couler.workflow"
S = "@couler.step"
OURS: dict[str, dict[str, str]] = {
    "WorkflowSpec": {
        "activeDeadlineSeconds": f"`{W}(deadline=...)`",
        "arguments": "the parameters of the function",
        "dnsConfig": f"`{W}(dns=...)`",
        "dnsPolicy": f"`{W}(dns=...)`",
        "entrypoint": "the graph of the function; `entrypoint=` names it",
        "hostNetwork": f"`{W}(host_network=...)`",
        "imagePullSecrets": f"`{W}(image_pull_secrets=...)`",
        "nodeSelector": f"`{W}(node_selector=...)`",
        "onExit": "`couler.on_exit`, `on_success`, `on_failure`",
        "parallelism": f"`{W}(parallelism=...)`",
        "podGC": f"`{W}(pod_gc=...)`",
        "podMetadata": f"`{W}(pod_labels=..., pod_annotations=...)`",
        "podPriorityClassName": f"`{W}(priority_class=...)`",
        "priority": f"`{W}(priority=...)`",
        "schedulerName": f"`{W}(scheduler=...)`",
        "serviceAccountName": f"`{W}(service_account=...)`",
        "synchronization": f"`{W}(mutex=..., semaphore=...)`",
        "templates": "steps, graphs and what they need",
        "tolerations": f"`{W}(tolerations=...)`",
        "ttlStrategy": f"`{W}(ttl=...)`",
        "volumeClaimTemplates": f"`{W}(volumes=[couler.VolumeClaim(...)])`",
        "volumes": f"`{W}(volumes=[...])`",
    },
    "CronWorkflowSpec": {
        "concurrencyPolicy": f"`{W}(concurrency=...)`",
        "failedJobsHistoryLimit": f"`{W}(keep_failed=...)`",
        "schedules": f"`{W}(schedule=...)`",
        "startingDeadlineSeconds": f"`{W}(starting_deadline=...)`",
        "successfulJobsHistoryLimit": f"`{W}(keep_succeeded=...)`",
        "suspend": f"`{W}(suspended=...)`",
        "timezone": f"`{W}(timezone=...)`",
        "workflowMetadata": f"`{W}(labels=..., annotations=...)`",
        "workflowSpec": "everything else of the workflow",
    },
    "Template": {
        "activeDeadlineSeconds": f"`{S}(timeout=...)`",
        "container": "`couler.container`",
        "daemon": "`couler.container(daemon=True)`",
        "dag": f"`{W}`",
        "http": "`couler.http`",
        "initContainers": f"`{S}(init_containers=...)`",
        "inputs": "the parameters of the function, `inputs=` of a container",
        "memoize": f"`{S}(cache=...)`",
        "metadata": f"`{S}(labels=..., annotations=...)`",
        "name": f"the function's name; `{S}(name=...)`",
        "nodeSelector": f"`{S}(node_selector=...)`",
        "outputs": "what the function returns, `outputs=` of a container",
        "parallelism": "`couler.map(..., parallel=...)`",
        "podSpecPatch": f"`{S}(pod_patch=...)`",
        "priorityClassName": f"`{S}(priority_class=...)`",
        "resource": "`couler.resource`",
        "retryStrategy": f"`{S}(retries=...)`",
        "schedulerName": f"`{S}(scheduler=...)`",
        "script": f"`{S}`, `couler.script`",
        "serviceAccountName": f"`{S}(service_account=...)`",
        "sidecars": f"`{S}(sidecars=...)`",
        "suspend": "`couler.suspend`",
        "synchronization": f"`{S}(mutex=..., semaphore=...)`",
        "timeout": f"`{S}(deadline=...)`",
        "tolerations": f"`{S}(tolerations=...)`",
        "volumes": f"`{S}(volumes=...)`",
    },
    "DAGTask": {
        "arguments": "the arguments of the call",
        "depends": "the values that a call gets, `couler.after`, `couler.always`",
        "name": '`step.named("...")`',
        "template": "the step that is called",
        "when": "`couler.when`",
        "withParam": "`couler.map`",
    },
}
"""By type and field: how the DSL says it in its own words."""

HEADS = {
    "WorkflowSpec": ("Workflow, WorkflowTemplate, ClusterWorkflowTemplate: `spec`", "workflow"),
    "CronWorkflowSpec": ("CronWorkflow: `spec`", "cron"),
    "ObjectMeta": ("`metadata`", "metadata"),
    "Template": ("A template", "template"),
    "DAGTask": ("A task of a dag", "task"),
    "WorkflowStep": ("A step of a `steps` template", "step"),
}
"""The types that have words of their own on each surface, in the order of the page, and how to speak of them."""

INTRO = """# Argo's fields

Every field of Argo's four kinds of documents, and how to write it from Python:

- **couler** has options of its own for what people write every day. They mean the same on every engine.
- **`argo=`** adds any other field in Argo's own words,
  [to what couler emits](guides/argo-native.md#argo-beside-coulers-own-words): on a workflow, on a step (fields of its
  template), and by `step.argo_task(...)` on a task.
- **`couler_py.argo_native`** writes [whole documents in Argo's own words](guides/argo-native.md).

The types link to what they hold. In Python each is a `TypedDict` of `couler_py.argo_native.words`, so that editors and
type checkers know it. This page is made by `make schemas` from the CRDs of Argo Workflows 4.1; a test holds that no
field is missing here, and that each reaches the YAML.
"""


def page() -> str:
    """The whole page."""
    types = collected()
    parts = [INTRO]
    for name, (title, _) in HEADS.items():
        parts.append(section(types, name, title))
    parts.append("## What these hold\n\nObjects inside of those above: dicts of these fields, wherever they stand.\n")
    parts += [section(types, name, f"`{name}`", "###") for name in types if name not in HEADS]
    return "\n".join(parts)


def section(types: dict[str, Type], name: str, title: str, level: str = "##") -> str:
    """One type: a row for each field."""
    made = types[name]
    lines = [f'{level} {title} <a id="{anchor(name)}"></a>', ""]
    if made.about:
        lines += [prose(made.about), ""]
    top = name in HEADS
    lines.append("| field | type | couler | `argo=` | `argo_native` |" if top else "| field | type | write it |")
    lines.append("|---|---|---|---|---|" if top else "|---|---|---|")
    for field in made.fields:
        first = f"`{field.name}`{' (required)' if field.required else ''} | {linked(types, field)}"
        if top:
            said = OURS.get(name, {}).get(field.name, "")
            lines.append(f"| {first} | {said} | {by_argo(name, field)} | {by_native(name, field)} |")
        else:
            lines.append(f'| {first} | `{{"{field.name}": {sample(types, field.type)}}}` |')
    return "\n".join(lines) + "\n"


def by_argo(name: str, field: Field) -> str:
    """How `argo=` says a field of one of the first types."""
    given = f'argo={{"{field.name}": ...}}'
    if name == "WorkflowSpec":
        return f"`{W}({given})`"
    if name == "CronWorkflowSpec":
        return f"`{W}({given})`" if field.name in ("stopStrategy", "when") else ""
    if name == "Template":
        return "" if field.name == "name" else f"`{S}({given})`"
    if name == "DAGTask":
        return "" if field.name == "name" else f"`step.argo_task({field.name}=...)`"
    if name == "WorkflowStep":
        return f'`{W}(argo={{"templates": [...]}})`'
    return "`couler.compile(..., namespace=...)`" if field.name == "namespace" else ""


def by_native(name: str, field: Field) -> str:
    """How the native surface says a field of one of the first types."""
    if name == "WorkflowSpec":
        return "the templates under `with`" if field.name == "templates" else f"`argo.Workflow({field.name}=...)`"
    if name == "CronWorkflowSpec":
        return f"`argo.CronWorkflow({field.name}=...)`"
    if name == "ObjectMeta":
        if field.name in ("finalizers", "ownerReferences"):
            return f'`argo.Workflow(metadata={{"{field.name}": ...}})`'
        return '`argo.Workflow("...")`' if field.name == "name" else f"`argo.Workflow({field.name}=...)`"
    if name == "Template":
        if field.name in BODIES:
            return f"`argo.{'container_set' if field.name == 'containerSet' else field.name}(...)`"
        return '`argo.container("...")`' if field.name == "name" else f"`argo.container({field.name}=...)`"
    if field.name == "name":
        return '`echo("...")`'
    if field.name in ("templateRef", "inline", "template"):
        return f"`argo.{'step' if name == 'WorkflowStep' else 'task'}({field.name}=...)`"
    return f"`echo({field.name}=...)`"


def linked(types: dict[str, Type], field: Field) -> str:
    """The type of a field, with links to the types in it."""
    shown = field.type.replace("Sequence[", "list of [").replace("Mapping[str, ", "dict of [")
    while found := re.search(r"(list|dict) of \[(.*)\]$", shown):
        shown = f"{shown[: found.start()]}{found[1]} of {found[2]}"
    if shown.startswith("Literal["):
        words = re.findall(r'"([^"]*)"', shown)
        return " or ".join(f"`{word}`" for word in words if word)
    shown = shown.replace(" | ", " or ").replace("Any", "any")
    return re.sub(r"\w+", lambda word: f"[{word[0]}](#{anchor(word[0])})" if word[0] in types else word[0], shown)


def sample(types: dict[str, Type], type_: str) -> str:
    """A value of a type, in short."""
    if type_.startswith("Sequence["):
        return "[...]"
    if type_.startswith("Literal["):
        return next(f'"{word}"' for word in re.findall(r'"([^"]*)"', type_) if word)
    if type_ in types or type_.startswith("Mapping["):
        return "{...}"
    return {"str": '"..."', "int": "1", "float": "0.5", "bool": "True", "int | str": "1"}.get(type_, "...")


def anchor(name: str) -> str:
    """Where a type stands on the page."""
    return f"type-{name.lower()}"


def prose(text: str) -> str:
    """What Argo's API says, as text of the page."""
    return re.sub(r"([<>|{}*_\[\]])", r"\\\1", text)


def main() -> int:
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.relative_to(ROOT)}  {PAGE.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
