"""What a step asks for beside its code, as options of the DSL. What no option says is named, for a fallback."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from couler_py.ir import expr as x
from couler_py.ir.model import Backoff, Cache, Function, Lock, Mutex, RetryPolicy, Script, Semaphore, Template
from couler_py.ir.pod import Container, EnvVar, PodSettings, Resources, Templated, Volume, VolumeMount
from couler_py.printer.expressions import Expressions, Scope
from couler_py.printer.layout import Doc, Group, Named, call, items, keyword
from couler_py.printer.literal import literal, quoted
from couler_py.printer.structs import construct

_UNITS = ((86400, "d"), (3600, "h"), (60, "m"))
_ENV_NAME = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*")


class UnsayableError(Exception):
    """Something that the DSL has no word for. `about` names the template that is to blame, where it is known."""

    def __init__(self, what: str, about: str = ""):
        super().__init__(what)
        self.about = about


def duration(value: float) -> Doc:
    """A length of time, in the largest unit that it is a whole number of. Raises `UnsayableError` unless positive."""
    if value <= 0:
        raise UnsayableError("a duration of nothing")
    for size, unit in _UNITS:
        if value % size == 0:
            return quoted(f"{int(value // size)}{unit}")
    return repr(value) if value != int(value) else quoted(f"{int(value)}s")


def pairs(given: tuple[tuple[str, Any], ...]) -> Doc:
    """Named values as a dict. Raises `UnsayableError` where a name comes twice."""
    if len(dict(given)) < len(given):
        raise UnsayableError("a name that comes twice")
    return Group("{", tuple(Named((quoted(name), ": "), construct(value)) for name, value in given), "}")


def texts(given: tuple[Any, ...]) -> Doc:
    """A list of texts."""
    return items(construct(item) for item in given)


def of_template(template: Template, volumes: frozenset[str]) -> dict[str, Doc]:
    """The options of a step that runs in a pod. `volumes` names those that the workflow has.

    Raises `UnsayableError`.
    """
    if template.metrics is not None or template.archive_logs is not None or template.parallelism is not None:
        raise UnsayableError("settings of a template")
    body = template.body
    found: dict[str, Doc] = {}
    if isinstance(body, Function | Container | Script):
        if body.extra is not None:
            raise UnsayableError("further fields of a container")
        found |= resources(body.resources)
        found |= _environment(body)
    found |= policies(template)
    if isinstance(body, Function | Container | Script):
        found |= _mounts(body.mounts, template.pod.volumes, volumes)
        if body.pull_policy is not None:
            found["image_pull_policy"] = quoted(body.pull_policy)
    elif template.pod.volumes:
        raise UnsayableError("volumes without a container")
    return found | pod(template.pod)


def resources(given: Resources) -> dict[str, Doc]:
    found: dict[str, Doc] = {}
    if given.cpu:
        found["cpu"] = given.cpu if re.fullmatch(r"[1-9]\d*", given.cpu) else quoted(given.cpu)
    if given.memory:
        found["memory"] = quoted(given.memory)
    for name, value in (("cpu_limit", given.cpu_limit), ("memory_limit", given.memory_limit)):
        if value is not None:
            found[name] = quoted(value)
    if given.gpu:
        found["gpu"] = repr(given.gpu)
    if given.gpu_type != Resources().gpu_type:
        found["gpu_type"] = quoted(given.gpu_type)
    if given.ephemeral_storage:
        found["ephemeral_storage"] = quoted(given.ephemeral_storage)
    if given.extra:
        found["resources"] = pairs(given.extra)
    return found


def policies(template: Template) -> dict[str, Doc]:
    """Retry, time limits, cache, locks and effects."""
    found: dict[str, Doc] = {}
    if template.retry is not None:
        found["retries"] = retry(template.retry)
    if template.timeout is not None:
        found["timeout"] = duration(template.timeout)
    if template.deadline is not None:
        found["deadline"] = duration(template.deadline)
    if template.cache is not None:
        found["cache"] = _cache(template.cache)
    if template.effects:
        effects = template.effects
        found["effects"] = quoted(effects[0]) if len(effects) == 1 else texts(effects)
    return found | locks(template.locks)


def retry(given: RetryPolicy) -> Doc:
    """How often again, and when."""
    plain = RetryPolicy(given.limit)
    if given == plain and given.limit > 0:
        return repr(given.limit)
    named: dict[str, Doc] = {}
    backoff = given.backoff
    if backoff is not None:
        named["delay"] = duration(backoff.duration)
        if backoff.factor != Backoff(1.0).factor:
            named["factor"] = literal(backoff.factor)
        if backoff.maximum is not None:
            named["maximum"] = duration(backoff.maximum)
    if given.when is not None:
        named["when"] = Expressions(Scope()).doc(given.when)
    if given.other_node:
        named["other_node"] = "True"
    if given.policy == "OnPlatformFault":
        named["platform_only"] = "True"
    if given.policy in (plain.policy, "OnPlatformFault"):
        return call("couler.retry", repr(given.limit), **named)
    if given.when is not None:
        named["when"] = construct(given.when)
    said = [name for name in ("backoff", "when", "policy") if getattr(given, name) is not None]
    policy: dict[str, Doc] = {name: construct(getattr(given, name)) for name in said}
    if given.other_node:
        policy["other_node"] = "True"
    return call("couler.RetryPolicy", repr(given.limit), **policy)


def _cache(given: Cache) -> Doc:
    if given == Cache():
        return "True"
    if given.store:
        if given.max_age is not None:
            duration(given.max_age)
        return construct(given)
    named: dict[str, Doc] = {}
    if given.max_age is not None:
        named["max_age"] = duration(given.max_age)
    if given.version:
        named["version"] = quoted(given.version)
    if given.key is not None:
        named["key"] = construct(given.key)
    return call("couler.cache", **named)


def locks(given: tuple[Lock, ...]) -> dict[str, Doc]:
    """What must not run at the same time."""
    if len(given) == 1:
        (lock,) = given
        if isinstance(lock, Mutex) and lock == Mutex(lock.name) and isinstance(lock.name, str):
            return {"mutex": quoted(lock.name)}
        if isinstance(lock, Semaphore) and lock == Semaphore(lock.name, lock.limit) and isinstance(lock.name, str):
            return {"semaphore": literal((lock.name, lock.limit))}
    return {"locks": items(construct(lock) for lock in given)} if given else {}


def _environment(body: Function | Container | Script) -> dict[str, Doc]:
    found: dict[str, Doc] = {}
    if body.env:
        found["env"] = environment(body.env, declared=isinstance(body, Container))
    if body.env_from:
        found["env_from"] = texts(body.env_from)
    return found


def environment(given: tuple[EnvVar, ...], *, declared: bool = False) -> Doc:
    """Environment variables as a dict; where inputs are `declared`, they stand in it by their names."""
    for variable in given:
        if not _ENV_NAME.fullmatch(variable.name):
            raise UnsayableError("the name of an environment variable")
    if not declared:
        return pairs(tuple((variable.name, variable.value) for variable in given))
    if len({one.name for one in given}) < len(given):
        raise UnsayableError("a name that comes twice")
    values = ((one.name, text(one.value) if isinstance(one.value, x.Text) else construct(one.value)) for one in given)
    return Group("{", tuple(Named((quoted(name), ": "), value) for name, value in values), "}")


def _mounts(
    mounts: tuple[VolumeMount, ...], volumes: tuple[Volume, ...], of_workflow: frozenset[str]
) -> dict[str, Doc]:
    by_name = {volume.name: volume for volume in volumes}
    plain = [mount for mount in mounts if mount == VolumeMount(mount.name, mount.path)]
    mounted = tuple(dict.fromkeys(mount.name for mount in plain if mount.name in by_name))
    short = (
        len(plain) == len(mounts)
        and all(mount.path.startswith("/") for mount in plain)
        and len({mount.path for mount in plain}) == len(plain)
        and len(by_name) == len(volumes)
        and tuple(by_name) == mounted
    )
    if not short:
        if volumes:
            raise UnsayableError("volumes that are not mounted plainly")
        return {"mounts": texts(mounts)} if mounts else {}
    if not mounts:
        return {}
    if any(mount.name not in by_name and mount.name not in of_workflow for mount in plain):
        return {"mounts": texts(mounts)} if not volumes else _unmounted()
    found = tuple(
        Named((quoted(mount.path), ": "), volume(by_name[mount.name]) if mount.name in by_name else quoted(mount.name))
        for mount in plain
    )
    return {"volumes": Group("{", found, "}")}


def _unmounted() -> dict[str, Doc]:
    raise UnsayableError("a volume that is nowhere")


def volume(given: Volume) -> Doc:
    """A volume, by the verb for its kind where there is one."""
    name = quoted(given.name)
    if not given.source.texts:
        match given.source.value:
            case {"persistentVolumeClaim": {"claimName": str(claim), **rest}} if rest in ({}, {"readOnly": True}):
                named: dict[str, Doc] = {"read_only": "True"} if rest else {}
                return call("couler.existing_claim", name, quoted(claim), **named)
            case {"emptyDir": {**rest}} if not rest:
                return call("couler.empty_dir", name)
            case {"secret": {"secretName": str(of), **rest}} if not rest:
                return call("couler.secret_volume", name, quoted(of))
            case {"configMap": {"name": str(of), **rest}} if not rest:
                return call("couler.config_map_volume", name, quoted(of))
            case {"hostPath": {"path": str(of), **rest}} if not rest:
                return call("couler.host_path", name, quoted(of))
            case _:
                pass
    return construct(given)


def pod(given: PodSettings) -> dict[str, Doc]:
    """Labels, placement and surroundings of the pod, but for volumes."""
    if given.dns is not None or not isinstance(given.patch, str):
        raise UnsayableError("settings of a pod")
    found: dict[str, Doc] = {}
    for name in ("node_selector", "labels", "annotations"):
        if value := getattr(given, name):
            found[name] = pairs(value)
    for name in ("tolerations", "image_pull_secrets", "init_containers", "sidecars"):
        if value := getattr(given, name):
            found[name] = texts(value)
    for name in ("service_account", "priority_class", "scheduler"):
        if value := getattr(given, name):
            found[name] = quoted(value)
    if given.host_network is not None:
        found["host_network"] = repr(given.host_network)
    if given.patch:
        found["pod_patch"] = quoted(given.patch)
    if given.extra is not None:
        found["argo"] = own_words(given.extra)
    return found


def own_words(given: Templated) -> Doc:
    """Fields in Argo's own words. Raises `UnsayableError` where these hold values of the workflow."""
    if given.texts or not given.value:
        raise UnsayableError("fields of the engine with values in them")
    return literal(given.value)


