"""Steps of several nodes and processes.

    train = couler.distributed_job(
        "trainer:1", ["python", "train.py"], nodes=2, processes=4, max_restarts=3,
        inputs={"lr": float}, outputs={"loss": float}, env={"LR": couler.argument("lr")},
    )

The command is what each process runs. On this machine the processes are this machine's; on a cluster the job becomes
Kubernetes objects that the launcher names (see `couler_py.steps.launchers`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from couler_py.dsl.durations import Duration
from couler_py.dsl.options import PodOptions
from couler_py.dsl.roles import RoleOptions
from couler_py.dsl.roles import roles as read_roles
from couler_py.dsl.templates import InputSpec, Making, OutputSpec, TemplateStep
from couler_py.ir.model import DistributedJob
from couler_py.ir.pod import Container

FRAMEWORKS = ("torch", "tensorflow", "mpi", "generic")


def distributed_job(
    image: Any,
    command: Sequence[Any],
    args: Sequence[Any] = (),
    *,
    framework: str = "torch",
    nodes: int = 1,
    processes: int = 1,
    elastic: tuple[int, int] | None = None,
    max_restarts: int = 0,
    launcher: str = "",
    queue: str = "",
    health_timeout: Duration | None = None,
    roles: Mapping[str, RoleOptions] | None = None,
    clean_pods: str = "",
    inputs: Mapping[str, InputSpec] | None = None,
    outputs: Mapping[str, OutputSpec] | None = None,
    working_dir: str = "",
    **options: Unpack[PodOptions],
) -> TemplateStep:
    """A step that runs a command in `processes` processes on each of `nodes` nodes.

    Each process finds `RANK`, `WORLD_SIZE`, `LOCAL_RANK`, `MASTER_ADDR` and `MASTER_PORT` (framework "torch",
    through torchrun, and "generic"), also `TF_CONFIG` ("tensorflow"), or is started by mpirun ("mpi"), and
    `COULER_PLANNED_WORLD`, the processes of the whole job. With `elastic=(least, most)` a job of torch goes on with
    fewer nodes when some are lost, and with all when they come back; `max_restarts` is how often processes begin again.
    A node that isn't heard of for `health_timeout` counts as lost. What is asked for (`cpu`, `memory`, `gpu`) is for
    one node. The process of rank 0 leaves the outputs. `launcher` says what the job becomes on a cluster: "indexed-job"
    where it is left out; `queue` is a queue of Kueue's.

    `roles` says which nodes have a part of their own, in the order of their numbers, and what is theirs: "chief",
    "worker", "ps" and "evaluator" of TensorFlow, whose chief decides when the job is done (without one all workers),
    "master" and "worker" of torch, and of MPI "worker" and "launcher", the pod beside them where mpirun runs. `nodes`
    is then their sum. `clean_pods` ("Running", "All", "None") are the pods that Kubeflow's operators delete at the end.

    Raises `DefinitionError` for what can't be honoured.

    >>> train = distributed_job("trainer:1", ["python", "train.py"], nodes=2, processes=4, elastic=(1, 2))
    """
    making = Making(options, "job", inputs)
    if framework not in FRAMEWORKS:
        raise making.wrong(f"there is no framework {framework!r}", f"write one of {', '.join(FRAMEWORKS)}")
    if not command:
        raise making.wrong("a job has no command", 'say what each process runs: ["python", "train.py"]')
    if clean_pods not in ("", "Running", "All", "None"):
        raise making.wrong(f"clean_pods is {clean_pods!r}", 'write "Running", "All" or "None"')
    runtime = making.reader.runtime()
    body = Container(
        image=making.filling.text(image, "image"),
        command=making.filling.texts(command, "command"),
        args=making.filling.texts(args, "args"),
        env=making.env(),
        env_from=runtime.env_from,
        working_dir=working_dir,
        pull_policy=options.get("image_pull_policy"),
        mounts=runtime.mounts,
        resources=runtime.resources,
    )
    found = read_roles(roles or {}, making, body)
    job = DistributedJob(
        framework,  # type: ignore[arg-type]  # looked at above
        body,
        sum(each.nodes for each in found if each.name != "launcher") if found and nodes == 1 else nodes,
        processes,
        elastic,
        max_restarts,
        launcher,
        queue,
        making.seconds("health_timeout", health_timeout),
        found,
        clean_pods,  # type: ignore[arg-type]  # looked at above
    )
    return making.step(job, making.outputs(outputs), runtime.claims)
