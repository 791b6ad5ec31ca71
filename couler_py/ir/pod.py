"""What a step's pod looks like: containers, environment, volumes, placement. Vocabulary: Kubernetes'.

Fields that people set every day are typed. Everything else of a Kubernetes object stands in a
`Templated`: plain JSON in Kubernetes' own words, with the strings an engine fills in kept beside it.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

import msgspec

from couler_py.ir.expr import TextLike
from couler_py.ir.storage import SecretRef
from couler_py.ir.templated import Substitution as Substitution
from couler_py.ir.templated import Templated as Templated

PullPolicy: TypeAlias = Literal["Always", "IfNotPresent", "Never"]

QUANTITY = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+|[numkMGTPE]|[KMGTPE]i)?")
"""A quantity as text (Kubernetes: apimachinery/pkg/api/resource/quantity.go)."""

ENV_NAME = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*")
"""A name of an environment variable that every Kubernetes takes (apimachinery/pkg/util/validation, IsEnvVarName,
before it was relaxed to all printable ASCII)."""


class _Pod(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    pass


class ConfigMapRef(_Pod, frozen=True, tag="config_map"):
    """One key of a ConfigMap."""

    name: TextLike
    key: TextLike
    optional: bool = False


class FieldRef(_Pod, frozen=True, tag="field"):
    """A field of the pod itself (the downward API), such as `status.hostIP`."""

    path: str


class EnvVar(_Pod, frozen=True):
    """One environment variable: a text, or a reference that the cluster resolves."""

    name: str
    value: TextLike | SecretRef | ConfigMapRef | FieldRef = ""


class EnvFrom(_Pod, frozen=True):
    """All keys of a secret or ConfigMap as environment variables."""

    name: str
    kind: Literal["secret", "config_map"]
    prefix: str = ""
    optional: bool = False


class Resources(_Pod, frozen=True, gc=False):
    """What a step asks for. Quantities are Kubernetes' ("500m", "2Gi").

    `cpu` and `memory` are requests and limits at once, unless `cpu_limit` or `memory_limit` says
    otherwise ("" means no limit). `gpu` counts devices of the resource name `gpu_type`. `extra`
    holds further resource names with their quantity.
    """

    cpu: str = ""
    memory: str = ""
    cpu_limit: str | None = None
    memory_limit: str | None = None
    gpu: int = 0
    gpu_type: str = "nvidia.com/gpu"
    ephemeral_storage: str = ""
    extra: tuple[tuple[str, str], ...] = ()


class Volume(_Pod, frozen=True):
    """A volume of the pod; `source` in Kubernetes' words, as {"persistentVolumeClaim": {"claimName": "x"}}."""

    name: str
    source: Templated


class VolumeClaim(_Pod, frozen=True):
    """A claim made when the run starts and deleted with it. `size` is a quantity ("10Gi")."""

    name: str
    size: str
    access_modes: tuple[str, ...] = ("ReadWriteOnce",)
    storage_class: str = ""


class VolumeMount(_Pod, frozen=True):
    """Where a container finds a volume, by the name of the volume; `sub_path` is a folder inside it."""

    name: str
    path: str
    sub_path: TextLike = ""
    read_only: bool = False


class Container(_Pod, frozen=True, tag="container", gc=False):
    """A container that runs a command. As a template body, and as init container or sidecar by `name`.

    `extra` holds the remaining fields of a Kubernetes container (probes, ports, lifecycle, …).
    """

    image: TextLike
    command: tuple[TextLike, ...] = ()
    args: tuple[TextLike, ...] = ()
    name: str = ""
    env: tuple[EnvVar, ...] = ()
    env_from: tuple[EnvFrom, ...] = ()
    working_dir: TextLike = ""
    pull_policy: PullPolicy | None = None
    mounts: tuple[VolumeMount, ...] = ()
    resources: Resources = Resources()
    extra: Templated | None = None


class Toleration(_Pod, frozen=True):
    """A taint of nodes that a pod may run in spite of. `seconds` is how long it stays, for the effect NoExecute.

    >>> Toleration(key="nvidia.com/gpu", operator="Exists", effect="NoSchedule").key
    'nvidia.com/gpu'
    """

    key: str = ""
    operator: Literal["Exists", "Equal", "Lt", "Gt", ""] = ""
    value: str = ""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute", ""] = ""
    seconds: int | None = None


class DnsOption(_Pod, frozen=True):
    """An option of the resolver, as DnsOption("ndots", "2")."""

    name: str
    value: str | None = None


class Dns(_Pod, frozen=True):
    """How a pod resolves names. Without a policy, Kubernetes' own is used."""

    policy: Literal["", "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"] = ""
    nameservers: tuple[str, ...] = ()
    searches: tuple[str, ...] = ()
    options: tuple[DnsOption, ...] = ()


class PodSettings(_Pod, frozen=True, gc=False):
    """Placement and surroundings of a pod, on a template or as the workflow's default.

    `extra` holds further fields of an Argo template or pod in their own words (affinity,
    securityContext, …); `patch` is a strategic merge patch of the pod spec (Argo `podSpecPatch`).
    """

    labels: tuple[tuple[str, TextLike], ...] = ()
    annotations: tuple[tuple[str, TextLike], ...] = ()
    node_selector: tuple[tuple[str, TextLike], ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    service_account: str = ""
    image_pull_secrets: tuple[str, ...] = ()
    dns: Dns | None = None
    host_network: bool | None = None
    priority_class: str = ""
    scheduler: str = ""
    volumes: tuple[Volume, ...] = ()
    init_containers: tuple[Container, ...] = ()
    sidecars: tuple[Container, ...] = ()
    patch: TextLike = ""
    extra: Templated | None = None
