"""What all parts of one run share."""

from __future__ import annotations

import asyncio
import functools
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import msgspec
from msgspec import UNSET

from couler_py.backends.local.imported.scope import ImportedScope
from couler_py.backends.local.journal import Journal
from couler_py.backends.local.machine.grants import Machine
from couler_py.backends.local.machine.usage import Use
from couler_py.backends.local.scope import Facts, Scope, timestamp
from couler_py.backends.local.steps.ambient import ambient
from couler_py.backends.local.warden.wardens import Wardens
from couler_py.ir.model import Template, Workflow
from couler_py.ir.wire import VALUE_LIMIT as VALUE_LIMIT
from couler_py.passes.exact import exact_outputs
from couler_py.passes.flows import plain_outputs
from couler_py.passes.portable import rules
from couler_py.settings import load, size_of
from couler_py.store.cache import Parts
from couler_py.store.home import Home
from couler_py.store.records import ArtifactRef, Result, TaskRecord
from couler_py.store.remote import Remote
from couler_py.store.shares import Share

if TYPE_CHECKING:
    from couler_py.backends.local.containers.images import Images

MAX_DEPTH = 100
"""Calls inside calls: Argo's own limit (workflow/controller/operator.go, maxOperationDepth in effect 100)."""


class Halted(Exception):  # noqa: N818 - not an error: the run was asked to start nothing more
    """The run was stopped before this could start."""


class Call(msgspec.Struct):
    """One call of a template: what it is given, where it stands, and the bounds on parallelism around it.

    `digest` is its identity, once it runs.
    """

    template: Template
    path: str
    parameters: dict[str, Any] = {}
    artifacts: dict[str, ArtifactRef] = {}
    item: Any = UNSET
    item_index: int | None = None
    slots: tuple[asyncio.Semaphore, ...] = ()
    depth: int = 0
    digest: str = ""

    def inside(self, name: str, attempt: int = 0) -> str:
        """The path of a task inside this call's graph; a graph's further attempts are told apart by "~1"."""
        own = f"{self.path}~{attempt}" if attempt else self.path
        return f"{own}/{name}" if own else name


class Attempt(msgspec.Struct):
    """How one attempt ended, as a retry condition sees it."""

    result: Result
    reason: Literal["exited", "timeout", "error", "lost"] = "exited"
    exit_code: int | None = None


class Daemon(Protocol):
    """A step that serves others until its graph ends it."""

    async def end(self) -> None: ...


Caller: TypeAlias = Callable[["Context", Call], Awaitable[Result]]


class Options(msgspec.Struct):
    """How a run is run. Written to the store with it, for `resume`."""

    durability: Literal["process", "power"] = "process"
    grace: float = 5.0
    config_maps: dict[str, dict[str, str]] = {}
    runtime: Literal["process", "podman", "docker"] = "process"
    network: str = ""
    allow_host: bool = False
    artifacts: str = ""


class Gate:
    """What stands before every start: open, closed for a while (suspended), or closed for good (stopped)."""

    def __init__(self) -> None:
        self._open = asyncio.Event()
        self._open.set()
        self.stopped = False

    @property
    def suspended(self) -> bool:
        return not self._open.is_set()

    def suspend(self) -> None:
        self._open.clear()

    def resume(self) -> None:
        self._open.set()

    def stop(self) -> None:
        self.stopped = True
        self._open.set()

    async def enter(self) -> None:
        """Wait while suspended. Raises `Halted` once stopped."""
        await self._open.wait()
        if self.stopped:
            raise Halted


