"""What can be asked for a step beside its code: image, resources, environment, placement, policies."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

import msgspec

from couler_py.dsl.durations import Duration, seconds
from couler_py.dsl.errors import DefinitionError
from couler_py.dsl.option_types import misfit, without_none
from couler_py.dsl.sources import caller
from couler_py.dsl.verbs.secrets import Secret
from couler_py.ir.diagnostics import error
from couler_py.ir.expr import Expr, Text, TextLike
from couler_py.ir.model import Backoff, Cache, Lock, Mutex, RetryPolicy, Semaphore, Source
from couler_py.ir.pod import (
    ENV_NAME,
    QUANTITY,
    ConfigMapRef,
    Container,
    EnvFrom,
    EnvVar,
    FieldRef,
    PodSettings,
    PullPolicy,
    Resources,
    Templated,
    Toleration,
    Volume,
    VolumeClaim,
    VolumeMount,
)
from couler_py.ir.storage import SecretRef

if TYPE_CHECKING:
    from couler_py.backends.argo import words

    ArgoTask: TypeAlias = words.TaskAdditions
    ArgoTemplate: TypeAlias = words.TemplateAdditions
else:  # at run time they are held against Argo's schema, when they are emitted
    ArgoTask = ArgoTemplate = Mapping[str, Any]

EnvValue: TypeAlias = str | int | float | bool | SecretRef | ConfigMapRef | FieldRef | Text
Mounted: TypeAlias = str | Volume | VolumeClaim

DEFAULT_IMAGE = "python:3.11"


class Asking(TypedDict, total=False):
    """What a pod asks for; see `PodOptions`."""

    cpu: float | str
    memory: int | str
    cpu_limit: float | str
    memory_limit: int | str
    gpu: int
    gpu_type: str
    ephemeral_storage: int | str
    resources: Mapping[str, int | str]


class PodOptions(Asking, total=False):
    """Options of every step that runs in a pod.

    `cpu` is in cores (1, 0.5, "500m"), `memory` a quantity ("2Gi") or bytes; both are request and limit at
    once, unless `cpu_limit` or `memory_limit` says otherwise ("" for none). `gpu` counts devices of
    `gpu_type`. `resources` names further ones. `retries` is how often more after the first attempt,
    `timeout` for one attempt, `deadline` for all. `env` gives texts or references; `volumes` says what is
    mounted at a path: a `Volume`, a `VolumeClaim`, or the name of a volume of the workflow. `effects` names what
    the step reads or changes besides its inputs and outputs ("db:orders"): such steps keep their order. `argo` holds
    further fields of the step's Argo template in Argo's own words, merged into what is emitted for the rest.
    """

    name: str
    retries: int | RetryPolicy
    timeout: Duration
    deadline: Duration
    cache: bool | Cache
    env: Mapping[str, EnvValue]
    env_from: Sequence[EnvFrom]
    secrets: Sequence[SecretRef | Secret]
    volumes: Mapping[str, Mounted]
    mounts: Sequence[VolumeMount]
    node_selector: Mapping[str, TextLike]
    tolerations: Sequence[Toleration]
    labels: Mapping[str, TextLike]
    annotations: Mapping[str, TextLike]
    service_account: str
    image_pull_policy: PullPolicy
    image_pull_secrets: Sequence[str]
    priority_class: str
    scheduler: str
    host_network: bool
    init_containers: Sequence[Container]
    sidecars: Sequence[Container]
    pod_patch: str
    mutex: str | Mutex
    semaphore: Semaphore | tuple[str, int]
    locks: Sequence[Lock]
    effects: str | Sequence[str]
    description: str
    argo: ArgoTemplate


class StepOptions(PodOptions, total=False):
    """Options of a Python step. `packages` are PEP 508 requirements, `include` files and folders to bring along."""

    image: TextLike
    packages: Sequence[str]
    include: Sequence[str]
    command: Sequence[str]


_READ = frozenset({"cpu", "memory", "cpu_limit", "memory_limit", "gpu", "ephemeral_storage", "resources"}) | frozenset(
    {"retries", "timeout", "deadline", "cache", "env", "secrets", "packages", "include"}
)
"""Options with rules of their own, whose messages say more than a type does."""


class Policies(msgspec.Struct, frozen=True):
    """What of the options stands on the template itself."""

    retry: RetryPolicy | None
    timeout: float | None
    deadline: float | None
    cache: Cache | None
    locks: tuple[Lock, ...]
    effects: tuple[str, ...] = ()


class Runtime(msgspec.Struct, frozen=True):
    """What of the options stands on the container. `claims` belong to the workflow."""

    env: tuple[EnvVar, ...]
    env_from: tuple[EnvFrom, ...]
    mounts: tuple[VolumeMount, ...]
    resources: Resources
    claims: tuple[VolumeClaim, ...]


# Most steps say nothing but these, which are read by who made the reader: then everything here is as it is by default.
_READ_ELSEWHERE = frozenset({"name", "description", "image", "image_pull_policy", "packages", "include", "command"})
_NO_POLICIES = Policies(None, None, None, None, ())
_PLAIN_RUNTIME = Runtime((), (), (), Resources(), ())
_PLAIN_POD = PodSettings()


class Reader:
    """Reads options, and says where they were given when one is wrong."""

    def __init__(self, options: Mapping[str, Any], step: str, source: Source, known: type = StepOptions):
        self.options = without_none(options)
        self.step = step
        self.source = source
        self._says_nothing = options.keys() <= _READ_ELSEWHERE
        unknown = sorted(options.keys() - _names(known))
        if unknown:
            names = sorted(_names(known))
            near = difflib.get_close_matches(unknown[0], names, 1)
            raise self.wrong(
                f"there is no option {unknown[0]!r}",
                help=f"did you mean {near[0]!r}?" if near else f"the options are {', '.join(names)}",
            )
        problem = misfit(known, self.options, beside=_READ)
        if problem is not None:
            raise self.wrong(problem)

    def wrong(self, message: str, **details: Any) -> DefinitionError:
        """The error for a bad option."""
        return DefinitionError([error("CLR130", message, source=self.source, step=self.step, **details)])

    def policies(self) -> Policies:
        """Retry, time limits, cache and locks."""
        if self._says_nothing:
            return _NO_POLICIES
        return Policies(
            self._retry(),
            self._duration("timeout"),
            self._duration("deadline"),
            self._cache(),
            locks(self.options),
            self._effects(),
        )

    def runtime(self) -> Runtime:
        """Environment, mounts and resources."""
        if self._says_nothing:
            return _PLAIN_RUNTIME
        mounts, _, claims = self._volumes()
        env_from = tuple(self.options.get("env_from", ()))
        return Runtime(self._env(), env_from, mounts, self._resources(), claims)

    def pod(self) -> PodSettings:
        """Labels, placement and surroundings of the pod."""
        if self._says_nothing:
            return _PLAIN_POD
        get = self.options.get
        return PodSettings(
            labels=_pairs(get("labels")),
            annotations=_pairs(get("annotations")),
            node_selector=_pairs(get("node_selector")),
            tolerations=tuple(get("tolerations", ())),
            service_account=get("service_account", ""),
            image_pull_secrets=tuple(get("image_pull_secrets", ())),
            host_network=get("host_network"),
            priority_class=get("priority_class", ""),
            scheduler=get("scheduler", ""),
            volumes=self._volumes()[1],
            init_containers=tuple(get("init_containers", ())),
            sidecars=tuple(get("sidecars", ())),
            patch=get("pod_patch", ""),
            extra=self._argo(),
        )

    def _argo(self) -> Templated | None:
        return own_words(self.options.get("argo") or {}, self.step)

    def _effects(self) -> tuple[str, ...]:
        given = self.options.get("effects", ())
        return (given,) if isinstance(given, str) else tuple(given)

    def _retry(self) -> RetryPolicy | None:
        given = self.options.get("retries")
        if given is None:
            return None
        if isinstance(given, RetryPolicy):
            return self._retry_policy(given)
        if isinstance(given, bool) or not isinstance(given, int) or given < 0:
            raise self.wrong(f"retries={given!r} is not a number of further attempts", help="give 0 or more")
        return RetryPolicy(given) if given else None

    def _retry_policy(self, given: RetryPolicy) -> RetryPolicy:
        backoff = given.backoff
        if backoff is not None:
            maximum = None if backoff.maximum is None else self._seconds("backoff", backoff.maximum)
            backoff = Backoff(self._seconds("backoff", backoff.duration), float(backoff.factor), maximum)
        when = getattr(given.when, "_couler_expr", given.when)
        return msgspec.structs.replace(given, backoff=backoff, when=when)

    def _duration(self, name: str) -> float | None:
        given = self.options.get(name)
        return None if given is None else self._seconds(name, given)

    def _seconds(self, name: str, given: Any) -> float:
        try:
            return seconds(given)
        except ValueError as problem:
            raise self.wrong(f"{name}: {problem}") from problem

    def _cache(self) -> Cache | None:
        given = self.options.get("cache")
        if given is None or given is False:
            return None
        if given is True:
            return Cache()
        if isinstance(given, Cache):
            age = None if given.max_age is None else self._seconds("max_age", given.max_age)
            return msgspec.structs.replace(given, max_age=age)
        raise self.wrong(f"cache={given!r} is neither True nor a couler.Cache")

    def _env(self) -> tuple[EnvVar, ...]:
        found = []
        for name, value in (self.options.get("env") or {}).items():
            if not isinstance(name, str) or not ENV_NAME.fullmatch(name):
                raise self.wrong(f"{name!r} is not the name of an environment variable")
            if isinstance(value, bool):
                value = "true" if value else "false"
            elif isinstance(value, int | float):
                value = str(value)
            if not isinstance(value, str | Text | SecretRef | ConfigMapRef | FieldRef):
                raise self.wrong(
                    f"the environment variable {name!r} can't be a {type(value).__name__}",
                    help="give text, a key of a secret or ConfigMap; make what a step returned an argument",
                )
            found.append(EnvVar(name, value))
        return (*found, *self.secrets())

    def secrets(self) -> tuple[EnvVar, ...]:
        """The keys of secrets that the step gets as environment variables of the same name."""
        found: list[EnvVar] = []
        for given in self.options.get("secrets", ()):
            if isinstance(given, SecretRef):
                found.append(EnvVar(given.key, given))
            elif isinstance(given, Secret):
                found.extend(given.env())
            else:
                raise self.wrong(
                    f"secrets holds a {type(given).__name__}, not a secret",
                    help="give couler.secret(name, key), or what create_secret or obtain_secret returned",
                )
        return tuple(found)

    def _volumes(self) -> tuple[tuple[VolumeMount, ...], tuple[Volume, ...], tuple[VolumeClaim, ...]]:
        mounts = list(self.options.get("mounts", ()))
        volumes: list[Volume] = []
        claims: list[VolumeClaim] = []
        for path, volume in (self.options.get("volumes") or {}).items():
            if not str(path).startswith("/"):
                raise self.wrong(
                    f"the volume path {path!r} is not absolute", help="write it as in volumes={'/data': v}"
                )
            name = volume if isinstance(volume, str) else volume.name
            mounts.append(VolumeMount(name, str(path)))
            if isinstance(volume, Volume) and volume not in volumes:  # its source is JSON, and so has no hash
                volumes.append(volume)
            elif isinstance(volume, VolumeClaim):
                claims.append(volume)
        return tuple(mounts), tuple(volumes), tuple(dict.fromkeys(claims))

    def _resources(self) -> Resources:
        gpu = self.options.get("gpu", 0)
        if isinstance(gpu, bool) or not isinstance(gpu, int) or gpu < 0:
            raise self.wrong(f"gpu={gpu!r} is not a number of devices")
        extra = tuple((name, self._quantity(name, value)) for name, value in self.options.get("resources", {}).items())
        return Resources(
            cpu=self._quantity("cpu"),
            memory=self._quantity("memory"),
            cpu_limit=self._quantity("cpu_limit") if "cpu_limit" in self.options else None,
            memory_limit=self._quantity("memory_limit") if "memory_limit" in self.options else None,
            gpu=gpu,
            gpu_type=self.options.get("gpu_type", "nvidia.com/gpu"),
            ephemeral_storage=self._quantity("ephemeral_storage"),
            extra=extra,
        )

    def _quantity(self, name: str, value: Any = None) -> str:
        value = self.options.get(name, "") if value is None else value
        text = quantity(value)
        if text is None:
            raise self.wrong(
                f"{name}={value!r} is not a quantity",
                help='write cores as 0.5 or "500m", bytes as "2Gi" or "512Mi"',
            )
        return text


def own_words(given: Mapping[str, Any], step: str) -> Templated | None:
    """Fields in an engine's own words. Raises `DefinitionError` at the caller's line for what JSON can't say."""
    try:
        return Templated(as_json(given)) if given else None
    except (TypeError, ValueError) as problem:
        raise DefinitionError([error("CLR130", f"argo: {problem}", source=caller(), step=step)]) from None


