"""The parts that nodes of a job have: the chief of TensorFlow, its parameter servers, the launcher of MPI."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import msgspec

from couler_py.dsl.options import Asking, Reader
from couler_py.dsl.templates import Making
from couler_py.ir.model import JobRole
from couler_py.ir.pod import Container

RoleName = Literal["master", "chief", "worker", "ps", "evaluator", "launcher"]
Restart = Literal["Never", "OnFailure", "Always", "ExitCode"]


class RoleOptions(Asking, total=False):
    """How many nodes have a role, and what is theirs; what is left out is the job's.

    One that asks for something asks for that alone. `restart` is what a cluster does with a pod that has ended.
    """

    nodes: int
    image: Any
    command: Sequence[Any]
    restart: Restart


def roles(given: Mapping[str, RoleOptions], making: Making, container: Container) -> tuple[JobRole, ...]:
    """The roles of a job with this container. Raises `DefinitionError` for what can't be honoured."""
    return tuple(_role(name, dict(options), making, container) for name, options in given.items())


def _role(name: str, options: dict[str, Any], making: Making, container: Container) -> JobRole:
    if name not in get_args(RoleName):
        raise making.wrong(f"there is no role {name!r}", f"the roles are {', '.join(get_args(RoleName))}")
    nodes, restart = options.pop("nodes", 1), options.pop("restart", "")
    if isinstance(nodes, bool) or not isinstance(nodes, int):
        raise making.wrong(f"the nodes of the {name} are no whole number", 'write roles={"ps": {"nodes": 2}}')
    if restart not in ("", *get_args(Restart)):
        raise making.wrong(f"there is no restart policy {restart!r}", f"write one of {', '.join(get_args(Restart))}")
    own = container
    if (image := options.pop("image", None)) is not None:
        own = msgspec.structs.replace(own, image=making.filling.text(image, f"the image of the {name}"))
    if (command := options.pop("command", None)) is not None:
        words = making.filling.texts(command, f"the command of the {name}")
        own = msgspec.structs.replace(own, command=words, args=())
    if options:
        reader = Reader(options, f"{making.name}, {name}", making.place, Asking)
        own = msgspec.structs.replace(own, resources=reader.runtime().resources)
    return JobRole(name, nodes, None if own == container else own, restart)  # type: ignore[arg-type]  # looked at
