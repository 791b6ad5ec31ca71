"""What stands in a workflow's way, found before anything is emitted: all of it at once, each with its place."""

from __future__ import annotations

from collections.abc import Callable

from couler_py.backends.airflow.calls import BATCH, MOST_MAPPED
from couler_py.backends.airflow.emission import Emission, is_group
from couler_py.backends.airflow.names import END, task_ids
from couler_py.backends.airflow.options import Options
from couler_py.backends.airflow.support import BY_PASSES, DOCKER, LOCAL, NEVER
from couler_py.backends.features import FEATURES
from couler_py.ir.diagnostics import Severity
from couler_py.ir.interface import ArtifactArgument, InputArtifact, OutputArtifact
from couler_py.ir.model import Graph, Loop, Source, Suspend, Task, Template
from couler_py.ir.storage import SecretRef
from couler_py.ir.structs import nodes
from couler_py.passes.features import used

FATAL = frozenset(
    {"recursion", "inline", "external", "depends", "raw", "targets"}
    | {"http", "data", "container_set", "plugin", "distributed_job"}
)
"""What can't be left out: nothing could be emitted in its place."""


PLACES = {
    "kubernetes": "-O artifacts=s3://BUCKET/PATH names a store that fsspec knows; or -O claim=NAME a "
    "PersistentVolumeClaim, and -O artifacts=PATH where it is mounted",
    "docker": "-O artifacts=PATH names a folder that the worker and the daemon share; or -O claim=NAME a volume of "
    "Docker, and -O artifacts=PATH where it is mounted",
}
LONGEST = 240
"""Characters of a task's id. Airflow takes 250, but can't log a task above 247: the folder is named `task_id=ID`."""


def check_support(emission: Emission) -> None:
    """Note everything that Airflow, or the chosen operators, can't do."""
    never = NEVER | BY_PASSES | {"kubernetes": {}, "docker": DOCKER, "local": LOCAL}[emission.options.operators]
    for feature, places in used(emission.workflow).items():
        if feature in never:
            for place in places:
                _refuse(emission, feature, never[feature], place)
    for template in emission.workflow.templates:
        _policies(emission, template)
        if isinstance(template.body, Graph):
            _fan_outs(emission, template.body)
    _places(emission)
    _cached_files(emission)
    _left_out(emission)
    if emission.workflow.schedule is not None and emission.workflow.schedule.concurrency == "Replace":
        emission.problem(
            "CLR511",
            f"Airflow never ends a run of {emission.workflow.name!r} to start the next",
            step=emission.workflow.name,
            source=emission.workflow.source,
            help='concurrency="Forbid" lets the next run wait',
        )
    if emission.workflow.locks:
        _lock(emission, emission.workflow.name, emission.workflow.source)


def _left_out(emission: Emission) -> None:
    """Name what only tidies up, or is about a cluster's own schedules: it is left out."""
    workflow, schedule = emission.workflow, emission.workflow.schedule
    there = {
        "ttl": workflow.ttl is not None,
        "pod_gc": bool(workflow.pod_gc),
        "starting_deadline": schedule is not None and schedule.starting_deadline is not None,
        "keep_succeeded and keep_failed": schedule is not None
        and (schedule.keep_succeeded is not None or schedule.keep_failed is not None),
    }
    for name in (name for name, said in there.items() if said):
        emission.problem(
            "CLR513",
            f"{name} of {workflow.name!r} is left out",
            severity="warning",
            step=workflow.name,
            source=workflow.source,
        )


def _places(emission: Emission) -> None:
    """Pods and containers that hand on files need a place that all of them reach."""
    chosen = emission.options
    if chosen.operators == "local" or chosen.claim or (chosen.operators == "kubernetes" and "://" in chosen.artifacts):
        return
    if chosen.operators == "docker" and chosen.artifacts != Options().artifacts and "://" not in chosen.artifacts:
        return
    missing = "nothing says where they are kept"
    if chosen.operators == "docker" and "://" in chosen.artifacts:
        missing = (
            f"a container of Docker reaches no store: it has only what it shares with the worker, and "
            f"{chosen.artifacts!r} is no folder"
        )
    for template in emission.workflow.templates:
        left = [each for each in template.outputs.artifacts if each.storage is None or chosen.operators == "docker"]
        if (template.inputs.artifacts or left) and not is_group(template):
            step = template.display or template.name
            emission.problem(
                "CLR512",
                f"{step!r} reads or leaves files, and {missing}",
                step=step,
                source=template.source,
                help=PLACES[chosen.operators],
            )


