"""What can be said of a workflow beside its steps: when it starts, its limits, its defaults."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from couler_py.dsl.durations import Duration, seconds
from couler_py.dsl.errors import DefinitionError
from couler_py.dsl.frames import GraphSettings
from couler_py.dsl.option_types import misfit, without_none
from couler_py.dsl.options import as_json, locks
from couler_py.ir.diagnostics import error
from couler_py.ir.expr import TextLike
from couler_py.ir.model import Lock, Mutex, RetryPolicy, Schedule, Semaphore, Source, Ttl
from couler_py.ir.names import legal
from couler_py.ir.pod import Dns, PodSettings, Toleration, Volume, VolumeClaim
from couler_py.ir.schedules import cron_problem, is_timezone

if TYPE_CHECKING:
    from couler_py.backends.argo.words import ScheduledWorkflowSpec as ArgoSpec
else:  # at run time it is held against Argo's schema, when it is emitted
    ArgoSpec = Mapping[str, Any]

Concurrency = Literal["Allow", "Forbid", "Replace"]
PodGc = Literal["", "OnPodCompletion", "OnPodSuccess", "OnWorkflowCompletion", "OnWorkflowSuccess"]


class WorkflowOptions(TypedDict, total=False):
    """Options of a workflow.

    `schedule` is a cron line, several, or a `Schedule`; `timezone` (an IANA name, UTC if left out),
    `concurrency` (what happens where the run before still runs), `starting_deadline`, `keep_succeeded`,
    `keep_failed` and `suspended` go with it. `parallelism` bounds how many tasks run at once, `deadline` the
    whole run, `ttl` how long a finished run stays on the cluster. `retries` is how often all of it is tried
    again, `fail_fast` stops the rest at the first failure (both local and Argo). `image`, `packages` and
    `include` are for steps that say nothing themselves; the placement options for every pod. `argo` holds
    further fields of the Argo workflow's `spec` in Argo's own words, merged into what is emitted for the rest.
    `engines` holds options that one engine alone reads, by its name. `preload` names modules that the local engine
    loads once, before it forks the Python steps that use them; other engines load them in each step.

    Called in another workflow, its graph keeps `retries`, `deadline`, `parallelism`, `fail_fast`, locks,
    volumes and the defaults of its steps; handlers and placement are refused there, and what concerns a run of
    its own (schedule, ttl, labels, …) has no meaning. `entrypoint` names the graph of a run of its own, where
    that isn't the name of the workflow.
    """

    name: str
    entrypoint: str
    description: str
    schedule: str | Sequence[str] | Schedule
    timezone: str
    concurrency: Concurrency
    starting_deadline: Duration
    keep_succeeded: int
    keep_failed: int
    suspended: bool
    parallelism: int
    deadline: Duration
    ttl: Duration | Ttl
    priority: int
    fail_fast: bool
    retries: int | RetryPolicy
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    image: str
    packages: Sequence[str]
    include: Sequence[str]
    preload: Sequence[str]
    volumes: Sequence[Volume | VolumeClaim]
    service_account: str
    node_selector: Mapping[str, TextLike]
    tolerations: Sequence[Toleration]
    image_pull_secrets: Sequence[str]
    dns: Dns
    host_network: bool
    priority_class: str
    scheduler: str
    pod_labels: Mapping[str, TextLike]
    pod_annotations: Mapping[str, TextLike]
    pod_gc: PodGc
    mutex: str | Mutex
    semaphore: Semaphore | tuple[str, int]
    locks: Sequence[Lock]
    on_exit: Callable[[], Any]
    on_success: Callable[[], Any]
    on_failure: Callable[[], Any]
    argo: ArgoSpec
    engines: Mapping[str, Mapping[str, Any]]


ALONE = frozenset(
    {"on_exit", "on_success", "on_failure", "service_account", "node_selector", "tolerations", "image_pull_secrets"}
    | {"dns", "host_network", "priority_class", "scheduler", "pod_labels", "pod_annotations"}
)
"""Options that a workflow can't have where another calls it: they would be lost there."""


