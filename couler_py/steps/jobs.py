"""What the steps `train` of PyTorch, TensorFlow and MPI share: each is a `distributed_job` with Couler's parameters.

So the same step runs on this machine as processes, and on a cluster as the object that its launcher makes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

import couler_py as couler
from couler_py import CoulerError
from couler_py.ir.storage import SecretRef

Command = str | Sequence[Any]
Asked = Mapping[str, Any] | str
"""Quantities by name, `{"cpu": 4, "nvidia.com/gpu": 1}`, or Couler's text, `"cpu=4,memory=8192,gpu=1"`."""
Restart = Literal["Never", "OnFailure", "Always", "ExitCode"]
CleanPods = Literal["", "Running", "All", "None"]


class Sharing(TypedDict, total=False):
    """What all pods of a job get, and how the step is named and bounded.

    `env` gives variables: texts, values of other steps, secrets (`couler.secret("wandb", "API_KEY")`). `secrets` gives
    keys of secrets as variables of the same name. `claims` mounts volume claims, by path. `timeout` is for the step.
    """

    name: str
    env: Mapping[str, Any]
    secrets: Sequence[SecretRef]
    claims: Mapping[str, str]
    node_selector: Mapping[str, str]
    labels: Mapping[str, str]
    service_account: str
    retries: int
    timeout: float | str
    deadline: float | str


class Training(Sharing, total=False):
    """What a training of several nodes has beside it: see `couler.distributed_job`.

    `max_restarts` is how often processes begin again, `queue` one of Kueue's, `outputs` what rank 0 leaves, by name.
    """

    max_restarts: int
    health_timeout: float | str
    queue: str
    outputs: Mapping[str, Any]


class JobError(CoulerError):
    """A job that can't be: the message says what is missing."""


def train(
    framework: str,
    image: str,
    command: Command,
    roles: Mapping[str, Mapping[str, Any]],
    resources: Asked | None,
    sharing: Training,
    **job: Any,
) -> Any:
    """The call of a job of several nodes; `roles` are those of `role`, where they have nodes.

    Roles in which nothing differs from the job are left out where the framework doesn't tell them apart.
    """
    there = {name: each for name, each in roles.items() if each["nodes"]}
    found = {name: {key: value for key, value in each.items() if value} for name, each in there.items()}
    image = image or next((each["image"] for each in found.values() if "image" in each), "")
    command = command or next((each["command"] for each in found.values() if "command" in each), ())
    if not image:
        raise JobError("a job has an image, or each of its roles one of its own")
    apart = framework == "tensorflow" or any(each.keys() - {"nodes"} for each in found.values())
    nodes = sum(each["nodes"] for name, each in found.items() if name != "launcher")
    claims = {
        claim: f"claim-{number}" for number, claim in enumerate(dict.fromkeys(sharing.get("claims", {}).values()))
    }
    given: dict[str, Any] = {"name": framework, **{key: value for key, value in sharing.items() if key != "claims"}}
    if claims:
        mounted = sharing["claims"].items()
        given["volumes"] = {path: couler.existing_claim(claims[claim], claim) for path, claim in mounted}
    made = couler.distributed_job(
        image,
        words(command),
        framework=framework,
        **({"roles": found} if apart else {"nodes": nodes}),
        **asked(resources),
        **job,
        **given,
    )
    return made()


def role(
    nodes: int, image: str, command: Command | None, resources: Asked | None, restart: str | None
) -> dict[str, Any]:
    """What a role of a job is given: what is left out is the job's."""
    found: dict[str, Any] = {"nodes": nodes, "image": image, "restart": restart or "", **asked(resources)}
    return found | ({"command": words(command)} if command else {})


def words(command: Command, *, started_by: str = "") -> list[Any]:
    """A command as its words; a text is run by `sh -c`.

    Raises `JobError` for a command that starts processes itself where the job does (`started_by`).
    """
    if not command:
        raise JobError("a job has a command: what each of its processes runs")
    first = command.split()[0] if isinstance(command, str) else command[0]
    if started_by and first == started_by:
        raise JobError(
            f'the job starts its processes by {started_by} itself: say what one runs, as ["python", "fit.py"]'
        )
    return ["sh", "-c", command] if isinstance(command, str) else list(command)


_NAMES = {"cpu": "cpu", "memory": "memory", "disk": "ephemeral_storage", "ephemeral-storage": "ephemeral_storage"}


def asked(resources: Asked | None) -> dict[str, Any]:
    """What is asked for, as options of a step. Numbers of `memory` and `disk` in Couler's text are MiB.

    Raises `JobError` for a text that isn't Couler's.
    """
    if resources is None:
        return {}
    found: dict[str, Any] = {}
    for name, amount in (_parsed(resources) if isinstance(resources, str) else resources).items():
        if name in _NAMES:
            found[_NAMES[name]] = amount
        elif name in ("gpu", "gpu_type"):
            found[name] = amount
        elif name.endswith("/gpu"):
            found |= {"gpu": int(amount)} | ({} if name == "nvidia.com/gpu" else {"gpu_type": name})
        else:
            found.setdefault("resources", {})[name] = amount
    return found


def _parsed(text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in text.split(","):
        name, equals, value = (each.strip() for each in part.partition("="))
        if not equals or name not in ("cpu", "memory", "disk", "gpu", "gpu_type"):
            raise JobError(f"{part!r} is no resource: write cpu=4,memory=8192,disk=2048,gpu=1,gpu_type=nvidia.com/gpu")
        try:
            number = value if name == "gpu_type" else float(value)
        except ValueError:
            raise JobError(f"{part!r} has no number") from None
        found[name] = value if isinstance(number, str) else f"{value}Mi" if name in ("memory", "disk") else number
    return found | ({"gpu": int(found["gpu"])} if "gpu" in found else {})


__all__ = ["JobError", "asked", "role", "train", "words"]
