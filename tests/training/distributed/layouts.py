"""Four ranks save and load a training in layouts of torch's own: fully sharded, with tensor parallelism, alone.

Run by torchrun; each check is a function, and what fails is named with its rank.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

from couler_py.steps.checkpoint.training import load_training, save_training, state_of
from couler_py.steps.models.config import DecoderConfig
from couler_py.steps.models.decoder import Decoder, build, next_token_loss

CONFIG = DecoderConfig(vocabulary=61, hidden=24, heads=4, kv_heads=4, feed_forward=36, context=16)


def sharded(model: Decoder, mesh: DeviceMesh) -> Decoder:
    for layer in model.layers:
        fully_shard(layer, mesh=mesh)
    return fully_shard(model, mesh=mesh)


def with_tensor_parallelism(model: Decoder, mesh: DeviceMesh) -> Decoder:
    columns, rows = ColwiseParallel(), RowwiseParallel()
    for layer in model.layers:
        plan = {f"self_attn.{name}_proj": columns for name in "qkv"} | {"self_attn.o_proj": rows}
        plan |= {"mlp.gate_proj": columns, "mlp.up_proj": columns, "mlp.down_proj": rows}
        parallelize_module(layer, mesh, plan)
    return model


def trained(model: Decoder, steps: int = 2) -> torch.optim.Optimizer:
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, betas=(0.8, 0.95))
    for step in range(steps):
        tokens = torch.randint(0, 61, (2, 9), generator=torch.Generator().manual_seed(step))
        next_token_loss(model(tokens[:, :-1]), tokens[:, 1:]).backward()
        optimizer.step()
        optimizer.zero_grad()
    return optimizer


def whole(tensors: dict[str, Any]) -> dict[str, torch.Tensor]:
    return {name: each.full_tensor() if isinstance(each, DTensor) else each for name, each in tensors.items()}


def differing(model: Decoder, optimizer: torch.optim.Optimizer, expected: dict[str, torch.Tensor]) -> list[str]:
    got = whole(state_of(model, optimizer)[0])
    assert got.keys() == expected.keys()
    return [name for name in expected if not torch.equal(got[name], expected[name])]


def fresh(make: Callable[[Decoder], Decoder]) -> tuple[Decoder, torch.optim.Optimizer]:
    model = make(build(CONFIG, seed=99))
    return model, torch.optim.AdamW(model.parameters(), lr=1.0)


def main(folder: Path) -> None:
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    four, grid = init_device_mesh("cpu", (4,)), init_device_mesh("cpu", (2, 2), mesh_dim_names=("data", "tensor"))
    three, two = (DeviceMesh("cpu", list(range(count))) for count in (3, 2))
    groups = {count: mesh.get_group() for count, mesh in ((3, three), (2, two)) if rank < count}

    model = sharded(build(CONFIG), four)
    optimizer = trained(model)
    expected = whole(state_of(model, optimizer)[0])
    save_training(folder / "four", 2, model, optimizer, {"consumed": 8}, grain=0)

    def check(name: str, loaded: Any, model: Decoder, optimizer: torch.optim.Optimizer) -> None:
        assert loaded.facts == {"consumed": 8}, name
        assert differing(model, optimizer, expected) == [], name
        assert optimizer.param_groups[0]["lr"] == 1e-2, name
        assert optimizer.param_groups[0]["betas"] == (0.8, 0.95), name

    if rank < 3:
        model, optimizer = fresh(lambda model: sharded(model, three))
        check("4 to 3", load_training(folder / "four", model, optimizer, group=groups[3]), model, optimizer)
        save_training(folder / "three", 2, model, optimizer, {"consumed": 8}, group=groups[3], grain=0)
    dist.barrier()
    model, optimizer = fresh(lambda model: sharded(with_tensor_parallelism(model, grid["tensor"]), grid["data"]))
    check("3 to 2x2 with tensor parallelism", load_training(folder / "three", model, optimizer), model, optimizer)
    save_training(folder / "hybrid", 2, model, optimizer, {"consumed": 8}, grain=0)
    if rank < 2:
        model, optimizer = fresh(lambda model: sharded(model, two))
        check("2x2 to 2", load_training(folder / "hybrid", model, optimizer, group=groups[2]), model, optimizer)
        save_training(folder / "two", 2, model, optimizer, {"consumed": 8}, group=groups[2], grain=0)
    dist.barrier()
    model, optimizer = fresh(lambda model: sharded(model, grid))
    check("2 to copies of two shards", load_training(folder / "two", model, optimizer), model, optimizer)
    model, optimizer = fresh(lambda model: with_tensor_parallelism(model, four))
    check("2 to tensor parallelism of four", load_training(folder / "two", model, optimizer), model, optimizer)
    model, optimizer = fresh(lambda model: model)
    check("2 to a whole model on each", load_training(folder / "two", model, optimizer), model, optimizer)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