_READ = frozenset({"concurrency", "starting_deadline", "keep_succeeded", "keep_failed", "deadline", "ttl"}) | frozenset(
    {"retries", "parallelism", "priority", "labels", "annotations", "packages", "include", "preload", "volumes"}
    | {"pod_gc"}
)
"""Options with rules of their own, whose messages say more than a type does."""


class WorkflowReader:
    """Reads the options of a workflow, and says where they were given when one is wrong."""

    def __init__(self, options: Mapping[str, Any], name: str, source: Source):
        self.options = without_none(options)
        self.name = name
        self.source = source
        known = WorkflowOptions.__annotations__
        unknown = sorted(set(options) - set(known))
        if unknown:
            near = difflib.get_close_matches(unknown[0], known, 1)
            raise self._wrong(
                f"a workflow has no option {unknown[0]!r}",
                help=f"did you mean {near[0]!r}?" if near else f"the options are {', '.join(sorted(known))}",
            )
        problem = misfit(WorkflowOptions, self.options, beside=_READ)
        if problem is not None:
            raise self._wrong(problem)

    def fields(self) -> dict[str, Any]:
        """The fields of the IR's `Workflow` that the options say."""
        get = self.options.get
        self._retry()
        found: dict[str, Any] = {
            "schedule": self._schedule(),
            "parallelism": self._count("parallelism"),
            "deadline": self._duration("deadline"),
            "ttl": self._ttl(),
            "priority": self._integer("priority"),
            "locks": locks(self.options),
            "pod": self._pod(),
            "labels": self._texts("labels"),
            "annotations": self._texts("annotations"),
            "pod_gc": self._one_of("pod_gc", ("", *PodGc.__args__[1:])),  # type: ignore[attr-defined]
            "description": get("description", ""),
            "engines": self._engines(),
        }
        return {name: value for name, value in found.items() if value not in (None, (), "", {})}

    def entrypoint(self) -> str:
        """The name of the graph of a run: the workflow's, unless another is given."""
        given = self.options.get("entrypoint", self.name)
        if "entrypoint" in self.options and not (isinstance(given, str) and legal("ir", "template", given)):
            raise self._wrong(f"entrypoint={given!r} can't name a graph", help="use letters, digits, - and _")
        return str(given)

    def of_run(self) -> GraphSettings:
        """What of the options stands on the entrypoint: the rest is the workflow's."""
        return GraphSettings(fail_fast=bool(self.options.get("fail_fast", False)), retry=self._retry())

    def of_graph(self, description: str) -> GraphSettings:
        """What of the options stands on the graph where another workflow calls this one."""
        return GraphSettings(
            bool(self.options.get("fail_fast", False)),
            self._count("parallelism"),
            self._retry(),
            self._duration("deadline"),
            locks(self.options),
            self.options.get("description", description),
        )

    def _retry(self) -> RetryPolicy | None:
        given = self.options.get("retries")
        if given is None or isinstance(given, RetryPolicy):
            return given
        if type(given) is not int or given < 0:
            raise self._wrong(f"retries={given!r} is not a number of further attempts", help="give 0 or more")
        return RetryPolicy(given) if given else None

    def volumes(self) -> tuple[list[Volume], list[VolumeClaim]]:
        """The volumes and volume claims of the workflow."""
        volumes, claims = [], []
        for volume in self.options.get("volumes", ()):
            if isinstance(volume, Volume):
                volumes.append(volume)
            elif isinstance(volume, VolumeClaim):
                claims.append(volume)
            else:
                raise self._wrong(f"volumes holds {volume!r}", help="give a couler.Volume or couler.VolumeClaim")
        return volumes, claims

    def _schedule(self) -> Schedule | None:
        given = self.options.get("schedule")
        beside = ("timezone", "concurrency", "starting_deadline", "keep_succeeded", "keep_failed", "suspended")
        if given is None or isinstance(given, Schedule):
            lonely = [name for name in beside if name in self.options]
            if lonely:
                what = "the Schedule itself says it" if given is not None else "there is no schedule"
                raise self._wrong(f"{lonely[0]} stands beside no cron line: {what}")
        if given is None:
            return None
        schedule = (
            given
            if isinstance(given, Schedule)
            else Schedule(
                (given,) if isinstance(given, str) else tuple(given),
                self.options.get("timezone", "UTC"),
                self._one_of("concurrency", ("Allow", "Forbid", "Replace")) or "Allow",
                self._duration("starting_deadline"),
                self._integer("keep_succeeded"),
                self._integer("keep_failed"),
                bool(self.options.get("suspended", False)),
            )
        )
        self._check_schedule(schedule)
        return schedule

    def _check_schedule(self, schedule: Schedule) -> None:
        if not schedule.crons:
            raise self._wrong("schedule is empty", help='give a cron line: schedule="0 3 * * *"')
        if not is_timezone(schedule.timezone):
            raise self._wrong(
                f"there is no time zone {schedule.timezone!r}", help='use an IANA name, as "Europe/Berlin"'
            )
        for cron in schedule.crons:
            problem = cron_problem(cron)
            if problem is not None:
                raise self._wrong(
                    f"{cron!r} is not a cron line: {problem}",
                    help='five fields: minute, hour, day, month, weekday, as in "30 2 * * 1-5"',
                )

    def _engines(self) -> dict[str, Any]:
        found = {str(engine): dict(value) for engine, value in self.options.get("engines", {}).items()}
        given = self.options.get("argo")
        if given:
            if "argo" in found:
                raise self._wrong("Argo's own fields are given twice: by argo= and in engines=", help="say argo= only")
            try:
                found["argo"] = as_json(given)
            except (TypeError, ValueError) as problem:
                raise self._wrong(f"argo: {problem}") from None
        preload = self.options.get("preload", ())
        if isinstance(preload, str) or not all(isinstance(name, str) and _is_module(name) for name in preload):
            raise self._wrong(
                f"preload is a list of modules, not {preload!r}", help='name them as import does: preload=["numpy"]'
            )
        if preload:
            found["local"] = found.get("local", {}) | {"preload": list(preload)}
        return found

    def _pod(self) -> PodSettings:
        get = self.options.get
        return PodSettings(
            labels=self._pairs("pod_labels"),
            annotations=self._pairs("pod_annotations"),
            node_selector=self._pairs("node_selector"),
            tolerations=tuple(get("tolerations", ())),
            service_account=get("service_account", ""),
            image_pull_secrets=tuple(get("image_pull_secrets", ())),
            dns=get("dns"),
            host_network=get("host_network"),
            priority_class=get("priority_class", ""),
            scheduler=get("scheduler", ""),
        )

    def _ttl(self) -> Ttl | None:
        given = self.options.get("ttl")
        if given is None or isinstance(given, Ttl):
            return given
        found = self._duration("ttl")
        assert found is not None
        if found != int(found):
            raise self._wrong(f"ttl={given!r} is not a whole number of seconds")
        return Ttl(int(found))

    def _duration(self, name: str) -> float | None:
        given = self.options.get(name)
        if given is None:
            return None
        try:
            return seconds(given)
        except ValueError as problem:
            raise self._wrong(f"{name}: {problem}") from None

    def _integer(self, name: str) -> int | None:
        given = self.options.get(name)
        if given is not None and (isinstance(given, bool) or not isinstance(given, int)):
            raise self._wrong(f"{name}={given!r} is not an int")
        return given

    def _count(self, name: str) -> int | None:
        found = self._integer(name)
        if found is not None and found < 1:
            raise self._wrong(f"{name}={found} is less than 1")
        return found

    def _one_of(self, name: str, allowed: tuple[str, ...]) -> Any:
        given = self.options.get(name)
        if given is not None and given not in allowed:
            raise self._wrong(f"{name}={given!r} is not one of {', '.join(filter(None, allowed))}")
        return given

    def _texts(self, name: str) -> tuple[tuple[str, str], ...]:
        found = self._pairs(name)
        for key, value in found:
            if not isinstance(value, str):
                raise self._wrong(f"{name}[{key!r}] is {value!r}, not text")
        return found

    def _pairs(self, name: str) -> tuple[tuple[str, Any], ...]:
        return tuple((str(key), value) for key, value in self.options.get(name, {}).items())

    def _wrong(self, message: str, **details: Any) -> DefinitionError:
        return DefinitionError([error("CLR160", message, source=self.source, step=self.name, **details)])


def _is_module(name: str) -> bool:
    return all(part.isidentifier() for part in name.split("."))
