"""What earlier runs took, as plain data. `couler_py.store.history` reads it from the runs of this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec
from msgspec.structs import replace

from couler_py.ir.codec import digest
from couler_py.ir.model import ContainerSet, DistributedJob, Function, Script, Template
from couler_py.ir.pod import Container, PodSettings, Resources
from couler_py.ir.quantity import quantity


class Attempt(msgspec.Struct, frozen=True):
    """One attempt of a step. `seconds` is how long it took, `memory` the most bytes that it held.

    `processors` are those that it used on average, `busiest` the most between two looks; None where nobody measured.
    `asked_memory` and `asked_cpu` are what it had asked for; None where nothing. `started` is in seconds since 1970.
    """

    state: str
    started: float
    seconds: float
    message: str = ""
    exit_code: int | None = None
    memory: int | None = None
    processors: float | None = None
    busiest: float | None = None
    asked_memory: int | None = None
    asked_cpu: float | None = None


class Observed(msgspec.Struct, frozen=True):
    """What was seen of a template: `work` is `work_of` it, `runs` counts the runs it was part of.

    `attempts` are those of programs, oldest first. `seconds` are how long calls that succeeded took in all, graphs and
    loops too, without those whose result came from the cache; `outputs` the sizes in bytes of what they gave, by
    output; `states` counts how calls ended.
    """

    workflow: str
    template: str
    work: str
    runs: int = 0
    attempts: tuple[Attempt, ...] = ()
    seconds: tuple[float, ...] = ()
    outputs: dict[str, tuple[int, ...]] = {}
    states: dict[str, int] = {}


class History:
    """What was seen of templates; nothing, where there is none. It is read when it is first asked."""

    def __init__(self, read: Callable[[], Iterable[Observed]] = tuple):
        self._read = read
        self._found: tuple[dict[str, Observed], dict[tuple[str, str], Observed]] | None = None

    @classmethod
    def of(cls, *observed: Observed) -> History:
        """A history that is known already."""
        return cls(lambda: observed)

    def find(self, workflow: str, template: Template) -> Observed | None:
        """What was seen of the same work, whatever it was called; else of the template of that name.

        >>> from couler_py import ir
        >>> step = ir.Template("load", ir.Script("python:3.11", "1"))
        >>> seen = Observed("flow", "load", work_of(step), runs=1, seconds=(2.0,))
        >>> History.of(seen).find("flow", ir.Template("renamed", step.body)).seconds
        (2.0,)
        """
        by_work, by_name = self._index()
        return by_work.get(work_of(template)) or by_name.get((workflow, template.name))

    def all(self) -> tuple[Observed, ...]:
        """Everything, in the order in which it was read."""
        return tuple(self._index()[0].values())

    def _index(self) -> tuple[dict[str, Observed], dict[tuple[str, str], Observed]]:
        if self._found is None:
            by_work: dict[str, Observed] = {}
            by_name: dict[tuple[str, str], Observed] = {}
            for each in self._read():
                by_work.setdefault(each.work, each)
                by_name.setdefault((each.workflow, each.template), each)
            self._found = by_work, by_name
        return self._found


def asked_of(template: Template) -> tuple[int | None, float | None]:
    """The bytes of memory and the processors that a step asks for in all; None for what it says nothing of."""
    body = template.body
    match body:
        case Container() | Script() | Function():
            parts = [body.resources]
        case DistributedJob():
            parts = [container.resources for container in body.containers]
        case ContainerSet(containers=containers):
            parts = [each.resources for each in containers]
        case _:
            return None, None
    memory = [found for each in parts if (found := quantity(each.memory)) is not None]
    cpu = [found for each in parts if (found := quantity(each.cpu)) is not None]
    return (int(sum(memory)) if memory else None), (float(sum(cpu)) if cpu else None)


def work_of(template: Template) -> str:
    """The digest of what a template does: what it asks for, how often it is tried and where it runs is no part of it.

    So a history stays known when a pass or the settings change resources, retries or placement.
    """
    body = template.body
    match body:
        case Container() | Script() | Function():
            body = replace(body, resources=Resources())
        case DistributedJob():
            body = body.with_containers(lambda container: replace(container, resources=Resources()))
        case ContainerSet(containers=containers):
            body = replace(body, containers=tuple(replace(each, resources=Resources()) for each in containers))
    bare = replace(
        template,
        body=body,
        retry=None,
        timeout=None,
        deadline=None,
        cache=None,
        locks=(),
        pod=PodSettings(),
        parallelism=None,
        archive_logs=None,
        metrics=None,
        effects=(),
        description="",
    )
    return digest(bare)
