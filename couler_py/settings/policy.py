"""What a platform team asks of every workflow. The rules are checked by `couler_py.passes.policy`."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

Level: TypeAlias = Literal["error", "warning"]
Feature: TypeAlias = Literal[
    "hostPath",
    "privileged",
    "hostNetwork",
    "hostNamespaces",
    "hostPorts",
    "capabilities",
    "root",
    "latest",
    "http",
    "resource",
    "plugin",
    "data",
    "daemon",
    "podSpecPatch",
    "insecure",
]
"""What `forbid` can name."""


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    pass


class Limits(_Table, frozen=True):
    """The most that may be asked for. Quantities as in Kubernetes ("8", "500m", "16Gi"); unset means no bound."""

    cpu: str | int | float | None = None
    memory: str | None = None
    gpu: int | None = None


class Levels(_Table, frozen=True):
    """How much a rule weighs, where it isn't the policy's `level`."""

    allow_images: Level | None = None
    require_digest: Level | None = None
    require_labels: Level | None = None
    require_annotations: Level | None = None
    require_limits: Level | None = None
    max_per_step: Level | None = None
    max_per_workflow: Level | None = None
    max_tasks: Level | None = None
    allow_namespaces: Level | None = None
    allow_service_accounts: Level | None = None
    allow_artifacts: Level | None = None
    allow_resource_kinds: Level | None = None
    forbid: Level | None = None


class Policy(_Table, frozen=True):
    """The rules of one policy, the table `[policy]` or a file of its own. A rule that is left out allows everything.

    `allow_*` are patterns in which `*` is any text; an empty list allows nothing. `max_per_workflow` bounds what all
    steps ask for that can run at the same time. `reason` is shown with each finding.
    """

    level: Level = "error"
    levels: Levels = Levels()
    reason: str = ""
    allow_images: tuple[str, ...] | None = None
    require_digest: bool = False
    require_labels: tuple[str, ...] = ()
    require_annotations: tuple[str, ...] = ()
    require_limits: tuple[Literal["cpu", "memory"], ...] = ()
    max_per_step: Limits = Limits()
    max_per_workflow: Limits = Limits()
    max_tasks: int | None = None
    allow_namespaces: tuple[str, ...] | None = None
    allow_service_accounts: tuple[str, ...] | None = None
    allow_artifacts: tuple[str, ...] | None = None
    allow_resource_kinds: tuple[str, ...] | None = None
    forbid: tuple[Feature, ...] = ()


class PolicySource(_Table, frozen=True):
    """A policy that holds, and where it is written: a file, or a table of one."""

    origin: str
    policy: Policy
