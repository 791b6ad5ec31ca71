"""Small models, and replicas that are moved by hand: what a round does with them is then known exactly."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.distributed.fsdp import fully_shard

from couler_py.steps.edit.local_sgd import LocalSGD
from couler_py.steps.edit.mesh import replica_mesh
from couler_py.steps.edit.rounds import Round
from couler_py.steps.edit.settings import Settings
from couler_py.steps.edit.units import local

RANK, WORLD = torch.distributed.get_rank, torch.distributed.get_world_size
ROOT, FIRST, SECOND = "", "layers.0", "layers.1"


class Net(nn.Module):
    """Two layers of their own, and parameters around them; one is shorter than the ranks that share it."""

    def __init__(self, seed: int = 0):
        super().__init__()
        torch.manual_seed(seed)
        self.into = nn.Linear(6, 8)
        self.layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(2))
        self.out = nn.Linear(8, 1)

    def forward(self, x: Tensor) -> Tensor:
        x = self.into(x)
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return self.out(x)


def batch(seed: int, rows: int = 8) -> tuple[Tensor, Tensor]:
    stream = torch.Generator().manual_seed(seed)
    return torch.randn(rows, 6, generator=stream), torch.randn(rows, 1, generator=stream)


def loss_of(model: nn.Module, rows: tuple[Tensor, Tensor]) -> Tensor:
    return (model(rows[0]) - rows[1]).square().mean()


def sharded(model: Net, mesh: Any) -> Net:
    for layer in model.layers:
        fully_shard(layer, mesh=mesh["shard"])
    fully_shard(model, mesh=mesh["shard"])
    return model


@functools.cache
def mesh_of(replicas: int, shards: int) -> Any:
    return replica_mesh(replicas, shards)


class Setup:
    """A model, an optimizer, and the object under test on a mesh of replicas and shards."""

    def __init__(
        self,
        replicas: int,
        shards: int,
        settings: Settings,
        optimizer: Callable[[Any], torch.optim.Optimizer] = lambda parameters: torch.optim.SGD(parameters, lr=0.1),
        model: Net | None = None,
        **options: Any,
    ):
        self.mesh = mesh_of(replicas, shards)
        self.replica, self.shard = RANK() // shards, RANK() % shards
        self.model = model if model is not None else Net()
        if shards > 1:
            sharded(self.model, self.mesh)
        self.optimizer = optimizer(self.model.parameters())
        self.rounds: list[Round] = []
        self.local = LocalSGD(self.model, self.optimizer, settings, self.mesh, watch=self.rounds.append, **options)

    def train(self, seeds: Sequence[int]) -> None:
        """One step for each batch."""
        for seed in seeds:
            loss_of(self.model, batch(seed)).backward()
            self.optimizer.step()
            self.optimizer.zero_grad()

    def move(self, amount: float, only: str | None = None) -> None:
        """One optimizer step that adds a number to all parameters (of one unit)."""
        for unit in self.local.units:
            for parameter in unit.parameters.values():
                wanted = amount if only in (None, unit.name) else 0.0
                parameter.grad = torch.full_like(parameter, -wanted)
        self.optimizer.step()
        self.optimizer.zero_grad()

    def parameters(self) -> dict[str, Tensor]:
        """All parameters, whole."""
        return whole(self.model)

    def seen(self) -> list[dict[str, Tensor]]:
        """The parameters of each replica, whole."""
        mine = self.parameters()
        told: list[Any] = [None] * WORLD()
        torch.distributed.all_gather_object(told, mine)
        return told[:: WORLD() // self.mesh["sync"].size()]


def by_hand(parameters: Any) -> torch.optim.Optimizer:
    return torch.optim.SGD(parameters, lr=1.0)


def whole(model: nn.Module) -> dict[str, Tensor]:
    full = {}
    for name, parameter in model.named_parameters():
        tensor = parameter.detach()
        full[name] = (tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor).clone()
    return full


def same(left: dict[str, Tensor], right: dict[str, Tensor]) -> bool:
    return all(torch.equal(left[name], right[name]) for name in right)


def close(left: dict[str, Tensor], right: dict[str, Tensor], tolerance: float = 1e-6) -> None:
    for name, tensor in right.items():
        torch.testing.assert_close(left[name], tensor, rtol=0, atol=tolerance, msg=lambda m, n=name: f"{n}: {m}")


def shards_of(setup: Setup) -> list[Tensor]:
    return [local(parameter.detach()).clone() for parameter in setup.model.parameters()]
