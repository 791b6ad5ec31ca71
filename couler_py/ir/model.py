"""What a workflow is: the frozen, engine-neutral structure that everything else reads and writes.

Vocabulary is Argo's where Argo has a word. See `couler_py.ir.meaning` for what it means to run one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from couler_py.ir.expr import Expr, TextLike
from couler_py.ir.interface import Argument as Argument
from couler_py.ir.interface import ArtifactArgument as ArtifactArgument
from couler_py.ir.interface import InputArtifact as InputArtifact
from couler_py.ir.interface import Inputs as Inputs
from couler_py.ir.interface import OutputArtifact as OutputArtifact
from couler_py.ir.interface import OutputParameter as OutputParameter
from couler_py.ir.interface import Outputs as Outputs
from couler_py.ir.interface import Parameter as Parameter
from couler_py.ir.pod import (
    Container,
    EnvFrom,
    EnvVar,
    PodSettings,
    PullPolicy,
    Resources,
    Templated,
    Volume,
    VolumeClaim,
    VolumeMount,
)
from couler_py.ir.policies import Backoff as Backoff
from couler_py.ir.policies import Cache as Cache
from couler_py.ir.policies import Lock as Lock
from couler_py.ir.policies import Mutex as Mutex
from couler_py.ir.policies import RetryPolicy as RetryPolicy
from couler_py.ir.policies import Semaphore as Semaphore
from couler_py.ir.storage import SecretRef
from couler_py.ir.types import Type


# gc=False stands where there are as many as tasks and none can lead back to itself: the collector has less to walk.
class _Struct(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    pass


class Source(_Struct, frozen=True, gc=False):
    """Where a person wrote it. Never part of a template's content or identity."""

    file: str
    line: int
    column: int = 0  # from 1; 0 where it isn't known

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.column else f"{self.file}:{self.line}"


# ---- bodies


class Script(_Struct, frozen=True, tag="script"):
    """Source text handed to a command in a container. `source` is data, never spliced with values."""

    image: TextLike
    source: TextLike
    command: tuple[TextLike, ...] = ("python",)
    env: tuple[EnvVar, ...] = ()
    env_from: tuple[EnvFrom, ...] = ()
    working_dir: TextLike = ""
    pull_policy: PullPolicy | None = None
    mounts: tuple[VolumeMount, ...] = ()
    resources: Resources = Resources()
    extra: Templated | None = None


class Piece(_Struct, frozen=True):
    """Some of a step's Python source, verbatim but dedented, and where it stands in the user's file."""

    text: str
    file: str = ""
    line: int = 1


class LinkInput(_Struct, frozen=True):
    """Where a function of a chain has an argument from: an output of the one before, or an input of the template."""

    name: str
    type: Type
    output: str = ""
    parameter: str = ""


class LinkOutput(_Struct, frozen=True):
    """What a function of a chain hands to the next one."""

    name: str
    type: Type


class Link(_Struct, frozen=True):
    """One function of a chain, and the task that it stood for. The last one's outputs are the template's."""

    task: str
    function: str
    returns: Literal["none", "one", "fields"] = "none"
    inputs: tuple[LinkInput, ...] = ()
    outputs: tuple[LinkOutput, ...] = ()


class Function(_Struct, frozen=True, tag="function"):
    """A Python function, called with typed values by the runner. Its outputs are what it returns.

    `pieces` define what the function needs, then the function `name` itself. `returns` says how the
    returned object becomes outputs: "none"; "one" (the only output is the object); "fields" (one
    output for each field of a NamedTuple or dataclass). `packages` are PEP 508 requirements.
    `include` names archives of the workflow. With `links`, it is the last of several that are called one
    after the other, each with what the one before returned. With `over`, it is called for each element of the
    inputs of these names, lists of equal length, and its outputs are lists.
    """

    name: str
    pieces: tuple[Piece, ...]
    returns: Literal["none", "one", "fields"] = "none"
    image: TextLike = "python:3.11"
    command: tuple[str, ...] = ("python",)
    future: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    env: tuple[EnvVar, ...] = ()
    env_from: tuple[EnvFrom, ...] = ()
    pull_policy: PullPolicy | None = None
    mounts: tuple[VolumeMount, ...] = ()
    resources: Resources = Resources()
    links: tuple[Link, ...] = ()
    over: tuple[str, ...] = ()
    extra: Templated | None = None