class Context:
    """One run while it goes. `known` holds what an earlier engine recorded of its tasks."""

    def __init__(
        self,
        workflow: Workflow,
        home: Home,
        connection: sqlite3.Connection,
        journal: Journal,
        facts: Facts,
        options: Options,
        machine: Machine,
        known: dict[str, TaskRecord],
        call: Caller,
    ):
        self.workflow = workflow
        self.templates = {template.name: template for template in workflow.templates}
        self.home = home
        self.connection = connection
        self.journal = journal
        self.facts = facts
        self.options = options
        self.machine = machine
        self.known = known
        self.call: Caller = call
        self.ambient = ambient()
        self.wardens = Wardens()
        self.gate = Gate()
        self.ending = False
        self.approvals: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self.attempt_folders: dict[str, list[Path]] = {}
        self.taken_over: set[Path] = set()
        self.running: dict[str, str] = {}
        self.failures: list[dict[str, Any]] = []
        self.digests: dict[str, str] = {}
        self.metrics_read: dict[Path, int] = {}
        self.hidden: dict[str, list[bytes]] = {}  # by the name of a running attempt: its secrets, as they may show
        self.mounts: set[str] = set()
        self.programs: dict[str, Path] = {}
        self.codes: dict[str, bytes] = {}
        self.shares: dict[str, Share] = {}
        self.images: Images | None = None
        self.addresses: dict[str, str] = {}
        self.interpreters: dict[tuple[str, ...], str] = {}
        self.daemons: dict[str, list[Daemon]] = {}
        self.key_parts: dict[str, Parts] = {}
        self.computing: dict[str, asyncio.Lock] = {}
        self.installing: dict[tuple[str, ...], asyncio.Lock] = {}
        self.held: list[int] = []
        self.remote: Remote | None = None
        self.keyed: dict[str, ArtifactRef] = {}
        self.hooks: dict[str, asyncio.Task[Result]] = {}
        self.kill = False
        self.used: tuple[float, int] | None = None  # processors and bytes of memory of what runs, as last looked at
        self.contained: dict[str, Use] = {}  # what the containers of attempts used, by the attempts' folders
        self.looked_at: Callable[[], None] = lambda: None

    @property
    def halting(self) -> bool:
        """Whether the run is being stopped from outside: what it hasn't finished is for who resumes it."""
        return self.ending or self.gate.stopped

    @functools.cached_property
    def folder(self) -> Path:
        """The folder of the run."""
        return self.home.run(self.facts.id)

    @functools.cached_property
    def attempts(self) -> Path:
        """The folder of the run's attempts."""
        return self.folder / "attempts"

    @functools.cached_property
    def log_limit(self) -> int:
        """The bytes that the log of an attempt may have, as the settings say."""
        return size_of(load().logs.limit)

    @functools.cached_property
    def run_facts(self) -> dict[str, str]:
        """The facts about the run, the same for all steps, as they stand in their environment."""
        facts = self.facts
        return {
            "COULER_RUN_ID": facts.id,
            "COULER_RUN_NAME": facts.name,
            "COULER_RUN_NAMESPACE": facts.namespace,
            "COULER_RUN_SCHEDULED_TIME": timestamp(facts.scheduled),
            "COULER_RUN_START": timestamp(facts.start),
        }

    @functools.cached_property
    def read_as_text(self) -> dict[str, list[str]]:
        """By template, the outputs of Python steps whose text a container reads as it is."""
        return plain_outputs(self.templates)

    @functools.cached_property
    def taken_apart(self) -> dict[str, list[str]]:
        """By template, the outputs of Python steps that an engine takes apart."""
        return exact_outputs(self.templates)

    @functools.cached_property
    def imported(self) -> bool:
        """Whether the workflow runs by Argo's rules, in whose words it was written."""
        return rules(self.workflow) == "argo"

    def scope(self, call: Call, **more: Any) -> Scope:
        """What expressions see inside a call."""
        if not self.imported:
            return Scope(self.facts, call.parameters, call.artifacts, **more)
        made = self._imported_scope(call.parameters, call.artifacts, **more)
        made.template, made.path, made.item = call.template, call.path, call.item
        made.task = call.path.rpartition("/")[2]
        return made

    def outer_scope(self) -> Scope:
        """What expressions see that stand in no template: those of the run's entry and of its handlers."""
        return self._imported_scope() if self.imported else Scope(self.facts)

    @functools.cached_property
    def _words(self) -> dict[str, dict[str, str]]:
        """The labels and annotations of the run: its own, and those that Argo adds to it."""
        workflow, added = self.workflow, self.workflow.engines.get("argo", {}).get("workflowMetadata", {})
        return {
            "labels": {**dict(workflow.labels), **added.get("labels", {})},
            "annotations": {**dict(workflow.annotations), **added.get("annotations", {})},
        }

    def _imported_scope(self, *given: Any, **more: Any) -> ImportedScope:
        made = ImportedScope(self.facts, *given, **more)
        made.entrypoint = self.workflow.entrypoint
        made.addresses = self.addresses
        made.labels, made.annotations = self._words["labels"], self._words["annotations"]
        return made
