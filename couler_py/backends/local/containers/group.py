"""The containers of one attempt, as plain data that travels as JSON. Standard library only."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

FILE = "containers"
"""The file in an attempt's folder with its group: there from before the first container until the last is gone."""
READY = "ready"
"""The file in an attempt's folder that says that a daemon serves, with its address."""
PROCESS = "process-of-"
"""How the files in an attempt's folder begin that hold the ids of containers' first processes, by their numbers."""
ENVIRONMENT = "COULER_SET_"
"""How the conductor's variables begin that are a container's own: its number and the name follow."""


@dataclasses.dataclass(frozen=True)
class Mount:
    """A file or folder of this machine and where a container finds it."""

    source: str
    target: str
    read_only: bool = False


@dataclasses.dataclass(frozen=True)
class Probe:
    """How a daemon tells that it serves: a command in it, or a port that answers. Times are in seconds."""

    command: list[str] = dataclasses.field(default_factory=list)
    port: int = 0
    path: str = ""  # of a request; without one, to connect is enough
    delay: float = 0.0
    period: float = 1.0
    patience: float = 1.0


@dataclasses.dataclass(frozen=True)
class Member:
    """One container. `name` is the runtime's, `called` what people call it.

    `image` is an id, `shown` the image as it was written. `cpu` counts processors and `memory` bytes, 0 for no limit.
    An empty `command` is the image's own, `home` the working folder that it says.
    """

    name: str
    called: str
    image: str
    shown: str
    command: list[str] = dataclasses.field(default_factory=list)
    args: list[str] = dataclasses.field(default_factory=list)
    mounts: list[Mount] = dataclasses.field(default_factory=list)
    directory: str = ""
    user: str = ""
    cpu: float = 0.0
    memory: int = 0
    gpus: list[str] = dataclasses.field(default_factory=list)
    capabilities: list[str] = dataclasses.field(default_factory=list)
    privileged: bool = False
    read_only: bool = False
    ports: list[str] = dataclasses.field(default_factory=list)
    waits: list[str] = dataclasses.field(default_factory=list)
    probe: Probe | None = None
    home: str = "/"


@dataclasses.dataclass(frozen=True)
class Take:
    """An output: a path in the container, and the place in the attempt's folder that it is taken to."""

    name: str
    path: str
    place: str
    value: bool = False
    optional: bool = False


@dataclasses.dataclass(frozen=True)
class Folder:
    """The mode, and with `owner` the user, that something has to have for who the containers run as."""

    path: str
    mode: int
    owner: int = -1
    make: bool = False


@dataclasses.dataclass(frozen=True)
class Group:
    """All containers of one attempt. `runtime` is "podman" or "docker", `program` its client.

    `init` run one after the other before the rest, `sidecars` from before `main` until after it. The result of the
    attempt is that of `main`, whose members start in the order of what they wait for. `left` is the folder that a
    Python step writes its outputs to. `host` names namespaces of the machine that are shared.
    """

    runtime: str
    program: str
    folder: str
    main: list[Member]
    init: list[Member] = dataclasses.field(default_factory=list)
    sidecars: list[Member] = dataclasses.field(default_factory=list)
    labels: dict[str, str] = dataclasses.field(default_factory=dict)
    folders: list[Folder] = dataclasses.field(default_factory=list)
    takes: list[Take] = dataclasses.field(default_factory=list)
    left: str = ""
    network: str = ""
    host: list[str] = dataclasses.field(default_factory=list)
    grace: float = 5.0
    retries: int = 0
    daemon: bool = False
    python: bool = False
    salvage: bool = False
    unlabelled: bool = False

    @property
    def members(self) -> list[Member]:
        """All containers, in the order that numbers them."""
        return [*self.init, *self.sidecars, *self.main]

    @property
    def result(self) -> Member:
        """The container whose outputs are the attempt's: the one called main, as on Argo, or the only one."""
        return next((each for each in self.main if each.called == "main"), self.main[0])


def to_json(group: Group) -> str:
    """The group as text."""
    return json.dumps(dataclasses.asdict(group))


def from_json(text: str) -> Group:
    """The group that `to_json` wrote."""
    data: dict[str, Any] = json.loads(text)
    for name in ("main", "init", "sidecars"):
        data[name] = [_member(each) for each in data[name]]
    data["folders"] = [Folder(**each) for each in data["folders"]]
    data["takes"] = [Take(**each) for each in data["takes"]]
    return Group(**data)


def _member(data: dict[str, Any]) -> Member:
    data["mounts"] = [Mount(**each) for each in data["mounts"]]
    data["probe"] = None if data["probe"] is None else Probe(**data["probe"])
    return Member(**data)
