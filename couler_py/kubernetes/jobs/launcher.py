"""What is known of a launcher, and what one is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from couler_py.ir.model import DistributedJob
from couler_py.kubernetes.templated import Render

HEALTH_TIMEOUT = 30.0
"""Seconds after which a node that isn't heard of is lost, where the job doesn't say."""

KEPT = 24 * 3600
"""Seconds that an ended object stays, for who wants to look at it."""

LABEL = "couler-py/job"
"""The label of all pods of jobs: its value is the name of the object."""


SELECTOR = "COULER_LABEL"
"""What tells the report of a job by which label it knows the job's pods; who has it reads pods and their logs."""


class Plan(msgspec.Struct, frozen=True):
    """A job that is to be written: its object has the name `name`, which the cluster made for it alone.

    `of` is what all jobs of the step have in common, the value of a label.
    `pod` are further fields of the pod's spec (placement, volumes), `labels` and `annotations` those of the pod.
    `deadline` is in seconds.
    """

    job: DistributedJob
    name: str
    of: str
    render: Render
    pod: dict[str, Any] = {}
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    deadline: float | None = None

    @property
    def least(self) -> int:
        """The fewest nodes that the job goes on with."""
        return self.job.nodes if self.job.elastic is None else min(self.job.elastic[0], self.job.nodes)

    @property
    def most(self) -> int:
        """The most nodes that the job may have."""
        return self.job.nodes if self.job.elastic is None else max(self.job.elastic[1], self.job.nodes)

    def metadata(self) -> dict[str, Any]:
        """The object's own metadata, with the queue that admits it."""
        labels = {LABEL: self.name}
        if self.job.queue:
            labels["kueue.x-k8s.io/queue-name"] = self.job.queue
        return {"name": self.name, "labels": labels}


DECIDE = ("chief", "master", "worker")
"""The roles whose end is the job's: the first of these that a job has."""


def deciding(job: DistributedJob) -> tuple[int, int] | None:
    """The first and last of the nodes whose end is the job's; None where all are waited for."""
    names = [role.name for role in job.roles for _ in range(role.nodes)]
    decide = next((name for name in DECIDE if name in names), None)
    if decide is None or set(names) == {decide}:
        return None
    return names.index(decide), len(names) - 1 - names[::-1].index(decide)


class Launcher(msgspec.Struct, frozen=True):
    """A kind of object that runs jobs of several nodes.

    `succeeds` and `fails` are Argo's conditions: all parts of the first, any of the second. `needs` is what the cluster
    has to have. `label` is one of its pods, whose value is the name of the object; with `reports`, the pod of rank 0
    prints what it leaves. `roles` are those that it tells nodes, with `apart` in containers of their own, and with
    `policies` it knows what becomes of pods that have ended. `problem` gives what the launcher can't do of a job, and
    the way out.
    """

    name: str
    frameworks: tuple[str, ...]
    manifest: Callable[[Plan], dict[str, Any]]
    succeeds: str
    fails: str
    needs: str = ""
    elastic: bool = False
    reports: bool = True
    roles: tuple[str, ...] = ()
    apart: bool = False
    policies: bool = False
    label: str = LABEL
    problem: Callable[[DistributedJob], tuple[str, str] | None] = lambda _: None