class Resource(_Struct, frozen=True, tag="resource"):
    """A Kubernetes object to create, and when it counts as done. Conditions are Argo's label-selector syntax."""

    action: Literal["get", "create", "apply", "delete", "replace", "patch"]
    manifest: Templated
    success_condition: str = ""
    failure_condition: str = ""
    merge_strategy: str = ""
    set_owner_reference: bool = False
    flags: tuple[TextLike, ...] = ()
    extra: Templated | None = None


class JobRole(_Struct, frozen=True):
    """The nodes of a job that have one part in it, and their container where it isn't the job's.

    `restart` says what a cluster does with a pod of theirs that has ended, where the launcher has a word for it.
    """

    name: Literal["master", "chief", "worker", "ps", "evaluator", "launcher"]
    nodes: int = 1
    container: Container | None = None
    restart: Literal["", "Never", "OnFailure", "Always", "ExitCode"] = ""


class DistributedJob(_Struct, frozen=True, tag="distributed_job"):
    """A job of several nodes and processes; lowered to a `Resource`, or to local processes.

    `elastic` is the least and most nodes it may run with. `health_timeout` is in seconds. Nodes are numbered in the
    order of `roles`; all are workers where there are none. The launcher of MPI is a pod beside the nodes.
    `clean_pods` are the pods that go when the job has ended, where the launcher has a word for it.
    """

    framework: Literal["torch", "tensorflow", "mpi", "generic"]
    container: Container
    nodes: int = 1
    processes_per_node: int = 1
    elastic: tuple[int, int] | None = None
    max_restarts: int = 0
    launcher: str = ""
    queue: str = ""
    health_timeout: float | None = None
    roles: tuple[JobRole, ...] = ()
    clean_pods: Literal["", "Running", "All", "None"] = ""

    @property
    def containers(self) -> tuple[Container, ...]:
        """The container of the job, and those that roles have of their own."""
        return (self.container, *(role.container for role in self.roles if role.container is not None))

    @property
    def asking(self) -> tuple[tuple[Container, int], ...]:
        """Each container, and the number of pods that it is in."""
        if not self.roles:
            return ((self.container, self.nodes),)
        asked = ((role.container or self.container, role.nodes, role) for role in self.roles)
        # The launcher of MPI only starts the others: it asks for nothing unless that is said.
        return tuple((each, nodes) for each, nodes, role in asked if role.container or role.name != "launcher")

    def with_containers(self, change: Callable[[Container], Container]) -> DistributedJob:
        """The job with each of its containers changed."""
        roles = tuple(
            role if role.container is None else msgspec.structs.replace(role, container=change(role.container))
            for role in self.roles
        )
        return msgspec.structs.replace(self, container=change(self.container), roles=roles)


class Suspend(_Struct, frozen=True, tag="suspend"):
    """Wait for a person, or for a duration in seconds."""

    duration: float | None = None


class Http(_Struct, frozen=True, tag="http"):
    """A request made by the engine. `success_condition` is an engine expression (Argo)."""

    url: TextLike
    method: str = "GET"
    headers: tuple[tuple[str, TextLike | SecretRef], ...] = ()
    body: TextLike = ""
    timeout: float | None = None
    success_condition: str = ""
    insecure: bool = False
    extra: Templated | None = None


class Data(_Struct, frozen=True, tag="data"):
    """Argo's data template: `source` and `transformation` in its own words."""

    source: Templated
    transformation: tuple[str, ...] = ()


class ContainerSet(_Struct, frozen=True, tag="container_set"):
    """Several containers in one pod, in the order of `dependencies` (name, names it waits for)."""

    containers: tuple[Container, ...]
    dependencies: tuple[tuple[str, tuple[str, ...]], ...] = ()
    mounts: tuple[VolumeMount, ...] = ()
    retry: int = 0
    extra: Templated | None = None


class Plugin(_Struct, frozen=True, tag="plugin"):
    """An Argo executor plugin's own object.

    Without one (`Templated(None)`) it stands for a body that the IR has no word for: an imported template's own
    words are then in the `extra` of its `pod`.
    """

    value: Templated


# ---- graphs

EdgeKind: TypeAlias = Literal["order", "value", "on_failure", "always", "first"]
DependsState: TypeAlias = Literal[
    "", "Succeeded", "Failed", "Errored", "Skipped", "Omitted", "Daemoned", "AnySucceeded", "AllFailed"
]


class After(_Struct, frozen=True, gc=False):
    """An edge that a person wrote. Edges of values are never written: they follow from the values."""

    task: str
    kind: Literal["order", "on_failure", "always"] = "order"


class DependsOn(_Struct, frozen=True, tag="task"):
    """A leaf of an imported `depends`: the task in the state; "" is Argo's bare name."""

    task: str
    state: DependsState = ""


