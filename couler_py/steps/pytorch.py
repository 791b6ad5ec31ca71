"""PyTorch: `fit` and `evaluate` over tables in one process, `train` as a job of several nodes."""

from __future__ import annotations

from typing import Any, Unpack

from couler_py.steps import jobs
from couler_py.steps.jobs import Asked, CleanPods, Command, JobError, Restart, Training
from couler_py.steps.tabular.judging import evaluate as evaluate_table
from couler_py.steps.tabular.networks import pytorch_fit as fit
from couler_py.steps.tabular.tables import TABLES

evaluate = evaluate_table.with_options(packages=[*TABLES, "torch"])


def train(
    image: str = "",
    command: Command = (),
    *,
    num_workers: int = 0,
    processes_per_node: int = 1,
    elastic: tuple[int, int] | None = None,
    resources: Asked | None = None,
    master_image: str = "",
    master_command: Command | None = None,
    master_resources: Asked | None = None,
    master_restart_policy: Restart | None = None,
    worker_image: str = "",
    worker_command: Command | None = None,
    worker_resources: Asked | None = None,
    worker_restart_policy: Restart | None = None,
    clean_pod_policy: CleanPods = "",
    launcher: str = "pytorchjob",
    **sharing: Unpack[Training],
) -> Any:
    """Train with PyTorch: a master and `num_workers` more nodes, whose processes torchrun starts.

    `command` is what each process runs, as `["python", "train.py"]`; it finds what `init_process_group` needs. Here the
    nodes are processes of this machine; on a cluster the job is a PyTorchJob, or what `launcher` says ("indexed-job",
    "jobset", "trainjob"). With `elastic=(least, most)` it goes on with fewer nodes. For the rest see
    `tensorflow.train`.

    Raises `JobError` for fewer than no workers, for a command that is torchrun, and without an image or command.

    >>> pytorch.train("train:1", ["python", "train.py"], num_workers=3, resources={"nvidia.com/gpu": 1})
    ... # doctest: +SKIP
    """
    if num_workers < 0:
        raise JobError("num_workers is 0 or more: the nodes beside the master")
    for each in (command, master_command, worker_command):
        if each:
            jobs.words(each, started_by="torchrun")
    roles = {
        "master": jobs.role(1, master_image, master_command, master_resources, master_restart_policy),
        "worker": jobs.role(num_workers, worker_image, worker_command, worker_resources, worker_restart_policy),
    }
    return jobs.train(
        "torch",
        image,
        command,
        roles,
        resources,
        {"name": "pytorch", **sharing},
        processes=processes_per_node,
        elastic=elastic,
        launcher=launcher,
        clean_pods=clean_pod_policy,
    )


__all__ = ["evaluate", "fit", "train"]
