"""TensorFlow: `train` as a job of several nodes."""

from __future__ import annotations

from typing import Any, Unpack

from couler_py.steps import jobs
from couler_py.steps.jobs import Asked, CleanPods, Command, JobError, Restart, Training


def train(
    image: str = "",
    command: Command = (),
    *,
    num_workers: int = 1,
    num_ps: int = 0,
    num_chiefs: int = 0,
    num_evaluators: int = 0,
    resources: Asked | None = None,
    worker_image: str = "",
    worker_command: Command | None = None,
    worker_resources: Asked | None = None,
    worker_restart_policy: Restart | None = None,
    ps_image: str = "",
    ps_command: Command | None = None,
    ps_resources: Asked | None = None,
    ps_restart_policy: Restart | None = None,
    chief_image: str = "",
    chief_command: Command | None = None,
    chief_resources: Asked | None = None,
    chief_restart_policy: Restart | None = None,
    evaluator_image: str = "",
    evaluator_command: Command | None = None,
    evaluator_resources: Asked | None = None,
    evaluator_restart_policy: Restart | None = None,
    clean_pod_policy: CleanPods = "",
    launcher: str = "tfjob",
    **sharing: Unpack[Training],
) -> Any:
    """Train with TensorFlow's strategies: done when the chief is, or without one all workers.

    Each node is told its part and the others' addresses in `TF_CONFIG`. Here the nodes are processes of this machine;
    on a cluster the job is a TFJob, or what `launcher` says ("indexed-job" needs no operator, and has one image and
    command for all). `resources` are each node's, as `{"cpu": 4, "nvidia.com/gpu": 1}`, where its role has none of its
    own. A command that is a text is run by `sh -c`.

    Raises `JobError` for a job without workers, with two chiefs, or without an image or command.

    >>> tensorflow.train("tf:2.18", "python train.py", num_workers=2, num_ps=1)  # doctest: +SKIP
    """
    if num_workers + num_chiefs < 1 or num_chiefs > 1:
        raise JobError("a job of TensorFlow has at least one worker or a chief, and at most one chief")
    roles = {
        "chief": jobs.role(num_chiefs, chief_image, chief_command, chief_resources, chief_restart_policy),
        "worker": jobs.role(num_workers, worker_image, worker_command, worker_resources, worker_restart_policy),
        "ps": jobs.role(num_ps, ps_image, ps_command, ps_resources, ps_restart_policy),
        "evaluator": jobs.role(
            num_evaluators, evaluator_image, evaluator_command, evaluator_resources, evaluator_restart_policy
        ),
    }
    return jobs.train(
        "tensorflow", image, command, roles, resources, sharing, launcher=launcher, clean_pods=clean_pod_policy
    )


__all__ = ["train"]