def as_json(given: Any) -> Any:
    """A value as plain JSON data. Raises `TypeError` or `ValueError` for what JSON can't say."""
    import json

    return json.loads(json.dumps(given, allow_nan=False))


def locks(options: Mapping[str, Any]) -> tuple[Lock, ...]:
    """The locks of a step or workflow, from its options `locks`, `mutex` and `semaphore`."""
    found: list[Lock] = list(options.get("locks", ()))
    mutex, semaphore = options.get("mutex"), options.get("semaphore")
    if mutex is not None:
        found.append(mutex if isinstance(mutex, Mutex) else Mutex(mutex))
    if semaphore is not None:
        found.append(semaphore if isinstance(semaphore, Semaphore) else Semaphore(semaphore[0], semaphore[1]))
    return tuple(found)


def quantity(value: Any) -> str | None:
    """A Kubernetes quantity as text: numbers as they are, fractions in thousandths. None for what isn't one."""
    if value == "":
        return ""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return str(value) if value >= 0 else None
    if isinstance(value, float):
        if not 0 < value < float("inf"):
            return None
        thousandths = round(value * 1000)
        return str(thousandths // 1000) if thousandths % 1000 == 0 else f"{thousandths}m"
    return value if isinstance(value, str) and QUANTITY.fullmatch(value) else None


def retry(
    limit: int,
    *,
    delay: Duration | None = None,
    factor: float = 1.0,
    maximum: Duration | None = None,
    when: Expr | Any = None,
    other_node: bool = False,
    platform_only: bool = False,
) -> RetryPolicy:
    """Try again up to `limit` times, after `delay`, which grows by `factor` each time, for `maximum` in all.

    `when` is a condition over the attempt before. `other_node` asks for another machine. With `platform_only`, only
    after faults of the platform, as a lost node, and never after an error of the step's own; without a delay, this
    machine then waits as long as is right for the fault.

    Raises `DefinitionError` for what is no length of time, and for `factor` or `maximum` without a delay.

    >>> retry(3, delay="10s", factor=2).backoff
    Backoff(duration=10.0, factor=2.0, maximum=None)
    """
    backoff = None
    if delay is not None:
        longest = None if maximum is None else _length("maximum", maximum)
        backoff = Backoff(_length("delay", delay), float(factor), longest)
    elif maximum is not None or factor != 1.0:
        raise _refused("factor and maximum are about the delay, and there is none", help='give one, as delay="10s"')
    condition = getattr(when, "_couler_expr", when)
    policy: Literal["Always", "OnPlatformFault"] = "OnPlatformFault" if platform_only else "Always"
    return RetryPolicy(limit, backoff, condition, policy, other_node)


def cache(max_age: Duration | None = None, version: str = "", key: TextLike | None = None) -> Cache:
    """Reuse the outputs of an earlier success with the same code and inputs, not older than `max_age`.

    `version` is mixed into the key: change it to forget what is known. `key` replaces the inputs in it.

    Raises `DefinitionError` for what is no length of time.

    >>> cache(max_age="7d", version="2")
    Cache(max_age=604800.0, version='2', key=None, store='')
    """
    return Cache(None if max_age is None else _length("max_age", max_age), version, key)


def _length(what: str, given: Duration) -> float:
    try:
        return seconds(given)
    except ValueError as problem:
        raise _refused(f"{what}: {problem}") from problem


def _refused(message: str, **details: Any) -> DefinitionError:
    return DefinitionError([error("CLR130", message, source=caller(), **details)])


def _pairs(given: Mapping[str, TextLike] | None) -> tuple[tuple[str, TextLike], ...]:
    return tuple((str(key), value) for key, value in (given or {}).items())


@functools.cache
def _names(known: type) -> frozenset[str]:
    bases = getattr(known, "__orig_bases__", ())
    return frozenset(known.__annotations__).union(*(getattr(base, "__annotations__", ()) for base in bases))