def arguments(found: dict[str, Doc]) -> list[Doc]:
    """Options as arguments by name."""
    return [keyword(name, value) for name, value in found.items()]


def manifest(given: Templated) -> Doc:
    """JSON with texts in it, each where it belongs."""
    texts_ = {part.pointer: part.text for part in given.texts}
    if len(texts_) < len(given.texts):
        raise UnsayableError("two texts in one place")
    used: set[str] = set()

    def walk(value: Any, pointer: str) -> Doc:
        if pointer in texts_:
            used.add(pointer)
            if value != "":
                raise UnsayableError("a text over a value")
            return text(texts_[pointer])
        if isinstance(value, dict):
            return Group(
                "{",
                tuple(
                    Named((quoted(key), ": "), walk(item, f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"))
                    for key, item in value.items()
                ),
                "}",
            )
        if isinstance(value, list):
            return items(walk(item, f"{pointer}/{index}") for index, item in enumerate(value))
        return literal(value)

    found = walk(given.value, "")
    if used != set(texts_):
        raise UnsayableError("a text without a place")
    return found


def text(given: x.TextLike) -> Doc:
    """A text of a container: plain, or with the inputs that stand in it."""
    if isinstance(given, x.Text) and len(given.parts) == 1 and isinstance(given.parts[0], x.Input):
        return call("couler.argument", quoted(given.parts[0].name))
    return construct(given)


def replaced(template: Template, **changes: Any) -> Template:
    """The template with some fields changed."""
    return msgspec.structs.replace(template, **changes)