class DependsAll(_Struct, frozen=True, tag="and"):
    operands: tuple[Depends, ...]


class DependsAny(_Struct, frozen=True, tag="or"):
    operands: tuple[Depends, ...]


class DependsNot(_Struct, frozen=True, tag="not"):
    operand: Depends


Depends: TypeAlias = DependsOn | DependsAll | DependsAny | DependsNot


class Sequence(_Struct, frozen=True, tag="sequence"):
    """Numbers as items: `count` of them from `start`, or from `start` to `end` (both included).

    `form` is a printf pattern that makes each a string (Argo `withSequence.format`).
    """

    start: Expr | None = None
    end: Expr | None = None
    count: Expr | None = None
    form: str = ""


class Each(_Struct, frozen=True):
    """A fan-out: one run of the task for each item of a list.

    `parallel` bounds how many run at once, `max_items` the length of the list, `tolerate` how many
    items may fail.
    """

    items: Expr | Sequence
    parallel: int | None = None
    max_items: int = 1000
    tolerate: int = 0


class External(_Struct, frozen=True, tag="external"):
    """A template of a WorkflowTemplate or ClusterWorkflowTemplate that is installed on the engine."""

    name: str
    template: str
    kind: Literal["WorkflowTemplate", "ClusterWorkflowTemplate"] = "WorkflowTemplate"


class Inline(_Struct, frozen=True, tag="inline"):
    """A template written in the task itself (imports only; ours are always named)."""

    template: Template


Call: TypeAlias = str | External | Inline


class Hook(_Struct, frozen=True):
    """A template to run at a moment of a task's life: when `when` turns true, or, without, at its end."""

    name: str
    call: str
    when: Expr | None = None
    arguments: tuple[Argument, ...] = ()
    artifacts: tuple[ArtifactArgument, ...] = ()
    extra: Templated | None = None


class Task(_Struct, frozen=True, gc=False):
    """One call of a template in a graph.

    `after` are the edges a person wrote; those of values follow from `arguments`, `artifacts`,
    `when` and `each` (see `couler_py.ir.meaning.edges`). `depends` replaces them all for an imported
    task whose dependencies aren't a plain list of names. `display` is the name as the user wrote it,
    where that isn't legal. `extra` holds further fields of an imported task in the engine's own words.
    """

    name: str
    call: Call
    arguments: tuple[Argument, ...] = ()
    artifacts: tuple[ArtifactArgument, ...] = ()
    after: tuple[After, ...] = ()
    depends: Depends | None = None
    when: Expr | None = None
    each: Each | None = None
    hooks: tuple[Hook, ...] = ()
    continue_on: tuple[Literal["failed", "error"], ...] = ()
    display: str = ""
    source: Source | None = None
    extra: Templated | None = None


class Graph(_Struct, frozen=True, tag="graph", weakref=True):
    """Tasks and the edges between them.

    In the form "steps" (imports), `groups` name the tasks of each group; a group starts when the one
    before has ended. `targets` limits a dag to some tasks and what they need. `extra` holds further fields of an
    imported dag in the engine's own words.
    """

    tasks: tuple[Task, ...]
    form: Literal["dag", "steps"] = "dag"
    groups: tuple[tuple[str, ...], ...] = ()
    targets: tuple[str, ...] = ()
    fail_fast: bool = False
    extra: Templated | None = None


class Carry(_Struct, frozen=True):
    """An output of a loop's body that becomes an input of the next iteration."""

    output: str
    input: str


class Loop(_Struct, frozen=True, tag="loop"):
    """Run a template again and again until `until` (over its `Own` outputs) is true.

    The body runs at least once; the loop's outputs are the last iteration's. Reaching
    `max_iterations` without `until` is Failed.
    """

    body: str
    until: Expr
    carry: tuple[Carry, ...] = ()
    max_iterations: int = 50


Body: TypeAlias = (
    Container
    | Script
    | Function
    | Resource
    | DistributedJob
    | Graph
    | Loop
    | Suspend
    | Http
    | Data
    | ContainerSet
    | Plugin
)


