"""MPI: `train` as a job of several nodes."""

from __future__ import annotations

from typing import Any, Unpack

from couler_py.steps import jobs
from couler_py.steps.jobs import Asked, CleanPods, Command, JobError, Restart, Training


def train(
    image: str = "",
    command: Command = (),
    *,
    num_workers: int = 1,
    slots_per_worker: int = 1,
    resources: Asked | None = None,
    worker_image: str = "",
    worker_resources: Asked | None = None,
    worker_restart_policy: Restart | None = None,
    launcher_image: str = "",
    launcher_command: Command | None = None,
    launcher_resources: Asked | None = None,
    launcher_restart_policy: Restart | None = None,
    clean_pod_policy: CleanPods = "",
    launcher: str = "mpijob",
    **sharing: Unpack[Training],
) -> Any:
    """Train with MPI (Horovod, DeepSpeed): mpirun starts `command` in `slots_per_worker` processes of each worker.

    Here it is this machine's mpirun. On a cluster the job is an MPIJob: mpirun runs in a pod of its own, the launcher,
    whose image, command and resources may be others, and workers run their image's SSH server. For the rest see
    `tensorflow.train`.

    Raises `JobError` for a job without workers, for a command that is mpirun, and without an image or command.

    >>> mpi.train("horovod:1", ["python", "train.py"], num_workers=4)  # doctest: +SKIP
    """
    if num_workers < 1:
        raise JobError("a job of MPI has at least one worker")
    for each in (command, launcher_command):
        if each:
            jobs.words(each, started_by="mpirun")
    own = jobs.role(1, launcher_image, launcher_command, launcher_resources, launcher_restart_policy)
    roles = {
        "worker": jobs.role(num_workers, worker_image, None, worker_resources, worker_restart_policy),
        "launcher": own,
    }
    return jobs.train(
        "mpi",
        image,
        command,
        roles,
        resources,
        sharing,
        processes=slots_per_worker,
        launcher=launcher,
        clean_pods=clean_pod_policy,
    )


__all__ = ["train"]