def _cached_files(emission: Emission) -> None:
    """The worker looks into the files of a cached step, so it has to reach their stores without a cluster's secret."""
    if emission.options.operators != "kubernetes":
        return
    given: dict[object, list[ArtifactArgument]] = {}
    for template in emission.workflow.templates:
        for task in template.body.tasks if isinstance(template.body, Graph) else ():
            given.setdefault(task.call, []).extend(task.artifacts)
    for template in emission.workflow.templates:
        if template.cache is None:
            continue
        read = (*template.inputs.artifacts, *given.get(template.name, ())) if template.cache.key is None else ()
        slots: tuple[InputArtifact | ArtifactArgument | OutputArtifact, ...] = (*read, *template.outputs.artifacts)
        if any(isinstance(each, SecretRef) for slot in slots for each in nodes(slot.storage)):
            step = template.display or template.name
            emission.problem(
                "CLR514",
                f"{step!r} is cached, and the worker, which looks into its files, can't have the keys of their store",
                step=step,
                source=template.source,
                help="leave the keys out, and let the environment of the runner (-O store_secret=NAME) and of the "
                "workers have them; or leave the cache out",
            )


def _refuse(emission: Emission, feature: str, why: str, place: Source | None) -> None:
    demoted = emission.options.on_unsupported == "warn" and feature not in FATAL
    severity: Severity = "warning" if demoted else "error"
    emission.problem("CLR501", f"Airflow has nothing for {FEATURES[feature]}", severity=severity, source=place, why=why)


def _policies(emission: Emission, template: Template) -> None:
    step, source = template.display or template.name, template.source
    grouped = is_group(template)
    if template.locks and (grouped or len(template.locks) > 1 or any(not _known(lock) for lock in template.locks)):
        _lock(emission, step, source)
    over_attempts = template.deadline is not None and template.retry is not None and template.retry.limit > 0
    if over_attempts or (grouped and (template.deadline is not None or template.timeout is not None)):
        emission.problem("CLR509", f"{step!r} has a deadline over several attempts or tasks", step=step, source=source)
    retry = template.retry
    if retry is not None and retry.backoff is not None and retry.backoff.maximum is not None:
        emission.problem("CLR509", f"{step!r} has a limit on the time of all attempts", step=step, source=source)
    if retry is not None and retry.policy not in ("Always", "OnPlatformFault"):
        _refuse(emission, "retry", f"{retry.policy} tells kinds of failures apart, and Airflow doesn't", source)
    if template.parallelism is not None:
        _refuse(emission, "parallelism", "Airflow bounds tasks of a DAG, not of a group", source)


def _known(lock: object) -> bool:
    return isinstance(getattr(lock, "name", None), str) and getattr(lock, "limit", 1) is not None


def _lock(emission: Emission, step: str, source: Source | None) -> None:
    emission.problem("CLR508", f"the locks of {step!r} can't be a pool", step=step, source=source)


def _fan_outs(emission: Emission, graph: Graph) -> None:
    for task in graph.tasks:
        if task.each is None or not isinstance(task.call, str):
            continue
        name = task.display or task.name
        if task.each.max_items > MOST_MAPPED * BATCH:
            _too_many(emission, task, MOST_MAPPED * BATCH)
        called = emission.templates[task.call]
        if not is_group(called) and not isinstance(called.body, Suspend):
            continue
        if task.each.max_items > MOST_MAPPED:
            _too_many(emission, task, MOST_MAPPED)
        if task.each.parallel is not None:
            emission.problem(
                "CLR506",
                f"the fan-out {name!r} keeps each of its tasks, not its items, to {task.each.parallel} at once",
                severity="warning",
                step=name,
                source=task.source,
            )


def _too_many(emission: Emission, task: Task, most: int) -> None:
    assert task.each is not None
    name = task.display or task.name
    emission.problem(
        "CLR507",
        f"the fan-out {name!r} may have {task.each.max_items} items, and Airflow maps {most} at most",
        step=name,
        source=task.source,
        help=f"give it max_items={most} or fewer",
    )


def check_ids(emission: Emission) -> None:
    """Note ids of tasks that are too long: they hold the ids of all groups around them."""
    longest: dict[str, int] = {}

    def length(name: str) -> int:
        if name not in longest:
            body = emission.templates[name].body
            if isinstance(body, Graph):
                ids = task_ids(body, entry=name == emission.workflow.entrypoint, helpers=emission.helpers)
                lengths = [len(ids[task.name]) + _around(emission, task, length) for task in body.tasks]
                longest[name] = max([len(END), *lengths])
            elif isinstance(body, Loop):
                longest[name] = len(f"turn_{body.max_iterations}.") + length(body.body)
            else:
                longest[name] = 0
        return longest[name]

    found = length(emission.workflow.entrypoint)
    if found > LONGEST:
        emission.problem(
            "CLR505",
            f"an id in {emission.workflow.name!r} would be {found} characters long, and Airflow takes {LONGEST}",
            step=emission.workflow.name,
            source=emission.workflow.source,
            help="give the workflows and steps on the way shorter names",
        )


def _around(emission: Emission, task: Task, length: Callable[[str], int]) -> int:
    inner = length(str(task.call))
    dots = (1 if inner else 0) + (len(".each_00") if task.each is not None else 0)
    return dots + inner