class Template(_Struct, frozen=True, gc=False):
    """A named, typed unit of work. `timeout` is seconds per attempt, `deadline` over all attempts.

    `effects` names what it reads or changes besides its inputs and outputs: a table, a bucket. Steps that have any keep
    the order in which they are written.
    """

    name: str
    body: Body
    inputs: Inputs = Inputs()
    outputs: Outputs = Outputs()
    retry: RetryPolicy | None = None
    timeout: float | None = None
    deadline: float | None = None
    cache: Cache | None = None
    locks: tuple[Lock, ...] = ()
    pod: PodSettings = PodSettings()
    daemon: bool = False
    parallelism: int | None = None
    archive_logs: bool | None = None
    metrics: Templated | None = None
    effects: tuple[str, ...] = ()
    description: str = ""
    display: str = ""
    source: Source | None = None


# ---- workflows


class Schedule(_Struct, frozen=True):
    """When a workflow starts by itself. `starting_deadline` is in seconds; "" is the engine's own time zone (imports).

    `extra` holds further fields of an imported CronWorkflow in Argo's own words.
    """

    crons: tuple[str, ...]
    timezone: str = "UTC"
    concurrency: Literal["Allow", "Forbid", "Replace"] = "Allow"
    starting_deadline: float | None = None
    keep_succeeded: int | None = None
    keep_failed: int | None = None
    suspended: bool = False
    extra: Templated | None = None


class Handler(_Struct, frozen=True):
    """A template that runs when the run has ended, if `when` (over `Run`) is true.

    `on="when"` (imports) is any moment of the run: as soon as `when` is true.
    """

    name: str
    call: str
    on: Literal["exit", "success", "failure", "when"] = "exit"
    when: Expr | None = None
    arguments: tuple[Argument, ...] = ()
    artifacts: tuple[ArtifactArgument, ...] = ()
    source: Source | None = None
    extra: Templated | None = None


class IncludeArchive(_Struct, frozen=True):
    """Files of the user's that steps import: a deterministic tar.gz, by the sha256 of its bytes.

    `paths` are the files in it, `root` the folder on the author's machine that they were read from;
    neither is part of the identity.
    """

    digest: str
    paths: tuple[str, ...] = ()
    root: str = ""


class Ttl(_Struct, frozen=True):
    """Seconds that a finished run stays on the cluster."""

    after_completion: int | None = None
    after_success: int | None = None
    after_failure: int | None = None


class Workflow(_Struct, frozen=True, weakref=True):
    """A whole program. The entrypoint's outputs are the outputs of a run. `deadline` is in seconds.

    `engines` holds, by engine name, options that only this engine reads (JSON).

    The dialect "argo" marks what was written in Argo's own words: the Argo backend emits it verbatim, lowering
    nothing, and its meaning is Argo's (a bare dependency, an absent output, which failure counts). Every other
    engine reads what `couler_py.passes.portable` makes of it, which is of the dialect "couler".
    """

    name: str
    entrypoint: str
    templates: tuple[Template, ...]
    parameters: tuple[Parameter, ...] = ()
    artifacts: tuple[ArtifactArgument, ...] = ()
    schedule: Schedule | None = None
    handlers: tuple[Handler, ...] = ()
    parallelism: int | None = None
    deadline: float | None = None
    ttl: Ttl | None = None
    priority: int | None = None
    locks: tuple[Lock, ...] = ()
    pod: PodSettings = PodSettings()
    volumes: tuple[Volume, ...] = ()
    volume_claims: tuple[VolumeClaim, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()
    annotations: tuple[tuple[str, str], ...] = ()
    includes: tuple[IncludeArchive, ...] = ()
    pod_gc: Literal["", "OnPodCompletion", "OnPodSuccess", "OnWorkflowCompletion", "OnWorkflowSuccess"] = ""
    description: str = ""
    display: str = ""
    engines: dict[str, Any] = {}
    source: Source | None = None
    dialect: Literal["couler", "argo"] = "couler"


class Native(_Struct, frozen=True):
    """What an imported document says beyond or otherwise than our emission, at a JSON pointer.

    Applied only where the emitted value still equals `was` (unset: nothing there).
    """

    engine: str
    pointer: str
    was: Any | UnsetType = UNSET
    value: Any | UnsetType = UNSET


DocumentKind: TypeAlias = Literal["Workflow", "WorkflowTemplate", "ClusterWorkflowTemplate", "CronWorkflow"]


class Document(_Struct, frozen=True):
    """A workflow as an engine's document: its kind, API version and metadata.

    `before` and `after` are the documents that stand around it in the same file, as JSON data.
    """

    kind: DocumentKind
    workflow: Workflow
    api_version: str = "argoproj.io/v1alpha1"
    metadata: dict[str, Any] = {}
    natives: tuple[Native, ...] = ()
    before: tuple[dict[str, Any], ...] = ()
    after: tuple[dict[str, Any], ...] = ()
