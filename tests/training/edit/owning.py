"""Models whose parameters aren't all alike: tied ones, frozen ones, adapters beside frozen ones. On four ranks."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from peft import LoraConfig, get_peft_model
from torch import Tensor, distributed, nn
from torch.distributed.fsdp import fully_shard

from couler_py.steps.edit.channel import Said
from couler_py.steps.edit.local_sgd import LocalSGD
from couler_py.steps.edit.settings import Settings, preset
from couler_py.steps.models.config import DecoderConfig
from couler_py.steps.models.decoder import build, next_token_loss
from tests.training.edit.launching import run
from tests.training.edit.toys import FIRST, RANK, ROOT, SECOND, Net, batch, close, loss_of, mesh_of, same, whole

MESHES = ((4, 1), (2, 2))
TIED = DecoderConfig(vocabulary=32, hidden=16, heads=2, kv_heads=1, feed_forward=24, context=16, tied=True)

Loss = Callable[[nn.Module, int], Tensor]


def of_net(model: nn.Module, number: int) -> Tensor:
    return loss_of(model, batch(number))


def of_decoder(model: nn.Module, number: int) -> Tensor:
    rows = torch.randint(0, TIED.vocabulary, (4, 9), generator=torch.Generator().manual_seed(number))
    return next_token_loss(model(rows[:, :-1]), rows[:, 1:])


def sharded(model: nn.Module, layers: nn.ModuleList, replicas: int, shards: int) -> nn.Module:
    if shards > 1:
        mesh = mesh_of(replicas, shards)["shard"]
        for layer in layers:
            fully_shard(layer, mesh=mesh)
        fully_shard(model, mesh=mesh)
    return model


def trained(
    model: nn.Module, settings: Settings, mesh: tuple[int, int], loss: Loss, said: list[Said] | None = None
) -> LocalSGD:
    """Four steps, each rank on rows of its own."""
    optimizer = torch.optim.SGD([each for each in model.parameters() if each.requires_grad], lr=0.1)
    listen = None if said is None else said.append
    with LocalSGD(model, optimizer, settings, mesh_of(*mesh), listen=listen) as local:
        for step in range(4):
            loss(model, 100 * step + RANK()).backward()
            optimizer.step()
            optimizer.zero_grad()
        local.finish()
    return local


def reference(model: nn.Module, loss: Loss) -> dict[str, Tensor]:
    """One process that sees all rows."""
    optimizer = torch.optim.SGD([each for each in model.parameters() if each.requires_grad], lr=0.1)
    for step in range(4):
        for rank in range(4):
            (loss(model, 100 * step + rank) / 4).backward()
        optimizer.step()
        optimizer.zero_grad()
    return whole(model)


def everybodys(model: nn.Module) -> list[dict[str, Tensor]]:
    told: list[Any] = [None] * 4
    distributed.all_gather_object(told, whole(model))
    return told


def check_tied_parameters_agree_once_and_stay_tied() -> None:
    expected = reference(build(TIED, 1), of_decoder)
    for mesh in MESHES:
        model = build(TIED, 1)
        sharded(model, model.layers, *mesh)
        local = trained(model, Settings(sync_every=1), mesh, of_decoder)
        close(whole(model), expected)
        assert model.lm_head.weight is model.embed_tokens.weight
        assert list(local.units[0].parameters) == ["embed_tokens.weight", "norm.weight"]


def check_a_unit_may_be_frozen_in_part() -> None:
    def partly(model: Net) -> Net:
        for layer in model.layers:
            layer.weight.requires_grad_(False)
        return model

    expected = reference(partly(Net()), of_net)
    for mesh in MESHES:
        model = partly(Net())
        sharded(model, model.layers, *mesh)
        local = trained(model, Settings(sync_every=1), mesh, of_net)
        found = whole(model)
        close(found, expected)
        assert torch.equal(found["layers.0.weight"], Net().layers[0].weight)
        assert [list(unit.parameters) for unit in local.units[1:]] == [["layers.0.bias"], ["layers.1.bias"]]
        assert [unit.name for unit in local.units] == [ROOT, FIRST, SECOND]


def check_adapters_of_peft_are_all_that_replicas_send() -> None:
    for mesh in MESHES:
        torch.manual_seed(RANK())  # adapters begin with other numbers on each rank: those of the first replica count
        model = get_peft_model(Net(), LoraConfig(r=2, target_modules=["layers.0", "layers.1"]))
        base = {name: each for name, each in whole(model).items() if "lora" not in name}
        inner = model.base_model.model
        sharded(inner, inner.layers, *mesh)
        said: list[Said] = []
        trained(model, preset("edit", sync_every=2), mesh, of_net, said)
        adapters = [each for each in model.parameters() if each.requires_grad]
        assert len(adapters) == 4  # two for each layer
        own = sum(each.to_local().numel() if mesh[1] > 1 else each.numel() for each in adapters)
        assert sum(each.size for each in said if each.how == "all_reduce") == 2 * 4 * own
        first, *others = everybodys(model)
        assert all(same(first, other) for other in others)
        assert all(torch.equal(first[name], tensor) for name, tensor in base.items())
        assert any(float(tensor.abs().max()) for name, tensor in first.items() if "lora_B" in name)


def check_a_copy_that_is_frozen_is_no_part_of_a_round() -> None:
    class Taught(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.student, self.teacher = Net(), copy.deepcopy(Net(seed=7)).requires_grad_(False)

        def forward(self, x: Tensor) -> Tensor:
            return self.student(x) + self.teacher(x)

    model = Taught()
    local = trained(model, preset("edit", sync_every=2), (4, 1), of_net)
    assert {name.split(".")[0] for unit in local.units for name in unit.parameters} == {"student"}
    assert same(whole(model.teacher), whole(Net(seed=7)))


if __name__ == "__main__":
    run(globals())
